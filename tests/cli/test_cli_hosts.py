"""Hosts that are not there, stop, are several, or leave something that is not safe: what `pushrod serve` and the other verbs say then."""

import json
import os
import re
import signal
import socket
import sys
import threading
import time
from urllib.parse import quote

import pytest

pytest.importorskip("zenoh", reason="the extra `net` is not installed: pip install 'pushrod[net]'")

from served import PATIENT, Server, overview

from net.net_rig import free_port
from net.waiting import until
from pushrod.cli.serve import what_to_do
from pushrod.net import Link, router

pytestmark = [pytest.mark.usefixtures("here"), pytest.mark.on_time]


def test_robots_that_are_not_there(lifter, pushrod, tmp_path, monkeypatch):
    for verb in (("arm", "ghost"), ("disarm", "ghost", "--force"), ("reset", "ghost"), ("top", "ghost"), ("cmd", "ghost/motor", "hold")):
        got = pushrod(*verb)
        assert got.exit_code == 4, got.output
        assert "no robot 'ghost' is served" in got.stderr
        assert "lifter" in got.stderr
    nowhere = f"tcp/127.0.0.1:{free_port()}"
    got = pushrod("arm", "lifter", "--net", nowhere)
    assert got.exit_code == 4
    assert got.stderr.startswith(f"error: no answer at {nowhere} within ")
    for raw in ("Unable", "src/", "zenoh", "Error"):
        assert raw not in got.stderr
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path))
    for verb in (("top",), ("top", "--json"), ("arm",), ("cmd", "motor", "hold")):
        got = pushrod(*verb)
        assert got.exit_code == 4
        assert "no robot is served on this machine" in got.stderr
        assert "pushrod serve MACHINE" in got.stderr


PREFIX = {"estop": "NOT STOPPED: ", "disarm": "NOT DISARMED: "}


@pytest.mark.parametrize("verb", PREFIX)
def test_every_failure_of_a_stop_begins_alike(lifter, pushrod, tmp_path, monkeypatch, verb):
    nowhere = f"tcp/127.0.0.1:{free_port()}"
    files = [tmp_path / name for name in ("ca.pem", "c.pem", "k.pem")]
    cases = [
        (4, ("lifter", "--net", nowhere)),  # no connection
    ]
    for code, words in cases:
        got = pushrod(verb, *words)
        assert got.exit_code == code, got.output
        assert got.stderr.startswith(PREFIX[verb]), got.stderr
        assert got.stdout == ""
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path))
    for words in (("--net", "nonsense"), ("--net", ""), ("--net", f"tls/{nowhere[4:]}", "--tls", *files)):  # no address, no such files
        got = pushrod(verb, *words)
        assert (got.exit_code, got.stdout) == (2, "")
        assert got.stderr.startswith(PREFIX[verb]), got.stderr
    for words in ((), ("--json",), ("--bogus",), ("lifter", "--net")):
        got = pushrod(verb, *words)
        assert got.exit_code == 4, got.output
        assert got.stderr.splitlines()[-1].startswith(PREFIX[verb]), got.stderr


@pytest.mark.parametrize("verb", PREFIX)
def test_an_address_that_cannot_be_used_is_ignored_by_a_stop(lifter, pushrod, tmp_path, monkeypatch, verb):
    files = [tmp_path / name for name in ("ca.pem", "c.pem", "k.pem")]
    cases = [(("--net", "nonsense"), ""), (("--net", ""), ""), (("--net", "tls/localhost:1", "--tls", *files), ""), ((), "foo"), ((), "tcp/")]
    for words, environment in cases:
        pushrod("reset", "lifter")
        assert pushrod("arm", "lifter").exit_code == 0
        monkeypatch.setenv("PUSHROD_NET", environment) if environment else monkeypatch.delenv("PUSHROD_NET", raising=False)
        got = pushrod(verb, *words)
        monkeypatch.delenv("PUSHROD_NET", raising=False)
        assert (got.exit_code, got.stdout) == (0, {"estop": "lifter: estopped\n", "disarm": "lifter: disarmed\n"}[verb]), (words, got.output)
        assert got.stderr.startswith("ignored: --"), got.stderr
        assert got.stderr.endswith("; robots of this machine were stopped instead\n")
    pushrod("reset", "lifter")


def test_a_robot_is_disarmed_whatever_else_is_written(lifter, pushrod):
    cases = [
        ((0, "ignored: --limit abc\n"), ("--limit", "abc", "lifter")),
        ((0, "ignored: abc\n"), ("abc", "lifter")),
        ((0, "ignored: --limit abc\n"), ("--limit", "abc")),
        ((0, "ignored: --limit=3\n"), ("--limit=3",)),
        ((0, "ignored: -x\n"), ("lifter", "-x", "lifter")),
        ((4, "NOT DISARMED: no robot 'ghost' is served; disarmed lifter instead\nignored: ghost\n"), ("ghost",)),
    ]
    for (code, stderr), words in cases:
        assert pushrod("arm", "lifter").exit_code == 0
        got = pushrod("disarm", *words)
        assert (got.exit_code, got.stdout, got.stderr) == (code, "lifter: disarmed\n", stderr), words
    got = pushrod("disarm", "--limit", "abc", "lifter", "--force")
    assert (got.exit_code, got.stdout, got.stderr) == (0, "lifter: disarmed\n", "ignored: --limit abc\n")


