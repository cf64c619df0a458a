"""Arm, disarm, e-stop: the state machine of `safety`, wired to gates and disarmers. Plain functions, callable from any thread, without an event loop.

Disarm first sets every epoch to 0, without a lock; then every disarm function is called at the same time, each with a time limit.
What could not be made safe is reported by path. After `disarm()` returns, nothing more reaches a driver that answered.
"""

import logging
import textwrap
import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pushrod.core.errors import PushrodError
from pushrod.guard.judge import ARMED, SAFE, STOPPING
from pushrod.runtime.making_safe import Disarmer
from pushrod.safety.state import Event, State, follow

log = logging.getLogger("pushrod.runtime")
LIMIT = 5.0  # [s] for each disarm function
SHORT = 120  # letters of why arming was refused, told with each command that comes after


class NotSafeError(PushrodError, RuntimeError):
    """A runtime has ended and something was not proven safe; the message names it by path."""


class Armed(NamedTuple):
    """The answer to arm, reset and force_disarm: `refusal` says why not, `missing` what a check asks for; `note` what to know though it is armed."""

    ok: bool
    state: State
    refusal: str = ""
    missing: tuple[str, ...] = ()
    note: str = ""


class Disarmed(NamedTuple):
    """The answer to disarm: what could not be made safe, by path; `why` it is in this state."""

    ok: bool
    state: State
    failures: Mapping[str, str]
    why: str


