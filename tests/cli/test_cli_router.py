"""`pushrod router`: a meeting point of robots and operators, with its list; and robots that wait for it, or cannot be seen through it."""

import os
import signal
import subprocess
import sys
import threading

import pytest

pytest.importorskip("zenoh", reason="the extra `net` is not installed: pip install 'pushrod[net]'")

from net.certificates import Authority
from net.net_rig import free_port
from net.waiting import until

pytestmark = pytest.mark.on_time

ROBOT = """robot: lifter
links: [frame, carriage]
joints:
  lift: {kind: prismatic, parent: frame, child: carriage, limits: {lower: 0 m, upper: 50 cm, velocity: 1, effort: 200 N}}
actuators:
  motor: {joint: lift}
"""


class Program:
    """`pushrod ...` in a process of its own; `said` is all it wrote."""

    def __init__(self, state, *args):
        environment = os.environ | {"PUSHROD_STATE": str(state), "PYTHONUNBUFFERED": "1"}
        environment.pop("PUSHROD_NET", None)
        command = [sys.executable, "-m", "pushrod", *map(str, args)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        self.said = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.said += line

    def says(self, text, timeout=60.0):
        until(lambda: text in self.said or self.process.poll() is not None, timeout)
        assert text in self.said, self.said

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        try:
            return self.process.wait(30.0)
        finally:
            self.process.kill()
            self._reader.join(10.0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


@pytest.fixture
def robot(tmp_path):
    (tmp_path / "lifter.yaml").write_text(ROBOT)
    return tmp_path / "lifter.yaml"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_robot_waits_for_the_router_and_is_met_there(tmp_path, robot, pushrod, number, code):
    end = f"tcp/127.0.0.1:{free_port()}"
    with Program(tmp_path, "serve", robot, "--simulation", "--no-log", "--via", end, "--guard-limit", "20 s") as served:
        served.says(f"lifter: waiting up to 30 s for the router: no answer at {end}")
        with Program(tmp_path, "router", end) as meeting:
            meeting.says(f"router at {end}; a robot: pushrod serve MACHINE --via {end}; an operator: pushrod top --net {end}")
            served.says("to command it")
            got = pushrod("arm", "lifter", "--net", end)
            assert (got.exit_code, got.stdout) == (0, "lifter: armed\n"), got.output
            assert "NOT SEEN" not in served.said
            assert meeting.end(number) == code
            assert f"router: ended ({signal.Signals(number).name})" in meeting.said


def test_a_robot_that_still_waits_can_be_ended(tmp_path, robot):
    with Program(tmp_path, "serve", robot, "--simulation", "--no-log", "--via", f"tcp/127.0.0.1:{free_port()}") as served:
        served.says("s for the router: no answer")
        assert served.end(signal.SIGINT) == 130


def test_a_robot_whose_certificate_the_router_does_not_name_is_told_that_nobody_sees_it(tmp_path, robot, pushrod):
    authority = Authority(tmp_path / "ca")
    files = {name: tuple(authority.issue(name).values()) for name in ("meet", "lifter", "stranger", "ann")}
    end = f"tls/127.0.0.1:{free_port()}"
    lists = ("--allow-command", "ann", "--allow-host", "lifter")

    def serve(name):
        how = ("--simulation", "--no-log", "--name", name, "--via", end, "--tls", *files[name], "--allow-command", "ann", "--guard-limit", "20 s")
        return Program(tmp_path, "serve", robot, *how)

    with Program(tmp_path, "router", end, "--tls", *files["meet"], *lists) as meeting:
        meeting.says("router at")
        with serve("stranger") as unseen, serve("lifter") as seen:
            unseen.says(f"stranger: NOT SEEN through the router at {end}, so that nobody can reach it: ")
            unseen.says("check that the router's list has 'stranger' as the host of 'stranger' (pushrod router --allow-host stranger)")
            seen.says(f"each with --net {end} --tls AUTHORITY CERTIFICATE KEY")
            got = pushrod("arm", "lifter", "--net", end, "--tls", *files["ann"])
            assert (got.exit_code, got.stdout) == (0, "lifter: armed\n"), got.output
            got = pushrod("top", "--once", "--net", end, "--tls", *files["ann"])
            assert (got.exit_code, "stranger" in got.stdout) == (0, False), got.output
            assert "NOT SEEN" not in seen.said
        meeting.says("the certificate of 'stranger'")


def test_a_router_that_cannot_be_says_why(pushrod, tmp_path):
    for asked, code, text in (
        (("tcp/0.0.0.0:7447",), 2, "ENDPOINT: 'tcp/0.0.0.0:7447' is open to other machines"),
        (("nowhere",), 2, "ENDPOINT: 'nowhere' is no endpoint"),
        (("tcp/127.0.0.1:7447", "--tls", "a", "b", "c"), 2, "--tls AUTHORITY: there is no file 'a'"),
        ((), 2, "Missing argument"),
    ):
        got = pushrod("router", *asked)
        assert (got.exit_code, text in got.stderr) == (code, True), got.output
    end = f"tcp/127.0.0.1:{free_port()}"
    with Program(tmp_path, "router", end) as first:
        first.says("router at")
        got = pushrod("router", end)
        assert (got.exit_code, f"cannot listen at {end}" in got.stderr) == (4, True), got.output
