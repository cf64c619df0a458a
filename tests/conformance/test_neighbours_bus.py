"""More of the kind of case 40: overlapping topics, order, bounds, late comers, two robots on one bus."""

import asyncio
import threading

import pytest
from fixture_r import TOPIC, Probe, drive, heard, robot

from pushrod.core.errors import InputError
from pushrod.runtime import JointState, LocalBus, Message, Outcome, Position, Runtime, SteppedClock, Velocity, WallClock


def publish(bus, topic, payload, robot="r", time=0.0):
    bus.publish(Message(payload, topic, time, time, robot))


class Listening(Probe):
    def init(self, context, options):
        super().init(context, options)
        for prefix in (("sensor",), ("sensor", "x"), ("a",), "b/c", ("sensor",)):
            context.listen(prefix)


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_a_driver_hears_each_message_once_in_the_order_they_were_published(clock) -> None:
    done = threading.Event()

    class Here(Listening):
        def handle_message(self, topic, message):
            super().handle_message(topic, message)
            if message.payload == 5:
                done.set()

    probe = Here()

    async def body(rt):
        for topic, payload in ((("sensor", "x"), 1), (("b", "c"), 2), (("a",), 3), (("b",), 0), (("sensor", "y"), 4), (("sensor", "x", "y"), 5)):
            publish(rt.bus, topic, payload)
        await (asyncio.sleep(0.01) if clock is SteppedClock else asyncio.to_thread(done.wait, 5.0))

    drive(robot(), {"motor": lambda: probe}, body, clock())
    assert [payload for _, payload in probe.messages] == [1, 2, 3, 4, 5]


def test_a_driver_that_does_not_come_after_loses_the_oldest_and_it_is_counted() -> None:
    class Late(Probe):
        def init(self, context, options):
            super().init(context, options)
            context.listen(("flood",))

    probe = Late()

    async def body(rt):
        for k in range(3000):
            publish(rt.bus, ("flood",), k)
        (mail,) = rt["motor"].statistics().mail
        await asyncio.sleep(0.01)
        return mail

    mail = drive(robot(), {"motor": lambda: probe}, body)
    assert (mail.received, mail.waiting, mail.dropped) == (3000, 1024, 3000 - 1024)
    assert [payload for _, payload in probe.messages] == list(range(3000 - 1024, 3000))


def test_a_late_listener_gets_the_last_value_on_request() -> None:
    class Late(Probe):
        def handle_request(self, request):
            self.context.listen(("map",), latched=request)

    probe = Late()

    async def body(rt):
        publish(rt.bus, ("map",), 1)
        publish(rt.bus, ("map",), 2)
        await rt["motor"].request(True)
        await asyncio.sleep(0.01)
        publish(rt.bus, ("map",), 3)
        await asyncio.sleep(0.01)

    drive(robot(), {"motor": lambda: probe}, body)
    assert [payload for _, payload in probe.messages] == [2, 3]


def test_after_a_restart_it_listens_to_what_the_new_driver_asks_for_and_hears_it_once() -> None:
    made = []

    class Once(Listening):
        def __init__(self):
            super().__init__()
            made.append(self)

        def handle_message(self, topic, message):
            super().handle_message(topic, message)
            if message.payload == "die":
                raise OSError("gone")

    async def body(rt):
        publish(rt.bus, ("a",), "die")
        await asyncio.sleep(0.01)
        publish(rt.bus, ("a",), "again")
        await asyncio.sleep(0.01)

    drive(robot(), {"motor": Once}, body)
    assert [[payload for _, payload in probe.messages] for probe in made] == [["die"], ["again"]]


@pytest.mark.parametrize("prefix", ["actuator", "actuator/base/shoulder", "/actuator/", ("actuator",), [], "", TOPIC])
def test_a_topic_may_be_text(prefix) -> None:
    async def body(rt):
        watch = rt.subscribe(prefix, Position)
        rt.arm()
        rt["motor"].publish.set_position(0.1)
        rt["motor"].publish.set_velocity(0.1)
        return heard(watch)

    assert [outcome.command.payload for outcome in drive(robot(), {"motor": Probe}, body)] == [Position(0.1)]


