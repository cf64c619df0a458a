"""When serving ends the robot is disarmed first, whatever its page still does."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest
from dash_rig import Served, children, until

from pushrod.core.errors import InputError
from pushrod.dash.server import _listen
from pushrod.dash.settings import Settings
from pushrod.net import Link, connect


def test_a_page_that_hangs_does_not_keep_the_robot_armed(tmp_path):
    one = Served("arm", "--arm", "--guard-limit", "5 s", "--dash-port", "0", "--no-log", state=str(tmp_path))

    async def ended() -> float:
        """How long after the signal it was disarmed [s]."""
        async with await connect("arm", Link(connect=f"unixsock-stream/{tmp_path}/run/arm.sock"), operator="test") as arm:
            assert arm.state == "armed"
            os.kill(one.page, signal.SIGSTOP)
            one.process.send_signal(signal.SIGINT)
            then = time.monotonic()
            while arm.state == "armed":
                await asyncio.sleep(0.02)
            assert one.process.poll() is None  # it waits for the page
            return time.monotonic() - then

    try:
        assert asyncio.run(ended()) < 2.0
        assert one.process.wait(20) == 130
        assert "ended (Ctrl-C); disarmed, all actuators are safe" in one.process.stdout.read()
    finally:
        one.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)], ids=["SIGTERM", "Ctrl-C"])
def test_a_page_takes_its_leave(tmp_path, number, code):
    one = Served("arm", "--guard-limit", "5 s", "--dash-port", "0", "--foxglove-port", "0", "--no-log", state=str(tmp_path))
    try:
        other = subprocess.Popen(
            [sys.executable, "-m", "pushrod", "dash", "--port", "0"],
            env=os.environ | {"PUSHROD_STATE": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert re.search(r" page at http://127.0.0.1:\d+/$", other.stdout.readline()), "nothing behind it that could be copied along"
        other.send_signal(number)
        rest, _ = other.communicate(timeout=20)
        assert (other.returncode, rest) == (code, "")
        until(lambda: len(children(one.process.pid)) == 3, what="the guard and two onlookers")
        one.process.send_signal(number)
        assert one.process.wait(20) == code
    finally:
        one.close()
    assert "vanished" not in "".join(one.lines)


@pytest.mark.parametrize("option", ["--port", "--dash-port"])
def test_a_port_that_is_taken_is_told_with_the_option_that_chooses_another(option):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InputError, match=f"choose another with {option}, 0 for any$"):
        _listen(Settings("arm", (), port=taken.getsockname()[1], option=option))
