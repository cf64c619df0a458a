"""Between two buses that a network joins: who hears what, once, in order, with what came before; and who publishes never waits."""

import threading
import time
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from net_rig import Wire, free_port
from waiting import until

from pushrod.core.errors import InputError
from pushrod.net import Foreign, Link, ZenohBus, router
from pushrod.net.outlet import Outlet
from pushrod.runtime import Accepted, Clamped, Command, EndMotion, JointState, Message, Outcome, Payload, Position, Transition, Velocity
from pushrod.runtime.bus import Subscription


class Torques(Payload, frozen=True, gc=False, tag=True):
    """A payload of a driver's own."""

    x: float = 0.0


class Reading(msgspec.Struct, frozen=True, tag=True):
    """A message of a sensor's own, which nobody is told of."""

    values: dict[str, float]


def message(payload: Any, topic: str = "actuator/base", robot: str = "r", time: float = 0.0) -> Message:
    return Message(payload, tuple(topic.split("/")), time, time + 1.0, robot, "me", "tip")


def states(n: int, start: int = 0) -> list[Message]:
    return [message(JointState(("j",), (float(k),)), time=float(k)) for k in range(start, start + n)]


def drain(watch: Subscription) -> list[Message]:
    found = []
    while (one := watch.poll()) is not None:
        found.append(one)
    return found


@pytest.fixture(params=["peers", "router", "socket"])
def pair(request, tmp_path):
    """Two buses: one calls the other, both call a router, or one calls the other over a socket of this machine."""
    if request.param == "socket":
        end = f"unixsock-stream/{tmp_path}/bus.sock"
        with ZenohBus(Link(end)) as one, ZenohBus(Link(connect=end)) as other:
            yield one, other
        return
    end = f"tcp/127.0.0.1:{free_port()}"
    if request.param == "peers":
        with ZenohBus(Link(end)) as one, ZenohBus(Link(connect=end)) as other:
            yield one, other
    else:
        with router(Link(end)), ZenohBus(Link(connect=end)) as one, ZenohBus(Link(connect=end)) as other:
            yield one, other


def heard(one: ZenohBus, other: ZenohBus, watch: Subscription) -> None:
    """Until the other bus hears this one: what was published before it knew of the subscription is lost to it, as on any bus."""

    def ping() -> bool:
        one.publish(message(EndMotion(0.0, "completed"), "actuator/base", time=-1.0))
        return watch.statistics().received > 0

    until(ping)
    time_of_last = -1
    while time_of_last != watch.statistics().received:  # pings on their way
        time_of_last = watch.statistics().received
        threading.Event().wait(0.05)
    drain(watch)


def test_what_is_published_here_is_heard_there_as_it_was_and_in_order(pair):
    one, other = pair
    watch = other.subscribe("actuator")
    heard(one, other, watch)
    outcome = Outcome(Command(Position(2.0), "ann", 1.0, 0.5, 3, id="a"), Clamped(Position(2.0), Position(1.0)))
    sent = [*states(3), message(outcome, "actuator/base/x"), message(Torques(0.1)), message(Transition("a", "b", "why"), "actuator")]
    for one_of_them in sent:
        one.publish(one_of_them)
    until(lambda: watch.statistics().waiting == len(sent))
    assert drain(watch) == sent


def test_who_listens_before_anything_was_published_misses_nothing(pair):
    """Also through a router, which has not told the publisher yet that somebody listens."""
    one, other = pair

    def round_trip(name: str) -> None:
        """Return when the publisher knows of every subscription made before: it sends a new topic only once it knows that it is subscribed to."""
        ready = other.subscribe(name, (JointState,))
        until(lambda: one.publish(message(JointState(("j",)), name)) or ready.statistics().received > 0)
        other.unsubscribe(ready)

    round_trip("ready")
    watches = {}
    for k in range(8):  # each topic is published to for the first time
        topic = f"actuator/base/{k}"
        watches[topic] = other.subscribe(topic, (EndMotion,))
        round_trip(f"ready/{k}")
        one.publish(message(EndMotion(float(k), "completed"), topic))
    for k, watch in enumerate(watches.values()):
        until(lambda watch=watch: watch.statistics().received > 0)
        assert drain(watch)[0].payload.position == float(k)


class Changing:
    """A zenoh session and publisher whose subscribers change while the status is being read."""

    def __init__(self, before: bool, after: bool) -> None:
        self._before, self._after = before, after

    def declare_publisher(self, *_: Any, **__: Any) -> "Changing":
        return self

    def declare_matching_listener(self, callback: Any) -> None:
        self._report = callback.callback

    @property
    def matching_status(self) -> Any:
        self._report(SimpleNamespace(matching=self._after))
        return SimpleNamespace(matching=self._before)


@pytest.mark.parametrize(("before", "after"), [(False, True), (True, False)])
def test_a_subscriber_that_comes_or_leaves_while_an_outlet_opens_is_noticed(before, after):
    assert Outlet(Changing(before, after), "key").wanted is after


def test_here_it_is_the_same_object_at_once_and_does_not_come_back(pair):
    one, other = pair
    here, there = one.subscribe(), other.subscribe()
    heard(one, other, there)
    drain(here)
    sent = states(1)[0]
    one.publish(sent)
    assert here.poll() is sent
    until(lambda: there.statistics().waiting == 1)
    assert here.poll() is None


