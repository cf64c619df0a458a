"""Which robots run in this process, by name: one runtime each, for a disarm function knows a robot by its name and its path alone."""

import threading
from collections.abc import Callable

from pushrod.core.errors import InputError

_names: set[str] = set()
_lock = threading.Lock()


def take(name: str) -> Callable[[], None]:
    """From now on a robot of that name runs; what is given back ends that. InputError where one runs already."""
    with _lock:
        if name in _names:
            raise InputError(
                f"a robot {name!r} runs in this process already, and disarming one would reach the motors of both: leave that runtime first, "
                f"or give one of them another name, dataclasses.replace(robot, name={name + '_2'!r})"
            )
        _names.add(name)
    return lambda: _end(name)


def _end(name: str) -> None:
    with _lock:
        _names.discard(name)
