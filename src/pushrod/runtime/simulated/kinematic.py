"""A simulated motor that moves ideally: six verbs, no load, no friction, no jump of velocity; always within its limits and where its plan says.

Every command that acts ends in one EndMotion with its id: completed, cancelled (by the next command, or by disarming), limit_reached or fault. A
BeginMotion goes ahead of it where something moves. Position and velocity are published as JointState `feedback_hz` times a second, from the start
on. Disarming stops it on the spot.

`disarm` takes no lock and publishes nothing: the call that it interrupts, an observer or a signal handler may be what stops the robot, and what they
hold it would wait for. The end of such a motion is published when the driver learns that it is disarmed.
"""

import threading
from collections import deque
from typing import Any, Literal, NamedTuple

import msgspec

from pushrod.core.errors import InputError
from pushrod.motion import Sample
from pushrod.runtime.driver import Context, Stopped
from pushrod.runtime.message import BeginMotion, Command, EndMotion, JointState
from pushrod.runtime.payload import Trajectory
from pushrod.runtime.simulated.pulse import Cancel, Pulse, nothing, weakly
from pushrod.runtime.simulated.reach import Reach
from pushrod.runtime.simulated.verbs import HORIZON, Axis, Plan, plan

Reason = Literal["completed", "cancelled", "limit_reached", "fault"]
_motors: "Reach[Kinematic]" = Reach()


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """feedback_hz: 0 for none. jerk: limit [x/s3]; none if not given. inertia: what an effort moves [kg.m2 or kg], at the motor.

    initial: where the motor starts; if not given, in the middle of its travel. All in motor space.
    """

    feedback_hz: float = 50.0
    jerk: float | None = None
    inertia: float = 1.0
    initial: float | None = None


class Active:
    """A motion and, once it has ended, where it stopped. Any thread may end it, without a lock."""

    __slots__ = ("_unended", "id", "plan", "rest", "start")

    def __init__(self, plan: Plan, start: float, id: str | None) -> None:
        self.plan = plan
        self.start = start
        self.id = id
        self.rest: Sample | None = None
        self._unended = [True]

    def end(self, now: float) -> bool:
        """Stop it where it is; True for one caller, who reports the end."""
        if self.rest is None:
            self.rest = Sample(self.plan.at(min(now - self.start, self.plan.length)).x)
        try:
            return self._unended.pop()
        except IndexError:
            return False


class Planned(NamedTuple):
    payload: Any
    plan: Plan
    start: float


