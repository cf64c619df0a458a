"""The verbs that reach a served robot: what they say, and with which exit code."""

import asyncio
import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading

import pytest

pytest.importorskip("zenoh", reason="the extra `net` is not installed: pip install 'pushrod[net]'")

from served import overview

from net.waiting import until
from pushrod.log.events import events
from pushrod.log.reader import read
from pushrod.net import Link, connect

pytestmark = [pytest.mark.usefixtures("here"), pytest.mark.on_time]


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
    assert refused.startswith("lifter: arming refused:\n")
    assert refused.endswith("when it is safe: pushrod reset lifter\n")


def logged(file):
    return [event.text for event in events(read(file))]


def test_who_arms_and_stops_is_logged_and_a_second_estop_keeps_its_cause(armed, pushrod, state):
    pushrod("disarm", "--as", "eve", "--why", "lunch")
    pushrod("arm", "--as", "cat")
    pushrod("estop", "smoke", "--as", "ann")
    pushrod("estop", "fire", "--as", "bob")
    assert overview(pushrod)["why"] == "smoke, by ann; fire, by bob"
    assert "lifter  estopped (smoke, by ann; fire, by bob)" in pushrod("top", "lifter").stdout
    assert pushrod("arm", "--as", "dan").exit_code == 3
    assert pushrod("reset", "--as", "dan").exit_code == 0
    for line in (
        "lifter: disarmed: lunch, by eve",
        "lifter: arm by cat: accepted",
        "lifter: estopped: smoke, by ann",
        "lifter: estop by bob (fire): accepted",
        "lifter: arm by dan: refused (estopped)",
        "lifter: reset by dan: accepted",
    ):
        until(lambda line=line: f"{line}\n" in armed.said)
    assert "estop by ann" not in armed.said, "its transition names the operator and the cause"
    (file,) = (state / "runs").glob("lifter-*.mcap")
    wanted = ["disarm by eve (lunch): accepted", "arm by cat: accepted", "estop by ann (smoke): accepted", "estop by bob (fire): accepted"]
    until(lambda: all(any(text == line for line in logged(file)) for text in wanted))


@pytest.mark.parametrize("net", [False, True], ids=["socket", "network"])
def test_a_cause_that_is_not_utf_8_is_printed_and_logged(armed, state, net):
    where = ["--net", f"unixsock-stream/{state}/run/lifter.sock"] if net else []
    words = ["estop", "lifter", "--json", "--as", b"ann \xfe", f"smoke {net} ".encode() + b"\xff", *where]
    done = subprocess.run([sys.executable, "-m", "pushrod", *words], capture_output=True, check=False, timeout=60.0)
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    assert (found["cause"], found["robots"][0]["ok"]) == (f"smoke {net} \\udcff", True)
    (file,) = (state / "runs").glob("lifter-*.mcap")
    until(lambda: f"estop by ann \\udcfe (smoke {net} \\udcff): accepted" in logged(file))
    until(lambda: f"lifter: estopped: smoke {net} \\udcff, by ann \\udcfe" in armed.said)


@pytest.mark.parametrize("verb", ["estop", "disarm"])
@pytest.mark.parametrize("words", [("--bogus",), ("lifter", "--net"), ("--why",), ("-x", "lifter")], ids=" ".join)
def test_a_stop_is_carried_out_whatever_is_written(armed, pushrod, verb, words):
    got = pushrod(verb, *words)
    assert got.exit_code == 0, got.output
    assert got.stdout == ("lifter: estopped\n" if verb == "estop" else "lifter: disarmed\n")


@pytest.mark.parametrize("verb", ["estop", "disarm"])
@pytest.mark.parametrize("before", [("--json",), ("--bogus",), ("--bogus", "value"), ("--json", "--bogus")], ids=" ".join)
def test_options_before_the_verb_prevent_no_stop(armed, pushrod, verb, before):
    got = pushrod(*before, verb)
    assert got.exit_code == 0, got.output
    assert ('"exit_code":0' in got.stdout) == ("--json" in before)
    ignored = [word for word in before if word != "--json"]
    assert got.stderr == (f"ignored: {' '.join(ignored)}\n" if ignored else "")


def test_asking_for_help_stops_nothing(armed, pushrod):
    assert "Usage" in pushrod("--help", "estop").stdout
    assert "armed" in pushrod("top", "--once").stdout


@pytest.mark.parametrize("words", [(), ("--net", ""), ("--as", "motor"), ("--net", "garbage")], ids=" ".join)
def test_force_disarms_what_is_not_in_error(armed, pushrod, words):
    got = pushrod("disarm", "--force", *words)
    assert (got.exit_code, got.stdout) == (0, "lifter: disarmed\n"), got.output


