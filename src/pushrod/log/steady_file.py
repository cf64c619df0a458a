"""The file under a log: a disk that is full, or gone, is told of once by whoever asks, and not by everything that wants to write to it."""

import os
from contextlib import suppress
from pathlib import Path


class SteadyFile:
    """A file that never raises: the first thing that goes wrong is kept, and nothing is written after it."""

    def __init__(self, name: str | Path) -> None:
        self.problem = ""
        self.whole = 0  # bytes that are whole chunks
        self._file = open(name, "xb", buffering=0)  # noqa: SIM115 (it is closed by `close`)

    def write(self, data: bytes | bytearray) -> int:
        rest = memoryview(data)
        while rest and not self.problem:
            try:
                rest = rest[self._file.write(rest) or 0 :]
            except OSError as error:
                self.problem = error.strerror or str(error)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def flush(self) -> None:
        return

    def mark(self) -> None:
        """All that was written so far is whole."""
        if not self.problem:
            self.whole = self._file.tell()

    def sync(self) -> None:
        with suppress(OSError):
            os.fdatasync(self._file.fileno())

    def close(self) -> int:
        """How long it is."""
        size = self._file.seek(0, os.SEEK_END)
        self._file.close()
        return size

    def close_whole(self) -> int:
        """How long it is; what is not whole at its end is cut off."""
        if self.problem:
            with suppress(OSError):
                self._file.truncate(self.whole)
        return self.close()
