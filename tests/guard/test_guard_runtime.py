"""A runtime and its guard: who is held, what is told, what happens when the guard is killed, stopped, switched off or cannot do its work."""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import odd_disarm
import pytest

from faults import guard_pid
from pushrod.guard import process, record_file
from pushrod.guard.judge import ARMED
from pushrod.guard.locating import place, plain_flaw
from pushrod.guard.record import acknowledge, not_proven_safe, waiting
from pushrod.guard.settings import record_folder
from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import Guard, HardwareError, Runtime, Skip, State, SteppedClock, Transition, run
from pushrod.runtime.arming import NotSafeError


class Options(msgspec.Struct):
    file: str = ""
    how: str = ""
    gain: float = 1.0


class Motor:
    disarm = "noting:note"
    options = Options

    def init(self, context: Any, options: Any) -> None:
        return

    def handle_command(self, payload: Any, command: Any) -> None:
        return


def robot(n: int = 1, name: str = "guarded", **options: Any) -> Robot:
    return Robot(
        name,
        links=("base", *(f"l{i}" for i in range(n))),
        joints=tuple(Joint(f"j{i}", "continuous", "base", f"l{i}", limits=Limits(velocity=1.0, effort=1.0)) for i in range(n)),
        actuators=tuple(Actuator(f"m{i}", f"j{i}", options=options) for i in range(n)),
    )


def live(body: Callable[[Runtime], Awaitable[Any]], what: Robot, driver: Any = Motor, **runtime: Any) -> Any:
    async def main() -> Any:
        async with Runtime(what, {actuator.name: driver for actuator in what.actuators}, **runtime) as rt:
            return await body(rt)

    return asyncio.run(main())


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20.0):
        while not true():
            await asyncio.sleep(0.002)


def test_the_guard_is_tiny_quick_apart_and_where_the_program_is(tmp_path: Path) -> None:
    class Looking(Motor):
        disarm = "odd_disarm:look"

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        os.kill(guard_pid(rt.guard), signal.SIGTERM)
        await until(lambda: rt.state is State.ERROR)
        await until(lambda: bool(list(record_folder("guarded").glob("*.json"))))

    seen = tmp_path / "seen"
    odd_disarm_look, odd_disarm.look = odd_disarm.look, lambda options: None  # here it would write into the same file
    try:
        live(body, robot(file=str(seen)), Looking)
    finally:
        odd_disarm.look = odd_disarm_look
    there = json.loads(seen.read_text())
    heavy = {"numpy", "numba", "msgspec", "asyncio", "pushrod.runtime", "pathlib", "subprocess", "rich", "typer"}
    assert not heavy & set(there["modules"])
    assert there["cpu"] < 0.25
    assert there["session"] == there["pid"] != os.getpid()
    assert there["cwd"] == os.getcwd()


def test_a_killed_guard_disarms_and_arming_again_starts_another(tmp_path: Path) -> None:
    async def body(rt: Runtime) -> None:
        told = rt.subscribe(("state_machine",), (Transition,))
        errors = rt.subscribe(("safety",), (HardwareError,))
        assert rt.arm().ok
        old = guard_pid(rt.guard)
        os.kill(old, signal.SIGKILL)
        killed = time.monotonic()
        await until(lambda: rt.state is State.ERROR)
        assert time.monotonic() - killed < 0.2
        assert not rt["m0"].direct.set_velocity(0.1).ok
        why = f"the guard process (pid {old}) was ended by SIGKILL"
        await until(lambda: [record.flaw for record in waiting(rt.robot.name)] == [""])
        await until(lambda: told.statistics().waiting == 2 and errors.statistics().waiting == 1)  # reports follow the disarming
        told.poll()
        stop = told.poll().payload
        assert (stop.to, stop.why) == ("error", f"{why}: nothing would disarm the robot if this process failed")
        assert errors.poll().payload == HardwareError(("guard",), f"{why}: disarmed")
        assert why in rt.guard
        assert rt.force_disarm().ok
        [missing] = rt.arm().missing  # like any other fault it is to be acknowledged
        assert why in missing
        [record] = rt.acknowledge()
        assert (record.why, {path: one["result"] for path, one in record.actuators.items()}) == (why, dict.fromkeys(record.actuators, "ok"))
        assert rt.arm().ok
        assert guard_pid(rt.guard) not in (0, old)
        assert rt["m0"].direct.set_velocity(0.1).ok

    live(body, robot(file=str(tmp_path / "notes")))