def test_prefix_robot_and_type_are_filtered_before_the_network(pair):
    one, other = pair
    everything = other.subscribe(size=10_000)
    some = {
        "prefix": other.subscribe("actuator/base"),
        "robot": other.subscribe(robot="s"),
        "type": other.subscribe((), [JointState]),
        "command": other.subscribe((), Velocity),
        "outcome": other.subscribe((), Outcome),
    }
    heard(one, other, everything)
    drain(some["prefix"])
    sent = [
        message(JointState(("j",)), "actuator/base/x"),
        message(JointState(("j",)), "actuator/base2"),
        message(Transition("a", "b"), "state_machine", robot="s"),
        message(Outcome(Command(Velocity(1.0), "ann", 0.0), Accepted()), "actuator"),
        message(Outcome(Command(Position(1.0), "ann", 0.0), Accepted()), "actuator"),
    ]
    for one_of_them in sent:
        one.publish(one_of_them)
    until(lambda: everything.statistics().waiting == len(sent))
    until(lambda: some["outcome"].statistics().waiting == 2)
    assert {name: [sent.index(m) for m in drain(watch)] for name, watch in some.items()} == {
        "prefix": [0],
        "robot": [2],
        "type": [0, 1],
        "command": [3],
        "outcome": [3, 4],
    }


def test_who_comes_late_gets_the_newest_of_each_topic_and_kind_then_what_follows(pair):
    one, other = pair
    for old in (*states(5), message(Transition("a", "b"), "state_machine"), message(EndMotion(1.0, "completed"))):
        one.publish(old)
    late = other.subscribe(latched=True)
    until(lambda: late.statistics().waiting >= 3)
    assert sorted(type(m.payload).__name__ for m in drain(late)) == ["EndMotion", "JointState", "Transition"]
    for new in states(3, 5):
        one.publish(new)
    until(lambda: late.statistics().waiting == 3)
    assert [m.time for m in drain(late)] == [5.0, 6.0, 7.0]


def test_a_late_subscriber_in_the_midst_of_messages_misses_none_and_gets_none_twice(pair):
    one, other = pair
    for k in range(20):
        stop = threading.Event()

        def stream(robot=f"r{k}", stop=stop):
            n = 0
            while not stop.is_set():
                one.publish(message(JointState(("j",), (float(n),)), robot=robot, time=float(n)))
                n += 1

        publisher = threading.Thread(target=stream)
        publisher.start()
        watch = other.subscribe("actuator", JointState, size=100_000, latched=True, robot=f"r{k}")
        until(lambda watch=watch: watch.statistics().received > 50)
        stop.set()
        publisher.join()
        times = [m.time for m in drain(watch)]
        dropped = sum(s.dropped for s in other.statistics() if s.robot == f"r{k}")
        assert times == sorted(set(times)), "in order, none twice"
        assert times[-1] - times[0] + 1 - len(times) <= dropped, "what is missing was counted"
        other.unsubscribe(watch)


def test_a_type_that_is_not_known_there_arrives_as_plain_data_and_as_itself_where_it_was_asked_for(pair):
    one, other = pair
    strange = other.subscribe()
    heard(one, other, strange)
    one.publish(message(Reading({"x": 1.0})))
    until(lambda: strange.statistics().waiting == 1)
    assert strange.poll().payload == Foreign("Reading", {"type": "Reading", "values": {"x": 1.0}})
    known = other.subscribe((), Reading)
    until(lambda: one.publish(message(Reading({"x": 2.0}))) or known.statistics().received)
    assert known.poll().payload == Reading({"x": 2.0})


def test_what_cannot_be_sent_is_heard_here_and_logged_once(caplog):
    end = f"tcp/127.0.0.1:{free_port()}"
    with ZenohBus(Link(end)) as one, ZenohBus(Link(connect=end)) as other:
        here, there = one.subscribe("actuator"), other.subscribe("actuator")
        heard(one, other, there)
        drain(here)
        endless: list[Any] = []
        endless.append(endless)
        for _ in range(3):
            one.publish(message(endless))
        assert here.statistics().waiting == 3
        assert [r.message for r in caplog.records if "list cannot be sent" in r.message].__len__() == 1


def test_after_unsubscribing_and_after_closing_nothing_comes(pair):
    one, other = pair
    kept, left = other.subscribe("actuator"), other.subscribe("actuator")
    heard(one, other, kept)
    other.unsubscribe(left)
    drain(left)
    one.publish(states(1)[0])
    until(lambda: kept.statistics().waiting == 1)
    assert left.poll() is None
    other.close()
    one.publish(states(1)[0])
    with pytest.raises(InputError, match="this bus is closed"):
        other.subscribe("actuator")


def test_statistics_tell_of_both_ends(pair):
    one, other = pair
    watch = other.subscribe("actuator", JointState)
    first = message(JointState(("j",), (0.0,)), "actuator/base")
    until(lambda: one.publish(first) or watch.statistics().received)
    start = watch.statistics().received
    for m in states(10, 1):
        one.publish(m)
    until(lambda: watch.statistics().received >= start + 10)
    (there,) = other.statistics()
    assert (there.robot, there.topic, there.messages, there.dropped) == ("r", ("actuator", "base"), watch.statistics().received, 0)
    assert 0.0 <= there.age < 5.0


def test_a_subscriber_that_hangs_or_is_cut_off_never_holds_up_the_publisher():
    port = free_port()
    with Wire(port) as wire, ZenohBus(Link(f"tcp/127.0.0.1:{port}")) as one, ZenohBus(Link(connect=f"tcp/127.0.0.1:{wire.port}")) as other:
        watch = other.subscribe("actuator")
        heard(one, other, watch)
        wire.hush()
        big = message(JointState(("j",) * 200, tuple(map(float, range(200)))))
        longest, end = 0.0, time.monotonic() + 0.3
        while time.monotonic() < end:
            start = time.monotonic()
            one.publish(big)
            longest = max(longest, time.monotonic() - start)
        assert longest < 0.1, "a publisher waits for the scheduler at most"