class Kinematic:
    """The driver. Requests: "state" gives position, velocity and acceleration; {"fault": text} makes it fail as hardware does."""

    disarm = "pushrod.runtime.simulated.kinematic:disarm"
    in_process = True
    options = Options
    capabilities = ("position_feedback", "velocity_feedback")

    def init(self, context: Context, options: Options | None = None) -> None:
        self.context = context
        self.path = context.path
        self.fault = ""
        self._lock = threading.RLock()  # around the alarm and the pulse alone
        self._active: Active | None = None  # the newest motion, which may have ended
        self._unreported: deque[EndMotion] = deque()  # ends by disarming
        self._planned: Planned | None = None
        self._pulse: Pulse | None = None
        self._alarm = float("inf")  # when the motion is looked after next
        self._cancel_alarm: Cancel = nothing
        initial = options.initial if options is not None else None
        self._initial = Sample(context.motor.initial if initial is None else initial)
        self.handle_options(context, options or Options())
        _motors.add(self)
        self._publish_feedback(0)

    def handle_options(self, context: Context, options: Options) -> None:
        _check(options)
        with self._lock:
            self.context = context
            self.settings = options
            self.axis = Axis.of(self.context.motor, options.jerk, options.inertia)
            if self._pulse is None or self._pulse.hz != options.feedback_hz:
                self._stop_pulse()
                if options.feedback_hz > 0.0:
                    self._pulse = Pulse(options.feedback_hz, self.context.now, self.context.call_later, self._publish_feedback)
                    self._pulse.start(1)

    def check_command(self, payload: Any, command: Command) -> None:
        """Plan a trajectory, which alone can be declined. The plan is kept: a moment later, from another state, it might be another one."""
        if type(payload) is Trajectory and not self.fault:
            planned = self._planned = self._plan(payload)
            self.context.slowed(planned.plan.slower)

    def handle_command(self, payload: Any, command: Command) -> Any:
        if self.fault:
            raise Stopped(self.fault)
        self._report_ends()
        planned, self._planned = self._planned, None
        if planned is None or planned.payload is not payload:
            planned = self._plan(payload)
        info = self.context.slowed(planned.plan.slower)
        self._end(self._active, planned.start, "cancelled", "superseded")
        self._begin(planned.plan, planned.start, command.id)
        return info

    def handle_arming(self, armed: bool) -> None:
        self._report_ends()

    def _plan(self, payload: Any) -> Planned:
        now, active = self.context.now(), self._active
        here = self._initial if active is None else active.rest or active.plan.handover(now - active.start)
        return Planned(payload, plan(self.axis, here, payload), now)

    def handle_request(self, request: Any) -> Any:
        if request == "state":
            s = self.state(self.context.now())
            return {"position": s.x, "velocity": s.v, "acceleration": s.a}
        if isinstance(request, dict) and set(request) == {"fault"}:
            self.fault = str(request["fault"])
            self._end(self._active, self.context.now(), "fault", "fault", self.fault)
            return None
        raise LookupError(f"a kinematic motor answers 'state' and {{'fault': text}}, got {request!r}")

    def terminate(self, reason: str) -> None:
        self._report_ends()
        self._end(self._active, self.context.now(), "cancelled", "terminated", reason)
        with self._lock:
            self._stop_pulse()

    def make_safe(self) -> None:
        """Stop where it is. Its end is published when this driver learns that it is disarmed."""
        active = self._active
        if active is not None and active.end(self.context.now()) and active.rest is not None:
            self._unreported.append(EndMotion(active.rest.x, "cancelled", "disarmed", None, active.id))

    def state(self, now: float) -> Sample:
        """Where the motor is, in motor space."""
        active = self._active
        if active is None:
            return self._initial
        return active.rest or active.plan.at(now - active.start)

    def _begin(self, new: Plan, now: float, id: str | None) -> None:
        active = self._active = Active(new, now, id)
        if new.length > 0.0 or new.kind == "position":
            told, v = new.told, new.at(0.0).v
            self.context.publish(
                BeginMotion(
                    told.initial, told.target, now + told.duration, id, new.kind, told.acceleration, told.peak_velocity, v if v != 0.0 else None
                )
            )
        if new.length <= 0.0:
            self._end(active, now, new.reason)
        else:
            self._wake_at(now + min(new.length, HORIZON))

    def _end(self, active: Active | None, now: float, reason: Reason, detail: str | None = None, message: str | None = None) -> None:
        """Stop where it is, and publish the end where that was not done; a motion that follows has been planned from the state before."""
        if active is None or not active.end(now) or active.rest is None:
            return
        if detail != "superseded":
            self._publish_feedback(0)  # first, so that an observer that waits for the end has the position
        self.context.publish(EndMotion(active.rest.x, reason, detail, message, active.id))

    def _report_ends(self) -> None:
        while self._unreported:
            self._publish_feedback(0)
            self.context.publish(self._unreported.popleft())

    def _wake_at(self, when: float) -> None:
        """Look after the motion at a time. A later time than is already planned needs no call of its own: the earlier one will ask for it."""
        with self._lock:
            if when >= self._alarm:
                return
            self._cancel_alarm()
            self._alarm = when
            self._cancel_alarm = self.context.call_later(max(when - self.context.now(), 0.0), weakly(self._look))

    def _look(self) -> None:
        with self._lock:
            now = self.context.now()
            if now < self._alarm - 1e-9:
                return  # cancelled while it was on its way here
            self._alarm = float("inf")
            self._cancel_alarm = nothing
        active = self._active
        if active is None or active.rest is not None:
            return
        end = active.start + active.plan.length
        if now >= end - 1e-9:  # the stepped clock counts nanoseconds
            self._end(active, now, active.plan.reason)
        elif active.plan.length == float("inf"):
            s = active.plan.at(now - active.start)
            far = active.plan.at(now - active.start + HORIZON).x
            self.context.publish(BeginMotion(s.x, far, now + HORIZON, active.id, active.plan.kind, initial_velocity=s.v))
            self._wake_at(now + HORIZON)
        else:
            self._wake_at(end)

    def _publish_feedback(self, _: int) -> None:
        if self.settings.feedback_hz > 0.0:
            s = self.state(self.context.now())
            self.context.publish(JointState((self.context.joint or self.path[-1],), (s.x,), (s.v,)))

    def _stop_pulse(self) -> None:
        if self._pulse is not None:
            self._pulse.stop()
            self._pulse = None


def _check(options: Options) -> None:
    if not (options.feedback_hz >= 0.0 and options.feedback_hz <= 1e4):
        raise InputError(f"feedback_hz = {options.feedback_hz!r} Hz: allowed are 0 (none) to 10000")
    if not 0.0 < options.inertia < float("inf"):
        raise InputError(f"inertia = {options.inertia!r} kg.m2 or kg: allowed are finite numbers above 0")
    if options.initial is not None and not abs(options.initial) < float("inf"):
        raise InputError(f"initial = {options.initial!r}: allowed are finite numbers in motor space, or none")


def disarm(options: dict[str, Any]) -> None:
    """Stop every simulated motor of this process that the options mean: by robot and path where they are given, else by equal options."""
    for motor in _motors.drivers():
        if _is_meant(motor, options):
            motor.make_safe()


def _is_meant(motor: Kinematic, options: dict[str, Any]) -> bool:
    if "path" in options:
        return tuple(options["path"]) == motor.path and options.get("robot", motor.context.robot) == motor.context.robot
    try:
        return msgspec.convert(options, Options) == motor.settings
    except msgspec.ValidationError:
        return True  # it cannot be told apart: rather one too many
