"""Arm, disarm, e-stop: the state machine of `safety`, wired to gates and disarm functions. Callable from any thread and without an event loop.

A stop acts first and reports afterwards:

1. On the caller's thread, without a lock, every gate is closed and every disarm function started, each on the thread that waits for it.
2. On the safety thread (`deciding.py`) the state changes, outcomes are collected and time limits kept.
3. On the report thread come observers, logs and records.

So a stop never waits for arming, for a lock, an observer or the guard, and may come from a signal handler. Arming yields: it is granted only if no
stop has come since it began, and a gate opens only if it was not closed since (`Gate.open`). After `disarm()` has returned ok, nothing reaches a
driver.
"""

import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from pushrod.core.errors import PushrodError
from pushrod.core.plain_function import discard
from pushrod.guard.judge import ARMED
from pushrod.runtime.deciding import FORKED, GRACE, REPORTED, Armed, Decisions, Disarmed, lines
from pushrod.runtime.door import Door, enter, is_inside, leave
from pushrod.runtime.gate import Gate, revoke_all
from pushrod.runtime.stop import LIMIT, Stop, time_limit_of
from pushrod.safety.state import Event, State, follow

SHORT = 120  # characters of why arming was refused, in each refusal of a command that follows
INSIDE = 0.5  # [s] a stop from inside a driver's call waits for disarm functions to be called
BUSY = 0.5  # [s] arming waits for calls into drivers to return


class NotSafeError(PushrodError, RuntimeError):
    """A runtime has ended and something was not proven safe; the message names it by path."""


