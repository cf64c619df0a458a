"""What becomes of a stop, an arming, a reset: decided on the safety thread, which runs no foreign code and decides one thing at a time.

Observers, logs and records come afterwards, on the report thread. What hangs or raises there has no effect here.
"""

import itertools
import logging
import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

from pushrod.core.errors import PushrodError
from pushrod.guard.judge import SAFE, STOPPING
from pushrod.runtime.door import is_inside
from pushrod.runtime.gate import close_all
from pushrod.runtime.making_safe import Disarmer
from pushrod.runtime.stop import LIMIT, Latch, Stop, reason_text
from pushrod.runtime.worker import Worker
from pushrod.safety.state import Event, State, follow

log = logging.getLogger("pushrod.runtime")
T = TypeVar("T")
GRACE = 0.5  # [s] beyond a time limit for the safety thread to answer
BEHIND = 1e-3  # [s] that reports stay behind a decision: they must not take the interpreter from disarm functions that are being entered
HEAD_START = 3e-4  # [s] of the common disarm thread, before the actuators' own threads are woken
REPORTED = 0.05  # [s] a caller waits for the reports of its decision
AGAIN = 1.0  # [s] after which the same failure of an actuator is reported again
JOIN = 1.0  # [s] for all threads to end
BACKLOG = 10_000  # reports that may wait for an observer that hangs
CAUSES = 32  # of one e-stop that are kept: the first ones and the latest
NO_MEMORY = 70  # exit code: without memory the process ends, and the guard disarms
FORKED = "this process is a fork of the one that drives the robot: disarm it there"


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


