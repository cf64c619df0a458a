"""Dynamixel X servos over protocol 2.0: position, velocity, current and PWM, with feedback, health and torque that is off unless armed and commanded.

Nothing moves in `init`. Torque comes on with the first command after arming, with the goal set to where the servo stands. What an exchange cannot do
within its retries raises, and so does a reading that is too old, a hardware error, or torque that is not what it should be: the supervisor then
calls `disarm`.
"""

from typing import Any, Literal

from pushrod.core.quantity import INF
from pushrod.core.scalar import clamp, sign
from pushrod.drivers.dynamixel import request as requests
from pushrod.drivers.dynamixel.health import ServoHealth
from pushrod.drivers.dynamixel.line import Line, NoAnswer, Rejected, leave, share
from pushrod.drivers.dynamixel.mode import MODES, Current, Duty
from pushrod.drivers.dynamixel.options import Options
from pushrod.drivers.dynamixel.preparation import bounds, hardware_error, prepare
from pushrod.drivers.dynamixel.servo import Feedback
from pushrod.drivers.dynamixel.shaft import Shaft
from pushrod.drivers.dynamixel.under_way import AT_REST, Fitted, UnderWay, course_of, motion_limits, runs_out
from pushrod.motion import announce, halt, move, where
from pushrod.runtime.driver import Context, Stopped
from pushrod.runtime.message import Command, EndMotion, JointState
from pushrod.runtime.payload import Effort, Hold, Payload, Position, Stop, Trajectory, Velocity

HEALTH = 1.0  # [s] between two looks at torque, errors and watchdog
OVERDUE = 2.0  # [s] after its time a motion that has not arrived is given up; less than the runtime waits for its end (motions.SILENT)
HORIZON = 3600.0  # [s] a motion without an end is announced for so long, then again
RANGE = 4  # error number of a value out of range, which is also how goals are refused after the watchdog bit


