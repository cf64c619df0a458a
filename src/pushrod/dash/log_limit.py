"""A limit on log records that a browser can cause: their rate, their length and their characters.

Events with invalid data, and log messages of a page, end up in the log of the process. Its standard error is shared with the process that controls
the robot: a flood could fill a pipe and block both.
"""

import logging
import time
from collections.abc import Callable

RECORDS = 10
PERIOD = 60.0  # [s] in which so many records pass
LONGEST = 500  # characters of a message


class LogLimit(logging.Filter):
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._start = float("-inf")
        self._count = 0

    def filter(self, record: logging.LogRecord) -> bool:
        now = self._clock()
        if now >= self._start + PERIOD:
            self._start, self._count = now, 0
        self._count += 1
        if self._count > RECORDS:
            return False
        text = "".join(char if char.isprintable() else " " for char in record.getMessage()[:LONGEST])
        rest = f" (further messages are suppressed for {PERIOD:g} s)" if self._count == RECORDS else ""
        record.msg, record.args = text + rest, ()
        return True
