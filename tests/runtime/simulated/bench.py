"""A motor on a clock that is advanced by hand, and everything it says, with the time it said it."""

import itertools
from types import SimpleNamespace
from typing import Any

from pushrod.robot.motor_profile import MotorProfile
from pushrod.runtime.clock import SteppedClock
from pushrod.runtime.driver import Context
from pushrod.runtime.message import BeginMotion, Command, EndMotion, JointState, Message
from pushrod.runtime.simulated.kinematic import Kinematic, Options


class Bench:
    """`said` holds (time, payload)."""

    def __init__(self, motor: MotorProfile | None = None, path: tuple[str, ...] = ("base", "shoulder", "motor"), robot: str = "r") -> None:
        self.clock = SteppedClock()
        self.said: list[tuple[float, Any]] = []
        self.ids = (f"c{k}" for k in itertools.count(1))
        self.context = Context(
            robot,
            path,
            path[-2],
            motor or MotorProfile(),
            self.clock.now,
            self._say,
            self.clock.later,
            actuator=lambda name: SimpleNamespace(topic=("actuator", *path[:-1], name)),
        )

    def _say(self, payload: Any) -> None:
        self.said.append((self.clock.now(), payload))

    def heard(self, kind: type) -> list[Any]:
        return [payload for _, payload in self.said if isinstance(payload, kind)]


class Motor(Bench):
    """A kinematic motor with the limits given."""

    def __init__(
        self,
        velocity: float | None = 1.0,
        acceleration: float | None = 2.0,
        lower: float | None = -3.0,
        upper: float | None = 3.0,
        effort: float | None = 10.0,
        robot: str = "r",
        **options: Any,
    ) -> None:
        middle = 0.0 if lower is None or upper is None else 0.5 * (lower + upper)
        super().__init__(MotorProfile(lower, upper, velocity, acceleration, effort, middle), robot=robot)
        self.driver = Kinematic()
        self.driver.init(self.context, Options(**options))

    def tell(self, payload: Any, id: str | None = None) -> Any:
        return self.driver.handle_command(payload, Command(payload, "test", self.clock.now(), id=id or next(self.ids)))

    @property
    def x(self) -> float:
        return self.driver.state(self.clock.now()).x

    @property
    def v(self) -> float:
        return self.driver.state(self.clock.now()).v

    def run(self, seconds: float, dt: float = 0.01) -> list[tuple[float, float]]:
        """Advance, looking on: (position, velocity) at every dt, the present one first."""
        seen = [(self.x, self.v)]
        for _ in range(round(seconds / dt)):
            self.clock.advance(dt)
            seen.append((self.x, self.v))
        return seen

    def begun(self) -> list[BeginMotion]:
        return self.heard(BeginMotion)

    def ended(self) -> list[tuple[str | None, str]]:
        """(command id, reason) of every motion that ended."""
        return [(end.command_id, end.reason) for end in self.heard(EndMotion)]

    def states(self) -> list[tuple[float, JointState]]:
        return [(t, payload) for t, payload in self.said if isinstance(payload, JointState)]


def message(payload: Any, time: float) -> Message:
    return Message(payload, ("actuator", "base", "shoulder", "motor"), time, time, "r")