class Decisions:
    """The state of one robot, and the threads that stops need.

    changed(old, new, why)   publishes a transition; foreign code
    switched()               has drivers notified that gates have opened or closed; no foreign code
    report(name, error)      publishes that an actuator could not be made safe; foreign code
    failed(error)            logs what one of these raised
    guarded(level)           sets how closely the guard process looks; returns at once
    unguarded                that there is no guard, where that is so
    threaded                 False on the stepped clock: everything runs inline, in order
    """

    def __init__(
        self,
        disarmers: Mapping[str, Disarmer],
        changed: Callable[[State, State, str], None],
        report: Callable[[str, str], None] = lambda name, error: None,
        failed: Callable[[BaseException], None] = lambda error: None,
        guarded: Callable[[int], object] = lambda level: None,
        unguarded: str = "",
        threaded: bool = True,
        switched: Callable[[], None] = lambda: None,
    ) -> None:
        self._disarmers = dict(disarmers)
        self._all = tuple(self._disarmers.values())
        self.names = tuple(self._disarmers)
        self.gates = tuple(disarmer.gate for disarmer in self._disarmers.values())
        self._changed = changed
        self._switched = switched
        self._report = report
        self._failed = failed
        self._guarded = guarded
        self._unguarded = unguarded
        self.safety = Worker("safety", threaded, self._decision_failed, self._expire, then=self._hand_over)
        self._disarming = Worker("disarm", threaded)
        self.reports = Worker("reports", threaded, failed, pause=BEHIND)
        self.forked = False
        self.ended = False  # the runtime is being left: nothing is armed any more
        self._numbers = itertools.count(1)  # of stops and of calls of disarm functions, in the order they begin in
        self._begun: deque[Stop] = deque()  # stops that the safety thread has not seen yet
        # what follows changes on the safety thread alone
        self._epochs = 0
        self._notices: deque[Callable[[], object]] = deque()  # of the decision that is being made
        self.stops = 0  # of the whole robot, so far
        self.open_stops: list[Stop] = []
        self.unsafe: dict[str, str] = {}  # what could not be made safe the last time, by path
        self._newest = dict.fromkeys(self.names, 0)  # the number of the last stop of each actuator: only a call that began after it proves it safe
        self._ended = dict.fromkeys(self.names, 0)  # the number of the last call of each disarm function that has ended
        self._failures: dict[str, tuple[str, float]] = {}  # reported last for each actuator, and when
        self.state = State.DISARMED
        self.why = ""  # it is in this state
        self.causes: tuple[str, ...] = ()  # of the e-stop
        for disarmer in self._disarmers.values():
            disarmer.numbers = self._numbers
            disarmer.answered = self._answered
            disarmer.awaiting = self._awaiting

    def open(self) -> None:
        """Start every thread that a stop needs."""
        for worker in self._workers():
            worker.open()

    def close(self) -> None:
        for worker in self._workers():
            worker.close()
        ends = time.monotonic() + JOIN
        for worker in self._workers():
            worker.join(ends - time.monotonic())

    def fork(self) -> None:
        """Close all gates in a forked child, which has none of these threads and must not move what its parent moves."""
        self.forked = True
        self.state, self.why = State.DISARMED, FORKED
        for gate in self.gates:
            gate.close(FORKED)
            gate.out = FORKED
        for worker in self._workers():
            worker.disown()

    def notify(self, call: Callable[[], object]) -> None:
        """Run foreign code on the report thread, after what was reported before."""
        if self.reports.waiting < BACKLOG:
            self.reports.put(call)

    def decide(self, call: Callable[[], None]) -> None:
        """Run a call on the safety thread, after what was asked of it before; no foreign code."""
        self.safety.put(partial(self._decide, call))

    def settled(self) -> dict[str, str]:
        """Wait for the stops that are under way; return what is not proven safe, by path."""
        for stop in (*self._begun, *self.open_stops):
            stop.done.wait(stop.limit + GRACE)
        return dict(self.unsafe)

    def begin(self, stop: Stop, reason: Any = None) -> Stop:
        """Act, on the caller's thread, then work out the reason. Nothing here waits; the safety thread does the rest if the caller is interrupted."""
        if self.forked:
            return stop
        stop.number = next(self._numbers)
        post = partial(self._decide, partial(self._on_stop, stop))
        try:
            self._begun.append(stop)  # point: stop begun
            self._act(stop)
        except MemoryError:
            self.end_without_memory()
            raise
        finally:
            try:
                stop.why = stop.why or reason_text(reason)
                self.safety.put(post)  # point: stop posted
            except BaseException:
                self.safety.put(post)  # interrupted once more; the second of two is ignored
                stop.posted = True
                raise
            stop.posted = True
        return stop

    def stop_all(self, event: Event) -> None:
        """Stop the robot for a caller that was interrupted before it had begun to; on the safety thread."""
        self.begin(Stop(event, "requested by a caller that was interrupted", self.names))

    def _act(self, stop: Stop) -> None:
        everything = len(stop.names) == len(self.gates)
        disarmers = self._all if everything else tuple(self._disarmers[name] for name in stop.names)
        close_all(self.gates if everything else tuple(disarmer.gate for disarmer in disarmers), stop)
        self._disarming.put(partial(_serve_at_once, disarmers, stop))  # point: disarm started
        stop.begun = True

    def _wake(self, stop: Stop) -> None:
        """Have the actuators that are not served yet served by their own threads."""
        stop.woken = True
        for name in stop.names:
            if name not in stop.served:
                self._disarmers[name].go(stop)

    def ask(self, decision: Callable[[], T]) -> T:
        """Return what the safety thread decides."""
        answer: list[T] = []
        done, reported = Latch(), Latch()

        def decide() -> None:
            try:
                answer.append(decision())
            finally:
                self._notices.append(reported.set)
                done.set()

        self.safety.put(partial(self._decide, decide))
        if not done.wait(LIMIT) or not answer:
            raise PushrodError("the safety thread gave no answer: leave this runtime and start it again")
        if not self.reports.is_current:
            reported.wait(REPORTED)
        return answer[0]

    def _workers(self) -> tuple[Worker, ...]:
        return (self._disarming, *(disarmer.worker for disarmer in self._all), self.safety, self.reports)

    def unfinished(self, names: Iterable[str], timeout: float) -> list[str]:
        """Return the actuators whose disarm function is still running, or has still to run after a call in flight."""
        ends = time.monotonic() + timeout
        return [name for name in names if not self._disarmers[name].is_free(max(0.0, ends - time.monotonic()))]

    @property
    def is_deciding(self) -> bool:
        """Whether the caller is on the safety thread: the finaliser of an object may run there, and on any other thread."""
        return self.safety.is_current

    def is_disarming(self) -> bool:
        """Whether the caller is a disarm function, or called by one."""
        return any(disarmer.is_current for disarmer in self._disarmers.values())

    def to_stop(self) -> tuple[str, ...]:
        """Return the actuators that a stop from this thread makes safe: all; none where a disarm function stops the robot during a stop of all.

        The stop under way calls each function, and no gate opens before it is finished. A function that always stops the robot would otherwise be
        called without end.
        """
        stops = (*self._begun, *self.open_stops)
        return () if self.is_disarming() and any(len(stop.names) == len(self.names) for stop in stops) else self.names

    def is_driving(self) -> bool:
        """Whether the caller is inside a call into a driver, which a stop waits for: a driver that stops the robot, or a signal handler."""
        return any(is_inside(gate) for gate in self.gates)

    def is_stopping(self) -> bool:
        """Whether a stop has begun and is not finished."""
        return bool(self._begun or self.open_stops)

    def being_made_safe(self) -> dict[str, str]:
        return {name: "still being made safe" for stop in (*self._begun, *self.open_stops) for name in tuple(stop.left)}

    # on the safety thread

    def _decide(self, decision: Callable[[], None]) -> None:
        """Make one decision, then hand its notices to the report thread."""
        try:
            decision()
        finally:
            if self.safety.running or not self.safety.is_current:  # without threads, notices follow the last of the decisions under way
                self._hand_over()

    def _hand_over(self) -> None:
        while self._notices:
            self.notify(self._notices.popleft())

    def _on_stop(self, stop: Stop) -> None:
        if stop.ends < math.inf:
            return  # it was posted twice
        stop.ends = time.monotonic() + stop.limit
        if not stop.begun:  # its caller was interrupted
            self._act(stop)
        self.open_stops.append(stop)
        for name in stop.names:
            self._newest[name] = max(stop.number, self._newest[name])
        with suppress(ValueError):  # so early that it is not even listed
            self._begun.remove(stop)
        if stop.event is not None:
            self.stops += 1
            if stop.event is Event.ESTOP:
                self.causes = (*self.causes[: CAUSES - 1], stop.why)
            self._move(stop.event, stop.why)
            if self.state is State.ESTOPPED:
                self.why = "; ".join(self.causes)  # a further cause changes no state
            if self.state is not State.DISARMED:
                self._guarded(STOPPING)  # a disarm function may keep the event loop; only the end of this process counts meanwhile
        if not self.safety.running:
            self._wake(stop)
        if not stop.left and stop in self.open_stops:  # all have answered already, or there are none
            self._finish(stop)
        self._on_called(stop)

    def _awaiting(self, stop: Stop, name: str) -> None:
        """On the actuator's own thread: its disarm function has been called, and its driver is in the call that the stop came from."""
        stop.awaiting.add(name)
        self.safety.put(partial(self._decide, partial(self._on_called, stop)))

    def _on_called(self, stop: Stop) -> None:
        if stop.ends < math.inf and all(name in stop.awaiting or name in stop.answers for name in stop.names):
            stop.called.set()

    def _answered(self, stop: Stop, name: str, failure: str | None) -> None:
        """On the actuator's own thread. The safety thread is woken once for all answers, so that it is not in the way of those still to come."""
        stop.numbers[name] = self._disarmers[name].number
        stop.answers[name] = failure
        if failure is not None or len(stop.answers) + len(stop.awaiting) >= len(stop.names) or stop.done.is_set:
            self.safety.put(partial(self._decide, partial(self._on_answers, stop)))

    def _on_answers(self, stop: Stop) -> None:
        for name, failure in stop.answers.copy().items():
            self._on_answer(stop, name, failure)
        self._on_called(stop)

    def _on_answer(self, stop: Stop, name: str, failure: str | None) -> None:
        newest = self._newest[name] = max(stop.number, self._newest[name])  # an answer may come before its stop is seen here
        number = stop.numbers[name]
        if number >= self._ended[name]:
            self._ended[name] = number
            if failure is not None:
                self.unsafe[name] = failure
            elif number > newest:
                self.unsafe.pop(name, None)
        self._settle(stop, name, failure)

    def _give_up(self, stop: Stop, name: str) -> None:
        failure = f"no answer within {stop.limit:g} s: not proven safe"
        if stop.number > self._ended[name]:
            self.unsafe[name] = failure
        self._settle(stop, name, failure)

    def _settle(self, stop: Stop, name: str, failure: str | None) -> None:
        if name in stop.left:
            del stop.left[name]
            if failure is not None:
                stop.failures[name] = failure
                self._report_failure(name, failure)
            if not stop.left and stop in self.open_stops:
                self._finish(stop)

    def _report_failure(self, name: str, failure: str) -> None:
        """Report that an actuator could not be made safe; the same failure at most every AGAIN: an observer may stop the robot for each report."""
        last, now = self._failures.get(name), time.monotonic()
        if last is None or failure != last[0] or now >= last[1] + AGAIN or not self.safety.running:
            self._failures[name] = failure, now
            self._notices.append(partial(self._report, name, f"could not be made safe: {failure}"))

    def _expire(self) -> float | None:
        """Wake threads for disarm functions that the common one has not reached; give up on those that have not returned in time.

        Returns after how long [s] to look again.
        """
        now = time.monotonic()
        for stop in [stop for stop in self.open_stops if not stop.woken and min(stop.ends - stop.limit + HEAD_START, stop.ends) <= now]:
            self._wake(stop)
        for stop in [stop for stop in self.open_stops if stop.ends <= now]:
            self._decide(partial(self._on_answers, stop))
            for name in tuple(stop.left):
                self._decide(partial(self._give_up, stop, name))
        due = [stop.ends if stop.woken else min(stop.ends - stop.limit + HEAD_START, stop.ends) for stop in self.open_stops]
        return max(0.0, min(due) - now) if due else None

    def _finish(self, stop: Stop) -> None:
        last = self.open_stops == [stop] and not self._begun
        if stop.event is not None or (self.state is State.DISARMING and last):  # a stop of one actuator alone changes nothing for the guard
            self._guarded(SAFE if last and not self.unsafe else STOPPING)
        self.open_stops.remove(stop)  # from here on it may be armed, if its state allows that, which has the guard look again
        if stop.event is not None and stop.failures:
            self._move(Event.UNSAFE, "; ".join(lines(stop.failures)))
        elif self.state is State.DISARMING and last:
            self._move(Event.SAFE, stop.why)
        if stop.fault and stop.failures:
            self.begin(Stop(Event.FAULT, "; ".join(lines(stop.failures)), self.names))
        if stop.event is None:
            self._switched()
        if stop.then is not None:
            stop.then()
        self._notices.append(stop.reported.set)
        stop.done.set()

    @property
    def was_armed(self) -> bool:
        """Whether it has been armed since it was made."""
        return self._epochs > 0

    def arm(self, stops: int, since: list[object], out: list[int]) -> Armed:
        step = follow(self.state, Event.ARM)
        refusal = "stopped" if self.stops != stops or self.is_stopping() else "" if self.state is State.ARMED else step.refusal
        refusal = "ended" if self.ended else refusal
        self._epochs += not refusal
        opened = not refusal and [i for i in out if self.gates[i].open(self._epochs, since[i])]  # one that crashed meanwhile stays closed
        if refusal or (out and not opened):
            if self.state is not State.ARMED:
                self._guarded(STOPPING if self.unsafe or self.open_stops else SAFE)
            why = "the runtime is shutting down" if self.ended else "a stop came during arming. Arm again"
            return Armed(False, self.state, refusal or "stopped", (why,))
        if self._unguarded:
            self._notices.append(partial(log.warning, "armed, %s", self._unguarded))
        self._move(Event.ARM, f"armed, {self._unguarded}" if self._unguarded else "armed")
        self._switched()  # also where the robot was armed already, and one actuator was not
        return Armed(True, self.state, note=self._unguarded)

    def reset(self, stops: int) -> Armed:
        step = follow(self.state, Event.RESET)
        if step.refusal:
            return Armed(False, self.state, step.refusal)
        if self.stops != stops:
            return Armed(False, self.state, "stopped", self.causes)
        if self.is_stopping() or self.unsafe:
            return Armed(False, self.state, "not_safe", lines({**self.being_made_safe(), **self.unsafe}))
        self._guarded(SAFE)
        self._move(Event.RESET, f"reset: {'; '.join(self.causes)} cleared")
        self.causes = ()
        return Armed(True, self.state)

    def force_disarm(self, stops: int, failures: Mapping[str, str]) -> Disarmed | Armed:
        step = follow(self.state, Event.FORCE_DISARM)
        if step.refusal or self.stops != stops:
            return Armed(False, self.state, step.refusal or "stopped")
        self._guarded(STOPPING if failures else SAFE)
        self._move(Event.FORCE_DISARM, "forced")
        return Disarmed(not failures, self.state, failures, self.why)

    def _move(self, event: Event, why: str) -> None:
        old, self.state = self.state, follow(self.state, event).state
        if old is not self.state:
            self.why = why
            out = "" if self.state in (State.ARMED, State.DISARMED) else self.next_step()
            for gate in self.gates:
                gate.out = out
            self._switched()
            self._notices.append(partial(self._changed, old, self.state, why))

    def next_step(self) -> str:
        """Why it cannot be armed now, and what comes before that."""
        if self.state is State.ERROR:
            return f"the robot is in error ({self.why}). Inspect it, then force_disarm"
        if self.state is State.ESTOPPED:
            return f"the robot is e-stopped ({'; '.join(self.causes)}). Remove the cause, then reset it"
        return f"the robot is {self.state.value}"

    def _decision_failed(self, error: BaseException) -> None:
        """A defect of the decisions themselves, or no memory: close everything."""
        for gate in self.gates:
            gate.close(error)
        if isinstance(error, MemoryError):
            self.end_without_memory()
        self.notify(partial(self._failed, error))

    def end_without_memory(self) -> None:
        """A stop that cannot be carried out for want of memory ends the process, and the guard process disarms."""
        for gate in self.gates:
            gate.close(None)
        if not self._unguarded and self.safety.running:
            os._exit(NO_MEMORY)


def _serve_at_once(disarmers: tuple[Disarmer, ...], stop: Stop) -> None:
    for disarmer in disarmers:
        disarmer.serve_at_once(stop)


def lines(failures: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}: {failure}" for name, failure in failures.items())
