"""Cases 16 to 21: the way of a command to its driver, and the answer."""

import asyncio
import logging
import threading

import pytest
from fixture_r import SIX, TOPIC, WAYS, Probe, ask, drive, heard, one, robot

from pushrod.runtime import (
    Accepted,
    CommandTimeout,
    Outcome,
    Position,
    Velocity,
    WallClock,
)


@pytest.mark.parametrize("way", WAYS)
def test_16_a_command_reaches_the_driver_which_subscribes_to_nothing(way: str) -> None:
    # adapted: the answer is the typed Accepted, for all three deliveries, where the reference has (ok, accepted) for calls alone
    probe = Probe()

    async def body(rt):
        rt.arm()
        return await ask(getattr(rt["motor"], way), Position(0.5))

    assert drive(robot(), one(probe), body) == Accepted()
    assert probe.commands == [Position(0.5)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("address", ["motor", "shoulder/motor", "base/shoulder/motor", ("shoulder", "motor"), ["base", "shoulder", "motor"]], ids=str)
def test_16_by_name_or_path(way: str, address) -> None:
    probe = Probe()

    async def body(rt):
        rt.arm()
        return await ask(getattr(rt[address], way), Velocity(0.1))

    assert drive(robot(), one(probe), body).ok
    assert probe.commands == [Velocity(0.1)]


def test_17_observers_see_a_published_command_and_the_driver_acts_once() -> None:
    # adapted: one message holds the command and what became of it, instead of the command alone
    probe = Probe()

    async def body(rt):
        watch = rt.subscribe(TOPIC)
        rt.arm()
        result = rt["motor"].publish.set_position(0.25, id="c")
        return result, heard(watch)

    result, messages = drive(robot(), one(probe), body)
    assert result.ok
    (outcome,) = messages
    assert isinstance(outcome, Outcome)
    assert (outcome.command.payload, outcome.command.id, outcome.result) == (Position(0.25), "c", Accepted())
    assert probe.commands == [Position(0.25)]


@pytest.mark.parametrize("way", ["direct", "sync"])
def test_17_the_other_two_deliveries_publish_nothing(way: str) -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC)
        rt.arm()
        await ask(getattr(rt["motor"], way), Position(0.25))
        return heard(watch)

    assert drive(robot(), {"motor": Probe}, body) == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("payload", SIX, ids=lambda p: type(p).__name__)
def test_18_a_disarmed_robot_refuses_everything(way: str, payload) -> None:
    probe = Probe()

    async def body(rt):
        before = await ask(getattr(rt["motor"], way), payload)
        rt.arm()
        rt.disarm()
        return before, await ask(getattr(rt["motor"], way), payload)

    for result in drive(robot(), one(probe), body):
        assert (result.reason, result.actuator, result.command) == ("not_armed", "base/shoulder/motor", type(payload).__name__)
    assert probe.commands == []


def test_18_a_refused_publish_is_on_the_topic_as_refused() -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC)
        rt["motor"].publish.set_position(0.5)
        return heard(watch)

    (outcome,) = drive(robot(), {"motor": Probe}, body)
    assert outcome.result.reason == "not_armed"


@pytest.mark.parametrize("state", ["error", "estopped"])
def test_18_so_do_all_other_states_that_are_not_armed(state: str) -> None:
    probe = Probe()

    async def body(rt):
        rt.arm()
        rt.estop("button") if state == "estopped" else rt.arming.fault("tested")
        assert rt.state == state
        return rt["motor"].direct.set_position(0.1), rt["motor"].direct.stop()

    assert [result.reason for result in drive(robot(), one(probe), body)] == ["not_armed", "not_armed"]
    assert probe.commands == []


@pytest.mark.parametrize("way", WAYS)
def test_19_a_refusal_is_logged(way: str, caplog: pytest.LogCaptureFixture) -> None:
    # adapted: direct answers with the refusal itself too, where the reference says ok: one typed result everywhere
    async def body(rt):
        return await ask(getattr(rt["motor"], way), Position(0.5))

    with caplog.at_level(logging.INFO, "pushrod.runtime"):
        assert not drive(robot(), {"motor": Probe}, body).ok
    (record,) = caplog.records
    for word in ("refused", "not armed", "motor", "Position"):
        assert word in record.getMessage()


def test_19_a_loop_that_is_refused_does_not_flood_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def body(rt):
        @rt.loop(hz=1000)
        def control(k):
            rt["motor"].direct.set_position(0.1)

        await asyncio.sleep(2.5)
        return rt["motor"].statistics().refused

    with caplog.at_level(logging.INFO, "pushrod.runtime"):
        assert drive(robot(), {"motor": Probe}, body)["not_armed"] >= 2500
    assert 2 <= len(caplog.records) <= 4
    assert "1000 " in caplog.records[1].getMessage() or "999 " in caplog.records[1].getMessage()


@pytest.mark.parametrize("way", WAYS)
def test_20_a_refusal_is_counted_by_reason(way: str) -> None:
    # adapted: a typed result for the caller and a count in statistics(), where the reference emits an event;
    # observers of the topic see who asked for what and why not
    async def body(rt):
        await ask(getattr(rt.handle("motor", "planner"), way), Position(0.5))
        return rt["motor"].statistics()

    found = drive(robot(), {"motor": Probe}, body)
    assert (found.refused, found.acted) == ({"not_armed": 1}, 0)


def test_20_observers_see_who_asked_for_what_and_why_not() -> None:
    async def body(rt):
        watch = rt.subscribe(TOPIC, [Position])
        rt.handle("motor", "planner").publish.set_position(0.5)
        return watch.poll(), watch.poll()

    message, nothing = drive(robot(), {"motor": Probe}, body)
    assert nothing is None
    assert (message.source, message.robot, message.topic, message.payload.command.source) == ("planner", "r", TOPIC, "planner")
    assert (message.payload.result.reason, message.payload.result.command) == ("not_armed", "Position")


class Slow(Probe):
    """Waits in the call until it is let go."""

    blocking = True

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.leave = threading.Event(), threading.Event()

    def handle_command(self, payload, command):
        self.inside.set()
        self.leave.wait(5.0)
        return super().handle_command(payload, command)


def test_21_a_slow_driver_times_out_in_the_caller() -> None:
    slow = Slow()

    async def body(rt):
        rt.arm()
        with pytest.raises(CommandTimeout, match="outcome is unknown"):
            await rt["motor"].sync.set_position(0.1, timeout=1.0)  # long enough for it to have started
        slow.leave.set()
        return await rt["motor"].sync.set_position(0.2)

    assert drive(robot(), one(slow), body, WallClock()).ok
    assert slow.commands == [Position(0.1), Position(0.2)]  # the first one acts late: the caller was told that this is not known


def test_21_what_has_not_started_in_time_is_withdrawn() -> None:
    # adapted: a command that timed out before it started never acts, where the reference lets it act late
    slow = Slow()

    async def body(rt):
        rt.arm()
        first = asyncio.create_task(rt["motor"].sync.set_position(0.1))
        await asyncio.to_thread(slow.inside.wait, 5.0)
        second = await rt["motor"].sync.set_position(0.2, timeout=0.05)
        slow.leave.set()
        return await first, second

    first, second = drive(robot(), one(slow), body, WallClock())
    assert first.ok
    assert second.reason == "withdrawn"
    assert slow.commands == [Position(0.1)]
