"""Cases 29 to 34: arming, disarming, what fails and how the robot comes out of it."""

import asyncio
import threading
import time

import pytest
from fixture_r import DISARMED, LIMITS, Probe, drive, heard, robot

from pushrod.robot import Actuator, Budget, Joint, Robot
from pushrod.runtime import DriverError, HardwareError, Position, State, Stopped, Transition, WallClock

LET_GO = threading.Event()
FAIL: list[str] = []  # what the disarm function below does, as long as it says something


def disarm_as_told(options):
    for word in FAIL:
        if word == "hang":
            LET_GO.wait(5.0)
        elif word == "exit":
            raise SystemExit(word)
        else:
            raise OSError(word)


class Failing(Probe):
    disarm = f"{__name__}:disarm_as_told"


@pytest.fixture(autouse=True)
def as_told():
    FAIL.clear()
    LET_GO.clear()
    yield
    FAIL.clear()
    LET_GO.set()


def transitions(watch):
    return [(t.from_, t.to) for t in heard(watch, Transition)]


def failing_robot() -> Robot:
    return Robot(
        "r",
        ["base", "arm"],
        [Joint("joint1", "revolute", "base", "arm", limits=LIMITS)],
        [Actuator("failing", "joint1"), Actuator("sound", "joint1")],
    )


FAILING = {"failing": Failing, "sound": Probe}


def test_29_a_failing_disarm_is_named_and_leads_to_error() -> None:
    # adapted: a disarm function raises instead of returning an error; disarm is never refused, so in error it runs again
    FAIL.append("hardware failure")

    async def body(rt):
        rt.arm()
        first = rt.disarm()
        answers = first, rt.arm(), rt.disarm(), rt.state
        FAIL.clear()  # mended before the end, which would raise
        return answers

    first, armed, again, state = drive(failing_robot(), FAILING, body)
    assert (first.ok, first.state) == (False, State.ERROR)
    assert first.failures == {"base/joint1/failing": "raised OSError: hardware failure"}
    assert (armed.ok, armed.refusal) == (False, "in_error")
    assert (again.ok, again.failures, state) == (False, first.failures, State.ERROR)
    assert len(DISARMED) == 3  # the sound one was made safe all the same: twice here, once at the end


def test_29_arming_twice_says_so() -> None:
    async def body(rt):
        return rt.arm(), rt.arm(), rt.disarm(), rt.disarm()

    first, second, down, again = drive(robot(), {"motor": Probe}, body)
    assert first.ok
    assert (second.ok, second.refusal) == (False, "already_armed")
    assert down.ok
    assert (again.ok, again.state) == (True, State.DISARMED)  # adapted: disarm cannot be refused, also where there is nothing to do


@pytest.mark.parametrize(
    ("word", "says"), [("Hardware communication failed", "OSError: Hardware communication failed"), ("exit", "SystemExit: exit")]
)
def test_30_what_a_disarm_function_raises_is_told(word: str, says: str) -> None:
    # adapted: Python has no throw; what is no Exception (SystemExit) is told in the same way
    FAIL.append(word)

    async def body(rt):
        rt.arm()
        answer = rt.disarm()
        FAIL.clear()
        return answer

    assert drive(failing_robot(), FAILING, body).failures == {"base/joint1/failing": f"raised {says}"}


def test_31_one_that_hangs_is_named_after_its_time() -> None:
    # adapted: 0.05 s instead of the default 5 s, so that the test need not wait; the path is known, where the reference loses it
    FAIL.append("hang")

    async def body(rt):
        rt.arm()
        began = time.monotonic()
        answer = rt.disarm(limit=0.05)
        took = time.monotonic() - began
        sound = len(DISARMED)
        LET_GO.set()
        return answer, took, sound, rt.state

    answer, took, sound, state = drive(failing_robot(), FAILING, body, WallClock())
    assert list(answer.failures) == ["base/joint1/failing"]
    assert "0.05 s" in answer.failures["base/joint1/failing"]
    assert 0.05 <= took < 0.5
    assert sound == 1
    assert state is State.ERROR


def test_31_the_default_limit_is_five_seconds() -> None:
    from pushrod.runtime.stop import LIMIT

    assert LIMIT == 5.0


def test_32_force_disarm() -> None:
    # adapted: force_disarm runs the disarm functions too
    FAIL.append("stuck")

    async def body(rt):
        watch = rt.subscribe(("state_machine",))
        early = rt.force_disarm()
        rt.arm()
        armed = rt.force_disarm()
        rt.disarm()
        FAIL.clear()
        count = len(DISARMED)
        forced = rt.force_disarm()
        return early, armed, forced, len(DISARMED) - count, rt.state, rt.arm(), transitions(watch)

    early, armed, forced, made_safe, state, again, seen = drive(failing_robot(), FAILING, body)
    assert (early.refusal, armed.refusal) == ("not_in_error", "not_in_error")
    assert (forced.ok, made_safe, state) == (True, 1, State.DISARMED)
    assert again.ok
    assert seen == [("disarmed", "armed"), ("armed", "disarming"), ("disarming", "error"), ("error", "disarmed"), ("disarmed", "armed")]


def test_32_transitions_of_a_disarm_that_works() -> None:
    async def body(rt):
        watch = rt.subscribe(("state_machine",))
        rt.arm()
        rt.disarm("lunch")
        return heard(watch)

    seen = drive(robot(), {"motor": Probe}, body)
    assert [(t.from_, t.to) for t in seen] == [("disarmed", "armed"), ("armed", "disarming"), ("disarming", "disarmed")]
    assert seen[1].why == "lunch"


