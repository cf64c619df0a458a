"""`pushrod serve` in a process of its own, and the verbs that reach it: what they say, and with which exit code."""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("zenoh", reason="the extra `net` is not installed: pip install 'pushrod[net]'")

from net.net_rig import free_port
from net.waiting import until
from pushrod.net import Link, connect, router

PATIENT = ("--guard-limit", "20 s")  # the machine may be busy
ROBOT = """robot: lifter
links: [frame, carriage, hook]
joints:
  lift: {kind: prismatic, parent: frame, child: carriage, limits: {lower: 0 m, upper: 50 cm, velocity: {parameter: speed}, effort: 200 N}}
  turn: {kind: revolute, parent: carriage, child: hook, limits: {lower: -90 deg, upper: 90 deg, velocity: 20, acceleration: 500, effort: 5}}
actuators:
  motor: {joint: lift}
  hook_motor: {joint: turn, limit_policy: reject}
parameters:
  speed: {default: 5 m/s, lo: 0 m/s, unit: m/s}
"""


class Server:
    """`pushrod serve ...`; `said` is all it wrote."""

    def __init__(self, state: Path, *args: object) -> None:
        environment = os.environ | {"PUSHROD_STATE": str(state), "PYTHONUNBUFFERED": "1"}
        environment.pop("PUSHROD_NET", None)
        command = [sys.executable, "-m", "pushrod", "serve", "--out", str(state / "runs"), *map(str, args)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        self.said = ""
        self.ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Server":
        assert self.ready.wait(90.0), self.said
        assert "to command it" in self.said, self.said
        return self

    def __exit__(self, *_: object) -> None:
        self.end(signal.SIGTERM)

    def end(self, number: int) -> int:
        """Send a signal; gives the exit code."""
        self.process.send_signal(number)
        try:
            code = self.process.wait(60.0)
        finally:
            self.process.kill()
        self._reader.join(10.0)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            if "to command it" in line:
                self.ready.set()
        self.ready.set()


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    return tmp_path_factory.mktemp("s")


@pytest.fixture(scope="module")
def robot_file(state):
    (state / "lifter.yaml").write_text(ROBOT)
    return state / "lifter.yaml"


@pytest.fixture(scope="module")
def lifter(state, robot_file):
    with Server(state, robot_file, "--simulation", "--set", "speed=4 m/s", *PATIENT) as server:
        yield server


@pytest.fixture(autouse=True)
def here(state, monkeypatch):
    monkeypatch.setenv("PUSHROD_STATE", str(state))
    monkeypatch.delenv("PUSHROD_NET", raising=False)


@pytest.fixture
def armed(lifter, pushrod):
    """Its actuators at rest, ready to be commanded."""
    pushrod("reset", "lifter")
    got = pushrod("arm", "lifter")
    assert got.exit_code == 0, got.output
    return lifter


def test_serve_says_first_who_is_where_how_guarded_and_how_to_command_it(lifter, state):
    who, guard, log, how, *_ = lifter.said.splitlines()
    assert who == f"lifter: disarmed; at unixsock-stream/{state}/run/lifter.sock"
    assert guard.startswith("  guard: ready, pid ")
    assert guard.endswith("limit 20 s")
    assert log.startswith(f"  log: {state}/runs/lifter-")
    assert how == "  to command it: pushrod arm lifter, then pushrod cmd lifter/hook_motor ..., pushrod top"


def test_each_verb_as_a_program(lifter, program):
    def told(code, *args):
        got = program(*args)
        assert got.returncode == code, got
        return (got.stdout + got.stderr).strip()

    assert told(3, "cmd", "lifter/motor", "set_position", "0.1") == ("lifter: frame/lift/motor refused Position: not armed; arm the robot first")
    assert told(0, "arm", "lifter") == "lifter: armed"
    assert told(0, "cmd", "lifter/motor", "set_position", "10 cm", "--wait").splitlines() == [
        "lifter/frame/lift/motor: accepted",
        "lifter/frame/lift/motor: completed at 0.1 m",
    ]
    assert "lifter  armed" in told(0, "top", "--once")
    assert told(0, "estop", "lifter", "smoke") == "lifter: estopped"
    assert "the robot is e-stopped (smoke, by " in told(3, "arm", "lifter")
    assert told(0, "reset", "lifter") == "lifter: disarmed"
    assert told(0, "disarm", "lifter") == "lifter: disarmed"
    assert "lifter: estopped: smoke, by " in lifter.said


def test_the_robot_may_be_left_out_where_there_is_only_one(armed, pushrod):
    assert pushrod("arm").stdout == "lifter: armed already\n"
    for address in ("motor", "lift/motor", "frame/lift/motor", "lifter/lift/motor"):
        got = pushrod("cmd", address, "hold")
        assert (got.exit_code, got.stdout) == (0, "lifter/frame/lift/motor: accepted\n"), got.output


@pytest.mark.parametrize(("words", "cause"), [((), "pushrod estop"), (("smoke",), "smoke"), (("smoke", "in", "lab"), "smoke in lab")])
def test_an_estop_stops_whatever_is_written(armed, pushrod, words, cause):
    got = pushrod("estop", *words, "--as", "ann")
    assert (got.exit_code, got.stdout) == (0, "lifter: estopped\n"), got.output
    refused = pushrod("arm").stderr
    assert f"the robot is e-stopped ({cause}, by ann)" in refused
    assert refused.endswith("when it is safe: pushrod reset\n")


def test_what_is_clamped_is_told_from_and_to(armed, pushrod):
    got = pushrod("cmd", "lifter/motor", "set_position", "70 cm", "--velocity", "9")
    assert (got.exit_code, got.stdout) == (0, "lifter/frame/lift/motor: clamped: position 0.7 -> 0.5 m, velocity 9 -> 4 m/s\n")


def test_what_is_refused_says_why_and_what_to_do(armed, pushrod):
    got = pushrod("cmd", "hook_motor", "set_position", "100 deg")
    assert got.exit_code == 3
    assert "hook_motor refused Position: limits" in got.stderr
    assert "stay within the limits of the joint" in got.stderr


def test_numbers_below_zero_and_every_verb_of_a_motor(armed, pushrod, tmp_path):
    (tmp_path / "wave.yaml").write_text("trajectory: [{time: 0.3 s, position: 5 deg}, {time: 500 ms, position: 0}]\nrepeat: 2\n")
    for asked in (
        ("set_position", "-0.5", "--duration", "200 ms"),
        ("set_velocity", "-10 deg/s", "--duration", "0.1"),
        ("set_effort", "-.5", "--duration", "0.1 s"),
        ("trajectory", tmp_path / "wave.yaml", "--repeat", "1"),
        ("stop",),
        ("stop", "decelerate"),
    ):
        got = pushrod("cmd", "hook_motor", *asked)
        assert got.exit_code == 0, (asked, got.output)


def test_wait_tells_how_a_motion_ended(armed, pushrod, tmp_path):
    (tmp_path / "wave.yaml").write_text("trajectory: [{time: 0.3 s, position: 5 deg}, {time: 500 ms, position: 0}]\n")
    got = pushrod("cmd", "hook_motor", "trajectory", tmp_path / "wave.yaml", "--wait", "--id", "wave")
    assert got.exit_code == 0, got.output
    assert re.search(r": completed at -?[\d.e-]+ rad\n", got.stdout)
    assert pushrod("cmd", "motor", "set_position", "0.1", "--wait").exit_code == 0
    got = pushrod("cmd", "motor", "set_velocity", "0.001", "--wait", "--timeout", "300 ms")
    assert got.exit_code == 1
    assert "has not ended" in got.stderr


def test_a_motion_that_somebody_else_ends_was_not_completed(armed, program, pushrod):
    assert pushrod("cmd", "motor", "set_position", "0.1", "--wait").exit_code == 0
    ended = []
    waiting = threading.Thread(target=lambda: ended.append(program("cmd", "lifter/motor", "set_velocity", "0.0001", "--wait", "--id", "slow")))
    waiting.start()
    until(lambda: any(a["commander"] for a in _overview(pushrod)["actuators"] if a["name"] == "motor" and (a["velocity"] or 0.0) > 0.0))
    assert pushrod("cmd", "lifter/motor", "stop").exit_code == 0
    waiting.join(30.0)
    assert ended[0].returncode == 1
    assert "cancelled" in ended[0].stdout


def _overview(pushrod, robot="lifter"):
    return json.loads(pushrod("top", robot, "--json").stdout)["robots"][0]["overview"]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (("motor", "set_position"), "set_position takes one position, got nothing"),
        (("motor", "set_position", "90", "deg"), "a number with a unit is one: '90 deg'"),
        (("motor", "set_position", "high"), "'high' is not a number with a unit"),
        (("motor", "set_position", "90 deg"), "'90 deg' is in deg, which cannot be turned into m"),
        (("motor", "set_position", "nan"), "'nan' is not a number"),
        (("motor", "set_velocity", "1", "--velocity", "2"), "--velocity does not go with set_velocity, which takes --duration"),
        (("motor", "set_position", "1", "--velocty", "2"), "there is no option --velocty"),
        (("motor", "hold", "--wait"), "--wait does not go with hold"),
        (("motor", "hold", "5"), "hold takes nothing"),
        (("motor", "hold", "--timeout", "0"), "--timeout be longer than 0 s"),
        (("motor", "wobble"), "verb of pushrod cmd named 'wobble'"),
        (("motor", "stop", "sideways"), "stop: 'sideways' is no way to stop; write immediate or decelerate"),
        (("motor", "hold", "--net", "tcp/127.0.0.1:99999"), "--net: 'tcp/127.0.0.1:99999' has no port from 1 to 65535"),
        (("motor", "hold", "--net", "tls/127.0.0.1:7447"), "--net: 'tls/127.0.0.1:7447' needs certificates: give --tls AUTHORITY CERTIFICATE KEY"),
        (("motor", "hold", "--net", "tcp/arm.lan:7447"), "write it as tls/HOST:PORT, and give --tls AUTHORITY CERTIFICATE KEY"),
        (("motor", "trajectory", "gone.yaml"), "there is no file 'gone.yaml'"),
        (("motor", "send", "Position", "position=1"), "for Position there is a verb of its own"),
        (("motor", "send", "Throttle", "u"), "'u' is no field: write NAME=VALUE"),
        (("lifter/", "hold"), "names no actuator"),
        (("lifter/moter", "hold"), "did you mean 'motor'"),
        (("lifter/turn/motor", "hold"), "'motor' is at frame/lift/motor"),
    ],
)
def test_wrong_input_is_told_and_ends_with_2(lifter, pushrod, asked, text):
    got = pushrod("cmd", *asked)
    assert got.exit_code == 2, got.output
    assert text in " ".join(got.stderr.split()).replace("│ ", "")


