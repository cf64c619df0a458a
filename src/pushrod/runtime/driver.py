"""What a driver is: one class with `init` and `handle_command`, and the import path of a plain function that makes its hardware safe.

The framework owns the rest: parameters, limits, transmission, arming, leases, supervision. A driver works in motor space.
`disarm(options)` is called with plain data (the actuator's options, and its `robot` and `path`), with or without the driver instance, from
any process; it must be idempotent.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol

from msgspec import Struct

from pushrod.core.errors import InputError
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


class Driver(Protocol):
    """The two methods every driver has. The others, and the class attributes below, it has or has not: `hooks` fills in what is missing.

    disarm            import path of the function that makes it safe, "package.module:function"; required
    options           a msgspec Struct of its options; without it the driver takes none
    blocking          True: its calls wait for hardware, so it gets a thread of its own and one waiting slot
    tick_hz           how often `tick(now)` is called
    capabilities      of position_feedback, velocity_feedback, effort_feedback
    command_payloads  the payloads it accepts; the six built-in ones if it does not say
    """

    disarm: ClassVar[str]

    def init(self, context: Context, options: Any) -> Callable[[], None] | None:
        """Set up; nothing may move yet. May give back a function that goes on with slow set-up afterwards."""

    def handle_command(self, payload: Any, command: Command) -> Any:
        """Act on a payload in motor space. What it returns is the `info` of the answer."""


class Hooks(NamedTuple):
    """A driver's methods, with what happens where it has none."""

    driver: Any
    init: Callable[[Context, Any], Callable[[], None] | None]
    handle_command: Callable[[Any, Command], Any]
    handle_options: Callable[[Any], None]
    handle_request: Callable[[Any], Any]
    handle_message: Callable[[tuple[str, ...], Any], None]
    tick: Callable[[float], None] | None
    terminate: Callable[[str], None]
    disarm: str
    options: Any
    blocking: bool
    tick_hz: float | None
    capabilities: frozenset[str]
    command_payloads: tuple[type, ...]


def hooks(driver: Any) -> Hooks:
    """What a driver offers; one without init, handle_command or disarm is refused."""
    name = type(driver).__name__
    missing = [need for need in ("init", "handle_command", "disarm") if not hasattr(driver, need)]
    if missing:
        raise InputError(f"{name} is no driver: it has no {', '.join(missing)}; a driver needs init, handle_command and disarm = 'module:function'")

    def no_requests(request: Any) -> Any:
        raise LookupError(f"{name} answers no requests, got {request!r}")

    return Hooks(
        driver,
        driver.init,
        driver.handle_command,
        getattr(driver, "handle_options", lambda options: None),
        getattr(driver, "handle_request", no_requests),
        getattr(driver, "handle_message", lambda topic, message: None),
        getattr(driver, "tick", None),
        getattr(driver, "terminate", lambda reason: None),
        driver.disarm,
        getattr(driver, "options", None),
        getattr(driver, "blocking", False),
        getattr(driver, "tick_hz", None),
        frozenset(getattr(driver, "capabilities", ())),
        tuple(getattr(driver, "command_payloads", BUILT_IN)),
    )
