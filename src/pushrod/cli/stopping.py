"""Ctrl-C while what was done is put away: noted, not raised, so that it is neither lost nor half written."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

from pushrod.cli.output import say

T = TypeVar("T")


@contextmanager
def postponed() -> Iterator[Callable[[], int]]:
    """How often Ctrl-C was pressed since; the first time it is said what a second one does."""
    times = 0

    def note(_number: int, _frame: FrameType | None) -> None:
        nonlocal times
        times += 1

    if threading.current_thread() is not threading.main_thread():
        yield lambda: 0
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: times
    finally:
        signal.signal(signal.SIGINT, before)


def written(write: "Callable[[Callable[[int, int], bool]], T]", pressed: Callable[[], int]) -> T:
    """What `write` gives, behind a bar. It is told after each block whether to go on: Ctrl-C once waits for the end, a second one cuts it there."""
    from pushrod.cli.progress import progress

    told = False
    with progress("writing the log", "messages") as show:

        def going(done: int, total: int) -> bool:
            nonlocal told
            show(done, total)
            if pressed() and not told and done < total:
                told = True
                say("\nCtrl-C: the log is written to its end; once more to cut it here", err=True)
            return pressed() < 2

        return write(going)
