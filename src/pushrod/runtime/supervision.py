"""What becomes of a part that raised: made safe at once, reported, restarted while the budget of the whole robot lasts; then all is disarmed.

An actuator that was restarted is out until the robot is armed again.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from pushrod.runtime.clock import Clock
from pushrod.runtime.host import Host
from pushrod.runtime.node import Node
from pushrod.runtime.part import Part
from pushrod.runtime.stop import error_text
from pushrod.safety.restart import Budget, spend

log = logging.getLogger("pushrod.runtime")


class Supervisor:
    """What is decided here is decided on the safety thread: an observer or a log that hangs delays neither a restart nor the end of all.

    make_safe(name, then)   begins to make one actuator safe; `then` follows on the safety thread
    give_up(why)            begins to disarm all
    decide(call)            runs a call on the safety thread
    report(path, error)     publishes an error, on the report thread; so does notify(call)
    """

    def __init__(
        self,
        clock: Clock,
        budget: Budget,
        make_safe: Callable[[str, Callable[[], None]], None],
        give_up: Callable[[str], Any],
        decide: Callable[[Callable[[], None]], None],
        report: Callable[[tuple[str, ...], str], None],
        notify: Callable[[Callable[[], object]], None],
    ) -> None:
        self._clock = clock
        self._budget = budget
        self._make_safe = make_safe
        self._give_up = give_up
        self._decide = decide
        self._report = report
        self._notify = notify
        self._spent: tuple[float, ...] = ()
        self._ending = False
        self._given_up: list[Host | Node] = []

    def look_after(self, owner: Host | Node) -> None:
        owner.part.failed = lambda part, error: self._failed(owner, part, error)

    def end(self) -> None:
        """The robot is shut down: nothing is started again."""
        self._ending = True

    def _failed(self, owner: Host | Node, part: Part, error: BaseException) -> None:
        allowed: list[bool] = []
        self._decide(lambda: allowed.append(self._may_restart(owner, part)))  # first, so that it is decided before the actuator is safe

        def go_on() -> None:
            if isinstance(owner, Host):
                self._clock.later(0.0, lambda: owner.end_motions(part.stopped))
            if allowed and allowed[0]:
                self._clock.call_later(0.0, lambda: self._again(owner))

        if isinstance(owner, Host):
            self._make_safe(owner.name, go_on)
        else:
            self._decide(go_on)
        self._notify(lambda: log.error("%s failed and is made safe: %s", owner.name, error_text(error), exc_info=error))
        self._report(owner.path, part.stopped)

    def _may_restart(self, owner: Host | Node, part: Part) -> bool:
        """Spend a restart; where there is none left, or it is not to be restarted, all is disarmed."""
        if self._ending:
            return False
        self._spent, allowed = spend(self._budget, self._spent, self._clock.now())
        may = owner.actuator.restart if isinstance(owner, Host) else True
        if not (allowed and may):
            self._given_up.append(owner)
            self._give_up(f"{part.name} keeps failing: {part.stopped}" if may else f"{part.name} failed and is not to be restarted: {part.stopped}")
        return allowed and may

    def revive(self) -> None:
        """Restart what was given up, on a fresh budget: the robot was inspected."""
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
