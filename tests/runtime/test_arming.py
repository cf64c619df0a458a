"""Disarm cannot be refused, names what failed, and after it nothing reaches a driver."""

import asyncio
import threading
import time

import pytest
from rig import DISARMED, Servo, robot, run

from pushrod.robot.description import Actuator, Joint, Limits, Robot
from pushrod.runtime.arming import NotSafeError
from pushrod.runtime.clock import WallClock
from pushrod.runtime.message import Transition
from pushrod.safety.state import State
from pushrod.safety.watchdog import Reaction, Watchdog


class Stuck(Servo):
    disarm = "rig:torque_stuck"


def left_unsafe(body):
    """What the coroutine gives, where the runtime says at its end that it is not safe."""
    got = []

    async def kept(rt):
        got.append(await body(rt))

    with pytest.raises(NotSafeError, match=r"base/shoulder/motor: raised OSError: Hardware communication failed; switch its power off"):
        run(robot(), {"motor": Stuck}, kept)
    return got[0]


def test_a_disarm_function_that_raises_is_named_and_leads_to_error() -> None:
    async def body(rt):
        watch = rt.bus.subscribe(("state_machine",))
        rt.arm()
        answer = rt.disarm()
        again = rt.arm()
        forced = rt.force_disarm()
        transitions = []
        while (m := watch.poll()) is not None:
            assert isinstance(m.payload, Transition)
            transitions.append((m.payload.from_, m.payload.to))
        return answer, again, forced, rt.state, rt.arm(), transitions

    answer, again, forced, state, after, transitions = left_unsafe(body)
    assert not answer.ok
    assert answer.failures == {"base/shoulder/motor": "raised OSError: Hardware communication failed"}
    assert answer.state is State.ERROR
    assert again.refusal == "in_error"
    assert forced.failures
    assert state is State.DISARMED
    assert after.ok
    assert transitions[:4] == [("disarmed", "armed"), ("armed", "disarming"), ("disarming", "error"), ("error", "disarmed")]


def test_who_comes_late_learns_the_state_of_a_robot_that_was_never_armed() -> None:
    async def body(rt):
        return rt.subscribe("state_machine", latched=True).poll().payload

    assert run(robot(), {"motor": Servo}, body) == Transition("disarmed", "disarmed", "started")


def test_force_disarm_is_for_errors_only() -> None:
    async def body(rt):
        rt.arm()
        return rt.force_disarm()

    assert run(robot(), {"motor": Servo}, body).refusal == "not_in_error"


def test_an_estop_is_latched_until_reset_and_arming_is_a_second_step() -> None:
    async def body(rt):
        rt.arm()
        rt.estop("button")
        assert rt.state is State.ESTOPPED
        assert rt.arm().refusal == "estopped"
        assert rt.reset(is_gone=lambda: False).missing == ("button",)
        assert rt.reset().ok
        assert rt["motor"].direct.set_position(0.1).reason == "not_armed"
        assert rt.arm().ok

    run(robot(), {"motor": Servo}, body)
    assert len(DISARMED) >= 1


def test_the_restart_budget_ends_in_error() -> None:
    made = []

    class Crashing(Servo):
        def __init__(self):
            super().__init__()
            made.append(self)

        def handle_command(self, payload, command):
            raise RuntimeError("again")

    async def body(rt):
        import asyncio

        states = []
        for _ in range(4):
            rt.arm()
            rt["motor"].direct.set_position(0.1)
            await asyncio.sleep(0.1)
            states.append(rt.state)
        return states

    states = run(robot(), {"motor": Crashing}, body)
    assert states == [State.ARMED, State.ARMED, State.ARMED, State.ERROR]
    assert len(made) == 4


def test_a_watchdog_bites_once_and_arming_asks_to_clear_it() -> None:
    servo = Servo()

    async def body(rt):
        import asyncio

        rt.arm()
        rt["motor"].direct.set_position(0.5)
        await asyncio.sleep(0.15)
        first = len(servo.told)
        await asyncio.sleep(0.2)
        return first, [type(p).__name__ for p in servo.told]

    first, told = run(robot(watchdog=Watchdog(0.2, Reaction.HOLD)), {"motor": lambda: servo}, body)
    assert first == 1
    assert told == ["Position", "Hold"]


def two(n: int) -> Robot:
    joints = tuple(Joint(f"j{i}", "revolute", "base", f"l{i}", limits=Limits(-3.0, 3.0, velocity=1.0, effort=1.0)) for i in range(n))
    return Robot("many", links=("base", *(f"l{i}" for i in range(n))), joints=joints, actuators=tuple(Actuator(f"m{i}", f"j{i}") for i in range(n)))