def test_a_stop_that_is_interrupted_does_not_say_that_it_stopped(lifter, pushrod, monkeypatch):
    from pushrod.cli import stop_robot

    async def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(stop_robot, "stop_nearby", interrupted)
    for verb, prefix in PREFIX.items():
        got = pushrod(verb, "lifter")
        assert (got.exit_code, got.stderr) == (130, f"\n{prefix}interrupted before an answer came; the outcome is unknown. Check the robot.\n")


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
        until(lambda: any(a["acted"] for a in overview(pushrod, f"mortal{number}")["actuators"]))
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
            assert "2 robots found: lifter, other. Name one of them" in got.stderr
        assert pushrod("cmd", "other/motor", "hold").exit_code == 0
        assert pushrod("estop", "other", "just this one").stdout == "other: estopped\n"
        assert pushrod("reset", "other").exit_code == 0
        got = pushrod("disarm", "ghost")
        assert (got.exit_code, got.stderr) == (4, "NOT DISARMED: no robot 'ghost' is served on this machine; robots found: lifter, other\n")
        got = pushrod("disarm", "other", "lifter", "--json")
        assert [one["robot"] for one in json.loads(got.stdout)["robots"]] == ["other", "lifter"]
        assert pushrod("arm", "other").exit_code == 0
        for words, said in (((), ""), (("smoke",), "no robot named 'smoke' found: stopped all robots. Cause: smoke")):
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
    assert "other: ended (SIGTERM); disarmed, all actuators are safe" in other.said
    assert pushrod("top", "other", "--once").exit_code == 4


def test_robots_and_operators_meet_at_a_router(state, robot_file, pushrod, program):
    end = f"tcp/127.0.0.1:{free_port()}"
    nobody = program("serve", robot_file, "--simulation", "--name", "early", "--via", end, "--patience", "0.3 s")
    assert (nobody.returncode, f"no answer at {end}" in nobody.stderr, "gave up after 0.3 s (--patience)" in nobody.stderr) == (4, True, True), nobody
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
        for verb in (("arm", "twin"), ("cmd", "twin/motor", "hold")):
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
    assert server.said.splitlines()[-2] == "brief: ended (Ctrl-C); disarmed, all actuators are safe"
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
    with Server(state, robot, "--trust", "--name", "victim", "--arm", *PATIENT) as server:
        server.end(signal.SIGKILL)
    records = state / "guard" / quote("victim")
    until(lambda: any('"done"' in file.read_text() for file in records.glob("*.json")))
    again = Server(state, robot, "--trust", "--name", "victim", "--arm", *PATIENT)
    assert again.process.wait(60.0) == 3
    with Server(state, robot, "--trust", "--name", "victim", *PATIENT) as server:
        for text in (server.said, pushrod("top", "victim", columns=200).stdout):
            assert "arming is blocked:" in text
            assert f"run on {socket.gethostname()}: pushrod acknowledge 'victim'" in text
        assert "pushrod acknowledge" in json.loads(pushrod("top", "victim", "--json").stdout)["robots"][0]["missing"][0]
        got = pushrod("arm", "victim")
        assert got.exit_code == 3
        assert "the guard disarmed victim" in got.stderr
        assert f"run on {socket.gethostname()}: pushrod acknowledge 'victim'" in got.stderr
        assert pushrod("acknowledge", "victim").exit_code == 0
        assert "arming is blocked" not in pushrod("top", "victim").stdout
        assert pushrod("arm", "victim").exit_code == 0
        assert pushrod("disarm", "victim").exit_code == 0


def test_a_robot_in_error_says_why_when_it_is_disarmed(state, robot_file, pushrod):
    with Server(state, robot_file, "--simulation", "--name", "tired", "--arm", *PATIENT) as server:
        until(lambda: "guard: " in server.said)
        guard = int(re.search(r"guard: \w+, pid (\d+)", server.said)[1])
        os.kill(guard, signal.SIGTERM)
        why = "the guard has disarmed it: the guard was sent SIGTERM"
        until(lambda: "tired: error" in server.said)
        assert pushrod("disarm", "tired").stdout == f"tired: error ({why}); inspect it, then: pushrod disarm tired --force\n"
        assert pushrod("disarm", "tired", "--force").stdout == "tired: disarmed\n"


def test_where_the_guard_lost_patience_serve_says_how_to_give_it_more(state, robot_file, pushrod):
    advice = "if the computer was only busy, restart with a longer limit: pushrod serve ... --guard-limit '12 s'"
    with Server(state, robot_file, "--simulation", "--name", "paused", "--arm", "--guard-limit", "3 s") as server:
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(4.0)
        server.process.send_signal(signal.SIGCONT)
        until(lambda: advice in server.said)
        assert "paused: error: the guard has disarmed it: no heartbeat for " in server.said
        assert pushrod("disarm", "paused", "--force").exit_code == 0


