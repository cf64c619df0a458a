"""A served robot is stopped when its process has no free thread, process slot, descriptor or disk block, as an unprivileged user."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from waiting import until

from pushrod.net import Link, RemoteRobot, connect

HERE = Path(__file__).resolve().parent
ROBOT = """robot: lifter
links: [frame, carriage]
joints:
  lift: {kind: prismatic, parent: frame, child: carriage, limits: {lower: 0 m, upper: 50 cm, velocity: 1, effort: 200 N}}
actuators:
  motor: {joint: lift}
"""
pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can start a process that changes to another user")


class Limited:
    """`said` is what the process wrote."""

    def __init__(self, folder: Path, *options: str) -> None:
        (folder / "lifter.yaml").write_text(ROBOT)
        self.environment = os.environ | {"PUSHROD_STATE": str(folder), "PYTHONUNBUFFERED": "1"}
        self.environment.pop("PUSHROD_NET", None)
        serve = [str(folder / "lifter.yaml"), "--simulation", "--no-log", "--arm", "--guard-limit", "20 s", *options]
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "limited_host.py"), *serve],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
        )
        self.said = ""
        threading.Thread(target=self._read, daemon=True).start()
        until(lambda: "to command it" in self.said or self.process.poll() is not None, 60.0)
        assert self.process.poll() is None, self.said

    def limit(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        until(lambda: "limited: " in self.said, 20.0)
        assert "limited: RuntimeError, OSError, BlockingIOError" in self.said, self.said

    def program(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "pushrod", *words], capture_output=True, text=True, timeout=60, env=self.environment, check=False
        )

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line


@contextmanager
def limited(folder: Path, *options: str) -> Iterator[Limited]:
    served = Limited(folder, *options)
    try:
        yield served
    finally:
        served.process.send_signal(signal.SIGTERM)
        try:
            served.process.wait(20.0)
        finally:
            served.process.kill()


@pytest.mark.parametrize("guard", ["--guard", "--no-guard"])
@pytest.mark.parametrize("what", ["disarm", "estop"])
def test_an_operator_that_is_connected_stops_it(tmp_path, what, guard):
    end = f"unixsock-stream/{tmp_path}/arm.sock"

    async def main() -> None:
        with limited(tmp_path, "--net", end, guard) as served:
            remote: RemoteRobot
            async with await connect("lifter", Link(connect=end), operator="ann") as remote:
                assert remote.state == "armed"
                assert (await remote["motor"].sync.set_velocity(0.001)).ok
                served.limit()
                assert (await remote["motor"].sync.set_velocity(0.001)).ok, "it still moves"
                got = await (remote.disarm("test") if what == "disarm" else remote.estop("test"))
                assert (got.ok, got.state) == (True, {"disarm": "disarmed", "estop": "estopped"}[what]), got
                assert not (await remote["motor"].sync.set_velocity(0.001)).ok

    asyncio.run(main())


@pytest.mark.parametrize("what", ["disarm", "estop"])
def test_a_new_process_stops_it(tmp_path, what):
    with limited(tmp_path) as served:
        served.limit()
        got = served.program(what, "lifter")
        assert (got.returncode, got.stdout) == (0, f"lifter: {what}ed\n".replace("estoped", "estopped")), (got.stderr, served.said)
        assert f"lifter: {what}" in served.said
