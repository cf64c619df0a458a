"""The driver of a motor in a simulated world: all six verbs, as set-points for the motor's own servo loop, tick by tick.

    Position, Velocity, Trajectory   the plans of `verbs`; each tick the servo is told where the plan is and how fast it moves there
    Hold                             brakes, then holds
    Stop                             "decelerate" brakes, then lets go; "immediate" lets go
    Effort                           a torque and no servo loop; after its duration it lets go. One that would run past an end of the travel is
                                     braked in time by the servo, which then holds it there: limit_reached
A new plan starts from the set-point of the old one, position and velocity, or from what is measured where the motor was let go.

The motor is let go (passive: no servo loop, no torque) from the start on, after disarming, and where the above says so. Motions begin and end on
ticks of the world; BeginMotion and EndMotion are as the kinematic driver's, but an EndMotion tells the measured position. With the profile "none" a
Position is the set-point at once, and its velocity the set-point of velocity: for control loops that send one every tick. Such a command is over as
soon as it is given; that is told only where it has an id. JointState (position, velocity, effort) is published `feedback_hz` times a second. All of
it in motor space.

`disarm` takes no lock and publishes nothing, as the kinematic driver's. A call into the driver that is under way then may write another set-point;
when it has returned, the runtime calls `disarm` again.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from pushrod.compiled.call import compiled
from pushrod.core.errors import InputError
from pushrod.core.quantity import INF
from pushrod.motion import Sample, point_to_point
from pushrod.runtime.driver import Context, Stopped
from pushrod.runtime.message import BeginMotion, Command, EndMotion, JointState
from pushrod.runtime.payload import Effort, Position, Stop, Trajectory
from pushrod.runtime.simulated.pulse import Pulse
from pushrod.runtime.simulated.reach import Reach
from pushrod.runtime.simulated.verbs import HORIZON, ROUGH, Axis, Plan, plan, rest

Reason = Literal["completed", "cancelled", "limit_reached", "fault"]
_motors: "Reach[JointPort]" = Reach()
LATE = 1.0  # [s] after its announced arrival a motion is announced again: ticks that were missed make it longer


def solver() -> Callable[..., Any]:
    """Of a move from one place to another; compiled by the first call."""
    return compiled(point_to_point)


class SetPoint(NamedTuple):
    """What a motor is told for a tick: with stiff 0 its servo loop is off, and with effort 0 too it is passive."""

    stiff: float = 0.0
    position: float = 0.0
    velocity: float = 0.0
    effort: float = 0.0


class Measured(NamedTuple):
    position: float
    velocity: float
    effort: float


class Motor(Protocol):
    """What the driver needs of the world. The world calls `before_tick` and `after_tick` of whatever is attached last."""

    dt: float

    @property
    def k(self) -> int:
        """Ticks done."""

    def write(self, to: SetPoint) -> None: ...

    def read(self) -> Measured: ...

    def attach(self, driver: "JointPort") -> None: ...


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """feedback_hz: 0 for none. jerk: limit [x/s3], at the motor; none if not given.

    profile: "none", "trapezoid" or "s_curve"; if not given, s_curve where there is a jerk limit and trapezoid where not.
    """

    feedback_hz: float = 50.0
    jerk: float | None = None
    profile: Literal["none", "trapezoid", "s_curve"] | None = None


class Active:
    """A motion. Without a plan it is an effort, until tick `end`. `lets_go`: when it is over. Any thread may end it, without a lock."""

    __slots__ = ("_unended", "end", "id", "lets_go", "plan", "start")

    def __init__(self, id: str | None, start: int, plan: Plan | None = None, end: float = INF, lets_go: bool = False) -> None:
        self.id = id
        self.start = start
        self.plan = plan
        self.end = end
        self.lets_go = lets_go
        self._unended = [True]

    @property
    def is_over(self) -> bool:
        return not self._unended

    def finish(self) -> bool:
        """End it; True for one caller, who reports the end."""
        try:
            return self._unended.pop()
        except IndexError:
            return False


class JointPort:
    """The driver. Requests: "state" gives what is measured and what the servo was told; {"fault": text} makes it fail as hardware does."""

    disarm = "pushrod.runtime.simulated.port:disarm"
    in_process = True
    options = Options
    capabilities = ("position_feedback", "velocity_feedback", "effort_feedback")
    channels = SetPoint._fields  # what it tells a world
    reads = ("position", "velocity", "torque")  # what it wants to know of it

    def __init__(self, motor: Motor) -> None:
        self.motor = motor

    def init(self, context: Context, options: Options | None = None) -> None:
        self.fault = ""
        self._newest: Active | None = None
        self._unreported: deque[EndMotion] = deque()  # ends by disarming
        self._told = SetPoint()
        self._pulse: Pulse | None = None
        self._arrival = 0.0  # [s] announced last
        self.handle_options(context, options or Options())
        self._tell(SetPoint())
        self.motor.attach(self)
        _motors.add(self)
        self._publish_feedback(0)

    def handle_options(self, context: Context, options: Options) -> None:
        _check(options)
        self.context = context
        self.settings = options
        self.axis = Axis.of(context.motor, None if options.profile in ("none", "trapezoid") else options.jerk, 1.0, solver())
        if self._pulse is None or self._pulse.hz != options.feedback_hz:
            self._stop_pulse()
            if options.feedback_hz > 0.0:
                self._pulse = Pulse(options.feedback_hz, context.now, context.call_later, self._publish_feedback)
                self._pulse.start(1)

    def check_command(self, payload: Any, command: Command) -> None:
        """Plan a trajectory, which alone can be declined. The world does not move before `handle_command`, so the plan is the same there."""
        if type(payload) is Trajectory and not self.fault:
            self.context.slowed(plan(self.axis, self._from_where(), payload).slower)

    def handle_command(self, payload: Any, command: Command) -> Any:
        if self.fault:
            raise Stopped(self.fault)
        self._report_ends()
        kind = type(payload)
        if kind is Position and self.settings.profile == "none":
            return self._straight(payload, command.id)
        if kind is Effort:
            return self._push(payload, command.id)
        new = plan(self.axis, self._from_where(), payload)
        info = self.context.slowed(new.slower)
        self._end("cancelled", "superseded")
        active = self._newest = Active(command.id, self.motor.k, new, lets_go=kind is Stop)
        if new.length > 0.0 or new.kind == "position":
            told, v = new.told, new.at(0.0).v
            self._begin(active, told.initial, told.target, told.duration, new.kind, told.acceleration, told.peak_velocity, v)
        if new.length <= 0.0:
            self._over(active, new.reason)
        return info

    def handle_arming(self, armed: bool) -> None:
        self._report_ends()

    def handle_request(self, request: Any) -> Any:
        if request == "state":
            return {**self.motor.read()._asdict(), "set_point": self._told._asdict()}
        if isinstance(request, dict) and set(request) == {"fault"}:
            self.fault = str(request["fault"])
            self._end("fault", "fault", self.fault)
            self._tell(SetPoint())
            return None
        raise LookupError(f"the motor of a simulated world answers 'state' and {{'fault': text}}, got {request!r}")

    def terminate(self, reason: str) -> None:
        self._report_ends()
        self._end("cancelled", "terminated", reason)
        self._tell(SetPoint())
        self._stop_pulse()

    def make_safe(self) -> None:
        """Let go. The end of a motion is published when this driver learns that it is disarmed."""
        active = self._newest
        is_first = active is not None and active.finish()
        self._tell(SetPoint())
        if active is not None and is_first:
            self._unreported.append(EndMotion(self.motor.read().position, "cancelled", "disarmed", None, active.id))

    def before_tick(self) -> None:
        """Write the set-point of the tick that comes now."""
        active = self._active
        if active is not None and active.plan is not None:
            s = active.plan.at(self._elapsed(active))
            self._tell(SetPoint(1.0, s.x, s.v))

    def after_tick(self) -> None:
        """End a motion that is over; announce one that is late, or has no end, again."""
        self._report_ends()
        active = self._active
        if active is None:
            return
        left = self._left(active)
        if left <= (0.0 if active.plan is None else 1e-9):
            self._over(active, "completed" if active.plan is None else active.plan.reason)
            return
        if self.context.now() >= self._arrival + (LATE if left < INF else 0.0):
            self._announce_again(active, left if left < INF else HORIZON)
        if active.plan is None:
            self._brake_at_end(active)

    @property
    def _active(self) -> Active | None:
        """The motion under way."""
        active = self._newest
        return None if active is None or active.is_over else active

    def _straight(self, payload: Position, id: str | None) -> None:
        self._end("cancelled", "superseded")
        x = min(max(payload.position, self.axis.lower), self.axis.upper)
        self._tell(SetPoint(1.0, x, payload.velocity or 0.0))
        if id is not None:
            self.context.publish(EndMotion(self.motor.read().position, "completed", command_id=id))

    def _push(self, payload: Effort, id: str | None) -> None:
        self._end("cancelled", "superseded")
        seconds = HORIZON if payload.duration is None else payload.duration
        k = self.motor.k
        active = self._newest = Active(id, k, None, INF if payload.duration is None else k + payload.duration / self.motor.dt - 1e-6, True)
        self._tell(SetPoint(effort=payload.effort))
        here = self.motor.read()
        self._begin(active, here.position, here.position, seconds, "effort", None, None, here.velocity)  # where it leads depends on the load

    def _brake_at_end(self, active: Active) -> None:
        """Let the servo brake an effort that is about to run past an end of the travel."""
        axis = self.axis
        here, push = self.motor.read(), self._told.effort
        s = Sample(here.position, here.velocity)
        x = rest(axis, s)
        upper = x > axis.upper + ROUGH * (1.0 + abs(axis.upper)) and (s.v > 0.0 or push > 0.0)
        lower = x < axis.lower - ROUGH * (1.0 + abs(axis.lower)) and (s.v < 0.0 or push < 0.0)
        if upper or lower:
            to_end = plan(axis, s, Position(axis.upper if upper else axis.lower))
            if active.finish():  # not while a stop ends it
                self._newest = Active(active.id, self.motor.k, to_end._replace(kind="effort", reason="limit_reached"))

    def _from_where(self) -> Sample:
        """The state a new plan goes on from."""
        active = self._active
        if active is not None and active.plan is not None:
            return active.plan.handover(self._elapsed(active))
        if self._told.stiff != 0.0:
            return Sample(self._told.position, self._told.velocity)
        here = self.motor.read()
        return Sample(here.position, here.velocity)

    def _begin(self, active: Active, x0: float, x1: float, seconds: float, kind: Any, a: float | None, v: float | None, v0: float) -> None:
        self._arrival = self.context.now() + seconds
        self.context.publish(BeginMotion(x0, x1, self._arrival, active.id, kind, a, v, v0 if v0 != 0.0 else None))

    def _announce_again(self, active: Active, seconds: float) -> None:
        if active.plan is None:
            here = self.motor.read()
            self._begin(active, here.position, here.position, seconds, "effort", None, None, here.velocity)
        else:
            t = self._elapsed(active)
            s = active.plan.at(t)
            self._begin(active, s.x, active.plan.at(t + seconds).x, seconds, active.plan.kind, None, None, s.v)

    def _over(self, active: Active, reason: Reason) -> None:
        """End a motion that has arrived: hold its end, or let go."""
        if not self._end(reason):
            return  # a stop has ended it
        if active.lets_go or active.plan is None:
            self._tell(SetPoint())
        else:
            self._tell(SetPoint(1.0, active.plan.at(active.plan.length).x))

    def _end(self, reason: Reason, detail: str | None = None, message: str | None = None) -> bool:
        """End the motion under way and publish that; False where there is none."""
        active = self._newest
        if active is None or not active.finish():
            return False
        self.context.publish(EndMotion(self.motor.read().position, reason, detail, message, active.id))
        return True

    def _report_ends(self) -> None:
        while self._unreported:
            self.context.publish(self._unreported.popleft())

    def _left(self, active: Active) -> float:
        """Simulated time until it is over [s]."""
        return (active.end - self.motor.k) * self.motor.dt if active.plan is None else active.plan.length - self._elapsed(active)

    def _elapsed(self, active: Active) -> float:
        return (self.motor.k - active.start) * self.motor.dt

    def _tell(self, to: SetPoint) -> None:
        self._told = to
        self.motor.write(to)

    def _publish_feedback(self, _: int) -> None:
        if self.settings.feedback_hz > 0.0:
            here = self.motor.read()
            self.context.publish(
                JointState((self.context.joint or self.context.path[-1],), (here.position,), (here.velocity,), (here.effort,)),
            )

    def _stop_pulse(self) -> None:
        if self._pulse is not None:
            self._pulse.stop()
            self._pulse = None


def _check(options: Options) -> None:
    if not 0.0 <= options.feedback_hz <= 1e4:
        raise InputError(f"feedback_hz = {options.feedback_hz!r} Hz: allowed are 0 (none) to 10000")
    if options.profile == "s_curve" and options.jerk is None:
        raise InputError("profile s_curve needs a jerk limit: give jerk [x/s3, at the motor], or choose trapezoid")


def disarm(options: dict[str, Any]) -> None:
    """Let go of every simulated motor of this process that the options mean, by robot and path."""
    _motors.make_safe(options)
