"""Tape a runtime on the stepped clock: everything in memory, in the order it happened, so that equal runs give equal logs."""

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

from pushrod.log.writer import Said
from pushrod.recording.tap import Pipeline, Ticking, open_ticks, repeated, tap_gates
from pushrod.recording.tape import Tape
from pushrod.recording.topics import Topics
from pushrod.runtime.message import Command
from pushrod.runtime.result import Result
from pushrod.runtime.runtime import Runtime


class Taped:
    """`said` is what `log.writer.write` takes. `ticks` False: somebody else writes what the world was told and gave, and the topics in `skipped`."""

    def __init__(self, rt: Runtime, *, ticks: bool = True, pipelines: Iterable[Pipeline] = (), skipped: Iterable[str] = ()) -> None:
        self._rt = rt
        self._ticks = ticks
        self._pipelines = tuple(pipelines)
        self._tape = Tape()
        self._topics = Topics(self._tape, rt.hosts.values(), 0, (*skipped, *repeated(rt.machine)))
        self._stack = ExitStack()

    @property
    def said(self) -> list[Said]:
        return self._tape.said

    @property
    def lost(self) -> int:
        """Messages that could not be written."""
        return self._topics.lost

    def __enter__(self) -> "Taped":
        rt = self._rt
        self._stack.callback(tap_gates(rt, self._command))
        self._bus = rt.bus.subscribe((), robot=rt.robot.name, latched=True, notify=self._messages)
        self._stack.callback(rt.bus.unsubscribe, self._bus)
        self._messages()
        if self._ticks and isinstance(rt.machine, Ticking):
            rows = open_ticks(self._topics, rt.machine, self._pipelines)
            self._stack.callback(rt.machine.observe(lambda k, u, y: self._row(rows, u, y)))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        now = self._rt.clock.now()
        for cadence in self._rt.cadences:
            self._topics.loop(now, cadence)
        self._topics.counts(now, 0, 0)

    def _messages(self) -> None:
        if hasattr(self, "_bus"):
            while (message := self._bus.poll()) is not None:
                self._topics.message(message)

    def _command(self, host: Any, command: Command, result: Result, at: float) -> None:
        self._topics.command(host, command, result, at)

    def _row(self, rows: int, u: Any, y: Any) -> None:
        self._topics.row(rows, self._rt.clock.now(), u.tobytes() + y.tobytes())
