"""`pushrod serve` in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

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


def overview(pushrod, robot="lifter"):
    return json.loads(pushrod("top", robot, "--json").stdout)["robots"][0]["overview"]