class Dynamixel:
    """The driver. Requests: see `request`."""

    disarm = "pushrod.drivers.dynamixel.disarm:disarm"
    options = Options
    blocking = True
    tick_hz = 100.0  # motions are looked after at this rate; feedback comes at its own

    context: Context
    shaft: Shaft

    def __init__(self) -> None:
        self._line: Line | None = None
        self._id = 0
        self._active: UnderWay | None = None
        self._course: tuple[Trajectory, Fitted] | None = None  # of the command that is being checked
        self._next_feedback = self._next_health = -INF
        self._arrival = INF  # [s] announced last

    @staticmethod
    def capabilities(options: Options) -> tuple[str, ...]:
        effort = ("effort_feedback",) if options.torque_per_ampere else ()
        return ("position_feedback", "velocity_feedback", *effort)

    @staticmethod
    def command_payloads(options: Options) -> tuple[type[Payload], ...]:
        payloads = MODES[options.mode].payloads
        return (*payloads, Effort) if options.mode == "current" and options.torque_per_ampere else payloads

    def init(self, context: Context, options: Options) -> None:
        self.context = context
        self._id = options.id
        self._line = share(options.port, options.baud, options.patience, ("servo", options.id), "/".join(context.path))
        try:
            servo, limits = prepare(self._line, options, context.motor)
            self.shaft = Shaft(servo, limits, MODES[options.mode], options, context.now)
        except BaseException:
            self._leave()
            raise

    def handle_options(self, context: Context, options: Options) -> None:
        shaft = self.shaft
        if options.address != shaft.options.address:
            raise Stopped("port, id, baud or mode were changed: it is started again with the new ones")
        shaft.bounds = bounds(shaft.servo, shaft.mode, context.motor)
        shaft.servo.attempts = 1 + options.retries
        shaft.options, self.context = options, context

    def handle_request(self, request: Any) -> Any:
        return requests.answer(self, request)

    def terminate(self, reason: str) -> None:
        self._end("cancelled", "terminated", reason)
        self._leave()

    def check_command(self, payload: Any, command: Command) -> None:
        """Decline a trajectory that is too fast between its points, before torque comes on or the motion under way ends."""
        if type(payload) is Trajectory:
            self._course = payload, self._fit(payload)
            self.context.slowed(self._course[1].slower)

    def handle_command(self, payload: Any, command: Command) -> Any:
        """Act on it; where less is done than was asked, the info says what."""
        self._notice_disarm()
        try:
            return self._act(payload, command, self.context.now())
        except Rejected as error:
            if error.alert:
                raise Stopped(hardware_error(self.shaft.servo, self.shaft.servo.torque_state().errors)) from error
            if error.code == RANGE:
                self.shaft.check()
            raise

    def read(self, now: float) -> None:
        self._notice_disarm()
        try:
            self._read(now)
        except NoAnswer as error:  # the next reading is the retry, until the last good one is too old
            age, allowed = self.shaft.age, self.shaft.options.stale_after
            if age > allowed:
                raise Stopped(f"no good reading for {age:.2f} s, allowed are {allowed:g}: {error}") from error

    def tick(self, now: float) -> None:
        if self._active is not None:
            self._go_on(now, self._active)

    def health(self, attempts: int = 0) -> ServoHealth:
        """Looked at now. Raises Stopped where something is wrong."""
        torque = self.shaft.check(attempts).torque
        seen = self.shaft.seen
        return ServoHealth(seen.temperature, seen.voltage, seen.current, seen.load, torque, self.shaft.age, *self.shaft.line.statistics())

    def _read(self, now: float) -> None:
        """What is due of feedback and health, in one attempt each."""
        if now >= self._next_feedback:
            self._next_feedback = max(self._next_feedback + 1.0 / self.shaft.options.feedback_hz, now)  # missed ones are not made up for
            seen = self.shaft.look(1)
            factor = self.shaft.options.torque_per_ampere
            efforts = (seen.current * factor,) if factor and seen.current is not None else ()
            self.context.publish(JointState((self.context.joint or self.context.path[-1],), (seen.position,), (seen.velocity,), efforts))
        if now >= self._next_health:
            self.context.publish(self.health(1))
            self._next_health = now + HEALTH

    # what each verb does

    def _act(self, payload: Any, command: Command, now: float) -> Any:
        if type(payload) is Stop:
            return self._stop(payload, command, now)
        if not self.shaft.torque:
            self.shaft.torque_on()
        self._end("cancelled", "superseded")
        if type(payload) is Hold:
            return self._hold(command)
        if type(payload) is Position:
            return self._to_position(payload, command, now)
        if type(payload) is Trajectory:
            return self._along(payload, command, now)
        return self._drive(payload, command, now)

    def _to_position(self, payload: Position, command: Command, now: float) -> Any:
        here, limits = self.shaft.recent(), self.shaft.bounds
        x = self.shaft.within(payload.position)
        hint = payload.velocity if payload.velocity is not None and abs(payload.velocity) >= 1e-9 else None  # at 0 it would never arrive
        p = move(here.position, x, motion_limits(limits), v0=here.velocity, velocity=hint, duration=payload.duration)
        told = announce(here.position, p)
        fastest = min(abs(hint or limits.velocity), limits.velocity)
        self.shaft.go_to(x, told.peak_velocity or (abs(x - here.position) / p.T if p.T > 0.0 else fastest))
        self._begin(UnderWay("position", command.id, now, now + p.T, x), here, x, told.acceleration, told.peak_velocity)
        return None if x == payload.position else {"position": x, "why": "the servo's own travel ends there"}

    def _along(self, payload: Trajectory, command: Command, now: float) -> Any:
        """Set-points at every tick, without a profile of the servo's own."""
        checked, self._course = self._course, None
        here, course, length, slower = checked[1] if checked is not None and checked[0] is payload else self._fit(payload)
        info = {"slower": slower} if slower > 1.0 else None
        target = self.shaft.within(where(course, length if length < INF else HORIZON).x)
        start = self.shaft.within(where(course, 1.0 / self.tick_hz).x)
        self.shaft.servo.write(("profile_acceleration", 0.0), ("profile_velocity", 0.0), ("goal_position", start))
        self._begin(UnderWay("trajectory", command.id, now, now + length, target, course), here, target)
        return info

    def _fit(self, payload: Trajectory) -> Fitted:
        here = self.shaft.recent()
        return Fitted(here, *course_of(payload, here.position, here.velocity, self.shaft.bounds))

    def _drive(self, payload: Velocity | Effort | Current | Duty, command: Command, now: float) -> Any:
        """What has no end of its own: the end of the travel, or of its duration, is looked after here."""
        here, limits = self.shaft.recent(), self.shaft.bounds
        asked = self._driven(payload)
        most = {"goal_velocity": limits.velocity, "goal_current": limits.current, "goal_pwm": 1.0}[self.shaft.goal]
        goal = clamp(asked, -most, most)
        if runs_out(limits, here.position, here.velocity, sign(goal)):
            self.shaft.servo.write((self.shaft.goal, 0.0))
            self.context.publish(EndMotion(here.position, "limit_reached", "end_of_travel", None, command.id))
            return {self.shaft.goal: 0.0, "why": "it stands at the end of its travel"}
        self.shaft.servo.write((self.shaft.goal, goal))
        due = now + payload.duration if payload.duration is not None else INF if goal != 0.0 else now
        if type(payload) is Velocity:
            target = here.position + goal * (due - now if due < INF else HORIZON)
            self._begin(UnderWay("velocity", command.id, now, due, drive=sign(goal)), here, target)
        else:
            self._begin(UnderWay("effort", command.id, now, due, drive=sign(goal)), here, here.position)
        return None if goal == asked else {self.shaft.goal: goal, "why": f"{most:.4g} is the limit of the servo"}

    def _driven(self, payload: Velocity | Effort | Current | Duty) -> float:
        if isinstance(payload, Effort):
            factor = self.shaft.options.torque_per_ampere
            assert factor is not None  # else Effort is not accepted
            return payload.effort / factor
        return payload.velocity if isinstance(payload, Velocity) else payload.current if isinstance(payload, Current) else payload.duty

    def _hold(self, command: Command) -> None:
        here = self.shaft.look()
        if self.shaft.mode.positions:
            self.shaft.go_to(here.position, self.shaft.bounds.velocity)
        else:
            self.shaft.servo.write((self.shaft.goal, 0.0))
        self.context.publish(EndMotion(here.position, "completed", None, None, command.id))

    def _stop(self, payload: Stop, command: Command, now: float) -> None:
        self._end("cancelled", "superseded")
        shaft = self.shaft
        can_brake = shaft.mode.positions or shaft.mode.name == "velocity"  # the others have nothing but friction to slow down with
        if not (shaft.torque and payload.mode == "decelerate" and can_brake):
            shaft.torque_off()
            self.context.publish(EndMotion(shaft.recent().position, "completed", None, None, command.id))
            return
        here = shaft.look()
        rest = halt(here.position, here.velocity, 0.0, motion_limits(shaft.bounds), 0.0)
        if shaft.mode.positions:
            shaft.go_to(rest.after.x, abs(here.velocity))
        else:
            shaft.servo.write((shaft.goal, 0.0))
        self._begin(UnderWay(None, command.id, now, now + rest.T, passive=True), here, rest.after.x)

    # what goes on between commands

    def _go_on(self, now: float, active: UnderWay) -> None:
        here = self.shaft.seen
        if active.due == INF and now >= self._arrival:
            self._announce(active, here, self._far(now, active, here), now)
        if active.course is not None and now < active.due:
            self.shaft.servo.write(("goal_position", self.shaft.within(where(active.course, now - active.start).x)))
        elif active.passive:
            if now >= active.due and (abs(here.velocity) <= AT_REST or now >= active.due + OVERDUE):
                self.shaft.torque_off()
                self._end("completed")
        elif active.kind in ("velocity", "effort"):
            ended = runs_out(self.shaft.bounds, here.position, here.velocity, active.drive)
            if ended or now >= active.due:
                self.shaft.servo.write((self.shaft.goal, 0.0))
                self._end("limit_reached" if ended else "completed", "end_of_travel" if ended else None)
        elif now >= active.due and active.target is not None:
            self._arrive(now, active, active.target, here)

    def _arrive(self, now: float, active: UnderWay, target: float, here: Feedback) -> None:
        if active.course is not None:
            self.shaft.servo.write(("goal_position", target))
            self._active = active._replace(course=None)
        elif abs(here.position - target) <= self.shaft.options.tolerance:
            self._end("completed")
        elif now >= active.due + OVERDUE:
            off = here.position - target
            self._end("fault", "not_arrived", f"{off:+.4g} rad from its goal {OVERDUE:g} s after its time: blocked, or too weak")

    def _notice_disarm(self) -> None:
        if self.shaft.was_disarmed():
            self._end("cancelled", "disarmed")

    def _begin(self, new: UnderWay, here: Feedback, target: float, acceleration: float | None = None, peak: float | None = None) -> None:
        self._active = new
        self._announce(new, here, target, new.start, acceleration, peak)

    def _far(self, now: float, active: UnderWay, here: Feedback) -> float:
        """Return where a motion without an end is expected HORIZON from now."""
        if active.course is not None:
            return self.shaft.within(where(active.course, now - active.start + HORIZON).x)
        return here.position + (here.velocity * HORIZON if active.kind == "velocity" else 0.0)

    def _announce(
        self, active: UnderWay, here: Feedback, target: float, now: float, acceleration: float | None = None, peak: float | None = None
    ) -> None:
        self._arrival = active.due if active.due < INF else now + HORIZON
        self.context.publish_begin_motion(
            here.position,
            target,
            self._arrival,
            command_id=active.id,
            command_type=active.kind,
            acceleration=acceleration,
            peak_velocity=peak,
            initial_velocity=here.velocity if abs(here.velocity) > AT_REST else None,
        )

    def _end(
        self, reason: Literal["completed", "cancelled", "limit_reached", "fault"], detail: str | None = None, message: str | None = None
    ) -> None:
        active, self._active = self._active, None
        if active is not None:
            self.context.publish(EndMotion(self.shaft.seen.position, reason, detail, message, active.id))

    def _leave(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            leave(line, ("servo", self._id))
