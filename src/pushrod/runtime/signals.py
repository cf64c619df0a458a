"""Signals that an event loop handles, in its own process alone.

A forked child shares two things with the loop of its parent: the socket by which the loop learns of signals, so that a signal to the child would end
the parent, and the object behind epoll, so that a child that closes its copy of the loop would make the parent deaf.
"""

import asyncio
import os
import select
import signal
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache

_handling: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[int, ...]]" = weakref.WeakKeyDictionary()
_thread = threading.local()  # `mask`: the signals that a thread had blocked when it forked
EPOLL = "anon_inode:[eventpoll]"


def handle_signals(numbers: Iterable[int], handle: Callable[[int], None]) -> None:
    """Have the running event loop call `handle(number)` for these signals, in this process alone."""
    loop, numbers = asyncio.get_running_loop(), tuple(numbers)
    for number in numbers:
        loop.add_signal_handler(number, handle, number)
    _handling[loop] = numbers
    _register()


@cache
def _register() -> None:
    """Once a process, as it cannot be taken back."""
    os.register_at_fork(before=_before_fork, after_in_parent=_unblock, after_in_child=_fork)


def _running() -> list[tuple[int, ...]]:
    """The signals of each loop that is running."""
    return [numbers for loop, numbers in _handling.items() if loop.is_running()]


def _before_fork() -> None:
    """Hold signals back until the child has handlers of its own: one that comes earlier would be lost there."""
    _thread.mask = signal.pthread_sigmask(signal.SIG_BLOCK, {number for numbers in _running() for number in numbers})


def _unblock() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _thread.mask)


def _fork() -> None:
    for numbers in _running():
        signal.set_wakeup_fd(-1)
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        _separate_epoll()
    _handling.clear()
    _unblock()


def _separate_epoll() -> None:
    """Give this process objects of its own behind the descriptors of epoll."""
    with suppress(OSError):  # a system that does not list them
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                if os.readlink(f"/proc/self/fd/{name}") == EPOLL:
                    with select.epoll() as own:
                        os.dup2(own.fileno(), int(name), inheritable=False)
