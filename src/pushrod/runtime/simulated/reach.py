"""The live drivers of one kind that a disarm function can reach in this process, as it would reach hardware: by robot and path."""

import threading
import weakref
from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar

from pushrod.runtime.driver import Context


class Reachable(Protocol):
    @property
    def context(self) -> Context: ...

    def make_safe(self) -> None:
        """Make it safe. It waits for no lock and publishes nothing: the thread that has a lock may be the one that a signal handler stops the robot
        from."""


D = TypeVar("D", bound=Reachable)


class Reach(Generic[D]):
    """Drivers are held weakly: one that is gone needs no disarming. The tuple is replaced as a whole, so that a stop reads it without a lock."""

    def __init__(self) -> None:
        self._drivers: tuple[weakref.ref[D], ...] = ()
        self._adding = threading.RLock()

    def add(self, driver: D) -> None:
        with self._adding:
            self._drivers = (*(known for known in self._drivers if known() is not None), weakref.ref(driver))

    def drivers(self) -> list[D]:
        return [driver for known in self._drivers if (driver := known()) is not None]

    def make_safe(self, options: Mapping[str, Any]) -> None:
        """Those the options mean; all of them where neither robot nor path is given: rather one too many."""
        for driver in self.drivers():
            context = driver.context
            if tuple(options.get("path", context.path)) == context.path and options.get("robot", context.robot) == context.robot:
                driver.make_safe()
