"""asyncio under the stepped clock: an event loop that jumps time when nothing is ready, so that sleeps, timeouts and task groups work unchanged.

Real I/O is still polled. While a helper thread works for the loop (run_in_executor), time stands still and the loop waits for it.
"""

import asyncio
import selectors
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushrod.runtime.clock import SteppedClock


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
        if due is None:
            return self._real.select(None)  # nothing is scheduled anywhere: wait for real I/O
        self._clock.ns = max(self._clock.ns, due)
        return ()


class SteppedLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: "SteppedClock") -> None:
        self.stepped = clock
        self.helpers = 0
        jump = _Jump(clock)
        jump.loop = self
        super().__init__(jump)  # type: ignore[arg-type]
        self._clock_resolution = 1e-9

    def time(self) -> float:
        return self.stepped.ns * 1e-9

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        future = super().run_in_executor(executor, func, *args)
        self.helpers += 1
        future.add_done_callback(self._helper_done)
        return future

    def _helper_done(self, _: Any) -> None:
        self.helpers -= 1
