"""More of the kind of cases 31 to 38: beginnings and ends, motions waited for, loops and drivers that leave, files that are torn, homing."""

import asyncio
import json
import threading
from pathlib import Path

import pytest
from fixture_r import DISARMED, LIMITS, TOPIC, Probe, drive, heard, near, robot

from pushrod.core.errors import InputError
from pushrod.robot import Actuator, Joint, Limits, Parameter, ParameterRef, Robot, Transmission, home
from pushrod.runtime import BeginMotion, EndMotion, JointState, Message, Position, Runtime, Skip, State, SteppedClock, WallClock

FAST = Limits(-3.0, 3.0, velocity=1.0, acceleration=2.0, effort=10.0)


@pytest.fixture(autouse=True)
def no_thread_is_left():
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def two() -> Robot:
    joints = [Joint("j1", "revolute", "base", "a", limits=LIMITS), Joint("j2", "revolute", "base", "b", limits=LIMITS)]
    return Robot("r", ["base", "a", "b"], joints, [Actuator("m1", "j1"), Actuator("m2", "j2")])


class Blocking(Probe):
    blocking = True


class Wrong(Probe):
    command_payloads = (dict,)


class Unfound(Probe):
    disarm = "nowhere:nothing"


@pytest.mark.parametrize("second", [Wrong, Unfound, 7])
def test_a_runtime_that_cannot_be_made_leaves_no_thread(second) -> None:
    with pytest.raises(InputError):
        Runtime(two(), {"m1": Blocking, "m2": second})


def test_a_runtime_that_is_made_and_not_entered_leaves_no_thread_and_is_not_armed() -> None:
    rt = Runtime(two(), {"m1": Blocking, "m2": Probe})
    assert rt.arm().missing == ("base/j1/m1: it has not been started", "base/j2/m2: it has not been started")
    assert rt["m2"].direct.set_position(0.1).reason == "stopped"
    assert rt.disarm().ok


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
def test_a_runtime_runs_once_and_afterwards_only_refuses(clock) -> None:
    async def body(rt):
        rt.arm()
        return rt

    rt = drive(two(), {"m1": Blocking, "m2": Probe}, body, clock())
    assert rt["m2"].direct.set_position(0.1).detail == "the runtime is shutting down"
    assert not rt.arm().ok
    assert (rt.disarm().ok, rt.state) == (True, State.DISARMED)

    async def again():
        async with rt:
            raise AssertionError("must not start")

    with pytest.raises(InputError, match="has run already"):
        asyncio.run(again())


def test_an_error_of_the_program_disarms_and_comes_out_as_it_is() -> None:
    async def body(rt):
        rt.arm()
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        drive(robot(), {"motor": Probe}, body)
    assert len(DISARMED) == 1


@pytest.mark.parametrize("clock", [SteppedClock, WallClock])
@pytest.mark.parametrize("error", [ValueError("boo"), SystemExit("boo")], ids=lambda e: type(e).__name__)
def test_a_loop_that_leaves_in_any_way_at_its_first_tick_disarms(clock, error: BaseException) -> None:
    states = []

    async def body(rt):
        watch = rt.subscribe("state_machine")
        rt.arm()

        @rt.loop(hz=1000)
        def control(k):
            raise error

        while rt.state is not State.ERROR:
            await watch.get()
        states.append(rt["motor"].direct.set_position(0.1).reason)

    with pytest.raises(type(error), match="boo"):
        drive(robot(), {"motor": Probe}, body, clock())
    assert states == ["not_armed"]


@pytest.mark.parametrize("method", ["handle_command", "tick"])
def test_a_driver_cannot_end_the_program(method: str) -> None:
    """On a thread of its own SystemExit would only end the thread, silently."""
    made = []

    class Leaving(Blocking):
        tick_hz = 200.0

        def __init__(self):
            super().__init__()
            made.append(self)

        def handle_command(self, payload, command):
            self.maybe("handle_command")

        def tick(self, now):
            self.maybe("tick")

        def maybe(self, what):
            if what == method and len(made) == 1:
                raise SystemExit("bye")

    async def body(rt):
        watch = rt.subscribe("safety/error", latched=True)
        rt.arm()
        answer = await rt["motor"].sync.set_position(0.1) if method == "handle_command" else None
        return answer, (await watch.get()).payload.error

    answer, error = drive(robot(), {"motor": Leaving}, body, WallClock())
    assert error == "SystemExit: bye"
    assert answer is None or answer.reason == "driver_error"


