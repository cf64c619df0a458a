"""A torque actuator with dead time in front of a body: commands queue up and act `delay` seconds after they were sent.

    body = RigidBody((50.0, 40.0, 60.0))
    driver = ActuatorDriver(body, delay=0.05)
    driver.send_command((1.0, -0.5, 0.2))
    driver.update(0.01)

A command keeps the due time it was sent with, whatever becomes of `delay`; the first sent is the first to act (one whose time has come waits for the
one before it); before the first one the torque is zero. See `actuator_timing` for the timings, of which `exact` is the default.
"""

import math
import warnings
from collections import deque
from collections.abc import Iterable
from typing import Any

from pushrod.core.errors import InputError, MissingBodyError, PushrodError, QueueFullError
from pushrod.core.names import find
from pushrod.sim.actuator_timing import TIMINGS, Command, Torque
from pushrod.sim.arguments import number, vector
from pushrod.sim.rigid_body import Body, ReferenceBody, RigidBody

NO_TORQUE: Torque = (0.0, 0.0, 0.0)


class CoarseStepWarning(UserWarning):
    """The step is longer than a tenth of the delay."""


class ActuatorDriver:
    """Delays torque commands [N.m] by `delay` [s] and moves a body with them.

    timing: "exact", or the reference's "event" or "event_recompute" (give these a ReferenceBody to repeat the reference's numbers).
    queue_limit: how many commands may wait; one more is refused with QueueFullError. None: no limit.
    """

    def __init__(self, body: Body | None = None, delay: float = 0.0, *, timing: str = "exact", queue_limit: int | None = None) -> None:
        if queue_limit is not None and (not isinstance(queue_limit, int) or isinstance(queue_limit, bool) or queue_limit < 1):
            raise InputError(f"queue_limit must be a whole number of at least 1, or None for no limit, got {queue_limit!r}")
        self._timing_name = timing
        self._timing = find(TIMINGS, timing, "timing")
        self._queue_limit = queue_limit
        self._queue: deque[Command] = deque()
        self._clock: Any = self._timing.zero
        self._torque = NO_TORQUE
        self._warned = False
        self._body: Body | None = None
        self.delay = delay
        self.body = body

    @property
    def body(self) -> Body | None:
        """What the torque moves: anything with `update(dt, torque)`."""
        return self._body

    @body.setter
    def body(self, value: Body | None) -> None:
        if value is not None and not callable(getattr(value, "update", None)):
            raise InputError(f"body must have a method update(dt, torque), as RigidBody has; got {value!r}; nothing was changed")
        self._body = value

    @property
    def delay(self) -> float:
        """Seconds between sending a command and its effect. A new value holds for commands sent from now on."""
        return self._delay

    @delay.setter
    def delay(self, value: float) -> None:
        seconds = number("delay", value, "s", lo=0.0)
        self._timing.later(self._timing.zero, "delay", seconds)
        self._delay = seconds

    @property
    def timing(self) -> str:
        return self._timing_name

    @property
    def queue_limit(self) -> int | None:
        return self._queue_limit

    @property
    def time(self) -> float:
        """The driver's own clock [s]: the sum of all steps since the start or the last reset."""
        return self._timing.seconds(self._clock)

    @property
    def torque(self) -> Torque:
        """The torque of the newest command that has come due [N.m]; zero before the first."""
        return self._torque

    @property
    def buffered_command_count(self) -> int:
        """Commands sent and not yet due."""
        return len(self._queue)

    def send_command(self, torque: Iterable[float]) -> None:
        """Queue a torque [N.m]; it acts `delay` seconds from now."""
        value = self._timing.torque(vector("torque", torque, "N.m"))
        if self._queue_limit is not None and len(self._queue) >= self._queue_limit:
            raise QueueFullError(
                f"the queue already holds its limit of {self._queue_limit} commands; this one was not taken: "
                f"update() more often, send fewer, or raise queue_limit (delay {self._delay:g} s)"
            )
        self._queue.append(Command(value, self._clock, self._timing.later(self._clock, "delay", self._delay)))

    def update(self, dt: float) -> None:
        """Advance the clock by dt [s] and move the body with whatever comes due."""
        step = number("dt", dt, "s", lo=0.0)
        if self._body is None:
            raise MissingBodyError("this driver has no body to move: build it as ActuatorDriver(body, delay) or set driver.body; nothing was changed")
        plan = self._timing.plan(self._clock, self._queue, self._torque, self._delay, step)
        self._warn_once(step)
        _move(self._body, plan.pieces)
        for _ in range(plan.used):
            self._torque = self._queue.popleft().torque
        self._clock = plan.clock

    def reset(self) -> None:
        """Back to time zero with an empty queue and no torque. Delay, body and the body's state stay."""
        self._queue.clear()
        self._clock = self._timing.zero
        self._torque = NO_TORQUE

    def has_commands_exceeding_limit(self, limit: float) -> bool:
        """Is the magnitude of any queued torque greater than limit [N.m]? Looks, and changes nothing."""
        most = number("limit", limit, "N.m", above=0.0)
        return any(self._timing.exceeds(command.torque, most) for command in self._queue)

    def check_numerics(self) -> bool:
        """Are delay, clock and every queued command finite, and no time negative?"""
        times = [self._delay, self.time]
        for command in self._queue:
            times += [self._timing.seconds(command.sent), self._timing.seconds(command.due)]
        torques = [self._torque, *(command.torque for command in self._queue)]
        return all(math.isfinite(t) and t >= 0.0 for t in times) and all(math.isfinite(x) for torque in torques for x in torque)

    def copy(self) -> "ActuatorDriver":
        """A driver with its own queue and clock, moving the same body."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._queue = self._queue.copy()
        return twin

    __copy__ = copy

    def __repr__(self) -> str:
        return f"ActuatorDriver({self._body!r}, delay={self._delay:g}, timing={self._timing_name!r}, time={self.time:g}, queued={len(self._queue)})"

    def _warn_once(self, dt: float) -> None:
        if not self._warned and self._delay > 0.0 and 10.0 * dt > self._delay * (1.0 + 1e-9):
            self._warned = True
            warnings.warn(
                f"a step of {dt:g} s is longer than a tenth of the delay of {self._delay:g} s; better dt <= {self._delay / 10.0:g} s",
                CoarseStepWarning,
                stacklevel=3,
            )


def _move(body: Body, pieces: list[tuple[float, Torque]]) -> None:
    """All pieces or, for a body of ours, none."""
    before = body.state if isinstance(body, (RigidBody, ReferenceBody)) else None
    try:
        for h, torque in pieces:
            body.update(h, torque)
    except PushrodError:
        if before is not None:
            body.state = before  # type: ignore[attr-defined]
        raise
