"""What belongs to one process and not to the children it forks: its descriptors, and the contexts that it has entered."""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

_closing: dict[int, int] = {}  # number of the registration -> descriptor
_numbers = itertools.count()


def close_in_children(descriptor: int) -> Callable[[], object]:
    """Close a descriptor in every process that is forked from this one. Call what is returned before the descriptor is closed here.

    A lock, a socket and a pipe last as long as any process has them open: a child that outlives this process would keep a lock held and a port taken.
    A lock belongs to the open file, so that closing the child's descriptor leaves it in place here.
    """
    number = next(_numbers)
    _closing[number] = descriptor
    _register()
    return lambda: _closing.pop(number, None)


@cache
def _register() -> None:
    """Once a process, as it cannot be taken back."""
    os.register_at_fork(after_in_child=_close)


def _close() -> None:
    for descriptor in _closing.values():
        with suppress(OSError):
            os.close(descriptor)
    _closing.clear()


@contextmanager
def left_by_its_process_alone() -> Iterator[None]:
    """End a forked child that leaves this context: what is outside belongs to its parent, which must not lose its sockets, files and processes."""
    process = os.getpid()
    code = 0
    try:
        yield
    except BaseException as error:
        code = _exit_code(error)
        raise
    finally:
        if os.getpid() != process:
            os._exit(code)


def _exit_code(error: BaseException) -> int:
    if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
        return error.code or 0
    return 1