def test_outcomes_are_found_as_outcomes_and_as_what_was_commanded() -> None:
    async def body(rt):
        both, velocities, bare = rt.subscribe((), [Outcome]), rt.subscribe((), [Velocity]), rt.subscribe((), [JointState])
        rt["motor"].publish.set_position(0.1)
        rt["motor"].publish.set_velocity(0.1)
        publish(rt.bus, TOPIC, Velocity(0.3))  # not a command: nobody's gate was asked
        return [len(heard(watch)) for watch in (both, velocities, bare)], rt["motor"].statistics().refused

    assert drive(robot(), {"motor": Probe}, body) == ([2, 2, 0], {"not_armed": 2})


@pytest.mark.parametrize("wrong", [{"size": 0}, {"size": -3}, {"size": 1.5}, {"policy": "block"}], ids=str)
def test_a_queue_that_cannot_be_is_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        LocalBus(lambda: 0.0).subscribe(**wrong)


@pytest.mark.parametrize(("policy", "kept"), [("drop_oldest", [7, 8, 9]), ("drop_newest", [0, 1, 2])])
def test_a_full_queue_keeps_to_its_policy(policy, kept: list[int]) -> None:
    async def body(rt):
        watch = rt.subscribe(("x",), size=3, policy=policy)
        for k in range(10):
            publish(rt.bus, ("x",), k)
        (topic,) = [t for t in rt.bus.statistics() if t.topic == ("x",)]
        return heard(watch), watch.statistics().dropped, topic.dropped, topic.messages

    assert drive(robot(), {"motor": Probe}, body) == (kept, 7, 7, 10)


def test_the_same_topic_twice_is_two_queues() -> None:
    bus = LocalBus(lambda: 0.0)
    first, second = bus.subscribe(("x",)), bus.subscribe(("x",))
    publish(bus, ("x",), 1)
    bus.unsubscribe(first)
    bus.unsubscribe(first)
    publish(bus, ("x",), 2)
    assert (heard(first), heard(second)) == ([1], [1, 2])


def test_two_robots_on_one_bus_hear_themselves_and_whoever_asks_hears_both() -> None:
    clock = SteppedClock()
    bus = LocalBus(clock.now)

    class Nosy(Probe):
        def init(self, context, options):
            super().init(context, options)
            context.listen(("x",))

    probes = {"left": Nosy(), "right": Nosy()}

    async def main():
        async with (
            Runtime(robot(name="left"), {"motor": lambda: probes["left"]}, clock=clock, bus=bus) as left,
            Runtime(robot(name="right"), {"motor": lambda: probes["right"]}, clock=clock, bus=bus) as right,
        ):
            own, both = left.subscribe("actuator"), bus.subscribe("actuator")
            left.arm()
            answers = left["motor"].publish.set_position(0.1), right["motor"].publish.set_position(0.2)
            publish(bus, ("x",), 1, "left")
            await asyncio.sleep(0.01)
            return answers, heard(own), [m.robot for m in iter(both.poll, None)], right.state

    with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
        (ours, theirs), own, both, state = runner.run(main())
    assert (ours.ok, theirs.reason, state) == (True, "not_armed", "disarmed")
    assert [outcome.command.payload for outcome in own] == [Position(0.1)]
    assert both == ["left", "right"]
    assert (len(probes["left"].messages), len(probes["right"].messages)) == (1, 0)


def test_two_tasks_cannot_wait_at_one_queue_but_one_may_try_again() -> None:
    async def body(rt):
        watch = rt.subscribe(("x",))
        first = asyncio.create_task(watch.get())
        await asyncio.sleep(0)
        with pytest.raises(InputError, match="another task waits"):
            await watch.get()
        first.cancel()
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await watch.get()
        publish(rt.bus, ("x",), 1)
        return (await watch.get()).payload

    assert drive(robot(), {"motor": Probe}, body) == 1


def test_what_a_stuck_driver_does_not_take_waits_in_a_bounded_queue() -> None:
    class Stuck(Probe):
        blocking = True

        def __init__(self):
            super().__init__()
            self.inside, self.leave = threading.Event(), threading.Event()

        def init(self, context, options):
            super().init(context, options)
            context.listen(("flood",))

        def handle_message(self, topic, message):
            super().handle_message(topic, message)
            self.inside.set()
            self.leave.wait(5.0)

    stuck = Stuck()

    async def body(rt):
        publish(rt.bus, ("flood",), -1)
        await asyncio.to_thread(stuck.inside.wait, 5.0)
        for k in range(3000):
            publish(rt.bus, ("flood",), k)
        (mail,) = rt["motor"].statistics().mail
        stuck.leave.set()
        return mail.waiting, mail.dropped

    assert drive(robot(), {"motor": lambda: stuck}, body, WallClock()) == (1024, 3000 - 1024)
