"""Kill, stop and block a program with an armed robot, and see how long its guard takes until the last disarm function has run."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from pushrod.guard.record import Record, waiting
from pushrod.guard.settings import Guard

HERE = Path(__file__).resolve().parent
LIMIT = Guard().limit
PATIENCE = 30.0  # [s] for a program on a machine that has other things to do


class Victim:
    """A program with an armed robot, and what it says."""

    def __init__(self, folder: Path, limit: float = LIMIT, actuators: int = 32, **more: Any) -> None:
        self.state = folder / "state"
        self.notes = folder / "notes"
        self.limit = limit
        what = {"file": str(self.notes), "limit": limit, "actuators": actuators, **more}
        env = {**os.environ, "PUSHROD_STATE": str(self.state)}
        command = [sys.executable, str(HERE / "armed_robot.py"), json.dumps(what)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True, start_new_session=True
        )
        self._said: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        first = self.heard()
        self.answer: dict[str, Any] = first["answer"]
        self.guard = guard_pid(first["guard"])

    def __enter__(self) -> "Victim":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._said.put(line)

    def heard(self) -> dict[str, Any]:
        try:
            said: dict[str, Any] = json.loads(self._said.get(timeout=PATIENCE))
        except queue.Empty:
            self.process.kill()
            raise AssertionError(f"it says nothing: {self.process.communicate()[1]}") from None
        return said

    def ask(self, order: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        return self.heard()

    def send(self, number: int) -> float:
        at = time.monotonic()
        os.kill(self.process.pid, number)
        return at

    def noted(self, by: int | None = None) -> dict[str, tuple[float, float]]:
        """When each disarm function ran last in the process `by` (the guard, if not said), and with which gain."""
        found = {}
        for line in self.notes.read_text().splitlines() if self.notes.exists() else ():
            pid, at, path, gain = line.split()
            if int(pid) == (by or self.guard):
                found[path] = float(at), float(gain)
        return found

    def record(self) -> Record:
        """What the guard wrote, once it is done."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            for record in (one for one in waiting("victim", self.state) if not one.armed):
                if not record.acting and not record.flaw:
                    return record
            time.sleep(0.002)
        raise AssertionError(f"the guard has recorded nothing; there is {waiting('victim', self.state)}")


def guard_pid(text: str) -> int:
    """Of what `rt.guard` says."""
    return int(text.partition("pid ")[2].partition(",")[0] or 0)


FAULTS: dict[str, Callable[[Victim], float]] = {
    "SIGKILL": lambda victim: victim.send(signal.SIGKILL),
    "SIGSTOP": lambda victim: victim.send(signal.SIGSTOP),
    "blocked event loop": lambda victim: float(victim.ask("block")["at"]),
    "stuck control thread": lambda victim: float(victim.ask("stick")["at"]),
    "interpreter exit": lambda victim: float(victim.ask("exit")["at"]),
}


def seconds_to_safe(fault: str, folder: Path, limit: float = LIMIT, actuators: int = 32) -> float | None:
    """From the fault until the last disarm function had run in the guard; all of them must have.

    None: the machine kept the program from running for longer than the limit before there was a fault at all, and the guard acted on that.
    """
    with Victim(folder, limit, actuators) as victim:
        assert victim.answer["ok"], victim.answer
        if not victim.guard:
            return None
        at = FAULTS[fault](victim)
        record = victim.record()
        done = victim.noted()
        assert len(done) == len(record.actuators) == actuators, (len(done), record)
        assert not record.unsafe, record
        took = max(when for when, _ in done.values()) - at
        return took if took > 0.0 else None


def many(fault: str, times: int, folder: Path) -> tuple[list[float], int]:
    """So many times that [s], the shortest first; and how many times the machine was too busy to tell."""
    took: list[float] = []
    busy = 0
    while len(took) < times:
        assert busy <= times, "the machine is too busy to measure anything"
        own = folder / str(len(took) + busy)
        own.mkdir()
        seconds = seconds_to_safe(fault, own)
        if seconds is None:
            busy += 1
        else:
            took.append(seconds)
    return sorted(took), busy