def test_one_that_asked_to_be_left_out_is_not_disarmed_either() -> None:
    class Absent(Probe):
        disarm = f"{__name__}:no_such_device"

        def init(self, context, options):
            raise Skip("not fitted")

    async def body(rt):
        return rt.arm().ok, rt["m1"].direct.set_position(0.1).detail, rt["m2"].direct.set_position(0.1).ok, rt.disarm()

    armed, detail, other, disarmed = drive(two(), {"m1": Absent, "m2": Probe}, body)
    assert (armed, detail, other) == (True, "not fitted", True)
    assert (disarmed.ok, disarmed.failures) == (True, {})


def no_such_device(options):
    raise OSError("no such device")


def test_motions_can_be_waited_for_in_any_order_and_ids_used_again() -> None:
    async def body(rt):
        rt.arm()
        servo = rt["motor"].direct
        for name in "abc":
            servo.set_position(ord(name) / 100.0, id=name)
            await asyncio.sleep(0.1)
        await asyncio.sleep(5.0)
        ends = [await rt.motion("motor", name, timeout=0.1) for name in "abc"]
        arrived = []
        for x in (1.0, 0.0, 1.0):
            servo.set_position(x, id="again")
            arrived.append((await rt.motion("motor", "again", timeout=10.0)).position)
        with pytest.raises(TimeoutError):
            await rt.motion("motor", "never", timeout=1.0)
        return [end.reason for end in ends], arrived

    assert drive(robot(None, FAST), {}, body, simulation=True) == (["cancelled", "cancelled", "completed"], [1.0, 0.0, 1.0])


def test_several_wait_for_the_same_motion() -> None:
    async def body(rt):
        rt.arm()
        rt["motor"].direct.set_position(1.0, id="go")
        return await asyncio.gather(*(rt.motion("motor", "go") for _ in range(3)))

    assert [end.reason for end in drive(robot(None, FAST), {}, body, simulation=True)] == ["completed"] * 3


def test_the_ends_that_are_remembered_are_bounded() -> None:
    probe = Probe()

    async def body(rt):
        for k in range(1000):
            probe.context.publish(BeginMotion(0.0, 1.0, 1.0, command_id=f"n{k}"))
            probe.context.publish(EndMotion(1.0, "completed", command_id=f"n{k}"))
        with pytest.raises(TimeoutError):
            await rt.motion("motor", "n0", timeout=0.1)
        return (await rt.motion("motor", "n999", timeout=0.1)).reason

    assert drive(robot(), {"motor": lambda: probe}, body) == "completed"


KP, NAME = Parameter("kp", float, 1.0, 0.0, 10.0), Parameter("name", str, "a")


@pytest.mark.parametrize(
    "text",
    ['{"kp": 2.0', '{"kp": 20.0}', '{"kp": "x"}', "[]", "", "null", '{"kp": NaN}', '{"kp": Infinity}', "\x00", '{"kp": true}', '{"name": "\\ud800"}'],
)
def test_a_file_that_is_torn_or_wrong_is_told_and_the_robot_runs(tmp_path: Path, text: str) -> None:
    file = tmp_path / "kept.json"
    file.write_text(text)

    async def body(rt):
        found = rt.parameters.get("kp"), rt.parameters.get("name"), len(rt.parameters.problems)
        rt.parameters.set("kp", 3.0)
        return found, rt.parameters.get("kp"), rt.parameters.unsaved

    found, now, unsaved = drive(robot(parameters=[KP, NAME]), {"motor": Probe}, body, persisted=file)
    assert (found, now) == ((1.0, "a", 1), 3.0)
    assert unsaved is not None or json.loads(file.read_text())["kp"] == 3.0