def test_a_guard_that_is_killed_while_nothing_is_armed_changes_nothing(tmp_path: Path) -> None:
    async def body(rt: Runtime) -> None:
        told = rt.subscribe(("state_machine",))
        os.kill(guard_pid(rt.guard), signal.SIGKILL)
        await until(lambda: "SIGKILL" in rt.guard)
        assert told.poll() is None
        assert rt.arm().ok

    live(body, robot(file=str(tmp_path / "notes")))


@pytest.mark.on_time
@pytest.mark.parametrize("limit", [0.05, 3.0, 60.0])
def test_a_guard_that_was_stopped_does_not_count_as_one(tmp_path: Path, limit: float) -> None:
    """The runtime does not wait for room in its socket, nor for the limit within which the guard acts."""

    async def body(rt: Runtime) -> tuple[str, float]:
        assert rt.arm().ok
        os.kill(guard_pid(rt.guard), signal.SIGSTOP)
        since = time.monotonic()
        await until(lambda: rt.state is State.ERROR)
        return rt.arming.why, time.monotonic() - since

    why, took = live(body, robot(file=str(tmp_path / "notes")), guard=Guard(limit=limit))
    assert ") did not answer for 0.4 s (it was stopped, or hung): the runtime has ended it: nothing would disarm" in why
    assert process.UNANSWERED - 0.1 < took < 0.5


def test_a_guard_that_is_well_answers_all_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "UNANSWERED", 0.3)

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        await asyncio.sleep(0.5)
        assert rt.state is State.ARMED

    live(body, robot(file=str(tmp_path / "notes")))


class Listened:
    """A guard, and what is told of it."""

    def __init__(self, progress: Callable[[], list[process.Progress]] = list, limit: float = 0.05) -> None:
        self.acted: list[str] = []
        self.died: list[str] = []
        self.guard = process.Guarded("heard", Guard(limit=limit), progress, self.acted.append, self.died.append)
        assert self.guard.watch(ARMED).result(20.0) == []


