"""What a newcomer runs into: clocks, defaults, answers, leases that end, and getting up again."""

import asyncio
import logging
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rig import DISARMED, Servo, robot, run

from pushrod.core.errors import InputError
from pushrod.runtime import Declined, LocalBus, SteppedClock, WallClock
from pushrod.runtime import run as run_on
from pushrod.runtime.message import LeaseChanged
from pushrod.runtime.payload import Position
from pushrod.runtime.runtime import Runtime
from pushrod.runtime.simulated import Kinematic


def test_a_runtime_takes_the_clock_it_is_run_by() -> None:
    async def main() -> Any:
        async with Runtime(robot(), {"motor": Servo}) as rt:
            await asyncio.sleep(3600.0)
            return rt.clock.now()

    assert run_on(main(), SteppedClock()) == 3600.0


def test_a_stepped_clock_that_nobody_steps_is_refused() -> None:
    async def main() -> None:
        async with Runtime(robot(), {"motor": Servo}, clock=SteppedClock()):
            raise AssertionError("not reached")

    with pytest.raises(InputError, match=r"its time would never move: pushrod\.runtime\.run\(main\(\), clock\)"):
        asyncio.run(main())


def test_the_first_to_end_leaves_a_shared_clock_to_the_other() -> None:
    async def main(clock: Any) -> Any:
        bus = LocalBus()
        async with Runtime(robot(), {"motor": Kinematic}, clock=clock, bus=bus) as first:
            async with Runtime(replace(robot(), name="other"), {"motor": Servo}, clock=clock):
                pass
            first.arm()
            first["motor"].direct.set_position(0.001, id="a")
            return (await first.motion("motor", "a", timeout=5.0)).reason

    before = set(threading.enumerate())
    for clock in (SteppedClock(), WallClock()):
        assert run_on(main(clock), clock) == "completed"
        assert run_on(main(clock), clock) == "completed"  # and again
    assert set(threading.enumerate()) <= before


def test_disarm_gets_the_defaults_too() -> None:
    class Options(msgspec.Struct, frozen=True):
        id: int
        port: str = "/dev/null"

    class Wired(Servo):
        options = Options

    async def body(rt: Runtime) -> None:
        rt.disarm()

    run(robot(options={"id": 3}), {"motor": Wired}, body)
    assert DISARMED[0] == {"id": 3, "port": "/dev/null", "robot": "r", "path": ["base", "shoulder", "motor"]}


def test_after_it_was_given_up_and_looked_at_it_starts_again(caplog: pytest.LogCaptureFixture) -> None:
    broken = True

    class Moody(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            if broken:
                raise OSError("wire cut")

    async def body(rt: Runtime) -> Any:
        nonlocal broken
        details = []
        for _ in range(4):
            rt.arm()
            rt["motor"].direct.set_position(0.1)
            await asyncio.sleep(0.1)
            details.append(rt["motor"].direct.set_position(0.1).detail)
        given_up = rt.arm().refusal
        broken = False
        rt.force_disarm()
        assert rt.arm().ok
        return details, given_up, rt["motor"].direct.set_position(0.1).ok

    with caplog.at_level(logging.ERROR, "pushrod.runtime"):
        details, given_up, ok = run(robot(), {"motor": Moody}, body)
    assert details[0] == "it was started again after OSError: wire cut"
    assert given_up == "in_error"
    assert ok
    assert "base/shoulder/motor failed and is made safe: OSError: wire cut" in caplog.text
    assert "Traceback" in caplog.text


def test_a_refusal_says_why_arming_was_refused() -> None:
    class Warming(Servo):
        def init(self, context: Any, options: Any) -> Any:
            return lambda: None

    async def body(rt: Runtime) -> Any:
        rt.arm()
        await asyncio.sleep(0.1)
        return rt["motor"].direct.set_position(0.1).detail

    assert run(robot(), {"motor": Warming}, body) == "arming was refused: base/shoulder/motor: it is still being set up"


def test_answers_read_as_sentences() -> None:
    async def body(rt: Runtime) -> Any:
        refused = rt["motor"].direct.set_position(1.0)
        rt.arm()
        return [str(refused), str(rt["motor"].direct.set_position(1.0)), str(rt["motor"].direct.set_position(5.0, velocity=0.5))]

    said = run(robot(), {"motor": Servo}, body)
    assert said == [
        "base/shoulder/motor refused Position: not armed; arm the robot first",
        "accepted",
        "clamped: asked Position(position=5.0, velocity=0.5), done Position(position=3.0, velocity=0.5)",
    ]


def test_where_it_is_when_its_motion_has_ended() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        rt["motor"].direct.set_position(1.0, id="a")
        end = await rt.motion("motor", "a")
        return end.position, rt["motor"].position, rt["motor"].velocity

    assert run(robot(), {"motor": Kinematic}, body) == (1.0, 1.0, 0.0)

    async def nothing_said(rt: Runtime) -> None:
        with pytest.raises(LookupError, match="has reported no positions yet"):
            _ = rt["motor"].position

    run(robot(), {"motor": Servo}, nothing_said)


def test_a_lease_that_runs_out_is_announced_and_gone() -> None:
    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("actuator",), (LeaseChanged,))
        planner = rt.handle("motor", "planner")
        planner.take_lease(1.0)
        await asyncio.sleep(0.5)
        planner.take_lease(1.0)  # renewed
        await asyncio.sleep(0.9)
        held = planner.lease
        await asyncio.sleep(0.2)
        seen = []
        while (m := watch.poll()) is not None:
            seen.append((m.time, m.payload.old, m.payload.new))
        return held, planner.lease, seen

    held, after, seen = run(robot(), {"motor": Servo}, body)
    assert held.owner == "planner"
    assert after is None
    assert seen == [(0.0, None, "planner"), (0.5, "planner", "planner"), (1.5, "planner", None)]


