"""When a delayed torque acts on a body: the three timings of an ActuatorDriver.

exact            the body always moves on by exactly dt; the torque switches at the due times, wherever in the step they lie, and is held in between
event            the reference: a command acts once, for the part of the step after its due time; without one the body stands still; float32
event_recompute  the same, but a change of the delay moves the due times of commands already sent, as the reference's code did

In all three a command is due `delay` after it was sent, up to 1e-6 s early counts as due, and the first sent is the first to act.
"""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np

from pushrod.core.errors import InputError
from pushrod.sim.rigid_body import single

F = np.float32
EARLY = 1e-6  # s

Torque = tuple[float, ...]


class Command(NamedTuple):
    torque: Torque
    sent: Any
    due: Any


class Plan(NamedTuple):
    """What one update will do: pieces of (duration [s], torque [N.m]), the clock after it, how many commands it uses up."""

    pieces: list[tuple[float, Torque]]
    clock: Any
    used: int


class Timing(Protocol):
    """A kind of clock and what happens between two of its readings."""

    zero: Any

    def later(self, clock: Any, what: str, seconds: float) -> Any:
        """The clock some seconds on."""

    def seconds(self, clock: Any) -> float: ...

    def torque(self, torque: Torque) -> Torque:
        """The torque as this arithmetic holds it."""

    def exceeds(self, torque: Torque, limit: float) -> bool:
        """Is the magnitude of the torque greater than the limit?"""

    def plan(self, clock: Any, queue: Iterable[Command], held: Torque, delay: float, dt: float) -> Plan: ...


class Exact:
    """Clock in whole units of 2^-100 s: sums of steps are exact, so due times are as good after a year as at the start."""

    zero = 0
    second = 1 << 100

    def later(self, clock: int, what: str, seconds: float) -> int:
        whole = int(seconds)
        return clock + whole * self.second + int((seconds - whole) * self.second)

    def seconds(self, clock: int) -> float:
        return clock / self.second

    def torque(self, torque: Torque) -> Torque:
        return torque

    def exceeds(self, torque: Torque, limit: float) -> bool:
        return math.hypot(*torque) > limit

    def plan(self, clock: int, queue: Iterable[Command], held: Torque, delay: float, dt: float) -> Plan:
        end = self.later(clock, "dt", dt)
        limit = self.later(end, "", EARLY)
        pieces, now, used = [], clock, 0
        for command in queue:
            if command.due > limit:
                break
            at = min(max(command.due, now), end)
            pieces.append((self.seconds(at - now), held))
            held, now, used = command.torque, at, used + 1
        # a step that no command cuts is handed on as it came
        pieces.append((dt if now == clock else self.seconds(end - now), held))
        return Plan([(h, torque) for h, torque in pieces if h > 0.0], end, used)


class Event:
    """The reference's float32 clock and its rules, with due times fixed when sent or computed anew from the present delay."""

    zero = F(0.0)

    def __init__(self, recompute: bool) -> None:
        self.recompute = recompute

    def later(self, clock: np.float32, what: str, seconds: float) -> np.float32:
        with np.errstate(over="ignore"):
            sum_ = clock + single(what, seconds, "s")
        if not np.isfinite(sum_):
            raise InputError(f"{what} = {seconds:g} s goes beyond what the float32 clock can hold; nothing was changed")
        return sum_

    def seconds(self, clock: np.float32) -> float:
        return float(clock)

    def torque(self, torque: Torque) -> Torque:
        return tuple(float(single(f"torque[{i}]", x, "N.m")) for i, x in enumerate(torque))

    def exceeds(self, torque: Torque, limit: float) -> bool:
        x, y, z = map(F, torque)
        with np.errstate(over="ignore"):
            return bool(np.sqrt(x * x + y * y + z * z) > single("limit", limit, "N.m"))

    def plan(self, clock: np.float32, queue: Iterable[Command], held: Torque, delay: float, dt: float) -> Plan:
        end, step = self.later(clock, "dt", dt), F(dt)
        pieces, used = [], 0
        for command in queue:
            due = command.sent + F(delay) if self.recompute else command.due
            if due > end + F(EARLY):
                break
            late = end - due
            part = min(late, step) if late > F(0.0) else step
            pieces.append((float(max(part, F(EARLY))), command.torque))
            used += 1
        return Plan(pieces, end, used)


TIMINGS: dict[str, Timing] = {
    "exact": Exact(),
    "event": Event(recompute=False),
    "event_recompute": Event(recompute=True),
}