def test_a_trajectory_file_is_checked_by_line(lifter, pushrod, tmp_path):
    (tmp_path / "wave.yaml").write_text("trajectory:\n- {time: 1 s, position: 5 cm}\n- {time: 0.5 s, position: 5 deg}\nrepeet: 2\n")
    got = pushrod("cmd", "motor", "trajectory", tmp_path / "wave.yaml", "--repeat", "0")
    assert got.exit_code == 2
    for text in ("wave.yaml:3: trajectory[1].time: 0.5 s is not later", "wave.yaml:3: trajectory[1].position", "wave.yaml:4: repeet", "--repeat 0"):
        assert text in got.stderr, got.stderr


def test_what_a_driver_does_not_take_is_refused(armed, pushrod):
    got = pushrod("cmd", "motor", "send", "Throttle", "u=0.5")
    assert got.exit_code == 3
    assert "refused Throttle: unsupported (it accepts Effort, Hold, Position" in got.stderr


def test_a_lease_of_another_is_refused_or_taken_over_for_one_command(armed, pushrod, state):
    async def main() -> None:
        async with await connect("lifter", Link(connect=f"unixsock-stream/{state}/run/lifter.sock"), operator="planner") as remote:
            assert await remote["motor"].take_lease(priority=5)
            for more, code, text in (
                ((), 3, "held by planner"),
                (("--take-over", "5"), 3, "held by planner with priority 5"),
                (("--take-over", "6"), 0, "accepted"),
            ):
                got = await asyncio.to_thread(pushrod, "cmd", "motor", "hold", "--as", "person", *more)
                assert (got.exit_code, text in got.output) == (code, True), got.output
            assert all(now.lease != "person" for now in (await remote.overview()).actuators)

    asyncio.run(main())


