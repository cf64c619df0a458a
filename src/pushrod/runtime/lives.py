"""The runtimes that are live in this process: closed in a forked child, and disarmed at the end of an interpreter that has not left them."""

import atexit
import os
import weakref
from collections.abc import Callable
from functools import cache
from typing import Protocol


class Live(Protocol):
    def fork(self) -> None: ...

    def exit(self) -> Callable[[], object]: ...


_live: "weakref.WeakSet[Live]" = weakref.WeakSet()


def begin(runtime: Live) -> Callable[[], None]:
    """Look after a runtime from here on; what is returned ends that."""
    _register()
    _live.add(runtime)
    return lambda: _live.discard(runtime)


@cache
def _register() -> None:
    """Once a process, as neither registration can be taken back."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_fork)
    atexit.register(_exit)


def _fork() -> None:
    for runtime in tuple(_live):
        runtime.fork()
    _live.clear()


def _exit() -> None:
    """Begin with all before waiting for any: a disarm function that hangs delays no other runtime."""
    for wait in [runtime.exit() for runtime in tuple(_live)]:
        wait()