def test_healthy_actuators_are_safe_at_once_although_one_hangs() -> None:
    inside, leave = threading.Event(), threading.Event()

    class Hanging(Servo):
        def handle_command(self, payload, command):
            inside.set()
            leave.wait(5.0)

    async def body(rt):
        rt.arm()
        thread = threading.Thread(target=lambda: rt["m0"].direct.set_position(0.1))
        thread.start()
        inside.wait(5.0)
        started = time.monotonic()
        answer = rt.disarm(limit=0.3)
        took = time.monotonic() - started
        leave.set()
        thread.join()
        return answer, took, rt["m1"].direct.set_position(0.1)

    answer, took, after = run(two(4), {"m0": Hanging, **{f"m{i}": Servo for i in range(1, 4)}}, body, WallClock())
    assert list(answer.failures) == ["base/j0/m0"]
    assert "in flight" in answer.failures["base/j0/m0"]
    assert took < 1.0
    assert after.reason in ("not_armed", "stopped")


def test_no_thread_is_left_after_shutdown() -> None:
    before = set(threading.enumerate())

    async def body(rt):
        rt.arm()

        @rt.loop(hz=200)
        def control(k):
            rt["m0"].direct.set_position(0.01)

        import asyncio

        await asyncio.sleep(0.05)

    run(two(3), {f"m{i}": Servo for i in range(3)}, body, WallClock())
    assert set(threading.enumerate()) == before


def test_all_pass_or_none_acts() -> None:
    from pushrod.runtime.payload import Position

    servos = {f"m{i}": Servo() for i in range(3)}

    async def body(rt):
        rt.arm()
        bad = rt.send([("m0", Position(0.1)), ("m1", Position(float("nan"))), ("m2", Position(0.2))])
        none = [list(s.told) for s in servos.values()]
        good = rt.send([("m0", Position(0.1)), ("m2", Position(9.0))])
        return bad, none, good

    bad, none, good = run(two(3), {name: (lambda s=s: s) for name, s in servos.items()}, body)
    assert [result.reason for result in bad] == ["batch", "malformed", "batch"]
    assert none == [[], [], []]
    assert good[0].ok
    assert type(good[1]).__name__ == "Clamped"


def test_a_whole_run_under_the_stepped_clock_repeats_exactly() -> None:
    def once() -> list[tuple[float, str]]:
        async def body(rt):
            import asyncio

            rt.arm()
            watch = rt.bus.subscribe(("actuator",))

            @rt.loop(hz=100)
            def control(k):
                rt["m0"].publish.set_position(0.01 * k)

            async def other():
                for _ in range(5):
                    await asyncio.sleep(0.013)
                    rt["m1"].publish.set_velocity(0.3)

            async with asyncio.TaskGroup() as group:
                group.create_task(other())
            seen = []
            while (m := watch.poll()) is not None:
                seen.append((m.time, repr(m.payload)))
            return seen

        return run(two(2), {"m0": Servo, "m1": Servo}, body)

    first = once()
    assert len(first) > 8
    assert once() == first


def test_what_could_not_be_made_safe_is_told_everywhere(caplog: pytest.LogCaptureFixture) -> None:
    async def body(rt):
        errors, moves = rt.subscribe(("safety", "error")), rt.subscribe(("state_machine",))
        rt.arm()
        rt.disarm()
        told = [errors.poll().payload]
        why = ""
        while (m := moves.poll()) is not None:
            why = m.payload.why
        armed = rt.arm()
        return told, why, armed, rt["motor"].direct.set_position(0.1).detail

    told, why, armed, detail = left_unsafe(body)
    assert told[0].path == ("base", "shoulder", "motor")
    assert told[0].error == "could not be made safe: raised OSError: Hardware communication failed"
    assert why == "base/shoulder/motor: raised OSError: Hardware communication failed"
    assert armed.missing == (f"the robot is in error ({why}). Inspect it, then force_disarm",)
    assert detail == armed.missing[0]
    assert "base/shoulder/motor could not be made safe" in caplog.text


def test_an_error_of_the_program_carries_what_is_not_safe() -> None:
    async def body(rt):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        run(robot(), {"motor": Stuck}, body)
    assert "actuators that are not proven safe: base/shoulder/motor" in caught.value.__notes__[0]


def test_an_estop_that_did_not_make_safe_cannot_be_reset_and_keeps_every_cause() -> None:
    async def body(rt):
        rt.arm()
        rt.estop("button")
        rt.estop("too hot")
        return rt.arm().missing, rt.reset(lambda: False), rt.reset(), rt.state

    missing, present, unsafe, state = left_unsafe(body)
    assert missing == ("the robot is e-stopped (button; too hot). Remove the cause, then reset it",)
    assert (present.refusal, present.missing) == ("cause_present", ("button", "too hot"))
    assert (unsafe.refusal, unsafe.missing) == ("not_safe", ("base/shoulder/motor: raised OSError: Hardware communication failed",))
    assert state is State.ESTOPPED


def test_a_loop_that_hangs_does_not_keep_the_robot_armed() -> None:
    hang, out = threading.Event(), []

    async def body(rt):
        rt.arm()

        @rt.loop(hz=100)
        def control(k):
            out.append(len(DISARMED))
            hang.wait(0.5)

        while not out:
            await asyncio.sleep(0.001)

    started = time.monotonic()
    run(robot(), {"motor": Servo}, body, WallClock())
    assert time.monotonic() - started < 3.0
    assert DISARMED
