"""Write what happened to an armed robot: whole or not at all, and on the disk before the call returns.

A marker is such a record, written before a robot with real motors is armed and removed when it is disarmed and safe. What ends the process and its
guard together leaves it behind.
"""

import json
import os
import time
from collections.abc import Mapping
from typing import Any

VERSION = 1
SUFFIX = ".json"
NEW = ".new"  # of what is being written


def _open(file: str, flags: int) -> int:
    """Open a file without waiting: where a FIFO has its name, that would last until a process reads it."""
    return os.open(file, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def probe(folder: str) -> str:
    """What keeps a record from being written here; "" where nothing does."""
    try:
        os.makedirs(folder, exist_ok=True)
        file = os.path.join(folder, f".probe-{os.getpid()}")
        with open(file, "wb", opener=_open):
            pass
        os.unlink(file)
    except OSError as error:
        why = error.strerror or str(error)
        return f"the guard could not record what it does in {folder}: {why}; name another folder: PUSHROD_STATE, or Guard(state=...)"
    return ""


def write(file: str, record: Mapping[str, Any]) -> None:
    new = f"{file}{NEW}"
    with open(new, "w", encoding="utf-8", opener=_open) as out:
        json.dump({"version": VERSION, **record}, out, indent=1)
        out.write("\n")
        out.flush()
        os.fsync(out.fileno())
    os.replace(new, file)
    folder = os.open(os.path.dirname(file), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def new_file(folder: str, wall: float, process: int) -> str:
    """The file of what happened at a time [s since 1970]; their names sort by it."""
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(wall)) + f"{wall % 1.0:.3f}"[1:] + "Z"
    return os.path.join(folder, f"{stamp}-{process}{SUFFIX}")


def marker(folder: str, process: int) -> str:
    """The file that stands for the arming of a process."""
    return os.path.join(folder, f"armed-{process}{SUFFIX}")