def test_a_process_that_goes_on_hears_what_its_guard_said_before_it_ended() -> None:
    """The heartbeat is held up until the guard has acted and is gone: its last words are still to be read."""
    hold = threading.Event()

    def progress() -> list[process.Progress]:
        while hold.is_set() and Path(f"/proc/{one.guard.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.005)
        return []

    one = Listened(progress)
    hold.set()
    asyncio.run(until(lambda: bool(one.acted or one.died)))
    one.guard.close()
    assert not one.died
    assert one.acted[0].startswith("the guard has disarmed it: no heartbeat for ")


def test_a_guard_is_not_blamed_while_the_thread_that_asks_it_does_not_run() -> None:
    beats: list[float] = []

    def progress() -> list[process.Progress]:
        beats.append(time.monotonic())
        time.sleep(1.5 * process.UNANSWERED if 10 < len(beats) < 14 else 0.0)
        return []

    one = Listened(progress, limit=20.0)
    asyncio.run(until(lambda: len(beats) > 30 or bool(one.died)))
    one.guard.close()
    assert (one.acted, one.died) == ([], [])


def test_a_guard_that_acts_is_given_the_time_of_its_disarm_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It gives no other sign of life meanwhile."""
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path))
    hold = threading.Event()

    def progress() -> list[process.Progress]:
        if hold.is_set():
            hold.clear()
            time.sleep(0.2)
        return []

    one = Listened(progress)
    one.guard.hold({"m0": process.Actuator("odd_disarm:late", {"file": str(tmp_path / "notes")})})
    one.guard.settle(20.0)
    hold.set()
    asyncio.run(until(lambda: (tmp_path / "notes").exists()))
    one.guard.close()
    assert (len(one.acted), one.died) == (1, [])


def test_a_blown_fuse_means_that_the_guard_has_acted_though_it_was_killed_before_it_said_so() -> None:
    one = Listened()
    one.guard.fuse[0] = 1
    os.kill(one.guard.pid, signal.SIGKILL)
    asyncio.run(until(lambda: bool(one.acted or one.died)))
    one.guard.close()
    assert (one.acted, one.died) == (["the guard has disarmed it: the reason did not arrive: see its record"], [])


def test_the_guard_of_a_real_time_process_goes_before_it() -> None:
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(3))
    except OSError:
        pytest.skip("this user may not ask for real-time priority")
    try:
        one = Listened()
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    assert (os.sched_getscheduler(one.guard.pid), os.sched_getparam(one.guard.pid).sched_priority) == (os.SCHED_RR, 4)
    one.guard.close()


def test_a_driver_that_never_comes_back_from_a_call_is_dead(tmp_path: Path) -> None:
    home = threading.Event()

    class Hanging(Motor):
        blocking = True

        def handle_command(self, payload: Any, command: Any) -> None:
            if payload.velocity > 0.5:
                home.wait(30.0)

    async def body(rt: Runtime) -> str:
        assert rt.arm().ok
        assert (await rt["m0"].sync.set_velocity(0.1)).ok
        await asyncio.sleep(0.9)  # idle for longer than a call may take
        assert rt.state is State.ARMED
        rt["m0"].publish.set_velocity(1.0)
        await until(lambda: rt.state is State.ERROR)
        home.set()
        return rt.arming.why

    why = live(body, robot(file=str(tmp_path / "notes")), Hanging, guard=Guard(limit=0.7, call=0.8))
    assert why.startswith("the guard has disarmed it: the driver of base/j0/m0 is stuck in one call for "), why
    assert len((tmp_path / "notes").read_text().splitlines()) >= 1


def test_a_refused_command_does_not_repeat_the_whole_record(tmp_path: Path) -> None:
    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        os.kill(guard_pid(rt.guard), signal.SIGTERM)
        await until(lambda: rt.state is State.ERROR)
        rt.force_disarm()
        await until(lambda: "the guard disarmed guarded" in " ".join(rt.arm().missing))  # its record is whole
        said = str(rt["m0"].direct.set_velocity(0.1))
        assert "arming was refused: " in said
        assert "the guard disarmed guarded" in said
        assert len(said) < 300 < len(rt.arm().missing[0])

    live(body, robot(file=str(tmp_path / "notes")))


def test_without_a_guard_it_arms_only_where_asked_and_shows_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def body(rt: Runtime) -> None:
        told = rt.subscribe(("state_machine",))
        with caplog.at_level(logging.WARNING):
            answer = rt.arm()
        assert answer.ok
        assert answer.note == "guard disabled: actuators stay powered if this process dies or hangs"
        assert told.poll().payload.why == f"armed, {answer.note}"
        assert f"armed, {answer.note}" in caplog.text
        assert repr(rt) == "<Runtime of guarded: armed, 1 actuator, without a guard>"
        assert rt.guard == answer.note

    live(body, robot(file=str(tmp_path / "notes")), guard=False)


def test_on_a_stepped_clock_there_is_none(tmp_path: Path) -> None:
    async def main() -> None:
        async with Runtime(robot(file=str(tmp_path / "notes")), {"m0": Motor}) as rt:
            answer = rt.arm()
            assert (answer.ok, answer.note) == (True, "")
            assert rt.guard == "no guard on a stepped clock: nothing real moves"

    run(main(), SteppedClock())


def test_one_that_asked_to_be_left_out_is_not_held(tmp_path: Path) -> None:
    class Absent(Motor):
        def init(self, context: Any, options: Any) -> None:
            if context.path[-1] == "m1":
                raise Skip("not fitted")

    async def body(rt: Runtime) -> None:
        assert rt.arm().ok
        os.kill(guard_pid(rt.guard), signal.SIGTERM)
        await until(lambda: rt.state is State.ERROR)
        await until(lambda: bool(list(record_folder("guarded").glob("*.json"))))

    live(body, robot(3, file=str(tmp_path / "notes")), Absent)
    [file] = record_folder("guarded").glob("*.json")
    assert list(json.loads(file.read_text())["actuators"]) == ["base/j0/m0", "base/j2/m2"]


def test_a_simulated_robot_is_guarded_too_though_nothing_outlives_it() -> None:
    async def main() -> None:
        async with Runtime(robot(2), simulation=True) as rt:
            assert rt.arm().ok
            os.kill(guard_pid(rt.guard), signal.SIGTERM)
            await until(lambda: rt.state is State.ERROR)
            assert rt.force_disarm().ok
            await until(lambda: rt.arm().ok)  # it is recorded, but there is nothing to look at
            assert rt.acknowledge() == []
            [file] = record_folder("guarded").glob("*.json.seen")
            assert {one["result"] for one in json.loads(file.read_text())["actuators"].values()} == {"in the process"}

    asyncio.run(main())


def test_what_the_guard_cannot_import_is_said_at_arming() -> None:
    odd_disarm.make_later()

    class Made(Motor):
        disarm = "odd_disarm:later"

    async def body(rt: Runtime) -> None:
        answer = rt.arm()
        assert answer.refusal == "checks"
        what = "the guard cannot import its disarm function 'odd_disarm:later': AttributeError: module 'odd_disarm' has no attribute 'later'"
        assert answer.missing == (f"base/j0/m0 and 1 more: {what}",)
        assert rt.state is State.DISARMED

    live(body, robot(2), Made)


def test_a_module_that_starts_a_robot_when_imported_is_told_so() -> None:
    class Starting(Motor):
        disarm = "starts_at_import:off"

    async def body(rt: Runtime) -> str:
        return rt.arm().missing[0]

    assert "this is the guard process, which imports a disarm function: start programs under" in live(body, robot(), Starting)


def test_a_record_that_cannot_be_written_is_said_at_arming(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    async def body(rt: Runtime) -> str:
        return rt.arm().missing[0]

    said = live(body, robot(file=str(tmp_path / "notes")), guard=Guard(state=tmp_path / "file"))
    assert f"no marker of the arming can be written to {tmp_path / 'file'}" in said
    assert "name another folder: PUSHROD_STATE, or Guard(state=...)" in said


SCRIPT = """
    import asyncio, os
    from pushrod.robot import Actuator, Joint, Limits, Robot
    from pushrod.runtime import Runtime


    def off(options):
        with open("off", "a") as out:
            print(os.getpid() == PID, file=out)


    class Motor:
        disarm = "__main__:off"
        def init(self, context, options): pass
        def handle_command(self, payload, command): pass


    PID = None
    joint = Joint("j", "continuous", "a", "b", limits=Limits(velocity=1.0, effort=1.0))
    robot = Robot("script", links=["a", "b"], joints=[joint], actuators=[Actuator("m", "j")])


    async def main():
        global PID
        PID = os.getpid()
        async with Runtime(robot, {"m": Motor}) as rt:
            print(rt.arm(), flush=True)
            if rt.state == "armed":
                os._exit(0)
"""


def script(folder: Path, end: str, *how: str) -> str:
    text = textwrap.dedent(SCRIPT) + end
    (folder / "program.py").write_text(text)
    command = [sys.executable, *(how or ("program.py",))]
    done = subprocess.run([text if word == "TEXT" else word for word in command], cwd=folder, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).replace("\\'", "'")


GUARDED = '\n\nif __name__ == "__main__":\n    asyncio.run(main())\n'


@pytest.mark.parametrize("how", [("program.py",), ("-m", "program")])
def test_a_disarm_function_in_the_script_itself_is_found(how: tuple[str, ...], tmp_path: Path) -> None:
    assert "ok=True" in script(tmp_path, GUARDED, *how)
    off, end = tmp_path / "off", time.monotonic() + 20.0
    while not (off.exists() and off.read_text()) and time.monotonic() < end:
        time.sleep(0.005)
    assert off.read_text() == "False\n"


def test_a_script_that_cannot_be_imported_is_told_what_to_do(tmp_path: Path) -> None:
    said = script(tmp_path, "\n\nasyncio.run(main())\n")
    assert "its disarm function '__main__:off' is in program.py, which the guard process cannot import without running the program again" in said
    assert 'start the program under `if __name__ == "__main__":`, or put it into a module of its own' in said


def test_what_was_typed_in_is_told_what_to_do(tmp_path: Path) -> None:
    said = script(tmp_path, "\n\nasyncio.run(main())\n", "-c", "TEXT")
    assert "'__main__:off' was typed in and is in no file, so that the guard process cannot import it: put it into a module of its own" in said


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    async def body(rt: Runtime) -> None:
        rt.arm()

    live(body, robot(file=str(tmp_path / "notes")))
    files, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(3):
        live(body, robot(file=str(tmp_path / "notes")))
    assert len(os.listdir("/proc/self/fd")) == files
    assert threading.active_count() == threads
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
    assert not [pid for pid in children if "guard" in Path(f"/proc/{pid}/cmdline").read_text()]


class TestWhatCountsAsAlive:
    """Each runs for several times the limit."""

    def still_armed(self, body: Callable[[Runtime], Awaitable[Any]], tmp_path: Path) -> str:
        async def whole(rt: Runtime) -> str:
            assert rt.arm().ok
            await body(rt)
            return f"{rt.state.value} {rt.arming.why}"

        return str(live(whole, robot(file=str(tmp_path / "notes"))))

    def test_a_slow_loop_may_be_slow(self, tmp_path: Path) -> None:
        async def body(rt: Runtime) -> None:
            calls = []

            @rt.loop(hz=1.0)
            def slow(k: int) -> None:
                calls.append(k)
                time.sleep(0.4)

            await until(lambda: len(calls) == 2)

        assert self.still_armed(body, tmp_path) == "armed armed"

    def test_a_loop_that_is_not_vital_may_be_stuck(self, tmp_path: Path) -> None:
        async def body(rt: Runtime) -> None:
            @rt.loop(hz=100.0, vital=False)
            def report(k: int) -> None:
                time.sleep(0.8)

            await asyncio.sleep(0.6)

        assert self.still_armed(body, tmp_path) == "armed armed"

    def test_a_loop_that_was_stopped_is_not_missed(self, tmp_path: Path) -> None:
        async def body(rt: Runtime) -> None:
            @rt.loop(hz=100.0)
            def control(k: int) -> None:
                return

            await asyncio.sleep(0.05)
            control.stop()
            await asyncio.sleep(0.5)

        assert self.still_armed(body, tmp_path) == "armed armed"

    def test_a_program_that_keeps_the_loop_but_commands_is_alive(self, tmp_path: Path) -> None:
        async def body(rt: Runtime) -> None:
            end = time.monotonic() + 0.7
            while time.monotonic() < end:
                assert rt["m0"].direct.set_velocity(0.1).ok

        assert self.still_armed(body, tmp_path) == "armed armed"

    def test_a_program_that_keeps_the_loop_and_does_nothing_is_not(self, tmp_path: Path) -> None:
        async def body(rt: Runtime) -> None:
            time.sleep(0.7)

        assert "error the guard has disarmed it: the event loop has not turned" in self.still_armed(body, tmp_path)

    def test_what_was_disarmed_may_hang(self, tmp_path: Path) -> None:
        async def body(rt: Runtime) -> None:
            rt.disarm()
            time.sleep(0.6)

        assert self.still_armed(body, tmp_path).startswith("disarmed")

    def test_a_disarm_function_that_takes_long_here_is_not_taken_for_a_dead_loop(self) -> None:
        class Slow(Motor):
            disarm = "odd_disarm:slow"

        async def body(rt: Runtime) -> None:
            assert rt.arm().ok
            assert rt.disarm().ok

        live(body, robot(), Slow)
        assert not list(record_folder("guarded").glob("*"))


def test_what_is_no_plain_data_is_named() -> None:
    assert plain_flaw({"port": "/dev/ttyUSB0", 4: (1, 2.0, None, b"x"), "map": {1: [True]}}) == ""
    assert "its option lock = <" in plain_flaw({"port": 1, "lock": threading.Lock()})
    assert "its option deep = [{" in plain_flaw({"deep": [{"a": State.ARMED}]})


def test_a_module_is_named_with_its_file_beside_it() -> None:
    assert place("odd_disarm:look") == ("odd_disarm", "look", odd_disarm.__file__)
    assert place("time:sleep") == ("time", "sleep", "")


@pytest.mark.parametrize("fails", [False, True])
def test_a_robot_that_was_acknowledged_without_being_safe_is_disarmed_at_the_start(
    fails: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The disarm function failed in the guard, and a person has acknowledged the record: the motor may still be powered."""
    calls: list[str] = []

    def disarm(options: dict[str, Any]) -> None:
        calls.append(options["path"][-1])
        if fails:
            raise OSError("bus adapter not found")

    monkeypatch.setattr(odd_disarm, "look", disarm)

    class Driver(Motor):
        disarm = "odd_disarm:look"

    folder = record_folder("guarded")
    os.makedirs(folder)
    one = {"disarm": "odd_disarm:look", "result": "failed", "detail": "OSError: gone", "seconds": 0.1}
    record = {"robot": "guarded", "process": 1, "guard": 1, "seconds": 0.1, "time": 1e9, "why": "it hung", "state": "done"}
    record_file.write(str(folder / "20260101T000000.000Z-1.json"), {**record, "actuators": {"base/j0/m0": one}})
    acknowledge("guarded")

    async def body(rt: Runtime) -> None:
        assert calls == ["m0"]
        assert "its motors may be powered" in caplog.text
        assert rt.state is (State.ERROR if fails else State.DISARMED)
        await until(lambda: bool(not_proven_safe("guarded")) is fails)
        if not fails:
            assert rt.arm().ok

    if fails:
        with pytest.raises(NotSafeError):
            live(body, robot(), Driver)
    else:
        live(body, robot(), Driver)
        live(lambda rt: until(lambda: True), robot(), Driver)
        assert calls == ["m0"] * 3  # at the start and at the end of the first; of the second at its end alone