class Arming:
    """One per robot. `checks` gives what is missing before arming, one text each; `changed(old, new, why)` is told of every transition.

    `guarded(level)` tells the guard process how closely to look, and gives what keeps it from that; `unguarded`: that there is none, if that is so.
    """

    def __init__(
        self,
        disarmers: Mapping[str, Disarmer],
        checks: Callable[[], list[str]],
        changed: Callable[[State, State, str], None],
        report: Callable[[str, str], None] = lambda name, error: None,
        elsewhere: Callable[[Callable[[], object]], object] = lambda call: call(),
        guarded: Callable[[int], list[str]] = lambda level: [],
        unguarded: str = "",
    ) -> None:
        self._disarmers = dict(disarmers)
        self._checks = checks
        self._changed = changed
        self._report = report  # (name of an actuator, what went wrong)
        self._elsewhere = elsewhere  # a disarmer's own thread cannot wait for itself
        self._guarded = guarded
        self._unguarded = unguarded
        self._lock = threading.RLock()
        self._epochs = 0
        self._unsafe: Mapping[str, str] = {}  # what could not be made safe the last time, by path
        self.state = State.DISARMED
        self.why = ""  # it is in this state
        self.causes: tuple[str, ...] = ()  # of the e-stop

    def arm(self) -> Armed:
        with self._lock:
            step = follow(self.state, Event.ARM)
            out = [name for name, disarmer in self._disarmers.items() if not disarmer.gate.epoch]
            if step.refusal and not (self.state is State.ARMED and out):
                return Armed(False, self.state, step.refusal, (self._next(),))
            missing = self._checks() or self._guarded(ARMED)  # the guard last: from here on it acts
            if missing:
                short = textwrap.shorten("; ".join(missing), SHORT, placeholder=" ... (arm again to read all)")  # every refused command repeats it
                for name in out:
                    self._disarmers[name].gate.out = f"arming was refused: {short}"
                return Armed(False, self.state, "checks", tuple(missing))
            self._epochs += 1
            for name in out:
                self._disarmers[name].gate.out = ""
                self._disarmers[name].gate.seen.clear()  # who starts anew may count anew
                self._disarmers[name].gate.acted_before = self._disarmers[name].gate.acted
                self._disarmers[name].gate.epoch = self._epochs
            if self._unguarded:
                log.warning("armed, %s", self._unguarded)
            self._move(Event.ARM, f"armed, {self._unguarded}" if self._unguarded else "armed")
            return Armed(True, self.state, note=self._unguarded)

    def disarm(self, why: str = "asked", limit: float = LIMIT) -> Disarmed:
        """Cannot be refused."""
        return self._stop(Event.DISARM, why, limit)

    def fault(self, why: str, limit: float = LIMIT) -> Disarmed:
        """Disarm, and stay in error whatever the disarm functions say, until force_disarm."""
        return self._stop(Event.FAULT, why, limit)

    def estop(self, cause: str, limit: float = LIMIT) -> Disarmed:
        """Disarm and latch. `reset` clears it once the cause is gone; arming is a second step."""
        with self._lock:
            self.causes = (*self.causes, cause)
        return self._stop(Event.ESTOP, cause, limit)

    def reset(self, is_gone: Callable[[], bool] = lambda: True, limit: float = LIMIT) -> Armed:
        """Out of e-stop, once its causes are gone and everything is proven safe: what could not be made safe is tried again."""
        with self._lock:
            step = follow(self.state, Event.RESET)
            if step.refusal:
                return Armed(False, self.state, step.refusal)
            if not is_gone():
                return Armed(False, self.state, "cause_present", self.causes)
        failures = self._make_safe(limit) if self._unsafe else {}
        with self._lock:
            if failures:
                return Armed(False, self.state, "not_safe", _lines(failures))
            self._guarded(SAFE)
            self._move(Event.RESET, f"reset: {', '.join(self.causes)} is over")
            self.causes = ()
            return Armed(True, self.state)

    def force_disarm(self, limit: float = LIMIT) -> Disarmed | Armed:
        """Out of error. It runs the disarm functions too, and reports them, but does not stay in error for them."""
        with self._lock:
            step = follow(self.state, Event.FORCE_DISARM)
            if step.refusal:
                return Armed(False, self.state, step.refusal)
        failures = self._make_safe(limit)
        with self._lock:
            self._guarded(STOPPING if failures else SAFE)
            self._move(Event.FORCE_DISARM, "forced")
            return Disarmed(not failures, self.state, failures, self.why)

    def make_one_safe(self, name: str, then: Callable[[], None] = lambda: None) -> None:
        """A driver has crashed: out at once, and made safe; `then` follows. One that cannot be made safe disarms all."""
        disarmer = self._disarmers[name]
        disarmer.gate.epoch = 0

        def told(failure: str | None) -> None:
            if failure:
                self._elsewhere(lambda: self.fault(f"{name}: {failure}"))
            then()

        disarmer.go(told)

    def _stop(self, event: Event, why: str, limit: float) -> Disarmed:
        with self._lock:
            for disarmer in self._disarmers.values():
                disarmer.gate.epoch = 0
            self._move(event, why)
            if self.state is not State.DISARMED:
                self._guarded(STOPPING)  # a disarm function may keep the event loop; only the end of this process counts meanwhile
        failures = self._make_safe(limit)
        with self._lock:
            if self.state is State.DISARMING:
                self._move(Event.UNSAFE if failures else Event.SAFE, "; ".join(_lines(failures)) or why)
            elif failures:
                self._move(Event.UNSAFE, "; ".join(_lines(failures)))
            if self.state is not State.ARMED:
                self._guarded(STOPPING if failures else SAFE)
            return Disarmed(not failures, self.state, failures, self.why)

    def _make_safe(self, limit: float) -> dict[str, str]:
        answers: dict[str, str | None] = {}
        done = threading.Condition()

        def answer(name: str) -> Callable[[str | None], None]:
            def told(failure: str | None) -> None:
                with done:
                    answers[name] = failure
                    done.notify()

            return told

        for name, disarmer in self._disarmers.items():
            disarmer.gate.epoch = 0
            disarmer.go(answer(name))
        with done:
            done.wait_for(lambda: len(answers) == len(self._disarmers), limit)
            late = f"no answer within {limit:g} s: not proven safe"
            failures = {name: answers.get(name, late) or "" for name in self._disarmers if answers.get(name, late)}
        self._unsafe = failures
        for name, failure in failures.items():
            log.error("%s could not be made safe: %s", name, failure)
            self._report(name, f"could not be made safe: {failure}")
        return failures

    def _move(self, event: Event, why: str) -> None:
        old, self.state = self.state, follow(self.state, event).state
        if old is not self.state:
            self.why = why
            for disarmer in self._disarmers.values():
                disarmer.gate.out = "" if self.state in (State.ARMED, State.DISARMED) else self._next()
            self._changed(old, self.state, why)

    def _next(self) -> str:
        """Why it cannot be armed now, and what comes before that."""
        if self.state is State.ERROR:
            return f"the robot is in error ({self.why}): look at it, then force_disarm"
        if self.state is State.ESTOPPED:
            return f"the robot is e-stopped ({', '.join(self.causes)}): reset it once the cause is gone"
        return f"the robot is {self.state.value}"

    def open(self) -> None:
        for disarmer in self._disarmers.values():
            disarmer.open()

    def close(self) -> None:
        for disarmer in self._disarmers.values():
            disarmer.close()


def _lines(failures: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}: {failure}" for name, failure in failures.items())