def test_force_disarms_the_only_robot_where_its_name_is_wrong(armed, pushrod):
    got = pushrod("disarm", "--force", "ghost")
    assert (got.exit_code, got.stdout) == (4, "lifter: disarmed\n"), got.output
    assert got.stderr.startswith("NOT DISARMED: no robot 'ghost' is served; disarmed lifter instead")


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
    until(lambda: any(a["commander"] for a in overview(pushrod)["actuators"] if a["name"] == "motor" and (a["velocity"] or 0.0) > 0.0))
    assert pushrod("cmd", "lifter/motor", "stop").exit_code == 0
    waiting.join(30.0)
    assert ended[0].returncode == 1
    assert "cancelled" in ended[0].stdout


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (("motor", "set_position"), "set_position takes one position, got nothing"),
        (("motor", "set_position", "90", "deg"), "put a number with a unit in quotes: '90 deg'"),
        (("motor", "set_position", "high"), "'high' is not a number with a unit"),
        (("motor", "set_position", "90 deg"), "'90 deg' is in deg, which cannot be turned into m"),
        (("motor", "set_position", "nan"), "'nan' is not a number"),
        (("motor", "set_velocity", "1", "--velocity", "2"), "--velocity does not apply to set_velocity; its options: --duration"),
        (("motor", "set_position", "1", "--velocty", "2"), "unknown option --velocty"),
        (("motor", "hold", "--wait"), "--wait does not apply to hold"),
        (("motor", "hold", "5"), "hold takes nothing"),
        (("motor", "hold", "--timeout", "0"), "--timeout 0; allowed: 0 s or more, and above 0 s"),
        (("motor", "wobble"), "verb of pushrod cmd named 'wobble'"),
        (("motor", "stop", "sideways"), "stop: unknown mode 'sideways'; allowed: immediate, decelerate"),
        (("motor", "hold", "--net", "tcp/127.0.0.1:99999"), "--net: 'tcp/127.0.0.1:99999' has no port from 1 to 65535"),
        (("motor", "hold", "--net", "tls/127.0.0.1:7447"), "--net: 'tls/127.0.0.1:7447' needs certificates: give --tls AUTHORITY CERTIFICATE KEY"),
        (("motor", "hold", "--net", "tcp/arm.lan:7447"), "write it as tls/HOST:PORT, and give --tls AUTHORITY CERTIFICATE KEY"),
        (("motor", "trajectory", "gone.yaml"), "no file 'gone.yaml' found"),
        (("motor", "send", "Position", "position=1"), "Position has a verb of its own"),
        (("motor", "send", "Throttle", "u"), "'u' is not a field; write NAME=VALUE"),
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
                ((), 3, "leased by planner"),
                ((), 3, "to take it over, repeat the command with --take-over PRIORITY, a number above that of the holder"),
                (("--take-over", "5"), 3, "leased by planner with priority 5"),
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
        assert select.select([terminal], [], [], 30.0)[0], shown[-3000:].decode(errors="replace")
        shown += os.read(terminal, 65536)
        assert len(shown) < 1_000_000, shown[-3000:].decode(errors="replace")
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # it has closed its end
        while select.select([terminal], [], [], 30.0)[0] and os.read(terminal, 65536):
            pass
    os.close(terminal)
    _, said = process.communicate(timeout=30.0)
    assert process.returncode == 130
    assert said.strip() == b"stopped"


def test_top_as_json_is_one_document(armed, pushrod):
    now = overview(pushrod)
    assert (now["robot"], now["state"]) == ("lifter", "armed")
    assert {one["name"] for one in now["actuators"]} == {"motor", "hook_motor"}
    assert all(topic["rate"] >= 0.0 for topic in now["topics"])


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (("wobble",), "there is no machine named 'wobble'"),
        (("servo",), "the machine servo has no robot"),
        (("car", "--simulation"), "--simulation applies to robot files"),
        (("car", "--dt", "soon"), "--dt: 'soon' is not a number"),
        (("car", "--set", "nope"), "write --set PATH=VALUE"),
        (("car", "--net", "tcp/0.0.0.0:7447"), "open to other machines"),
        (("car", "--net", "tcp/0.0.0.0:7447"), "give --tls AUTHORITY CERTIFICATE KEY, and give --allow-command NAME"),
        (("car", "--via", "tls/meet.lan:7447"), "--via: 'tls/meet.lan:7447' needs certificates: give --tls AUTHORITY"),
        (("car", "--net", "tcp/127.0.0.1:1", "--via", "tcp/127.0.0.1:2"), "exclude each other"),
        (("car", "--guard-limit", "1 m"), "--guard-limit: '1 m' is in m"),
        (("car", "--patience", "0 s"), "--patience: 0 s: allowed are times above 0"),
        (("ROBOT", "--dt", "1 ms"), "--dt applies to machines"),
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
def test_without_the_extra_each_verb_says_what_to_install(asked, tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path))  # a robot of this machine is stopped without the network
    code = f"import sys; sys.modules['zenoh'] = None; sys.argv = ['pushrod', *{asked!r}]\nfrom pushrod.cli.main import main\nmain()"
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert got.returncode == 2, got.stderr
    prefix = {"disarm": "NOT DISARMED", "estop": "NOT STOPPED"}.get(asked[0], "error")
    assert got.stderr.strip() == f"{prefix}: zenoh (network) is not installed. Install with: pip install 'pushrod[net]'"


def test_a_port_that_is_none_is_told_by_the_option_of_the_verb(lifter, pushrod, robot_file):
    pytest.importorskip("nicegui", reason="the extra `dash` is not installed: pip install 'pushrod[dash]'")
    for verb, option in ((("dash", "lifter"), "--port"), (("serve", robot_file), "--dash-port")):
        got = pushrod(*verb, option, 70000)
        assert (got.exit_code, f"error: {option} 70000: a port is a number" in got.stderr) == (2, True), got.output