def test_a_driver_may_decline_one_command_and_go_on() -> None:
    class Picky(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            if payload.position < 0.0:
                raise Declined("not backwards while the brake is on")

    async def body(rt: Runtime) -> Any:
        rt.arm()
        declined = rt["motor"].direct.set_position(-0.1)
        return declined.reason, declined.detail, rt["motor"].direct.set_position(0.1).ok

    assert run(robot(), {"motor": Picky}, body) == ("declined", "not backwards while the brake is on", True)
    assert len(DISARMED) == 1  # at the end


def test_a_batch_has_ids_and_a_commander_that_starts_anew_counts_anew() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        rt.send([("motor", Position(0.5), "a")])
        end = await rt.motion("motor", "a")
        rt["motor"].direct.set_position(0.1, sequence=7)
        late = rt["motor"].direct.set_position(0.2, sequence=1).reason
        rt.disarm()
        rt.arm()
        return end.reason, late, rt["motor"].direct.set_position(0.2, sequence=1).ok

    assert run(robot(), {"motor": Kinematic}, body) == ("completed", "sequence", True)


def test_a_driver_reports_an_error_of_its_hardware() -> None:
    class Warm(Servo):
        def handle_command(self, payload: Any, command: Any) -> None:
            self.context.report_error("80 degC")

    async def body(rt: Runtime) -> Any:
        watch = rt.subscribe(("safety", "error"))
        rt.arm()
        rt["motor"].direct.set_position(0.1)
        return watch.poll().payload, str(rt.state)

    error, state = run(robot(), {"motor": Warm}, body)
    assert (error.path, error.error, state) == (("base", "shoulder", "motor"), "80 degC", "armed")


def test_payloads_that_are_none_are_named() -> None:
    class Wrong(Servo):
        command_payloads = ("Position",)

    with pytest.raises(InputError, match="Position"):
        run(robot(), {"motor": Wrong}, lambda rt: asyncio.sleep(0))


@pytest.mark.parametrize(
    ("envelope", "said"),
    [
        ({"sequence": "a"}, "sequence must be a whole number, got 'a'"),
        ({"sequence": 1.5}, "sequence must be a whole number, got 1.5"),
        ({"validity": "1 s"}, "validity must be a number of seconds"),
        ({"validity": -1.0}, "validity must be a number of seconds, finite and not negative, got -1.0"),
        ({"validity": float("nan")}, "validity must be a number"),
        ({"priority": "x"}, "priority must be a whole number, got 'x'"),
        ({"id": 7}, "id must be text, got 7"),
        ({"validity": 1.0, "origin": "now"}, "origin must be a time"),
    ],
)
def test_a_bad_envelope_is_refused_with_its_field(envelope: dict[str, Any], said: str) -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        motor = rt["motor"]
        return [motor.direct.hold(**envelope), await motor.sync.hold(**envelope), motor.publish.hold(**envelope)]

    for answer in run(robot(), {"motor": Servo}, body):
        assert answer.reason == "malformed"
        assert said in answer.detail


def test_a_command_may_say_when_it_was_computed() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        seen = rt.clock.now()
        await asyncio.sleep(0.2)  # long computing
        return rt["motor"].direct.set_position(0.1, origin=seen, validity=0.1), rt["motor"].direct.set_position(0.1, origin=seen, validity=0.3).ok

    late, ok = run(robot(), {"motor": Servo}, body)
    assert (late.reason, ok) == ("stale", True)


def test_waypoints_that_are_no_list_are_refused() -> None:
    async def body(rt: Runtime) -> Any:
        rt.arm()
        return rt["motor"].direct.follow_trajectory(3)  # type: ignore[arg-type]

    assert run(robot(), {"motor": Servo}, body).detail == "waypoints must be a list of waypoints, got 3"


def test_a_batch_with_a_driver_that_blocks_is_refused_as_any_other() -> None:
    class Slow(Servo):
        blocking = True

    async def body(rt: Runtime) -> Any:
        rt.arm()
        return rt.send([("motor", Position(0.5))])

    (answer,) = run(robot(), {"motor": Slow}, body)
    assert answer.reason == "blocking"


def test_slow_set_up_can_be_waited_for() -> None:
    class Warming(Servo):
        def init(self, context: Any, options: Any) -> Any:
            self.ready = threading.Event()
            return lambda: self.ready.wait(5.0)

    async def body(rt: Runtime) -> Any:
        with pytest.raises(TimeoutError, match="these are still being set up: base/shoulder/motor"):
            await rt.ready(0.02)
        rt.hosts["motor"].part.driver.driver.ready.set()
        await rt.ready()
        return rt.arm().ok

    assert run(robot(), {"motor": Warming}, body, WallClock())


def test_a_terminated_program_disarms(tmp_path: Path) -> None:
    """As `systemctl stop`, `docker stop` or a closed terminal do."""
    (tmp_path / "wired.py").write_text(
        "from pathlib import Path\n"
        "def safe(options):\n    Path('safe').write_text('yes')\n"
        "class Servo:\n    disarm = 'wired:safe'\n    def init(self, context, options): pass\n    def handle_command(self, payload, command): pass\n"
    )
    (tmp_path / "program.py").write_text(
        "import asyncio\nfrom pushrod.robot import *\nfrom pushrod.runtime import Runtime, run\n"
        "limits = Limits(-1, 1, velocity=1, effort=1)\n"
        "robot = Robot('r', ['a', 'b'], [Joint('j', 'revolute', 'a', 'b', limits=limits)], [Actuator('m', 'j', 'wired:Servo')])\n"
        "async def main():\n    async with Runtime(robot) as rt:\n"
        "        rt.arm()\n        print('armed', flush=True)\n        await asyncio.sleep(60)\n"
        "run(main())\n"
    )
    program = subprocess.Popen([sys.executable, "program.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stdout.readline() == "armed\n"
    program.terminate()
    assert program.wait(20.0) == 128 + 15
    program.stdout.close()
    assert (tmp_path / "safe").read_text() == "yes"


def test_a_runtime_and_its_actuators_print_as_what_they_are() -> None:
    async def body(rt):
        before = repr(rt), repr(rt["motor"])
        rt.arm()
        return *before, repr(rt), repr(rt.handle("motor", "planner"))

    assert run(robot(), {"motor": Kinematic}, body) == (
        "<Runtime of r: disarmed, 1 actuator>",
        "<actuator base/shoulder/motor of r, as 'local': not armed, at 0>",
        "<Runtime of r: armed, 1 actuator>",
        "<actuator base/shoulder/motor of r, as 'planner': armed, at 0>",
    )


def test_a_package_lists_what_it_offers_before_it_is_used() -> None:
    import pushrod.live

    assert dir(pushrod.live) == sorted(pushrod.live.__all__)
