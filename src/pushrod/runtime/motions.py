"""Motions of one actuator, by the id of the command that began them: each accepted motion ends exactly once, whatever its driver reports.

A motion belongs to the command that began it. When a command with an id is accepted, the end of an earlier motion with that id is removed before
the driver is called. A driver ends its own motions with EndMotion. A motion that its driver leaves open is ended here:

    superseded          a newer command has acted                 cancelled, GRACE after it
    disarmed            the actuator was disarmed or e-stopped    cancelled, GRACE after it
    terminated          the runtime ends                          cancelled
    driver_failed       the driver has crashed                    fault
    silent              the driver has not reported its end       fault, SILENT after the arrival that it reported; without such a report after
                                                                  twice the duration of the command, UNKNOWN for a position without one;
                                                                  never for a command that acts until the next one
    a refusal reason    it waited for a driver that blocks and never started    cancelled

An EndMotion that its driver publishes after that is dropped, so that observers see one end for each motion.
"""

import threading
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from pushrod.runtime.message import BeginMotion, Command, EndMotion
from pushrod.runtime.payload import Position, Trajectory

REMEMBERED = 256  # motions that may be open, and ends that can still be looked up
GRACE = 0.1  # [s] for a driver to end a motion itself
SILENT = 5.0  # [s] after the expected end that a driver has to report it; longer than any shipped driver waits for a motor that is late
UNKNOWN = 60.0  # [s] for a motion to a position whose driver reports neither its begin nor its end, and whose duration was not given
EARLY = 1e-6  # [s] a timer may fire early
Reason = Literal["cancelled", "fault"]


class Ending(NamedTuple):
    """How and when the host ends a motion that its driver leaves open."""

    due: float
    reason: Reason
    detail: str
    message: str | None = None


class Motion:
    """A motion from acceptance to its end. `queued`: its command waited for a driver that blocks; `started`: the driver has been called."""

    __slots__ = ("begun", "by_host", "command", "end", "ending", "id", "queued", "started")

    def __init__(self, id: str, command: Command | None, started: bool) -> None:
        self.id = id
        self.command = command
        self.queued = not started
        self.started = started
        self.begun: BeginMotion | None = None
        self.ending: Ending | None = None
        self.end: EndMotion | None = None
        self.by_host = False


def _now() -> float:
    return 0.0


def _later(delay: float, call: Callable[[], None]) -> None:
    """Outside a runtime no timer runs."""


def _nothing() -> None:
    """No timer to cancel."""


def expected_duration(payload: Any) -> float:
    """Return how long a motion may take [s] whose driver has not reported when it arrives; infinity for what goes on until the next command."""
    if type(payload) is Position:
        return UNKNOWN if payload.duration is None else 2.0 * payload.duration  # a duration is a hint: limits may make it longer
    if type(payload) is Trajectory:
        return float("inf") if payload.repeat == "forever" else 2.0 * payload.repeat * payload.waypoints[-1].time
    duration = getattr(payload, "duration", None)
    return 2.0 * duration if type(duration) is float else float("inf")


def is_endless(payload: Any) -> bool:
    """Return whether a payload acts until the next command, whatever arrival its driver announces: without a duration, or repeated forever."""
    if type(payload) is Trajectory:
        return payload.repeat == "forever"
    return type(payload) is not Position and getattr(payload, "duration", 0.0) is None


def _emit(end: EndMotion) -> None:
    """Outside a runtime no bus takes it."""


