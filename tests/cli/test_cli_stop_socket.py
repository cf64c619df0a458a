"""The stop sockets of a served robot, the lock that shows that it is served, and what the verbs print when a robot does not answer."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

pytest.importorskip("zenoh", reason="the extra `net` is not installed: pip install 'pushrod[net]'")

from served import PATIENT, Server, overview

from pushrod.cli.nearby import Serving, served, stop_path
from pushrod.cli.stop_socket import request_stop, stop_sockets
from pushrod.core.errors import InputError
from pushrod.robot import Actuator, Joint, Limits, Robot
from pushrod.runtime import Runtime
from pushrod.runtime.asked import SAFETY

pytestmark = [pytest.mark.usefixtures("here")]
FORK = """
import os, sys, time
from pushrod.cli.nearby import Serving
serving = Serving("forked")
serving.tell("tcp/127.0.0.1:1")
other = os.open(os.devnull, os.O_RDONLY)
child = os.fork()
if child == 0:
    os.fstat(other)  # only the lock was closed
    print(os.getpid(), flush=True)
    os.close(1)
    os.close(0)
    time.sleep(60.0)
sys.stdin.read()
"""


@pytest.fixture
def alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PUSHROD_STATE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("killed", [True, False])
def test_a_forked_child_does_not_keep_the_lock(alone, killed):
    process = subprocess.Popen([sys.executable, "-c", FORK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    child = int(process.stdout.readline())
    try:
        assert [one.robot for one in served()] == ["forked"], "the parent still serves it"
        process.kill() if killed else process.stdin.close()
        process.wait(10.0)
        os.kill(child, 0)
        assert served() == []
        with Serving("forked"):
            assert [one.pid for one in served()] == [os.getpid()]
    finally:
        os.kill(child, signal.SIGKILL)
        process.kill()


def test_a_fork_after_the_robot_has_ended_closes_nothing(alone):
    Serving("brief").close()
    with open(os.devnull) as later:  # it may have the descriptor that the lock had
        child = os.fork()
        if child == 0:
            os.fstat(later.fileno())
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b"[" * 5000,
        json.dumps({"by": 5, "arguments": {"limit": "abc", "why": 5}}).encode(),
        b'{"by": "x", "arguments": {"cause": 1, "limit": 1' + b"0" * 400 + b"}}",
        b'{"by": "x", "arguments": {"limit": 1' + b"0" * 5000 + b"}}",
        b'{"by": "x", "arguments": {"cause": ' + b"[" * 900 + b"]" * 900 + b', "limit": ' + b"[" * 900 + b"]" * 900 + b"}}",
    ],
    ids=range(9),
)
@pytest.mark.parametrize("what", ["disarm", "estop"])
def test_any_datagram_stops_the_robot(lifter, pushrod, what, body):
    pushrod("disarm", "lifter")
    pushrod("reset", "lifter")
    assert pushrod("arm", "lifter").exit_code == 0
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
        asking.bind("")
        asking.settimeout(10.0)
        asking.sendto(body, str(stop_path("lifter", what)))
        answer = json.loads(asking.recv(65536))
    assert (answer["ok"], answer["state"]) == (True, {"disarm": "disarmed", "estop": "estopped"}[what])
    assert answer["ignored"]
    assert overview(pushrod)["state"] == answer["state"]
    pushrod("reset", "lifter")


@pytest.mark.parametrize("error", [RuntimeError("odd"), MemoryError(), SystemExit(1), OSError(12, "no memory"), KeyboardInterrupt()])
@pytest.mark.parametrize("place", ["_read", "_stop", "_reply", "_report"])
def test_no_error_ends_the_thread_of_a_socket(alone, monkeypatch, place, error):
    calls = []

    class Stopped:
        robot = type("Named", (), {"name": "odd"})()

        def disarm(self, reason, limit):
            calls.append(reason)
            return type("Answer", (), {"ok": True, "state": "disarmed", "failures": {}, "why": ""})()

        def report_request(self, *_):
            pass

    def fail(*_):
        monkeypatch.undo()
        raise error

    (alone / "run").mkdir()
    monkeypatch.setattr("pushrod.cli.nearby.state_folder", lambda: alone)
    with stop_sockets(Stopped()), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
        path = str(alone / "run" / "odd.disarm")
        asking.bind("")
        asking.settimeout(5.0)
        monkeypatch.setattr(f"pushrod.cli.stop_socket.{place}", fail)
        asking.sendto(b"{}", path)
        asking.sendto(b"{}", path)
        assert json.loads(asking.recv(65536))["ok"]
    assert calls


def test_a_long_reason_fits_into_a_datagram(lifter):
    answer = asyncio.run(request_stop("lifter", "disarm", "o" * 10**6, {"why": "x" * 10**6}, 5.0))
    assert answer is not None
    assert (answer["ok"], answer["reason"]) == (True, "x" * 500)


ODD = {
    "invalid UTF-8": b"\xff\xfe\xfd",
    "no JSON": b"{",
    "no mapping": b"[1]",
    "deep": b"[" * 60_000,
    "no number": b'{"robot": "x", "endpoint": "y", "pid": 1e999}',
    "another name": b'{"robot": "other", "endpoint": "", "pid": 1}',
    "long": b" " * 10**6,
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_a_damaged_file_of_a_served_robot_still_names_it(alone, content):
    with Serving("a/b.c") as serving:
        os.pwrite(serving._descriptor, content, 0)
        assert [(one.robot, one.endpoint) for one in served()] == [("a/b.c", "")]


@pytest.mark.parametrize("verb", ["estop", "disarm"])
def test_odd_files_beside_a_served_robot_end_no_stop(lifter, state, pushrod, verb):
    run = state / "run"
    os.mkfifo(run / "fifo.served")
    (run / "folder.served").mkdir()
    (run / "loop.served").symlink_to("loop.served")
    (run / "device.served").symlink_to("/dev/zero")
    (run / "odd.served").write_bytes(b"\xff")
    try:
        with Serving("damaged") as damaged:
            os.pwrite(damaged._descriptor, b"\xff\xff", 0)
            start = time.monotonic()
            got = pushrod(verb, "lifter")
            assert (got.exit_code, got.stdout) == (0, {"estop": "lifter: estopped\n", "disarm": "lifter: disarmed\n"}[verb]), got.output
            assert time.monotonic() - start < 3.0
    finally:
        (run / "folder.served").rmdir()
        for name in ("fifo", "loop", "device", "odd"):
            (run / f"{name}.served").unlink()
        pushrod("reset", "lifter")


def test_a_robot_with_a_damaged_file_is_stopped_by_its_socket(lifter, state, pushrod):
    file = state / "run" / "lifter.served"
    before = file.read_bytes()
    try:
        assert pushrod("arm", "lifter").exit_code == 0
        file.write_bytes(b"\xff\xff")
        got = pushrod("disarm", "lifter")
        assert (got.exit_code, got.stdout) == (0, "lifter: disarmed\n"), got.output
    finally:
        file.write_bytes(before)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_used_for_stops_alone(lifter, state, pushrod):
    run, said = state / "run", f"{state / 'run'} belongs to user 65534, not to you. Set $PUSHROD_STATE to a folder of your own"
    assert pushrod("arm", "lifter").exit_code == 0
    os.chown(run, 65534, 65534)
    try:
        for verb in (("arm",), ("reset",), ("top", "--once"), ("cmd", "lifter/motor", "hold")):
            got = pushrod(*verb)
            assert (got.exit_code, got.stderr) == (2, f"error: {said}\n"), (verb, got.output)
        with pytest.raises(InputError, match="belongs to user 65534"):
            Serving("another")
        got = pushrod("disarm")
        assert (got.exit_code, got.stdout, got.stderr) == (0, "lifter: disarmed\n", f"warning: {said}\n")
        got = pushrod("estop")
        assert (got.exit_code, got.stdout, got.stderr) == (0, "lifter: estopped\n", f"warning: {said}\n")
    finally:
        os.chown(run, 0, 0)
        pushrod("reset", "lifter")


def test_a_folder_that_every_user_may_write_to_is_not_trusted(alone):
    run = alone / "run"
    run.mkdir()
    run.chmod(0o777)
    with pytest.raises(InputError, match="every user may write to"):
        served()
    assert served(trusted=False) == []
    run.chmod(0o755)
    assert served() == []


def test_only_the_user_may_send(lifter):
    for what in ("disarm", "estop"):
        assert stop_path("lifter", what).stat().st_mode & 0o777 == 0o600
        assert stop_path("lifter", what).parent.stat().st_mode & 0o077 == 0


def test_words_that_disarm_does_not_know_are_ignored(lifter, pushrod):
    got = pushrod("disarm", "lifter", "right", "now")
    assert (got.exit_code, got.stdout, got.stderr) == (0, "lifter: disarmed\n", "ignored: right now\n")


def test_a_robot_that_gives_no_answer_is_reported_as_not_stopped_with_an_unknown_outcome(state, robot_file, pushrod):
    """Its process was stopped: whether it acts when it goes on is unknown. The exit code is that of a robot that does not answer."""
    with Server(state, robot_file, "--simulation", "--name", "asleep", *PATIENT) as server:
        server.process.send_signal(signal.SIGSTOP)
        try:
            start = time.monotonic()
            got = pushrod("estop", "asleep")
            assert time.monotonic() - start < 30.0
            assert got.exit_code == 4, got.output
            assert got.stderr == "NOT STOPPED: asleep: no answer within 10 s; the outcome is unknown. Check the robot, or switch its power off.\n"
        finally:
            server.process.send_signal(signal.SIGCONT)


def test_the_sockets_are_gone_with_the_robot(state, robot_file, pushrod):
    with Server(state, robot_file, "--simulation", "--name", "short", *PATIENT):
        assert stop_path("short", "estop").exists()
    assert not stop_path("short", "estop").exists()
    assert not stop_path("short", "disarm").exists()
    got = pushrod("disarm", "short")
    assert (got.exit_code, "no robot 'short' is served" in got.stderr) == (4, True), got.output


@pytest.mark.parametrize("verb", [("estop", "smoke", "and fire"), ("disarm", "--no-such-option", "lifter")])
def test_a_terminal_that_takes_no_output_delays_no_stop(lifter, pushrod, verb):
    pushrod("reset", "lifter")
    assert pushrod("arm", "lifter").exit_code == 0
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(4096))
    os.set_blocking(writing, True)
    process = subprocess.Popen([sys.executable, "-m", "pushrod", *verb], stdout=writing, stderr=writing)
    try:
        wanted = {"estop": "estopped", "disarm": "disarmed"}[verb[0]]
        until = time.monotonic() + 20.0
        while (overview(pushrod, "lifter") or {}).get("state") != wanted:  # none where a busy computer gave no answer
            assert time.monotonic() < until
    finally:
        process.kill()
        process.wait()
        os.close(reading)
        os.close(writing)
        pushrod("reset", "lifter")


def test_an_observer_of_requests_that_hangs_delays_no_answer_and_no_further_stop(alone):
    hold = threading.Event()

    async def main():
        limits = Limits(velocity=1.0, effort=1.0)
        one = Robot("watched", links=["a", "b"], joints=[Joint("j", "continuous", "a", "b", limits=limits)], actuators=[Actuator("m", "j")])
        async with Runtime(one, simulation=True, guard=False) as rt:
            rt.bus.subscribe(SAFETY, notify=lambda: hold.wait(10.0))
            stop_path("watched", "estop").parent.mkdir(parents=True, exist_ok=True)
            with stop_sockets(rt):
                for cause in ("smoke", "fire"):
                    answer = await request_stop("watched", "estop", "ann", {"cause": cause}, 3.0)
                    assert (answer["ok"], answer["state"]) == (True, "estopped")
            assert rt.arming.causes == ("smoke, by ann", "fire, by ann")
            hold.set()

    try:
        asyncio.run(main())
    finally:
        hold.set()
