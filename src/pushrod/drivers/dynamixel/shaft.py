"""One servo as its driver uses it: readings with their age, torque on and off, and how far and how fast it may go.

Torque is on only between a command and whatever ends it: Stop, `disarm`, an error. `disarm` works beside the driver, so what it did is counted on the
line and noticed here.
"""

from collections.abc import Callable

from pushrod.core.quantity import INF
from pushrod.core.scalar import clamp
from pushrod.drivers.dynamixel.line import Line
from pushrod.drivers.dynamixel.mode import Mode
from pushrod.drivers.dynamixel.options import Options
from pushrod.drivers.dynamixel.preparation import TURN, Bounds, hardware_error
from pushrod.drivers.dynamixel.register import RPM, RPM2
from pushrod.drivers.dynamixel.servo import Feedback, Servo, TorqueState
from pushrod.runtime.driver import Stopped

BITTEN = -1  # what Bus Watchdog holds once it has stopped the servo
GOALS = {"velocity": "goal_velocity", "current": "goal_current", "pwm": "goal_pwm"}  # of the modes without positions


class Shaft:
    def __init__(self, servo: Servo, bounds: Bounds, mode: Mode, options: Options, now: Callable[[], float]) -> None:
        self.servo = servo
        self.bounds = bounds
        self.mode = mode
        self.options = options
        self.now = now
        self.torque = False
        self.good = -INF  # when a reading last succeeded
        self._disarms = 0  # how often this servo had been disarmed when torque came on
        self.seen = self.look()

    @property
    def line(self) -> Line:
        return self.servo.line

    @property
    def age(self) -> float:
        """[s] since the last good reading."""
        return max(self.now() - self.good, 0.0)

    @property
    def goal(self) -> str:
        """The register that drives it, where the mode has no positions."""
        return GOALS[self.mode.name]

    def look(self, attempts: int = 0) -> Feedback:
        """Read it. A hardware error stops the actuator."""
        self.seen = self.servo.feedback(attempts)
        self.good = self.now()
        if self.seen.alert:
            raise Stopped(hardware_error(self.servo, self.servo.torque_state().errors))
        return self.seen

    def recent(self) -> Feedback:
        """The last reading where it is fresh, else a new one: a stream of commands costs one exchange each."""
        return self.seen if self.age <= 2.0 / self.options.feedback_hz else self.look()

    def torque_on(self) -> None:
        """With a goal that keeps it where it is: a change of mode leaves the goals at full current and full PWM."""
        servo = self.servo
        self._disarms = self._disarmed()
        servo.write_raw("bus_watchdog", 0)  # clears it, should it have bitten
        if self.mode.positions:
            here = self.look().position
            if self.mode.turns < 1.0:  # with torque on it counts within one turn again
                here -= TURN * round(here / TURN)
            self.go_to(here, self.bounds.velocity)
            if self.mode.needs_current:
                limit = self.options.current_limit
                servo.write(("goal_current", self.bounds.current if limit is None else min(limit, self.bounds.current)))
        else:
            servo.write((self.goal, 0.0))
            servo.write(("profile_acceleration", self.acceleration()))
        servo.write_raw("torque_enable", 1)
        self.torque = True
        if self.options.bus_watchdog:
            servo.write(("bus_watchdog", self.options.bus_watchdog))

    def torque_off(self) -> None:
        self.servo.torque_off()
        self.torque = False

    def was_disarmed(self) -> bool:
        """True once after `disarm` took the torque away."""
        if not self.torque or self._disarmed() == self._disarms:
            return False
        self.torque = False
        return True

    def check(self, attempts: int = 0) -> TorqueState:
        """Raise Stopped where torque, errors or watchdog are not as they should be."""
        state = self.servo.torque_state(attempts)
        if state.errors:
            raise Stopped(hardware_error(self.servo, state.errors))
        who = f"servo {self.servo.id} on {self.line.path}"
        if self.torque and not state.torque and self._disarmed() == self._disarms:
            raise Stopped(f"{who} lost its torque: its power failed, or another program switched it off")
        if state.torque and not self.torque:
            raise Stopped(f"{who} has torque that nobody here switched on: another program is driving it")
        if self.torque and self.options.bus_watchdog and self.servo.read_raw("bus_watchdog", attempts) == BITTEN:
            raise Stopped(f"{who} stopped by itself: its bus watchdog saw no packet for {self.options.bus_watchdog:g} s")
        return state

    def go_to(self, x: float, v: float) -> float:
        """Set the goal, within the travel, at a speed of v at most; gives the goal."""
        goal = self.within(x)
        self.servo.write(("profile_acceleration", self.acceleration()), ("profile_velocity", max(v, RPM)), ("goal_position", goal))
        return goal

    def within(self, x: float) -> float:
        lower, upper = self.bounds.lower, self.bounds.upper
        return clamp(x, -INF if lower is None else lower, INF if upper is None else upper)

    def acceleration(self) -> float:
        """0 means no limit to the servo, so a small one must not be rounded to it."""
        a = self.bounds.acceleration
        return 0.0 if a is None else max(a, RPM2)

    def _disarmed(self) -> int:
        return self.line.disarmed.get(self.servo.id, 0)
