"""What a guard did, as it is read afterwards. A record waits to be acknowledged by a person; until then the robot does not arm.

A record that cannot be read, or was begun and not finished, waits like any other: something happened. Acknowledged ones keep their text and get
another name. Where a record does not prove that every actuator was made safe, its disarm functions run at the next start of the robot, acknowledged
or not, and only their success ends that.
"""

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from pushrod.core import input_file
from pushrod.core.errors import InputError
from pushrod.core.running import is_running, started
from pushrod.guard.record_file import NEW, marker
from pushrod.guard.settings import record_folder, state_folder

SEEN = ".seen"  # of acknowledged records
UNSAFE = ".unsafe"  # of acknowledged records that do not prove that everything was made safe
OFF = "switch its power off before you inspect it"
LARGEST = 16 * 2**20  # bytes of a record
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
    process: int = 0  # that had the robot armed
    armed: bool = False  # it is the marker of an arming, which nothing has ended in good order
    live: bool = False  # of a marker: that process is running

    @property
    def unsafe(self) -> dict[str, str]:
        """What was not proven safe, by path."""
        bad = {path: one for path, one in self.actuators.items() if one["result"] not in ("ok", "in the process")}
        return {path: one["result"] + (f": {one['detail']}" if one["detail"] else "") for path, one in bad.items()}

    @property
    def is_safe(self) -> bool:
        """Return whether it proves that every actuator was made safe."""
        return not (self.flaw or self.acting or self.armed or self.unsafe)

    @property
    def harmless(self) -> bool:
        """Return whether everything armed was simulated in the guarded process, so that there is nothing to inspect."""
        return not self.flaw and not self.acting and not self.armed and all(one["result"] == "in the process" for one in self.actuators.values())

    def __str__(self) -> str:
        if self.armed:
            at = _date(self.when)
            how = self.why or (
                "is running and has it armed" if self.live else f"ended while it was armed; the state of its actuators is unknown: {OFF}"
            )
            return f"{at}: process {self.process} armed {self.robot}; it {how}; {self.file}"
        if self.flaw and self.acting and is_running(self.guard):
            return f"the guard of {self.robot} (pid {self.guard}) is still writing what it did: {self.file}"
        if self.flaw:
            return f"a record of the guard cannot be read ({self.flaw}): {self.file}"
        at = _date(self.when)
        bad = "; ".join(f"{path}: {what}" for path, what in self.unsafe.items())
        n = sum(bool(one["disarm"]) for one in self.actuators.values())
        ran = f"{n} of {n} disarm functions succeeded" if n else "everything it drives was simulated in its own process"
        made = f"{n - len(self.unsafe)} of {n} disarm functions succeeded; not {bad}: {OFF}" if bad else ran
        did = "could not disarm" if bad else "disarmed"
        return f"{at}: the {'guard' if self.guard else 'runtime'} {did} {self.robot}: {self.why}; {made}; {self.file}"


def waiting(robot: str, state: str | Path | None = None) -> list[Record]:
    """Return the unacknowledged records of one robot, the oldest first."""
    return [record for record in _in(record_folder(robot, state), robot) if not record.live]


def armed_by(robot: str, state: str | Path | None = None) -> list[Record]:
    """Return the markers of running processes that have the robot armed."""
    return [record for record in _in(record_folder(robot, state), robot) if record.live]


def all_waiting(state: str | Path | None = None) -> list[Record]:
    """Return the unacknowledged records of every robot."""
    try:
        folders = sorted((state_folder(state) / "guard").iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [record for folder in folders if folder.is_dir() for record in _in(folder, unquote(folder.name)) if not record.live]


def acknowledge(robot: str, state: str | Path | None = None, harmless: bool = False) -> list[Record]:
    """Acknowledge the records of a robot and return them: it can be armed again. `harmless`: only those that need no inspection."""
    records = [record for record in waiting(robot, state) if record.harmless or not harmless]
    busy = [record for record in records if record.acting and is_running(record.guard)]
    if busy:
        raise InputError(f"the guard of {robot} (pid {busy[0].guard}) is still calling disarm functions: acknowledge it when it has ended")
    folder = record_folder(robot, state)
    for record in records:
        with suppress(FileNotFoundError):  # another process was quicker
            os.replace(record.file, f"{record.file}{SEEN if record.is_safe else UNSAFE}")
        if record.process and not record.armed:
            with suppress(OSError):
                os.unlink(marker(str(folder), record.process))
    for old in sorted(folder.glob(f"*{SEEN}"))[:-KEPT]:
        with suppress(OSError):  # what is no file stays
            old.unlink()
    return records


def not_proven_safe(robot: str, state: str | Path | None = None) -> str:
    """Return why the disarm functions of a robot have to run before it is armed, by its records; "" where they prove that it is safe."""
    for record in waiting(robot, state):
        if not record.is_safe:
            return f"process {record.process} ended while it had the robot armed" if record.armed else f"{record.file.name} does not prove it safe"
    old = sorted(record_folder(robot, state).glob(f"*{UNSAFE}"))
    return f"{old[-1].name} does not prove it safe" if old else ""


def note_safe(robot: str, state: str | Path | None = None) -> None:
    """Note that all disarm functions have succeeded since the acknowledged records."""
    for file in record_folder(robot, state).glob(f"*{UNSAFE}"):
        with suppress(OSError):
            os.replace(file, f"{str(file).removesuffix(UNSAFE)}{SEEN}")


def _in(folder: Path, robot: str) -> list[Record]:
    try:
        files = sorted(file for file in folder.iterdir() if not file.name.endswith((SEEN, UNSAFE)) and not file.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        return [Record(robot, folder, flaw=f"{type(error).__name__}: {error}")]
    names = {file.name for file in files}
    # what is being written, or was when the guard was killed, counts where there is nothing whole beside it
    read = [_read(file, robot) for file in files if not (file.suffix == NEW and file.stem in names)]
    records = [record for record in read if record is not None]
    recorded = {record.process for record in records if not record.armed}
    return [record for record in records if not (record.armed and record.process in recorded)]  # a record says more than the marker


def _read(file: Path, robot: str) -> Record | None:
    """Return a record; None where it was removed meanwhile, as a marker is when the robot is safe."""
    try:
        if file.suffix == NEW:
            return Record(robot, file, guard=int(file.name.partition("-")[2].partition(".")[0]), acting=True, flaw="its end is missing")
        data = json.loads(input_file.read_bytes(file, LARGEST))
        why = str(data["why"])
        actuators = {
            str(path): {**_BLANK, **one, **{name: str(one[name]) for name in _TEXTS if name in one}} for path, one in data["actuators"].items()
        }
        if data["state"] == "armed":
            process = int(data["process"])
            live = is_running(process) and data.get("started") == started(process)
            return Record(robot, file, float(data["time"]), why, 0.0, actuators, process=process, armed=True, live=live)
        acting, process = data["state"] != "done", int(data.get("process", 0))
        return Record(robot, file, float(data["time"]), why, float(data["seconds"]), actuators, int(data["guard"]), acting, "", process)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        if isinstance(error, FileNotFoundError) and not file.is_symlink():
            return None
        return Record(robot, file, flaw=f"{type(error).__name__}: {error}")


def _date(when: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(when))
    except (ValueError, OverflowError, OSError):  # a damaged record may hold any number
        return "at an unknown time"


_TEXTS = ("disarm", "result", "detail")
_BLANK = {"disarm": "", "result": "?", "detail": "", "seconds": 0.0}