def test_top_shows_everything_also_on_a_narrow_terminal(armed, pushrod):
    pushrod("cmd", "motor", "hold", "--as", "ann")
    wide, narrow = pushrod("top", "--once", columns=140).stdout, pushrod("top", "lifter", "--once", columns=50).stdout
    assert max(map(len, narrow.splitlines())) <= 50
    for heading in ("position", "velocity", "effort", "commander", "lease", "silence", "refused", "rate", "age", "dropped"):
        assert heading in wide
    motor = next(line for line in wide.splitlines() if line.strip().startswith("motor"))
    assert "armed" in motor
    assert re.search(r"[\d.]+ m .* m/s .* ann ", motor), motor
    assert re.search(r"commander\s+ann", narrow)
    assert "rate" in narrow


def test_top_on_a_terminal_goes_on_until_ctrl_c(armed, state):
    terminal, program = os.openpty()
    environment = os.environ | {"PUSHROD_STATE": str(state), "COLUMNS": "120", "LINES": "40", "TERM": "xterm"}
    process = subprocess.Popen([sys.executable, "-m", "pushrod", "top"], stdout=program, stderr=subprocess.PIPE, env=environment)
    os.close(program)
    shown = b""
    while shown.count(b"hook_motor") < 6:  # each look names it twice
        shown += os.read(terminal, 65536)
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # it has closed its end
        while os.read(terminal, 65536):
            pass
    os.close(terminal)
    _, said = process.communicate(timeout=30.0)
    assert process.returncode == 130
    assert said.strip() == b"stopped"