def test_what_was_kept_is_there_next_time_and_start_up_wins(tmp_path: Path) -> None:
    async def change(rt):
        rt.parameters.set("kp", 3.0)

    async def look(rt):
        return rt.parameters.get("kp")

    what, file = robot(parameters=[KP]), tmp_path / "deep" / "kept.json"
    drive(what, {"motor": Probe}, change, persisted=file)
    assert drive(what, {"motor": Probe}, look, persisted=file) == 3.0
    assert drive(what, {"motor": Probe}, look, persisted=file, startup={"kp": 4.0}) == 4.0
    assert drive(what, {"motor": Probe}, look, persisted=file) == 3.0  # start-up values are not kept


@pytest.mark.parametrize("reversed_", [False, True])
def test_homing_sets_the_offset_from_a_reference(reversed_: bool) -> None:
    probe = Probe()
    geared = robot(Transmission(50, ParameterRef("zero"), reversed_), parameters=[Parameter("zero", float, 0.0, unit="rad")])

    async def body(rt):
        watch, states = rt.subscribe("param"), rt.subscribe(TOPIC, JointState)
        home(rt.robot, rt.parameters, "motor", motor=5.0, joint=0.3)
        rt.arm()
        rt["motor"].direct.set_position(0.3)
        probe.context.publish(JointState(("shoulder",), (5.0,)))
        return heard(watch), heard(states)

    (change,), (state,) = drive(geared, {"motor": lambda: probe}, body)
    assert change.new == near(0.4 if reversed_ else 0.2)
    assert probe.commands == [Position(near(5.0))]
    assert state.positions == (near(0.3),)


@pytest.mark.parametrize("restart", [True, False])
def test_who_waits_for_a_motion_is_told_when_its_driver_fails(restart: bool) -> None:
    class Dying(Probe):
        def handle_command(self, payload, command):
            if isinstance(payload, Position):
                self.context.publish(BeginMotion(0.0, 10.0, 5.0, command_id=command.id))
                self.context.publish(JointState(("shoulder",), (4.0,)))
            else:
                raise OSError("cable")

    async def body(rt):
        watch = rt.subscribe(TOPIC, EndMotion)
        rt.arm()
        rt["motor"].direct.set_position(1.0, id="go")
        waiting = asyncio.create_task(rt.motion("motor", "go"))
        await asyncio.sleep(0.1)
        rt["motor"].direct.hold()
        return await waiting, len(heard(watch))

    end, count = drive(robot(Transmission(10), restart=restart), {"motor": Dying}, body)
    assert (end.reason, end.message, end.position, count) == ("fault", "OSError: cable", near(0.4), 1)


def test_a_driver_that_failed_is_left_alone_by_what_waited_in_line() -> None:
    made = []

    class Failing(Blocking):
        def __init__(self):
            super().__init__()
            made.append(self)
            self.inside, self.leave, self.calls = threading.Event(), threading.Event(), 0

        def init(self, context, options):
            super().init(context, options)
            context.listen(("x",))

        def handle_command(self, payload, command):
            self.inside.set()
            self.leave.wait(5.0)
            raise OSError("cable")

        def handle_message(self, topic, message):
            self.calls += 1
            raise OSError("cable")

    async def body(rt):
        rt.arm()
        rt["motor"].publish.set_position(0.1)
        await asyncio.to_thread(made[0].inside.wait, 5.0)
        for k in range(5):
            rt.bus.publish(Message(k, ("x",), 0.0, 0.0, "r"))
        while rt["motor"].statistics().mail[0].waiting > 4:
            await asyncio.sleep(0.001)
        made[0].leave.set()
        while len(made) < 2 or not rt.arm().ok:
            await asyncio.sleep(0.001)
        return rt["motor"].statistics().restarts, rt.state

    assert drive(robot(), {"motor": Failing}, body, WallClock()) == (1, State.ARMED)
    assert made[0].calls == 0
