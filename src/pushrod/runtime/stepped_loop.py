"""asyncio under the stepped clock: an event loop that jumps time when nothing is ready, so that sleeps, timeouts and task groups work unchanged.

Real I/O is still polled. While a helper thread works for the loop (run_in_executor), time stands still and the loop waits for it.
Where everybody waits and nothing is scheduled, no I/O is open and no other thread runs, nothing could ever happen again: StalledError says who waits.
"""

import asyncio
import selectors
import signal
import threading
from typing import TYPE_CHECKING, Any

from pushrod.core.errors import StalledError

if TYPE_CHECKING:
    from pushrod.runtime.clock import SteppedClock


ENDING = {getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)}  # they end a program, awaited or not


class _Jump:
    """A selector that lets time jump instead of waiting."""

    def __init__(self, clock: "SteppedClock") -> None:
        self._real = selectors.DefaultSelector()
        self._clock = clock
        self.loop: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def select(self, timeout: float | None) -> Any:
        events = self._real.select(0)
        if events or timeout == 0:
            return events
        if self.loop.helpers:
            return self._real.select(None)
        due = round(self.loop._scheduled[0]._when * 1e9) if timeout is not None and self.loop._scheduled else None
        heap = self._clock.heap
        if heap and (due is None or heap[0][0] <= due):
            now = heap[0][0]
            while heap and heap[0][0] <= now:  # all that the clock has to do at a time comes before who slept until then
                self._clock.pop()
            return ()
        if due is None:  # nothing is scheduled anywhere: wait for real I/O, if there is any
            if self.loop.is_alone() and not self._real.select(0):
                raise StalledError(_who_waits(self.loop))
            return self._real.select(None)
        self._clock.ns = max(self._clock.ns, due)
        return ()


def _who_waits(loop: Any) -> str:
    waiting = sorted(f"{task.get_name()} at {_place(task.get_coro())}" for task in asyncio.all_tasks(loop))
    return (
        f"at {loop.time():g} s of the stepped clock nothing is scheduled any more, and everybody waits for ever: {'; '.join(waiting) or 'nobody'}. "
        "What is waited for never comes; give the wait a timeout to see why"
    )


def _place(coroutine: Any) -> str:
    """Where a coroutine waits: in the innermost one it awaits."""
    place = "?"
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "ag_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is not None and "asyncio" not in frame.f_code.co_filename:
            place = f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_qualname})"
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "ag_await", None) or getattr(coroutine, "gi_yieldfrom", None)
    return place


class SteppedLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: "SteppedClock") -> None:
        self.stepped = clock
        self.helpers = 0
        jump = _Jump(clock)
        jump.loop = self
        super().__init__(jump)  # type: ignore[arg-type]
        self._clock_resolution = 1e-9

    def is_alone(self) -> bool:
        """Whether nobody could wake it: no file is watched but its own pipe, no other thread runs, no signal of the program's own is awaited."""
        selector: Any = self._selector  # type: ignore[attr-defined]
        pool: Any = getattr(self, "_default_executor", None)
        idle = set(getattr(pool, "_threads", ()))  # helpers without work; those with work are counted
        others = [thread for thread in threading.enumerate() if thread is not threading.current_thread() and thread not in idle]
        signals = set(getattr(self, "_signal_handlers", ())) - ENDING
        return not others and not signals and len(selector.get_map()) <= 1

    def time(self) -> float:
        return self.stepped.ns * 1e-9

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        future = super().run_in_executor(executor, func, *args)
        self.helpers += 1
        future.add_done_callback(self._helper_done)
        return future

    def _helper_done(self, _: Any) -> None:
        self.helpers -= 1