def test_33_a_reported_error_is_told_and_changes_nothing() -> None:
    async def body(rt):
        watch = rt.subscribe(("safety", "error"))
        rt.arm()
        rt.report_error(("base", "shoulder", "motor"), "warm")
        await asyncio.sleep(0.05)
        return heard(watch), rt.state, rt["motor"].direct.set_position(0.1)

    told, state, answer = drive(robot(), {"motor": Probe}, body)
    assert told == [HardwareError(("base", "shoulder", "motor"), "warm")]
    assert state is State.ARMED
    assert answer.ok


class Crashing(Probe):
    def handle_command(self, payload, command):
        raise RuntimeError("gone")


def test_33_the_end_of_the_restart_budget_is_error() -> None:
    # adapted: there is no tree of processes to kill; a robot whose drivers keep dying is the same event
    async def body(rt):
        for _ in range(4):
            assert rt.arm().ok
            assert rt["motor"].direct.set_position(0.1).reason == "driver_error"
            await asyncio.sleep(0.1)
        return rt.state, rt.arm(), rt.force_disarm(), rt.clock.now()

    state, armed, forced, t = drive(robot(), {"motor": Crashing}, body)
    assert state is State.ERROR
    assert t < 1.0
    assert armed.refusal == "in_error"
    assert forced.ok


@pytest.mark.parametrize("restarts", [0, 1, 2])
def test_33_the_budget_is_the_robots_own(restarts: int) -> None:
    async def body(rt):
        states = []
        for _ in range(restarts + 1):
            rt.arm()
            rt["motor"].direct.set_position(0.1)
            await asyncio.sleep(0.01)
            states.append(str(rt.state))
        return states

    assert drive(robot(restarts=Budget(restarts, 5.0)), {"motor": Crashing}, body) == ["armed"] * restarts + ["error"]


def test_33_crashes_far_apart_do_not_add_up() -> None:
    async def body(rt):
        for _ in range(10):
            rt.arm()
            rt["motor"].direct.set_position(0.1)
            await asyncio.sleep(2.0)
        return rt.state, rt["motor"].statistics().restarts

    assert drive(robot(), {"motor": Crashing}, body) == (State.ARMED, 10)


def test_34_arming_says_what_is_missing() -> None:
    # adapted: there are no routed arm and disarm commands; arming runs checks, and one that fails leaves the robot disarmed
    class Blind(Probe):
        def init(self, context, options):
            super().init(context, options)
            return self.look_for_encoder

        def look_for_encoder(self):
            raise Stopped("encoder not found")

    async def body(rt):
        await asyncio.sleep(0.01)
        assert rt.state is State.ERROR  # it could not be started, and no restart is left
        rt.force_disarm()
        return rt.arm(), rt.state

    armed, state = drive(robot(restarts=Budget(0, 5.0)), {"motor": Blind}, body)
    assert (armed.ok, armed.refusal) == (False, "checks")
    assert armed.missing[0].startswith("base/shoulder/motor: ")
    assert state is State.DISARMED


def test_34_a_robot_without_actuators_cannot_be_armed() -> None:
    async def body(rt):
        return rt.arm(), rt.state, rt.disarm()

    armed, state, disarmed = drive(Robot("r", ["base"]), {}, body)
    assert (armed.refusal, armed.missing) == ("checks", ("the robot has no actuators",))
    assert (state, disarmed.ok) == (State.DISARMED, True)


def test_34_arming_waits_for_slow_set_up() -> None:
    class SlowStart(Probe):
        blocking = True

        def __init__(self):
            super().__init__()
            self.go = threading.Event()

        def init(self, context, options):
            super().init(context, options)
            return lambda: self.go.wait(5.0)

    slow = SlowStart()

    async def body(rt):
        early = rt.arm()
        command = rt["motor"].publish.set_position(0.1)
        slow.go.set()
        for _ in range(1000):
            if rt.arm().ok:
                break
            await asyncio.sleep(0.001)
        return early, command, await rt["motor"].sync.set_position(0.2)

    early, command, late = drive(robot(), {"motor": lambda: slow}, body, WallClock())
    assert early.missing == ("base/shoulder/motor: it is still being set up",)
    assert (command.ok, command.reason) == (False, "stopped")
    assert late.ok
    assert slow.commands == [Position(0.2)]


def test_34_a_failing_disarm_leads_to_error_and_force_disarm_recovers() -> None:
    FAIL.append("motion to home failed")

    async def body(rt):
        rt.arm()
        failed = rt.disarm()
        FAIL.clear()
        return failed, rt.force_disarm(), rt.state, rt.arm()

    failed, forced, state, armed = drive(failing_robot(), FAILING, body)
    assert (failed.state, "motion to home failed" in failed.failures["base/joint1/failing"]) == (State.ERROR, True)
    assert (forced.ok, state, armed.ok) == (True, State.DISARMED, True)


def test_34_a_driver_that_cannot_start_ends_the_start() -> None:
    class Absent(Probe):
        def init(self, context, options):
            raise Stopped("no answer on the bus")

    async def body(rt):
        raise AssertionError("must not start")

    with pytest.raises(DriverError, match=r"base/shoulder/motor could not be started.*no answer on the bus"):
        drive(robot(), {"motor": Absent}, body)