def test_top_as_json_is_one_document(armed, pushrod):
    now = _overview(pushrod)
    assert (now["robot"], now["state"]) == ("lifter", "armed")
    assert {one["name"] for one in now["actuators"]} == {"motor", "hook_motor"}
    assert all(topic["rate"] >= 0.0 for topic in now["topics"])


def test_robots_that_are_not_there(lifter, pushrod, tmp_path, monkeypatch):
    for verb in (("arm", "ghost"), ("disarm", "ghost"), ("reset", "ghost"), ("top", "ghost"), ("cmd", "ghost/motor", "hold")):
        got = pushrod(*verb)
        assert got.exit_code == 4, got.output
        assert "no robot 'ghost' is served" in got.stderr
        assert "lifter" in got.stderr
    nowhere = f"tcp/127.0.0.1:{free_port()}"
    got = pushrod("arm", "lifter", "--net", nowhere)
    assert got.exit_code == 4
    assert f"nobody answers at {nowhere}" in got.stderr
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path))
    for verb in (("top",), ("top", "--json"), ("arm",), ("cmd", "motor", "hold")):
        got = pushrod(*verb)
        assert got.exit_code == 4
        assert "no robot is served on this machine" in got.stderr
        assert "pushrod serve MACHINE" in got.stderr


def test_a_host_that_is_stopped_does_not_answer(state, robot_file, pushrod):
    with Server(state, robot_file, "--simulation", "--name", "frozen", *PATIENT) as server:
        server.process.send_signal(signal.SIGSTOP)
        try:
            got = pushrod("arm", "frozen")
            assert got.exit_code == 4, got.output
            got = pushrod("top", "frozen", "--once")
            assert got.exit_code == 4, got.output
        finally:
            server.process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_who_waits_is_told_that_the_host_has_gone(state, robot_file, program, pushrod, number):
    with Server(state, robot_file, "--simulation", "--name", f"mortal{number}", "--arm", *PATIENT) as server:
        ended = []
        asked = ("cmd", f"mortal{number}/motor", "set_velocity", "0.0001", "--wait")
        waiting = threading.Thread(target=lambda: ended.append(program(*asked)))
        waiting.start()
        until(lambda: any(a["acted"] for a in _overview(pushrod, f"mortal{number}")["actuators"]))
        try:
            server.process.send_signal(number)
            waiting.join(20.0)
        finally:
            server.process.send_signal(signal.SIGCONT)
        assert ended[0].returncode == 4, ended
        assert f"the host of mortal{number} vanished" in ended[0].stderr, ended


