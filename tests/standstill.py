"""Whether the computer stood still: a process of its own that sleeps, and notes how much longer that took than it should.

A test that measures time (`@pytest.mark.on_time`: it fails where something takes longer than it may) says nothing of Pushrod where the computer
itself stood still, or had no core to spare. If it fails then, it is made again, a few times; the last time counts, and the summary says so. No bound
is wider for it, and what fails while the computer is well has failed.

python tests/standstill.py FILE
"""

import mmap
import os
import struct
import subprocess
import sys
import tempfile
import time

NAP = 0.01  # [s]
STILL = 0.05  # [s] more than that: it stood still
TIMES = 4  # a test is made at most
TOTAL = struct.Struct("=d")  # [s] stood still so far


class Standstill:
    """`total` [s] since it was made."""

    def __init__(self) -> None:
        file, self._name = tempfile.mkstemp(prefix="standstill")
        os.ftruncate(file, mmap.PAGESIZE)
        self._page = mmap.mmap(file, mmap.PAGESIZE)
        os.close(file)
        self.process = subprocess.Popen([sys.executable, "-I", "-S", __file__, self._name], stdin=subprocess.PIPE)

    @property
    def total(self) -> float:
        return float(TOTAL.unpack_from(self._page)[0])

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        os.unlink(self._name)


def watch(name: str) -> None:
    """Until whoever started it is gone."""
    with open(name, "r+b") as file:
        page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
    parent, total, then = os.getppid(), 0.0, time.monotonic()
    while os.getppid() == parent:
        time.sleep(NAP)
        now = time.monotonic()
        if now - then > NAP + STILL:
            total += now - then - NAP
            TOTAL.pack_into(page, 0, total)
        then = now


if __name__ == "__main__":
    watch(sys.argv[1])
