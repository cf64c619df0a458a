"""No message ends a recording: one that cannot be written is dropped, counted and reported once, and all others are in the log."""

import asyncio
import logging
import math
from typing import Any

import msgspec
import pytest

from pushrod.log import child
from pushrod.log.writer import Attachment
from pushrod.recording import Recording
from pushrod.recording.topics import LARGEST
from pushrod.runtime import EndMotion, Guard, Message, Payload, Position, Runtime, SteppedClock, WallClock
from pushrod.runtime.message import Command
from recorded_run import Plain, read, robot

LONE = "half\ud800"


class Odd(msgspec.Struct, frozen=True, gc=False):
    value: Any = None


class Speaking(msgspec.Struct, frozen=True):
    """Its element is foreign to the encoder, which asks for its text."""

    value: Any


class Raising:
    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __str__(self) -> str:
        raise self.error("no text")


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def circle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


ODD = {
    "surrogate": Odd(LONE),
    "surrogate key": Odd({LONE: 1}),
    "huge int": Odd(10**5000),
    "deep": Odd(nested(100_000)),
    "circle": Odd(circle()),
    "long text": Odd("x" * (LARGEST + 1)),
    "raises": Speaking(Raising(ValueError)),
    "exits": Speaking(Raising(SystemExit)),
}
FINE = {
    "nan": Odd(math.nan),
    "large int": Odd(10**400),
    "tuple key": Odd({(1, 2): 3}),
    "bytes": Odd(b"\xff\x00"),
    "int key": Odd({1: 2}),
    "set": Odd({1, 2}),
    "complex": Odd(1j),
}


def recorded(folder: Any, clock: Any, body: Any, **more: Any) -> Recording:
    async def main() -> Recording:
        rt = Runtime(robot(), {"motor": Plain}, clock=clock, guard=Guard(limit=5.0))
        with Recording(rt, folder, **more) as recording:
            async with rt:
                await body(rt, recording)
        return recording

    with asyncio.Runner(loop_factory=clock.loop_factory) as runner:
        return runner.run(main())


def publish(rt: Runtime, payload: Any, *topic: str, time: float | None = None) -> None:
    rt.bus.publish(Message(payload, topic or ("sensor", "odd"), rt.clock.now() if time is None else time, 0.0, rt.robot.name))


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
@pytest.mark.parametrize("name", [*ODD, *FINE])
def test_an_odd_payload_costs_at_most_itself(name: str, clock: Any, tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def body(rt: Runtime, recording: Recording) -> None:
        rt.arm()
        for payload in ({**ODD, **FINE}[name],) * 3:
            publish(rt, payload)
        publish(rt, Odd("after"))
        assert rt["motor"].direct.set_position(0.1).ok
        await asyncio.sleep(0.05)

    with caplog.at_level(logging.WARNING, "pushrod.recording"):
        made = recorded(tmp_path, clock(), body)
    assert made.problem == ""
    assert made.dropped == (3 if name in ODD else 0)
    log = read(made.file)
    assert log.of("/sensor/odd/Odd")[-1] == {"value": "after"}
    assert log.of("/actuator/base/shoulder/motor/command")[-1]["result"] == "accepted"
    assert len([record for record in caplog.records if "is dropped" in record.getMessage()]) == (1 if name in ODD else 0)
    assert len([event for event in log.of("/events") if "is dropped" in event["message"]]) == (1 if name in ODD else 0)


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_odd_texts_times_and_topics_leave_the_rest(clock: Any, tmp_path: Any) -> None:
    async def body(rt: Runtime, recording: Recording) -> None:
        rt.arm()
        gate = rt["motor"].host.gate
        assert rt["motor"].direct.set_position(0.1, id=LONE).reason == "malformed"
        assert gate(Command(Position(0.1), LONE, 0.0)).reason == "malformed"
        publish(rt, Odd("lost"), "sensor", LONE)
        for time in (math.inf, math.nan, -1e12, 1e30):
            publish(rt, Odd("lost"), time=time)
        publish(rt, EndMotion(0.1, "completed", LONE), "actuator", "x")
        rt.report_error(("base", "motor"), f"cannot open {LONE}")
        publish(rt, Odd("after"))
        await asyncio.sleep(0.05)

    made = recorded(tmp_path, clock(), body, about={"note": LONE}, attachments=[Attachment("a.txt", "text/plain", LONE)])
    assert made.problem == ""
    log = read(made.file)
    assert log.of("/sensor/odd/Odd") == [{"value": "after"}]
    assert any("cannot open half\\ud800" in event["message"] for event in log.of("/events"))
    assert made.dropped == 8


def test_payloads_of_a_driver_that_cannot_be_written_do_not_end_the_recording(tmp_path: Any) -> None:
    class Strange(Payload, frozen=True):
        value: Any = None

    class Driver(Plain):
        command_payloads = (Strange, Position)

    async def main() -> Recording:
        rt = Runtime(robot(), {"motor": Driver}, clock=WallClock(), guard=Guard(limit=5.0))
        with Recording(rt, tmp_path) as recording:
            async with rt:
                rt.arm()
                for value in (LONE, circle(), nested(100_000), {(1, 2): 3}, 10**400, Raising(SystemExit), "x" * (LARGEST + 1)):
                    rt["motor"].direct.send(Strange(value))
                assert rt["motor"].direct.set_position(0.1).ok
                await asyncio.sleep(0.05)
        return recording

    made = asyncio.run(main())
    assert made.problem == ""
    assert read(made.file).of("/actuator/base/shoulder/motor/command")[-1]["kind"] == "Position"


def test_the_writer_survives_a_frame_that_it_cannot_write(tmp_path: Any) -> None:
    async def body(rt: Runtime, recording: Recording) -> None:
        process = recording._process
        assert process is not None
        publish(rt, Odd("before"))
        await asyncio.sleep(0.05)
        process._tell(child.CHANNEL, {"topic": LONE, "name": "x", "schema": {}, "metadata": {}}, 999)
        process.put(999, 1, b"{}")
        publish(rt, Odd("after"))
        await asyncio.sleep(0.1)

    made = recorded(tmp_path, WallClock(), body)
    assert made.problem == ""
    assert made.dropped == 2
    assert read(made.file).of("/sensor/odd/Odd") == [{"value": "before"}, {"value": "after"}]
