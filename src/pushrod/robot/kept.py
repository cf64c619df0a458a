"""The file parameters are kept in: JSON, one line each, replaced as a whole, so that there is the old file or the new one and never half of one."""

import json
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pushrod.core import input_file

log = logging.getLogger("pushrod.parameters")


class Kept:
    """`values` is what the file holds; `failure` says why it could not be written last time."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.values: dict[str, Any] = {}
        self.failure: str | None = None
        self._text = ""
        self._torn = False

    def load(self) -> Iterator[str]:
        """Read the file; yields what is wrong with it as a whole."""
        if self.file is None or not self.file.exists():
            return
        try:
            self._text = input_file.read_text(self.file)
            data = json.loads(self._text, parse_constant=str)  # NaN is a word, not a number
        except (OSError, ValueError, RecursionError) as e:  # unreadable, not UTF-8, torn
            self.refuse()
            line = f":{e.lineno}" if isinstance(e, json.JSONDecodeError) else ""
            yield f"{self.file}{line}: cannot be read: {e}; the defaults are used"
            return
        if not isinstance(data, dict):
            self.refuse()
            yield f"{self.file}:1: must hold one object of paths and values; the defaults are used"
            return
        self.values = data

    def refuse(self) -> None:
        """Forget what the file holds; it is put aside when something is to be kept."""
        self.values = {}
        self._torn = True

    def where(self, path: str) -> str:
        """File and line of an entry."""
        place = self._text.find(json.dumps(path, ensure_ascii=False))
        return f"{self.file}:{self._text.count(chr(10), 0, max(place, 0)) + 1}"

    def put(self, new: Mapping[str, Any]) -> None:
        """Keep these as well. What cannot be written is told, not raised: a full disk must not stop a robot."""
        self.values = {**self.values, **new}
        if self.file is None:
            return
        try:
            if self._torn and self.file.exists():
                os.replace(self.file, self.file.with_name(f"{self.file.name}.broken"))  # somebody may want to mend it
            self._torn = False
            write_whole(self.file, json.dumps(self.values, indent=1, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n")
            self.failure = None
        except (OSError, ValueError) as e:  # a full disk; text that is none
            self.failure = f"{self.file}: cannot be written: {getattr(e, 'strerror', None) or e}; what was set holds until the end of this run"
            log.warning("%s", self.failure)


def write_whole(file: Path, text: str) -> None:
    """Write a file that is complete whenever it is there, also after the power fails."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with fresh.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(fresh, file)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    if os.name != "posix":
        return
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the name must reach the disk too
    finally:
        os.close(folder)
