"""What a disarm function can reach in this process, as it would reach hardware: the live drivers of one kind, by robot and path."""

import threading
import weakref
from collections.abc import Mapping
from typing import Any, Protocol

from pushrod.runtime.driver import Context


class Reachable(Protocol):
    context: Context

    def make_safe(self) -> None: ...


class Reach:
    """Drivers are held weakly: one that is gone needs no disarming."""

    def __init__(self) -> None:
        self._drivers: weakref.WeakSet[Reachable] = weakref.WeakSet()
        self._lock = threading.Lock()

    def add(self, driver: Reachable) -> None:
        with self._lock:
            self._drivers.add(driver)

    def make_safe(self, options: Mapping[str, Any]) -> None:
        """Those the options mean; all of them where neither robot nor path is given: rather one too many."""
        with self._lock:
            drivers = list(self._drivers)
        for driver in drivers:
            context = driver.context
            if tuple(options.get("path", context.path)) == context.path and options.get("robot", context.robot) == context.robot:
                driver.make_safe()
