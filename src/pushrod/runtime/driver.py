"""What a driver is: one class with `init` and `handle_command`, and the import path of a plain function that makes its hardware safe.

The framework owns the rest: parameters, limits, transmission, arming, leases, supervision. A driver works in motor space.
`disarm(options)` is called with plain data, with or without the driver instance, from any process; it must be idempotent.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from msgspec import Struct

from pushrod.robot.motor_profile import MotorProfile
from pushrod.runtime.message import Command
from pushrod.runtime.payload import BUILT_IN


class Stopped(Exception):  # noqa: N818 (a reason to stop, not a mistake)
    """Raised by any driver method: stop this actuator, for this reason."""


class Skip(Exception):  # noqa: N818
    """Raised by `init`: leave this actuator out, for this reason; the robot goes on without it."""


class Context(Struct, frozen=True):
    """What the framework hands to a driver: who and where it is, its motor's limits, the clock, and ways to report.

    `publish(payload)` puts a motor-space JointState, BeginMotion or EndMotion on the actuator's topic, turned into joint space.
    `call_later(seconds, function)` calls back on the runtime's clock.
    """

    robot: str
    path: tuple[str, ...]
    joint: str | None
    motor: MotorProfile
    now: Callable[[], float]
    publish: Callable[[Any], None]
    call_later: Callable[[float, Callable[[], None]], Callable[[], None]]


class Driver(ABC):
    """Abstract: subclass it once. Class attributes say how it wants to be run."""

    disarm: ClassVar[str]  # import path of the function, "package.module:function"
    options: ClassVar[Any] = None  # a msgspec Struct of its options; None: it takes none
    blocking: ClassVar[bool] = False  # its calls wait for hardware: it gets a thread of its own and one waiting slot
    tick_hz: ClassVar[float | None] = None  # how often `tick` is called

    @abstractmethod
    def init(self, context: Context, options: Any) -> Callable[[], None] | None:
        """Set up; nothing may move yet. May give back a function that goes on with slow set-up afterwards."""

    @abstractmethod
    def handle_command(self, payload: Any, command: Command) -> Any:
        """Act on a payload in motor space. What it returns is the `info` of the answer."""

    def handle_options(self, options: Any) -> None:
        """A parameter the options refer to has changed."""

    def handle_request(self, request: Any) -> Any:
        """A call that is not a command: calibrate, read a temperature."""
        raise LookupError(f"{type(self).__name__} answers no requests")

    def handle_message(self, topic: tuple[str, ...], message: Any) -> None:
        """A message of a topic the options subscribe to."""

    def tick(self, now: float) -> None:
        """Called `tick_hz` times a second."""

    def terminate(self, reason: str) -> None:
        """The last call."""

    @classmethod
    def capabilities(cls, options: Any) -> frozenset[str]:
        """Of position_feedback, velocity_feedback, effort_feedback."""
        return frozenset()

    @classmethod
    def command_payloads(cls, options: Any) -> tuple[type, ...]:
        """The payloads it accepts; the six built-in ones unless it says otherwise."""
        return BUILT_IN