def test_two_robots_must_be_told_apart_and_one_is_served_once(lifter, state, robot_file, pushrod, program):
    twice = program("serve", robot_file, "--simulation")
    assert twice.returncode == 2
    assert f"the robot 'lifter' is served on this machine already (pid {lifter.process.pid}, at unixsock-stream/" in twice.stderr
    end = f"tcp/127.0.0.1:{free_port()}"
    with Server(state, robot_file, "--simulation", "--name", "other", "--net", end, "--arm", *PATIENT) as other:
        assert other.said.startswith(f"other: armed; at {end}\n  guard: watching")
        assert {one["robot"] for one in json.loads(pushrod("top", "--json").stdout)["robots"]} == {"lifter", "other"}
        for verb in (("disarm",), ("cmd", "motor", "hold")):
            got = pushrod(*verb)
            assert got.exit_code == 2
            assert "2 robots are there, lifter, other: say which one is meant" in got.stderr
        assert pushrod("cmd", "other/motor", "hold").exit_code == 0
        assert pushrod("estop", "other", "just this one").stdout == "other: estopped\n"
        assert pushrod("reset", "other").exit_code == 0
        for words, said in (((), ""), (("smoke",), "no robot there is named 'smoke': all are stopped, for 'smoke'")):
            got = pushrod("estop", *words)
            assert (got.exit_code, sorted(got.stdout.splitlines())) == (0, ["lifter: estopped", "other: estopped"]), got.output
            assert said in got.stderr
            for name in ("lifter", "other"):
                assert pushrod("reset", name).exit_code == 0
        assert pushrod("arm", "other").exit_code == 0
        assert pushrod("cmd", "motor", "hold", "--net", end).exit_code == 0
        taken = program("serve", robot_file, "--simulation", "--name", "third", "--net", end)
        assert taken.returncode == 4
        assert f"cannot listen at {end}" in taken.stderr
        assert other.end(signal.SIGTERM) == 0
    assert "other: ended (SIGTERM); disarmed, all is safe" in other.said
    assert pushrod("top", "other", "--once").exit_code == 4


def test_robots_and_operators_meet_at_a_router(state, robot_file, pushrod, program):
    end = f"tcp/127.0.0.1:{free_port()}"
    nobody = program("serve", robot_file, "--simulation", "--name", "early", "--via", end, "--patience", "0.3 s")
    assert (nobody.returncode, f"nobody answers at {end}" in nobody.stderr, "waited for 0.3 s (--patience)" in nobody.stderr) == (4, True, True), (
        nobody
    )
    with router(Link(end)), Server(state, robot_file, "--simulation", "--name", "met", "--via", end, "--arm", *PATIENT) as server:
        assert server.said.startswith(f"met: armed; at the router at {end}\n")
        for where in ((), ("--net", end)):
            got = pushrod("cmd", "met/motor", "hold", *where)
            assert got.exit_code == 0, got.output
        seen = json.loads(pushrod("top", "met", "--json", "--net", end).stdout)["robots"]
        assert [(one["robot"], one["overview"]["state"]) for one in seen] == [("met", "armed")]


