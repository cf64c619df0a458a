"""What becomes of a part that raised: reported, made safe at once, started again while the budget of the whole robot lasts; then all is disarmed.

An actuator that was started again is out until the robot is armed again.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from pushrod.runtime.clock import Clock
from pushrod.runtime.host import Host
from pushrod.runtime.node import Node
from pushrod.runtime.part import Part
from pushrod.safety.restart import Budget, spend

log = logging.getLogger("pushrod.runtime")


class Supervisor:
    """`make_safe(name, then)` makes one actuator safe and calls back; `give_up(why)` disarms all; `report(path, error)` tells observers."""

    def __init__(
        self,
        clock: Clock,
        budget: Budget,
        make_safe: Callable[[str, Callable[[], None]], None],
        give_up: Callable[[str], Any],
        report: Callable[[tuple[str, ...], str], None],
    ) -> None:
        self._clock = clock
        self._budget = budget
        self._make_safe = make_safe
        self._give_up = give_up
        self._report = report
        self._spent: tuple[float, ...] = ()
        self._lock = threading.Lock()
        self._ending = False
        self._given_up: list[Host | Node] = []

    def look_after(self, owner: Host | Node) -> None:
        owner.part.failed = lambda part, error: self._failed(owner, part, error)

    def end(self) -> None:
        """The robot is shut down: nothing is started again."""
        self._ending = True

    def _failed(self, owner: Host | Node, part: Part, error: BaseException) -> None:
        log.error("%s failed and is made safe: %s", owner.name, part.stopped, exc_info=error)
        self._report(owner.path, part.stopped)
        if isinstance(owner, Host):
            self._make_safe(owner.name, lambda: self._next(owner, part))
        else:
            self._next(owner, part)

    def _next(self, owner: Host | Node, part: Part) -> None:
        if isinstance(owner, Host):
            owner.end_motions(part.stopped)
        with self._lock:
            if self._ending:
                return
            self._spent, allowed = spend(self._budget, self._spent, self._clock.now())
        may = owner.actuator.restart if isinstance(owner, Host) else True
        if allowed and may:
            self._clock.later(0.0, lambda: self._again(owner))
        else:
            why = f"{part.name} keeps failing: {part.stopped}" if may else f"{part.name} failed and is not to be started again: {part.stopped}"
            self._given_up.append(owner)
            self._clock.later(0.0, lambda: self._give_up(why))

    def revive(self) -> None:
        """Somebody has looked at it: what was given up is started again, on a fresh budget."""
        with self._lock:
            self._spent = ()
            owners, self._given_up = self._given_up, []
        for owner in owners:
            self._again(owner)

    def _again(self, owner: Host | Node) -> None:
        if self._ending:
            return
        if isinstance(owner, Host):
            owner.gate.out = f"it was started again after {owner.part.stopped}"

        def settled(future: "Future[Any]") -> None:
            error = future.exception()
            if error is not None:
                owner.part.fail(error)

        try:
            owner.restart().add_done_callback(settled)
        except Exception as error:
            owner.part.fail(error)