class Motions:
    """`open` are the motions without an end. `position()` is the last reported joint position, or None. Callable from any thread."""

    def __init__(
        self,
        now: Callable[[], float] = _now,
        later: Callable[[float, Callable[[], None]], Callable[[], object] | None] = _later,
        emit: Callable[[EndMotion], None] = _emit,
        position: Callable[[], float | None] = lambda: None,
    ) -> None:
        self.ended: dict[str, EndMotion] = {}  # by id, where the newest motion with that id has ended
        self.open: dict[Motion, None] = {}  # in the order of acceptance
        self._newest: dict[str, Motion] = {}
        self._before: tuple[Motion, Motion | None] | None = None  # the motion accepted last, and the one whose id it took
        self._now = now
        self._later = later
        self._emit = emit
        self._position = position
        self._lock = threading.RLock()  # on the stepped clock a signal handler may stop motions while this thread has it
        self._timer_due = float("inf")  # [s] when the timer fires
        self._cancel_timer: Callable[[], object] = _nothing

    def find(self, id: str) -> Motion | None:
        """Return the newest motion with this id."""
        return self._newest.get(id)

    def accept(self, command: Command, started: bool = True) -> None:
        """Open the motion of a command that is about to act, or to wait for its driver; before the driver is called."""
        assert command.id is not None
        with self._lock:
            newest = self._newest.get(command.id)
            if newest is not None and newest.command is command and newest.end is None:
                newest.started = started
                self._expect(newest, self._now() + expected_duration(command.payload))
                return
            motion = Motion(command.id, command, started)
            self._before = motion, newest
            self._add(motion)
            self._expect(motion, self._now() + expected_duration(command.payload))
        self._end_surplus()

    def decline(self, command: Command) -> None:
        """Undo `accept` for a command that does not act: restore the earlier motion with its id."""
        with self._lock:
            motion = self._newest.get(command.id or "")
            if motion is None or motion.command is not command or motion.queued:
                return
            self.open.pop(motion, None)
            del self._newest[motion.id]
            if self._before is not None and self._before[0] is motion and self._before[1] is not None:
                old = self._newest[motion.id] = self._before[1]
                if old.end is not None:
                    self.ended[old.id] = old.end

    def refuse(self, command: Command, reason: str) -> None:
        """End the motion of a command that waited for its driver and does not act."""
        with self._lock:
            refused = [motion for motion in self.open if motion.command is command]
        self._finish([(motion, "cancelled", reason, None) for motion in refused])

    def acted(self, command: Command) -> None:
        """Supersede every older motion that has started; its driver has GRACE to end it."""
        self._end_later([m for m in tuple(self.open) if m.started and m.command is not command], "superseded", None)

    def stop(self, message: str) -> None:
        """The actuator was disarmed: its driver has GRACE to end what was open."""
        self._end_later(list(self.open), "disarmed", message)

    def end_all(self, reason: Reason, detail: str, message: str) -> None:
        """End all open motions now."""
        self._finish([(motion, reason, detail, message) for motion in tuple(self.open)])

    def note(self, report: BeginMotion | EndMotion) -> bool:
        """Record what a driver reports of a motion; return whether observers should receive it."""
        if report.command_id is None:
            return True
        if isinstance(report, BeginMotion):
            with self._lock:
                self._note_begin(report, report.command_id)
            self._end_surplus()
            return True
        with self._lock:
            return self._note_end(report, report.command_id)

    def _note_begin(self, report: BeginMotion, id: str) -> None:
        newest, started = self._newest.get(id), self._started(id)
        if started:
            motion = started[-1]
        elif newest is not None and (newest.end is None or newest.by_host):
            return  # it waits for its driver, or has been ended on its behalf
        else:
            motion = Motion(id, None, True)  # the driver moves by itself
            self._add(motion)
        motion.begun = report
        self._expect(motion, report.expected_arrival)

    def _note_end(self, report: EndMotion, id: str) -> bool:
        newest, started = self._newest.get(id), self._started(id)
        if not started:
            if newest is not None and newest.end is not None and newest.by_host:
                return False
            if newest is None:
                newest = Motion(id, None, True)
                self._add(newest)
            if newest.started:
                self._close(newest, report)
            return True
        # the id is in use twice: a driver first cancels the old motion, then begins the new one
        of_old = len(started) > 1 and report.reason == "cancelled" and started[-1].begun is None
        for motion in started[:1] if of_old else started:
            self._close(motion, report)
        return True

    def _started(self, id: str) -> list[Motion]:
        return [motion for motion in self.open if motion.id == id and motion.started]

    def _end_surplus(self) -> None:
        """End the oldest open motion where too many are open."""
        with self._lock:
            surplus = next(iter(self.open)) if len(self.open) > REMEMBERED else None
        if surplus is not None:
            self._finish([(surplus, "cancelled", "superseded", "too many motions are open")])

    def _add(self, motion: Motion) -> None:
        self.ended.pop(motion.id, None)
        self._newest.pop(motion.id, None)
        self._newest[motion.id] = motion
        self.open[motion] = None
        if len(self._newest) > 2 * REMEMBERED:
            del self._newest[next(id for id, old in self._newest.items() if old.end is not None)]

    def _close(self, motion: Motion, end: EndMotion, by_host: bool = False) -> None:
        motion.end, motion.by_host = end, by_host
        self.open.pop(motion, None)
        if self._newest.get(motion.id) is motion:
            self.ended.pop(motion.id, None)
            self.ended[motion.id] = end
            if len(self.ended) > REMEMBERED:
                del self.ended[next(iter(self.ended))]

    def _expect(self, motion: Motion, arrival: float) -> None:
        """End a motion whose driver does not report its end in time; one that waits for its driver, or has no end of its own, has no time."""
        if motion.ending is not None and motion.ending.detail != "silent":
            return
        endless = motion.command is not None and is_endless(motion.command.payload)
        if not motion.started or endless or not arrival < float("inf"):
            motion.ending = None
            return
        motion.ending = Ending(arrival + SILENT, "fault", "silent", "its driver has not reported the end of this motion")
        self._set_timer(motion.ending.due)

    def _end_later(self, motions: list[Motion], detail: str, message: str | None) -> None:
        if not motions:
            return
        with self._lock:
            ending = Ending(self._now() + GRACE, "cancelled", detail, message)
            for motion in motions:
                if motion.ending is None or motion.ending.detail == "silent":
                    motion.ending = ending
            self._set_timer(ending.due)

    def _set_timer(self, due: float) -> None:
        """One timer serves all motions; a later one is replaced."""
        if due < self._timer_due:
            self._cancel_timer()
            self._timer_due = due
            self._cancel_timer = self._later(max(due - self._now(), 0.0), self._expire) or _nothing

    def _expire(self) -> None:
        """End what is due; set the timer again where more follows."""
        with self._lock:
            now = self._now() + EARLY
            endings = [(motion, motion.ending) for motion in self.open if motion.ending is not None]
            due = [(motion, e.reason, e.detail, e.message) for motion, e in endings if e.due <= now]
            self._timer_due = float("inf")
            self._set_timer(min((e.due for _, e in endings if e.due > now), default=float("inf")))
        self._finish(due)

    def _finish(self, motions: list[tuple[Motion, Reason, str, str | None]]) -> None:
        """End motions on behalf of their driver. The position is 0 where the driver has reported none."""
        for motion, reason, detail, message in motions:
            x = self._position()
            if x is None:
                x = motion.begun.initial_position if motion.begun is not None else 0.0
            end = EndMotion(x, reason, detail, message, motion.id)
            with self._lock:
                if motion.end is not None:
                    continue
                self._close(motion, end, by_host=True)
            self._emit(end)
