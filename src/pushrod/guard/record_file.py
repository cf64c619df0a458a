"""Write what the guard did: whole or not at all, and on the disk before anybody is told."""

import json
import os
from typing import Any

VERSION = 1
SUFFIX = ".json"
NEW = ".new"  # of what is being written


def probe(folder: str) -> str:
    """What keeps a record from being written here; "" where nothing does."""
    try:
        os.makedirs(folder, exist_ok=True)
        file = os.path.join(folder, f".probe-{os.getpid()}")
        with open(file, "wb"):
            pass
        os.unlink(file)
    except OSError as error:
        why = error.strerror or str(error)
        return f"the guard could not record what it does in {folder}: {why}; name another folder: PUSHROD_STATE, or Guard(state=...)"
    return ""


def write(file: str, record: dict[str, Any]) -> None:
    new = f"{file}{NEW}"
    with open(new, "w", encoding="utf-8") as out:
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