def test_of_two_hosts_of_one_name_all_are_stopped_and_none_is_commanded(state, robot_file, pushrod, tmp_path):
    end = f"tcp/127.0.0.1:{free_port()}"
    how = (robot_file, "--simulation", "--name", "twin", "--via", end, "--arm", *PATIENT)
    at = ("--net", end)
    with router(Link(end)), Server(tmp_path / "a", *how) as one, Server(tmp_path / "b", *how) as other:
        pids = {one.process.pid, other.process.pid}
        for server in (one, other):
            until(lambda server=server: "twin: another host of a robot of this name is on the network" in server.said)
        for verb in (("arm", "twin"), ("cmd", "twin/motor", "hold"), ("disarm", "twin", "--force")):
            got = pushrod(*verb, *at)
            assert (got.exit_code, "2 hosts answer for the robot 'twin'" in got.stderr) == (4, True), got.output
        shown = pushrod("top", "--once", *at)
        assert shown.exit_code == 0, shown.output
        assert all(f"pid {pid}): end all but one;  armed" in shown.stdout for pid in pids), shown.stdout
        got = pushrod("disarm", "twin", *at)
        lines = {f"twin ({socket.gethostname()}, pid {pid}): disarmed" for pid in pids}
        assert (got.exit_code, set(got.stdout.splitlines())) == (0, lines), got.output
        got = pushrod("estop", "twin", "smoke", "--json", *at)
        told = json.loads(got.stdout)
        assert (got.exit_code, [one["state"] for one in told["robots"]]) == (0, ["estopped", "estopped"]), got.output
        assert len({one["host"] for one in told["robots"]}) == 2
        other.process.send_signal(signal.SIGSTOP)
        try:
            until(lambda: pushrod("disarm", "twin", *at).stdout == "twin: estopped\n")  # the other one has gone, and this one is alone
        finally:
            other.process.send_signal(signal.SIGCONT)


def test_ctrl_c_disarms_and_says_so(state, robot_file):
    with Server(state, robot_file, "--simulation", "--name", "brief", "--arm", *PATIENT) as server:
        assert server.end(signal.SIGINT) == 130
    assert server.said.splitlines()[-2] == "brief: ended (Ctrl-C); disarmed, all is safe"
    assert "Traceback" not in server.said
    assert not list((state / "run").glob("brief*"))


DRIVER = """
class Motor:
    disarm = f"{__name__}:torque_off"
    def init(self, context, options): ...
    def handle_command(self, payload, command): ...

def torque_off(options):
    raise OSError("the bus is cut")
"""


DRIVEN = """robot: stuck
links: [a, b]
joints:
  j: {{kind: continuous, parent: a, child: b, limits: {{velocity: 1, effort: 1}}}}
actuators:
  m: {{joint: j, driver: {}:Motor}}
"""


def test_after_kill_9_a_robot_is_not_armed_until_somebody_has_looked(state, tmp_path, pushrod):
    (tmp_path / "calm_driver.py").write_text(DRIVER.replace('raise OSError("the bus is cut")', "pass"))
    (tmp_path / "r.yaml").write_text(DRIVEN.format("calm_driver"))
    robot = tmp_path / "r.yaml"
    with Server(state, robot, "--name", "victim", "--arm", *PATIENT) as server:
        server.end(signal.SIGKILL)
    records = state / "guard" / quote("victim")
    until(lambda: any('"done"' in file.read_text() for file in records.glob("*.json")))
    again = Server(state, robot, "--name", "victim", "--arm", *PATIENT)
    assert again.process.wait(60.0) == 3
    with Server(state, robot, "--name", "victim", *PATIENT):
        got = pushrod("arm", "victim")
        assert got.exit_code == 3
        assert "the guard disarmed victim" in got.stderr
        assert f"run on {socket.gethostname()}, which drives it: pushrod acknowledge 'victim'" in got.stderr
        assert pushrod("acknowledge", "victim").exit_code == 0
        assert pushrod("arm", "victim").exit_code == 0
        assert pushrod("disarm", "victim").exit_code == 0


