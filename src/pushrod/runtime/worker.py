"""A thread that exists before it is needed and runs calls one after the other.

`put` is safe everywhere: in a signal handler, while the caller holds any lock, at the recursion limit, and where no further thread can be started.
Nothing that a call raises ends the thread. On the stepped clock, and before `open` and after `close`, there is no thread: `put` runs the call itself.
Where calls must not interleave, one that a signal handler or another thread puts during a call runs after it.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from pushrod.runtime.door import Door, enter, is_inside, leave


def _never() -> None:
    """No alarm."""


class Worker:
    """`failed(error)` receives what a call raises. `alarm()` runs after each call, and returns after how long [s] to run it again, or None.

    `pause` [s] is how long an idle thread waits before its next call.
    `then()`: without a thread calls run one after the other too, and this after the last of them.
    """

    def __init__(
        self,
        name: str,
        threaded: bool,
        failed: Callable[[BaseException], None] = lambda error: None,
        alarm: Callable[[], float | None] = _never,
        pause: float = 0.0,
        then: Callable[[], None] | None = None,
    ) -> None:
        self._failed = failed
        self._alarm = alarm
        self._pause = pause
        self._threaded = threaded
        self._calls: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"pushrod {name}", daemon=True)
        self.running = False
        self._then = then
        self._door = Door()  # around calls without a thread
        self._pending: deque[Callable[[], object]] = deque()
        self._inline = self._do if then is None else self._in_turn
        self.put: Callable[[Callable[[], object]], object] = self._inline  # with a thread no method: it needs no frame

    def open(self) -> None:
        if self._threaded and self._thread.ident is None:
            self._thread.start()
            self.running, self.put = True, self._calls.put

    @property
    def waiting(self) -> int:
        """The number of calls that have not begun."""
        return self._calls.qsize()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on this thread, or inside a call without one: it cannot wait for itself."""
        return self._thread.ident == threading.get_ident() or is_inside(self._door)

    def close(self) -> None:
        """Run what was put before, then end; from here on `put` runs calls itself."""
        if self.running:
            self.disown()
            self._calls.put(None)

    def join(self, timeout: float) -> None:
        """Wait for the end. A call that hangs keeps its daemon thread."""
        if self._thread.ident is not None and not self.is_current:
            self._thread.join(max(0.0, timeout))

    def disown(self) -> None:
        """Continue without the thread: a forked child has none."""
        self.running, self.put = False, self._inline

    def _run(self) -> None:
        if self._alarm is _never and not self._pause:
            while (call := self._calls.get()) is not None:
                self._do(call)
        else:
            self._run_timed()

    def _run_timed(self) -> None:
        wait: float | None = None
        while True:
            idle = self._calls.empty()
            try:
                call = self._calls.get(timeout=wait)
            except Empty:
                call = _nothing
            if call is None:
                return
            if idle and self._pause:
                time.sleep(self._pause)
            self._do(call)
            wait = self._do(self._alarm)

    def _in_turn(self, call: Callable[[], object]) -> None:
        """Run a call, or leave it to the one inside, which looks for more after it has left."""
        self._pending.append(call)
        while self._pending and not is_inside(self._door):
            try:
                if not enter(self._door, 0.0):
                    return
                while self._pending:
                    self._do(self._pending.popleft())
            finally:
                leave(self._door)
            assert self._then is not None
            self._do(self._then)

    def _do(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except BaseException as error:  # SystemExit too: a call does not end the thread
            with suppress(BaseException):  # nor does a log handler that raises
                self._failed(error)


def _nothing() -> None:
    return
