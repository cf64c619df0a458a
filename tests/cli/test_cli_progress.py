"""How far long work has come: a bar, or where there is no terminal plain lines, few of them, from which one can see how long it will take."""

import io
import time

import pytest
from rich.console import Console

from pushrod.cli import progress as module
from pushrod.cli.progress import COMPILING, Pace, progress


class Clock:
    """Time as the test wants it."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def test_plain_lines_are_few_and_tell_rate_and_time_left(monkeypatch, capsys):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    with progress("replaying", "files", before="reading") as show:
        show(0, 1000)
        clock.now += 60.0  # compiling, say: no line, and not in the rate
        for done in range(1, 1001):
            show(done, 1000)
            clock.now += 0.01
    lines = capsys.readouterr().err.splitlines()
    assert 3 <= len(lines) <= 5
    assert lines[1].startswith("replaying: ")
    assert "100 files/s" in lines[1]
    assert lines[1].endswith(" s left")


def test_what_comes_before_is_told_once_where_it_takes_long(monkeypatch, capsys):
    monkeypatch.setattr(module, "QUIET", 0.05)
    with progress("running", "runs", before=COMPILING) as show:
        show(0, 10)
        time.sleep(0.5)
        show(1, 10)
    assert capsys.readouterr().err == f"{COMPILING} ...\n"
    for done in (0, 1):  # an error or Ctrl-C before the first, and a first that came soon
        with progress("running", "runs", before=COMPILING) as show:
            show(done, 10)
    time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_short_work_says_nothing(monkeypatch, capsys):
    monkeypatch.setattr(module, "time", Clock())
    with progress("replaying", "files") as show:
        for done in range(100):
            show(done, 100)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("seconds", "bar"), [(0.9, False), (1.1, True)])
def test_a_bar_waits_for_as_long_as_it_is_told(monkeypatch, seconds, bar):
    clock, screen = Clock(), io.StringIO()
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=screen, force_terminal=True, width=80))
    with progress("reading", "MB", patience=1.0) as show:
        show(1, 10)
        clock.now += seconds
        show(10, 10)
    assert ("reading" in screen.getvalue()) is bar


def test_a_pace_counts_from_the_first_that_was_done(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    pace = Pace("ticks")
    assert pace.of(0, 10_000_000) == ""
    clock.now += 5.0
    assert pace.of(1_000_000, 10_000_000) == ""
    clock.now += 1.0
    assert pace.of(3_000_000, 10_000_000) == "2 M ticks/s, 4 s left"
    clock.now += 3.5
    assert pace.of(10_000_000, 10_000_000) == "2 M ticks/s, 4.5 s"