def test_a_robot_in_error_says_why_when_it_is_disarmed(state, robot_file, pushrod):
    with Server(state, robot_file, "--simulation", "--name", "tired", "--arm", *PATIENT) as server:
        until(lambda: "guard: " in server.said)
        guard = int(re.search(r"guard: \w+, pid (\d+)", server.said)[1])
        os.kill(guard, signal.SIGTERM)
        why = "the guard has disarmed it: the guard was sent SIGTERM"
        until(lambda: "tired: error" in server.said)
        assert pushrod("disarm", "tired").stdout == f"tired: error ({why}); look at it, then: pushrod disarm --force\n"
        assert pushrod("disarm", "tired", "--force").stdout == "tired: disarmed\n"


def test_what_could_not_be_made_safe_is_named(tmp_path, state, pushrod):
    (tmp_path / "stuck_driver.py").write_text(DRIVER)
    joint = "{kind: continuous, parent: a, child: b, limits: {velocity: 1, effort: 1}}"
    watchdog = "{silence: 10 ms, reaction: release}"
    (tmp_path / "r.yaml").write_text(
        f"robot: stuck\nlinks: [a, b]\njoints:\n  j: {joint}\nactuators:\n  m: {{joint: j, driver: stuck_driver:Motor, watchdog: {watchdog}}}\n"
    )
    with Server(state, tmp_path / "r.yaml", "--guard-limit", "20 s") as server:
        assert pushrod("arm", "stuck").exit_code == 0
        assert pushrod("cmd", "stuck/m", "hold").exit_code == 0
        until(lambda: "release" in server.said)  # nobody commands it any more
        got = pushrod("cmd", "stuck/m", "hold")
        assert (got.exit_code, "find out why, then clear it; pushrod cmd stuck/m clear_watchdog" in got.stderr) == (3, True), got.stderr
        assert pushrod("cmd", "stuck/m", "clear_watchdog").stdout == "stuck/a/j/m: its watchdog is cleared\n"
        got = pushrod("disarm", "stuck")
        assert got.exit_code == 3
        assert "NOT SAFE" in got.stderr
        assert "a/j/m: raised OSError: the bus is cut" in got.stderr
        got = pushrod("arm", "stuck")
        assert (got.exit_code, "when it is safe: pushrod disarm --force" in got.stderr) == (3, True)
        assert pushrod("disarm", "stuck", "--force").exit_code == 3, "it says what is still not safe"
        assert server.end(signal.SIGTERM) == 3
    assert "error: stuck was left although not everything is proven safe: a/j/m" in server.said


def test_a_shipped_machine_takes_payloads_of_its_own(state, pushrod):
    with Server(state, "car", "--arm", *PATIENT):
        got = pushrod("cmd", "car/controls", "send", "Actuation", "accel=1.5", "steer=10 deg")
        assert (got.exit_code, got.stdout) == (0, "car/body/steering/controls: clamped: accel 1.5 -> 1\n"), got.output
        got = pushrod("cmd", "car/controls", "send", "Actuation", "accel=much")
        assert (got.exit_code, "malformed" in got.stderr) == (3, True)


