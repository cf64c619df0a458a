"""A lock around what is done by one thread at a time, and who is inside.

A signal handler that raises may interrupt a caller between two bytecodes: after the lock was taken, before anything could note that. So `leave` asks
the lock itself: an RLock cannot be released by a thread that does not hold it. Enter inside the `try` whose `finally` leaves:

    if is_inside(door): ...           it would leave for the caller further out
    try:
        if enter(door, limit): ...
    finally:
        leave(door)
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from typing import Any, Protocol


class Lockable(Protocol):
    lock: Any  # an RLock
    holder: int  # the thread inside, or 0
    left: Callable[[], None] | None  # runs after the thread inside has left


class Door:
    __slots__ = ("holder", "left", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.holder = 0
        self.left: Callable[[], None] | None = None


def is_inside(door: Lockable) -> bool:
    return door.holder == get_ident()


def enter(door: Lockable, timeout: float) -> bool:
    """Enter within a time limit [s]; False where that takes longer, or this thread is inside already."""
    if is_inside(door) or not (door.lock.acquire(timeout=timeout) if timeout else door.lock.acquire(False)):
        return False
    door.holder = get_ident()
    return True


def leave_all(doors: list[Any]) -> None:
    """Leave doors, the last one entered first, all of them also where this thread is interrupted meanwhile."""
    interrupted: BaseException | None = None
    while doors:
        try:
            while doors:
                leave(doors[-1])
                doors.pop()
        except BaseException as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted


def leave(door: Lockable) -> None:
    """Leave; nothing where this thread is not inside."""
    try:
        if door.holder == get_ident():
            door.holder = 0
    finally:
        with suppress(RuntimeError):  # it was not taken
            door.lock.release()
    if door.left is not None and not door.holder:
        door.left()