class Arming:
    """What callers ask of one robot's `decisions`.

    checks()         returns what is missing before arming, one text each; foreign code
    guarded(level)   for ARMED: has the guard look, waits for it, and returns what is in the way
    """

    def __init__(self, decisions: Decisions, checks: Callable[[], list[str]] = list, guarded: Callable[[int], list[str]] = lambda level: []) -> None:
        self.decisions = decisions
        self._checks = checks
        self._guarded = guarded
        # made beforehand: near the recursion limit nothing can be made
        self._disarm_instead = partial(decisions.stop_all, Event.DISARM)
        self._fault_instead = partial(decisions.stop_all, Event.FAULT)
        self._estop_instead = partial(decisions.stop_all, Event.ESTOP)
        self._door = Door()  # one arm, reset or force_disarm at a time; a stop never enters

    @property
    def state(self) -> State:
        return self.decisions.state

    @property
    def why(self) -> str:
        """Why it is in this state."""
        return self.decisions.why

    @property
    def causes(self) -> tuple[str, ...]:
        """The causes of the e-stop."""
        return self.decisions.causes

    @property
    def is_busy(self) -> bool:
        """Whether an arm, reset or force_disarm is under way."""
        return self._door.holder != 0

    def arm(self) -> Armed:
        stops = self.decisions.stops  # before all else: whatever stop comes from here on, arming yields to
        with self._turn() as refused:
            return refused or self._arm(stops)

    def disarm(self, why: Any = "requested", limit: Any = LIMIT) -> Disarmed:
        """Make everything safe. Cannot be refused."""
        return self._wait(self._begin(Event.DISARM, why, limit, self._disarm_instead))

    def begin_disarm(self, why: Any) -> Callable[[], Disarmed]:
        """Start `disarm` and return at once; the function returned waits for it."""
        return partial(self._wait, self._begin(Event.DISARM, why, LIMIT, self._disarm_instead))

    def fault(self, why: Any, limit: Any = LIMIT) -> Disarmed:
        """Disarm, and stay in error whatever the disarm functions return, until force_disarm."""
        return self._wait(self._begin(Event.FAULT, why, limit, self._fault_instead))

    def begin_fault(self, why: Any) -> None:
        """Start `fault` and return at once: for a thread with other work, such as a control loop that failed."""
        self._begin(Event.FAULT, why, LIMIT, self._fault_instead)

    def estop(self, cause: Any = None, limit: Any = LIMIT) -> Disarmed:
        """Disarm and latch, for any cause: text, an exception, nothing. `reset` clears it once the cause is gone; arming is a second step."""
        return self._wait(self._begin(Event.ESTOP, cause, limit, self._estop_instead))

    def reset(self, is_gone: Callable[[], bool] = lambda: True, limit: Any = LIMIT) -> Armed:
        """Leave the e-stop, once its causes are gone and everything is proven safe: what could not be made safe is tried again.

        `is_gone` returns whether the causes are gone, True or False; by default the caller vouches for it.
        """
        stops = self.decisions.stops  # an e-stop from here on stays
        with self._turn() as refused:
            step = follow(self.state, Event.RESET)  # point: reset begins
            if refused or step.refusal:
                return refused or Armed(False, self.state, step.refusal, (self.decisions.next_step(),))
            gone = is_gone()
            if not _is_true(gone):
                return Armed(False, self.state, "cause_present", self.causes if _is_false(gone) else (_no_answer(gone),))
            if self.decisions.unsafe and not self.decisions.is_stopping():
                self._wait(self.decisions.begin(Stop(None, "reset", self.decisions.names, time_limit_of(limit))))
            return self.decisions.ask(lambda: self.decisions.reset(stops))  # point: reset asked

    def force_disarm(self, limit: Any = LIMIT) -> Disarmed | Armed:
        """Leave the error. It runs the disarm functions too, and reports them, but does not stay in error for them."""
        stops = self.decisions.stops
        with self._turn() as refused:
            step = follow(self.state, Event.FORCE_DISARM)  # point: force begins
            if refused or step.refusal:
                return refused or Armed(False, self.state, step.refusal)
            made = self._wait(self.decisions.begin(Stop(None, "forced", self.decisions.names, time_limit_of(limit))))
            return self.decisions.ask(lambda: self.decisions.force_disarm(stops, made.failures))  # point: force asked

    def make_one_safe(self, name: str, then: Callable[[], None] | None = None) -> None:
        """Start to make one actuator safe whose driver has crashed; `then` follows on the safety thread. If that fails, all is disarmed."""
        self.decisions.begin(Stop(None, f"{name} failed", (name,), fault=True, then=then))

    def _begin(self, event: Event, reason: Any, limit: Any, instead: Callable[[], object]) -> Stop:
        """Begin a stop. Where the caller is interrupted, or its recursion is too deep, the safety thread stops the robot `instead`."""
        stop = None
        try:
            revoke_all(self.decisions.gates)  # before anything is allocated
            stop = Stop(event, "", self.decisions.to_stop(), time_limit_of(limit))
            return self.decisions.begin(stop, reason)
        except MemoryError:
            if stop is None:
                self.decisions.end_without_memory()
            raise
        except BaseException:
            if stop is None or not stop.posted:
                self.decisions.safety.put(instead)
            raise

    def _wait(self, stop: Stop) -> Disarmed:
        if self.decisions.forked:
            return Disarmed(False, self.state, dict.fromkeys(stop.names, FORKED), FORKED)
        own = self.decisions.is_disarming() or self.decisions.is_deciding  # what is waited for cannot wait for itself
        if not own and self.decisions.is_driving():
            own = True  # nor can a call into a driver; every disarm function has been called, unless one waits for that call
            stop.called.wait(min(stop.limit, INSIDE))
        if own or not stop.done.wait(stop.limit + GRACE):  # point: stop waits
            late = "still being made safe" if own else f"no answer within {stop.limit:g} s: not proven safe"
            left = [name for name in tuple(stop.left) if not (own and name in stop.answers)] if stop.names else self.decisions.being_made_safe()
            return Disarmed(False, self.state, {**dict.fromkeys(left, late), **stop.failures}, self.why)
        if not self.decisions.reports.is_current:
            stop.reported.wait(REPORTED)
        return Disarmed(not stop.failures, self.state, stop.failures, self.why)  # point: stop returns

    @contextmanager
    def _turn(self) -> Iterator[Armed | None]:
        """One arm, reset or force_disarm at a time; gives the refusal where another does not end."""
        if self.decisions.forked:
            yield Armed(False, self.state, "forked", (FORKED,))
        elif self.decisions.is_deciding or is_inside(self._door):
            yield self._busy()
        else:
            try:
                yield None if enter(self._door, LIMIT) else self._busy()
            finally:
                leave(self._door)

    def _busy(self) -> Armed:
        return Armed(False, self.state, "busy", ("another arm, reset or force_disarm is under way",))

    def _arm(self, stops: int) -> Armed:
        since = [gate.closed_by for gate in self.decisions.gates]  # point: arm begins
        step = follow(self.state, Event.ARM)
        out = [i for i, gate in enumerate(self.decisions.gates) if not gate.epoch]
        if step.refusal and not (self.state is State.ARMED and out):
            return Armed(False, self.state, step.refusal, (self.decisions.next_step(),))
        if self.decisions.ended:
            return Armed(False, self.state, "ended", ("the runtime is shutting down",))
        if self.decisions.is_stopping():
            return Armed(False, self.state, "disarming", lines(self.decisions.being_made_safe()))
        missing = self._checks() or self._in_flight(out) or self._guarded(ARMED)  # the guard last: from here on it acts
        if missing:
            short = textwrap.shorten("; ".join(missing), SHORT, placeholder=" ... (arm again to read all)")  # every refused command repeats it
            for i in out:
                self.decisions.gates[i].out = f"arming was refused: {short}"
            return Armed(False, self.state, "checks", tuple(missing))
        return self.decisions.ask(lambda: self.decisions.arm(stops, since, out))  # point: arm asked

    def _in_flight(self, out: list[int]) -> list[str]:
        """Calls into drivers that have not returned since the last arming: they belong to that one."""
        missing, ends = [], time.monotonic() + BUSY
        for i in out:
            gate = self.decisions.gates[i]
            if not _is_free(gate, max(0.0, ends - time.monotonic())):
                missing.append(f"{gate.name}: its driver has not returned from a call. Wait, or restart this program")
        names = [self.decisions.gates[i].name for i in out]
        unfinished = self.decisions.unfinished(names, max(0.0, ends - time.monotonic()))
        return missing or [f"{name}: its disarm function has not returned. Wait, or restart this program" for name in unfinished]


def _is_true(answer: Any) -> bool:
    """Whether it is True of Python or NumPy: the coroutine of an async function, for one, is true and answers nothing."""
    return answer is True or (type(answer) is _numpy_bool() and bool(answer))


def _is_false(answer: Any) -> bool:
    return answer is False or (type(answer) is _numpy_bool() and not answer)


def _numpy_bool() -> Any:
    numpy = sys.modules.get("numpy")
    return bool if numpy is None else numpy.bool_


def _no_answer(answer: Any) -> str:
    discard(answer)
    return f"is_gone returned {type(answer).__name__}, expected True or False. Pass a plain function that returns a bool"


def _is_free(gate: Gate, timeout: float) -> bool:
    """Wait until no call is inside a gate; False where that takes longer."""
    if is_inside(gate):
        return False
    try:
        return enter(gate, timeout)
    finally:
        leave(gate)