def test_certificates_decide_who_may_do_what(robot_file, pushrod, tmp_path, monkeypatch):
    from net.certificates import Authority

    authority = Authority(tmp_path / "ca")
    files = {name: tuple(authority.issue(name).values()) for name in ("host", "ann", "bob", "eve")}
    end = f"tls/127.0.0.1:{free_port()}"
    lists = ("--allow-command", "ann", "--allow-watch", "bob")
    state = tmp_path / "apart"
    monkeypatch.setenv("PUSHROD_STATE", str(state))
    with Server(state, robot_file, "--simulation", "--name", "locked", "--net", end, "--tls", *files["host"], *lists, *PATIENT) as server:
        got = pushrod("arm", "locked")
        assert (got.exit_code, "with certificates: give --net tls/NAME:PORT" in got.stderr) == (4, True), got.output
        for verb in (("arm",), ("top", "--once"), ("cmd", "motor", "hold")):
            for with_files in ((), ("--tls", *files["ann"])):
                got = pushrod(*verb, *with_files)
                said = f"locked is served at {end}, with certificates: give --net tls/NAME:PORT and --tls AUTHORITY CERTIFICATE KEY"
                assert (got.exit_code, said in got.stderr) == (4, True), got.output
        got = pushrod("estop")
        assert (got.exit_code, "locked: NOT STOPPED: " in got.stderr) == (4, True), got.output
        assert pushrod("arm", "locked", "--net", end, "--tls", *files["ann"]).exit_code == 0
        for verb in (("disarm", "locked"), ("cmd", "locked/motor", "hold")):
            got = pushrod(*verb, "--net", end, "--tls", *files["bob"])
            assert (got.exit_code, "bob may only watch" in got.stderr) == (3, True), got.output
        assert pushrod("top", "--once", "--net", end, "--tls", *files["bob"]).exit_code == 0
        got = pushrod("arm", "locked", "--net", end, "--tls", *files["eve"])
        assert (got.exit_code, "on its access list" in got.stderr) == (4, True), got.output
        until(lambda: "the certificate of 'eve'" in server.said)
        assert f"pushrod top, each with --net {end} --tls AUTHORITY CERTIFICATE KEY\n" in server.said


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (("wobble",), "there is no machine named 'wobble'"),
        (("servo",), "the machine servo has no robot"),
        (("car", "--simulation"), "--simulation is for robot files"),
        (("car", "--dt", "soon"), "--dt: 'soon' is not a number"),
        (("car", "--set", "nope"), "write --set PATH=VALUE"),
        (("car", "--net", "tcp/0.0.0.0:7447"), "open to other machines"),
        (("car", "--net", "tcp/0.0.0.0:7447"), "give --tls AUTHORITY CERTIFICATE KEY, and give --allow-command NAME"),
        (("car", "--via", "tls/meet.lan:7447"), "--via: 'tls/meet.lan:7447' needs certificates: give --tls AUTHORITY"),
        (("car", "--net", "tcp/127.0.0.1:1", "--via", "tcp/127.0.0.1:2"), "say one of both"),
        (("car", "--guard-limit", "1 m"), "--guard-limit: '1 m' is in m"),
        (("car", "--patience", "0 s"), "--patience: 0 s: allowed are times above 0"),
        (("ROBOT", "--dt", "1 ms"), "--dt is the tick of a machine's world"),
        (("ROBOT",), "name no driver"),
        (("ROBOT", "--simulation", "--set", "sped=1"), "there is no parameter named 'sped'"),
        (("car", "--tls", "a", "b", "c"), "--tls AUTHORITY: there is no file 'a'"),
    ],
)
def test_what_cannot_be_served_ends_with_2(pushrod, robot_file, asked, text, tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path))
    got = pushrod("serve", *(robot_file if word == "ROBOT" else word for word in asked))
    assert got.exit_code == 2, got.output
    assert text in got.stderr


@pytest.mark.parametrize(
    "asked", [("serve", "car"), ("top",), ("cmd", "a/b", "hold"), ("arm",), ("disarm",), ("estop",), ("reset",)], ids=lambda a: a[0]
)
def test_without_the_extra_each_verb_says_what_to_install(asked):
    code = f"import sys; sys.modules['zenoh'] = None; sys.argv = ['pushrod', *{asked!r}]\nfrom pushrod.cli.main import main\nmain()"
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert got.returncode == 2, got.stderr
    assert got.stderr.strip() == "error: this verb needs the network, which is not installed: pip install 'pushrod[net]'"