def test_a_guard_that_acted_for_another_reason_needs_no_more_patience():
    acted = "the guard has disarmed it: "
    assert "--guard-limit '1 s'" in what_to_do(f"{acted}the event loop has not turned for 0.300 s, 0.25 s are allowed", 0.25)
    for why in (f"{acted}the guard was sent SIGTERM", f"{acted}the driver of m is stuck in one call for 10.1 s, 10 s are allowed", "disarmed", ""):
        assert what_to_do(why, 0.25) == ""


def test_what_could_not_be_made_safe_is_named(tmp_path, state, pushrod):
    (tmp_path / "stuck_driver.py").write_text(DRIVER)
    joint = "{kind: continuous, parent: a, child: b, limits: {velocity: 1, effort: 1}}"
    watchdog = "{silence: 10 ms, reaction: release}"
    (tmp_path / "r.yaml").write_text(
        f"robot: stuck\nlinks: [a, b]\njoints:\n  j: {joint}\nactuators:\n  m: {{joint: j, driver: stuck_driver:Motor, watchdog: {watchdog}}}\n"
    )
    with Server(state, tmp_path / "r.yaml", "--trust", "--guard-limit", "20 s") as server:
        assert pushrod("arm", "stuck").exit_code == 0
        assert pushrod("cmd", "stuck/m", "hold").exit_code == 0
        until(lambda: "release" in server.said)  # nobody commands it any more
        shown = pushrod("top", "stuck").stdout
        assert ("held by watchdog" in shown, "pushrod cmd stuck/m clear_watchdog" in shown) == (True, True), shown
        got = pushrod("cmd", "stuck/m", "hold")
        assert (got.exit_code, "find out why, then clear it: pushrod cmd stuck/m clear_watchdog" in got.stderr) == (3, True), got.stderr
        assert pushrod("cmd", "stuck/m", "clear_watchdog").stdout == "stuck/a/j/m: watchdog cleared\n"
        got = pushrod("disarm", "stuck")
        assert got.exit_code == 3
        assert got.stderr.startswith("NOT DISARMED: stuck: error; NOT SAFE: switch its power off")
        assert "a/j/m: raised OSError: the bus is cut" in got.stderr
        got = pushrod("arm", "stuck")
        assert (got.exit_code, "when it is safe: pushrod disarm stuck --force" in got.stderr) == (3, True)
        assert pushrod("disarm", "stuck", "--force").exit_code == 3, "it says what is still not safe"
        assert server.end(signal.SIGTERM) == 3
    assert "error: stuck ended with actuators that are not proven safe: a/j/m" in server.said


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
        assert (got.exit_code, got.stdout) == (0, "locked: estopped\n"), "the user that serves a robot stops it without a certificate"
        assert pushrod("reset", "locked", "--net", end, "--tls", *files["ann"]).exit_code == 0
        assert pushrod("arm", "locked", "--net", end, "--tls", *files["ann"]).exit_code == 0
        for verb in (("disarm", "locked"), ("disarm", "locked", "--force"), ("cmd", "locked/motor", "hold")):
            got = pushrod(*verb, "--net", end, "--tls", *files["bob"])
            assert (got.exit_code, "bob may only watch" in got.stderr) == (3, True), got.output
            assert got.stderr.startswith("NOT DISARMED: ") is (verb[0] == "disarm"), got.stderr
        assert pushrod("top", "--once", "--net", end, "--tls", *files["bob"]).exit_code == 0
        got = pushrod("arm", "locked", "--net", end, "--tls", *files["eve"])
        assert (got.exit_code, "on its access list" in got.stderr) == (4, True), got.output
        until(lambda: "the certificate of 'eve'" in server.said)
        assert f"pushrod top, each with --net {end} --tls AUTHORITY CERTIFICATE KEY\n" in server.said


SLOW = """
import pathlib, time

def note(text):
    with pathlib.Path("{file}").open("a") as file:
        file.write(text + "\\n")

def off(options):
    pass

class Slow:
    disarm = "slow_to_start:off"
    def init(self, context, options):
        note("init")
        time.sleep(0.5)
    def handle_command(self, payload, command):
        pass
    def handle_arming(self, armed):
        note(f"armed {{armed}}")
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_robot_that_is_told_to_end_while_it_starts_is_not_armed(tmp_path, monkeypatch, number):
    notes = tmp_path / "notes"
    (tmp_path / "slow_to_start.py").write_text(SLOW.format(file=notes))
    (tmp_path / "slow.yaml").write_text(
        "robot: slow\nlinks: [a, b]\njoints: {j: {kind: revolute, parent: a, child: b, limits: {lower: -1, upper: 1, velocity: 1, effort: 1}}}\n"
        "actuators: {motor: {joint: j, driver: 'slow_to_start:Slow'}}\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    server = Server(tmp_path, tmp_path / "slow.yaml", "--trust", "--no-log", "--arm", *PATIENT)
    until(lambda: notes.exists() and "init" in notes.read_text(), 60.0)
    assert server.end(number) in (0, 130), server.said
    assert "armed True" not in notes.read_text()
    assert "slow: ended" in server.said
