"""What a guard did, as it is read afterwards. A record waits to be acknowledged by a person; until then the robot does not arm.

A record that cannot be read, or was begun and not finished, waits like any other: something happened. Acknowledged ones keep their text and get
another name.
"""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from pushrod.core.errors import InputError
from pushrod.core.running import is_running
from pushrod.guard.record_file import NEW
from pushrod.guard.settings import record_folder, state_folder

SEEN = ".seen"
KEPT = 50  # acknowledged ones of a robot


class Record(NamedTuple):
    """actuators: by path, each with `disarm`, `result` (ok, failed, timed out, in the process), `detail` and `seconds`.

    flaw: why it could not be read.
    """

    robot: str
    file: Path
    when: float = 0.0  # [s since 1970]
    why: str = ""
    seconds: float = 0.0  # until the last disarm function was done, or given up
    actuators: dict[str, dict[str, Any]] = {}  # noqa: RUF012 (never changed)
    guard: int = 0  # its process
    acting: bool = False  # it has not written the end
    flaw: str = ""

    @property
    def unsafe(self) -> dict[str, str]:
        """What was not proven safe, by path."""
        bad = {path: one for path, one in self.actuators.items() if one["result"] not in ("ok", "in the process")}
        return {path: one["result"] + (f": {one['detail']}" if one["detail"] else "") for path, one in bad.items()}

    @property
    def harmless(self) -> bool:
        """All that was armed was simulated in the process that was guarded, so that there is nothing for anybody to look at."""
        return not self.flaw and not self.acting and all(one["result"] == "in the process" for one in self.actuators.values())

    def __str__(self) -> str:
        if self.flaw and self.acting and is_running(self.guard):
            return f"the guard of {self.robot} (pid {self.guard}) is still writing what it did: {self.file}"
        if self.flaw:
            return f"a record of the guard cannot be read ({self.flaw}): {self.file}"
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.when))
        bad = "; ".join(f"{path}: {what}" for path, what in self.unsafe.items())
        n = sum(bool(one["disarm"]) for one in self.actuators.values())
        ran = f"all {n} disarm functions ran" if n else "all it drives was simulated in its own process, so there was nothing else to make safe"
        made = f"of {n} disarm functions these did not succeed: {bad}" if bad else ran
        return f"{at}: the guard disarmed {self.robot}: {self.why}; {made}; {self.file}"


def waiting(robot: str, state: str | Path | None = None) -> list[Record]:
    """Of one robot, the oldest first."""
    return _in(record_folder(robot, state), robot)


def all_waiting(state: str | Path | None = None) -> list[Record]:
    """Of every robot."""
    try:
        folders = sorted((state_folder(state) / "guard").iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [record for folder in folders if folder.is_dir() for record in _in(folder, unquote(folder.name))]


def acknowledge(robot: str, state: str | Path | None = None, harmless: bool = False) -> list[Record]:
    """Somebody has looked at the robot: it may be armed again. Gives back what was acknowledged. `harmless`: only those nobody needs to look at."""
    records = [record for record in waiting(robot, state) if record.harmless or not harmless]
    busy = [record for record in records if record.acting and is_running(record.guard)]
    if busy:
        raise InputError(f"the guard of {robot} (pid {busy[0].guard}) is still calling disarm functions: acknowledge it when it has ended")
    for record in records:
        with suppress(FileNotFoundError):  # somebody else was quicker
            os.replace(record.file, f"{record.file}{SEEN}")
    folder = record_folder(robot, state)
    for old in sorted(folder.glob(f"*{SEEN}"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return records


def _in(folder: Path, robot: str) -> list[Record]:
    try:
        files = sorted(file for file in folder.iterdir() if not file.name.endswith(SEEN) and not file.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        return [Record(robot, folder, flaw=f"{type(error).__name__}: {error}")]
    names = {file.name for file in files}
    # what is being written, or was when the guard was killed, counts where there is nothing whole beside it
    return [_read(file, robot) for file in files if not (file.suffix == NEW and file.stem in names)]


def _read(file: Path, robot: str) -> Record:
    try:
        if file.suffix == NEW:
            return Record(robot, file, guard=int(file.name.partition("-")[2].partition(".")[0]), acting=True, flaw="its end is missing")
        data = json.loads(file.read_bytes())
        actuators = {str(path): {**_BLANK, **one} for path, one in data["actuators"].items()}
        return Record(robot, file, float(data["time"]), data["why"], float(data["seconds"]), actuators, int(data["guard"]), data["state"] != "done")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        return Record(robot, file, flaw=f"{type(error).__name__}: {error}")


_BLANK = {"disarm": "", "result": "?", "detail": "", "seconds": 0.0}
