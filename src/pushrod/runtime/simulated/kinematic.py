"""A simulated motor that moves ideally: six verbs, no load, no friction, no jump of velocity; always within its limits and where its plan says.

Every command that acts ends in one EndMotion with its id: completed, cancelled (by the next command, or by disarming), limit_reached or fault. A
BeginMotion goes ahead of it where something moves. Position and velocity are published as JointState `feedback_hz` times a second, from the start
on. Disarming stops it on the spot.
"""

import threading
import weakref
from typing import Any, Literal, NamedTuple

import msgspec

from pushrod.core.errors import InputError
from pushrod.motion import Sample
from pushrod.runtime.driver import Context, Stopped
from pushrod.runtime.message import BeginMotion, Command, EndMotion, JointState
from pushrod.runtime.simulated.pulse import Cancel, Pulse, nothing, weakly
from pushrod.runtime.simulated.verbs import HORIZON, Axis, Plan, plan

_motors: "weakref.WeakSet[Kinematic]" = weakref.WeakSet()  # what `disarm` can reach in this process, as it would reach hardware
_registering = threading.Lock()


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """feedback_hz: 0 for none. jerk: limit [x/s3]; none if not given. inertia: what an effort moves [kg.m2 or kg], at the motor.

    initial: where the motor starts; if not given, in the middle of its travel. All in motor space.
    """

    feedback_hz: float = 50.0
    jerk: float | None = None
    inertia: float = 1.0
    initial: float | None = None


class Active(NamedTuple):
    plan: Plan
    start: float
    id: str | None


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
        self._lock = threading.RLock()
        self._active: Active | None = None
        self._pulse: Pulse | None = None
        self._alarm = float("inf")  # when the motion is looked after next
        self._cancel_alarm: Cancel = nothing
        initial = options.initial if options is not None else None
        self._rest = Sample(context.motor.initial if initial is None else initial)
        self.handle_options(context, options or Options())
        with _registering:
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

    def handle_command(self, payload: Any, command: Command) -> Any:
        with self._lock:
            if self.fault:
                raise Stopped(self.fault)
            now = self.context.now()
            active = self._active
            new = plan(self.axis, self._rest if active is None else active.plan.handover(now - active.start), payload)
            info = self.context.slowed(new.slower)
            self._end(now, "cancelled", "superseded")
            self._begin(new, now, command.id)
            return info

    def handle_request(self, request: Any) -> Any:
        if request == "state":
            s = self.state(self.context.now())
            return {"position": s.x, "velocity": s.v, "acceleration": s.a}
        if isinstance(request, dict) and set(request) == {"fault"}:
            with self._lock:
                self.fault = str(request["fault"])
                self._end(self.context.now(), "fault", "fault", self.fault)
            return None
        raise LookupError(f"a kinematic motor answers 'state' and {{'fault': text}}, got {request!r}")

    def terminate(self, reason: str) -> None:
        with self._lock:
            self._end(self.context.now(), "cancelled", "terminated", reason)
            self._stop_pulse()

    def make_safe(self) -> None:
        """At rest where it is."""
        with self._lock:
            self._end(self.context.now(), "cancelled", "disarmed")

    def state(self, now: float) -> Sample:
        """Where the motor is, in motor space."""
        with self._lock:
            active = self._active
            return self._rest if active is None else active.plan.at(now - active.start)

    def _begin(self, new: Plan, now: float, id: str | None) -> None:
        self._active = Active(new, now, id)
        if new.length > 0.0 or new.kind == "position":
            told, v = new.told, new.at(0.0).v
            self.context.publish(
                BeginMotion(
                    told.initial, told.target, now + told.duration, id, new.kind, told.acceleration, told.peak_velocity, v if v != 0.0 else None
                )
            )
        if new.length <= 0.0:
            self._end(now, new.reason)
        else:
            self._wake_at(now + min(new.length, HORIZON))

    def _end(
        self, now: float, reason: Literal["completed", "cancelled", "limit_reached", "fault"], detail: str | None = None, message: str | None = None
    ) -> None:
        """To rest where it is; a motion that follows starts from the state before."""
        active = self._active
        if active is None:
            return
        x = active.plan.at(min(now - active.start, active.plan.length)).x
        self._active = None
        self._rest = Sample(x)
        if detail != "superseded":
            self._publish_feedback(0)  # so that whoever waits for the end finds it where it ended
        self.context.publish(EndMotion(x, reason, detail, message, active.id))

    def _wake_at(self, when: float) -> None:
        """Look after the motion at a time. A later time than is already planned needs no call of its own: the earlier one will ask for it."""
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
            if active is None:
                return
            end = active.start + active.plan.length
            if now >= end - 1e-9:  # the stepped clock counts nanoseconds
                self._end(now, active.plan.reason)
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
    with _registering:
        motors = list(_motors)
    for motor in motors:
        if _is_meant(motor, options):
            motor.make_safe()


def _is_meant(motor: Kinematic, options: dict[str, Any]) -> bool:
    if "path" in options:
        return tuple(options["path"]) == motor.path and options.get("robot", motor.context.robot) == motor.context.robot
    try:
        return msgspec.convert(options, Options) == motor.settings
    except msgspec.ValidationError:
        return True  # it cannot be told apart: rather one too many
