"""How far long work has come: a bar with rate and time left on a terminal, else a plain line every few seconds. On stderr, always."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console


class Show(Protocol):
    """Told how much is done, of how much, and what else there is to say."""

    def __call__(self, done: int, of: int, /, words: str = "") -> None: ...


COMPILING = "compiling, once: the result is cached"
QUIET = 3.0  # [s] between two plain lines, and before the first one


@contextmanager
def progress(doing: str, unit: str, total: int | None = None, before: str = "", patience: float = 0.0) -> Iterator[Show]:
    """While `doing` something counted in `unit`: call what this gives with the number done and the number in all.

    `before` is what goes on until the first is done; plain lines tell it once, where it takes long. What is over within `patience` [s] has no bar.
    """
    from rich.console import Console

    console = Console(stderr=True)
    with _bar(console, doing, unit, total, before or doing, patience) if console.is_terminal else _lines(doing, unit, before) as show:
        yield show


@contextmanager
def _bar(console: "Console", doing: str, unit: str, total: int | None, before: str, patience: float) -> Iterator[Show]:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TaskProgressColumn(), TextColumn("{task.fields[pace]}"))
    bar, begin = Progress(*columns, console=console), time.monotonic()
    task, pace = bar.add_task(before, total=total, pace=""), Pace(unit)

    def show(done: int, of: int, words: str = "") -> None:
        told = ", ".join(filter(None, (pace.of(done, of), words)))
        bar.update(task, completed=done, total=of, description=doing if done else before, pace=told)
        if not bar.live.is_started and time.monotonic() - begin >= patience:
            bar.start()

    if not patience:
        bar.start()
    try:
        yield show
    finally:
        bar.stop()


@contextmanager
def _lines(doing: str, unit: str, before: str) -> Iterator[Show]:
    told, pace = 0.0, Pace(unit)
    waiting = threading.Timer(QUIET, _write, (f"{before} ...",))  # nobody calls `show` while that goes on
    waiting.daemon = True
    if before:
        waiting.start()

    def show(done: int, of: int, words: str = "") -> None:
        nonlocal told
        if done:
            waiting.cancel()
        rate, now = pace.of(done, of), time.monotonic()
        if not rate:  # nothing to tell a rate from: what came before it is over
            told = now
        elif now - told >= QUIET:
            told = now
            _write(f"{doing}: {done} of {of} {unit} ({100 * done // max(of, 1)} %), {rate}{f', {words}' if words else ''}")

    try:
        yield show
    finally:
        waiting.cancel()


def _write(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


class Pace:
    """Rate and time left, from the first that was done on: what comes before it, such as compiling, says nothing of the rest."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._first: tuple[float, int] | None = None

    def of(self, done: int, total: int) -> str:
        now = time.monotonic()
        if not done or self._first is None:
            self._first = (now, done) if done else None
            return ""
        seconds, more = now - self._first[0], done - self._first[1]
        if more <= 0 or seconds <= 0.0:
            return ""
        left = f"{seconds * (total - done) / more:.0f} s left" if done < total else f"{seconds:.1f} s"
        return f"{short(more / seconds)}{self._unit}/s, {left}"


def short(rate: float) -> str:
    """With a prefix that suits."""
    for size, prefix in ((1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.3g} {prefix} "
    return f"{rate:.3g} "
