"""When serving ends the robot is disarmed first, whatever its page still does."""

import asyncio
import os
import signal
import time

from dash_rig import Served

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
        assert "ended (Ctrl-C); disarmed, all is safe" in one.process.stdout.read()
    finally:
        one.close()
