"""What a driver is: one class with `init` and `handle_command`, and the import path of a plain function that makes its hardware safe.

The framework owns the rest: parameters, limits, transmission, arming, leases, supervision. A driver works in motor space.
`disarm(options)` is called with plain data (the actuator's options, and its `robot` and `path`), with or without the driver instance, from
any process; it must be idempotent. A sensor or a controller is the same without `handle_command` and `disarm`.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, Protocol

import msgspec
from msgspec import Struct

from pushrod.config.named_code import NOT_IMPORTED
from pushrod.config.structure import mistakes
from pushrod.config.yaml_file import Keys, dotted
from pushrod.core.errors import InputError
from pushrod.core.names import did_you_mean
from pushrod.robot.motor_profile import MotorProfile
from pushrod.runtime.driver_flaws import driver_flaws, rate_flaw
from pushrod.runtime.message import BeginMotion, Command
from pushrod.runtime.payload import BUILT_IN
from pushrod.runtime.result import BeyondLimits

ROUNDING = 1e-9  # of a time: so much slower is as asked


class Stopped(Exception):  # noqa: N818 (a reason to stop, not a mistake)
    """Raised by any driver method: stop this actuator, for this reason. It is made safe, and a new driver is started while the budget lasts."""


class Skip(Exception):  # noqa: N818
    """Raised by `init`: leave this actuator out, for this reason; the robot goes on without it."""


class Forsaken(Struct, frozen=True):
    """A request of the host alone, to a driver with `rests_when_forsaken`: who asked it last is gone, so what that one asked for shall not go on."""

    operator: str


def hears_nothing(prefix: str | Iterable[str], types: Iterable[type] = (), latched: bool = False) -> None:
    """A context outside a runtime."""


def knows_no_actuator(address: Any) -> Any:
    raise LookupError(f"{address}: there are no actuators outside a runtime")


def says_nothing(error: str) -> None:
    """As above."""


def always() -> bool:
    return True


class Context(Struct, frozen=True):
    """What the framework hands to a driver: who and where it is, its motor's limits, the clock, and ways to report.

    `publish(payload)` puts a motor-space JointState, BeginMotion or EndMotion on the actuator's topic, turned into joint space; all else as it is.
    A sensor or a controller may add words, `publish(payload, "raw")`, to speak on a topic below its own.
    `call_later(seconds, function)` calls back on the runtime's clock.
    `listen(prefix, types)` has what is published at a topic or below brought to `handle_message`.
    `actuator(address)` is another actuator, to be commanded under this one's name; `send([(address, payload), ...])` commands several as one.
    `report_error(text)` tells observers of safety of a hardware error; nothing else happens.
    `limit_policy` is what becomes of a command beyond the limits: "clamp" or "reject".
    `armed()` is whether the actuator is armed now. A driver that moves its motor outside `handle_command` and `tick`, on a thread of its own or from
    `call_later`, asks it before every write. A sensor or a controller is always armed: what it commands passes the gates of the actuators.
    """

    robot: str
    path: tuple[str, ...]
    joint: str | None
    motor: MotorProfile
    now: Callable[[], float]
    publish: Callable[..., None]
    call_later: Callable[[float, Callable[[], None]], Callable[[], None]]
    listen: Callable[..., None] = hears_nothing
    actuator: Callable[[str], Any] = knows_no_actuator
    send: Callable[..., Any] = knows_no_actuator
    report_error: Callable[[str], None] = says_nothing
    limit_policy: str = "clamp"
    armed: Callable[[], bool] = always

    def publish_begin_motion(self, initial: float, target: float, arrival: float, **more: Any) -> None:
        """Tell that a motion begins, in motor space: from, to, and when it should arrive on the runtime's clock; `more` as in BeginMotion."""
        self.publish(BeginMotion(initial, target, arrival, **more))

    def slowed(self, slower: float) -> dict[str, float] | None:
        """The info of a trajectory that takes so many times as long within the limits; None where it is as asked.

        Call it in `check_command`, or before anything has changed: where the limit_policy is "reject" it refuses the command.
        """
        if slower <= 1.0:
            return None
        if self.limit_policy == "reject" and slower > 1.0 + ROUNDING:
            raise BeyondLimits(f"between its points it is too fast: within the limits it would take {slower:.4g} times as long")
        return {"slower": slower}


class Driver(Protocol):
    """The two methods every driver has. The others, and the class attributes below, it has or has not: `hooks` fills in what is missing.

    disarm            import path of the function that makes it safe, "package.module:function"; required
    options           a msgspec Struct of its options; without it the driver takes none
    blocking          True: its calls wait for hardware, so it gets a thread of its own and one waiting slot
    tick_hz           how often `read(now)` and `tick(now)` are called, or a method that gives it for its options
    capabilities      of position_feedback, velocity_feedback, effort_feedback; or a method that gives them for its options
    command_payloads  the payloads it accepts, or a method that gives them for its options; the six built-in ones if it does not say
    rests_when_forsaken  True: it answers `Forsaken`
    in_process        True: what it drives is simulated in this process and ends with it, so that a guard process has nothing to make safe

    check_command(payload, command)    raise Declined for a command that is not done; nothing may change. Called before `handle_command`, and for
                                       every command of a batch before the first one acts
    handle_options(context, options)   a parameter has changed: new options, new limits
    handle_request(request)            a call that is not a command: calibrate, read a temperature
    handle_message(topic, message)     something it listens to
    handle_arming(armed)               the actuator was armed, or disarmed; follows soon after, after the disarm function, and before a command or a
                                       tick under a new arming
    read(now)                          measure and publish; called whether armed or not, and must not move anything
    tick(now)                          write set-points; an actuator's is called while it is armed, never after a stop has returned
    terminate(reason)
    """

    disarm: ClassVar[str]

    def init(self, context: Context, options: Any) -> Callable[[], None] | None:
        """Set up; nothing may move yet. May give back a function that goes on with slow set-up afterwards."""

    def handle_command(self, payload: Any, command: Command) -> Any:
        """Act on a payload in motor space. What it returns is the `info` of the answer; Declined refuses this command, all else stops it."""


class Hooks(NamedTuple):
    """A driver's methods, with what happens where it has none."""

    driver: Any
    init: Callable[[Context, Any], Callable[[], None] | None]
    handle_command: Callable[[Any, Command], Any]
    check_command: Callable[[Any, Command], object] | None
    handle_options: Callable[[Context, Any], None]
    handle_request: Callable[[Any], Any]
    handle_message: Callable[[tuple[str, ...], Any], None]
    handle_arming: Callable[[bool], None] | None
    read: Callable[[float], None] | None
    tick: Callable[[float], None] | None
    terminate: Callable[[str], None]
    disarm: str
    options: Any
    blocking: bool
    tick_hz: Callable[[Any], float | None]
    capabilities: Callable[[Any], frozenset[str]]
    command_payloads: Callable[[Any], tuple[type, ...]]
    in_process: bool


def hooks(driver: Any, needs: tuple[str, ...] = ("init", "handle_command", "disarm"), where: str = "") -> Hooks:
    """What a driver offers; one that lacks what it `needs`, or has something that cannot be used, is refused."""
    name = type(driver).__name__
    who = f"{where}: {name}" if where else name
    flaws = driver_flaws(driver, needs)
    if flaws:
        raise InputError("\n".join(f"{who} is no driver: {flaw}" for flaw in flaws))

    def rate(hz: Any) -> float | None:
        if flaw := rate_flaw(hz):
            raise InputError(f"{who}: {flaw}")
        return None if hz is None else float(hz)

    def no_requests(request: Any) -> Any:
        raise LookupError(f"{name} answers no requests, got {request!r}")

    def no_commands(payload: Any, command: Command) -> Any:
        raise LookupError(f"{name} takes no commands")

    return Hooks(
        driver,
        driver.init,
        getattr(driver, "handle_command", no_commands),
        getattr(driver, "check_command", None),
        getattr(driver, "handle_options", lambda context, options: None),
        getattr(driver, "handle_request", no_requests),
        getattr(driver, "handle_message", lambda topic, message: None),
        getattr(driver, "handle_arming", None),
        getattr(driver, "read", None),
        getattr(driver, "tick", None),
        getattr(driver, "terminate", lambda reason: None),
        getattr(driver, "disarm", ""),
        getattr(driver, "options", None),
        getattr(driver, "blocking", False),
        _by_options(getattr(driver, "tick_hz", None), rate),
        _by_options(getattr(driver, "capabilities", ()), frozenset),
        _by_options(getattr(driver, "command_payloads", BUILT_IN), tuple),
        getattr(driver, "in_process", False),
    )


def _by_options(said: Any, kind: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return (lambda options: kind(said(options))) if callable(said) else (lambda options: kind(said))


def find_driver(source: Any, needs: tuple[str, ...] = ("init",)) -> Any:
    """Return a class, or a function that makes a driver, of itself or by its import path "package.module:Class". ImportError where it is not found;
    it names the classes of the module that have what a driver `needs`."""
    if not isinstance(source, str):
        return source
    module, colon, attribute = source.partition(":")
    if not (module and colon and attribute):
        raise ImportError("it is no import path; write 'package.module:Class'")
    found = importlib.import_module(module)
    if not hasattr(found, attribute):
        drivers = [name for name, value in vars(found).items() if isinstance(value, type) and all(hasattr(value, need) for need in needs)]
        listed = f"its drivers: {', '.join(sorted(drivers))}" if drivers else "it has no driver class"
        raise ImportError(f"module {module!r} has no {attribute!r}; {did_you_mean(drivers, attribute) or listed}")
    return getattr(found, attribute)


def check_driver_class(source: str, needs: tuple[str, ...], name: str) -> None:
    """Raise InputError where an import path does not name a class that meets the driver contract. Nothing of the class is called."""
    try:
        found = find_driver(source, needs)
    except Exception as error:  # its module may raise anything
        raise InputError(f"{name}: driver {import_problem(source, error)}") from error
    if problems := class_problems(found, needs):
        raise InputError("\n".join(f"{name}: driver {source!r}: {problem}" for problem in problems))


def import_problem(source: Any, error: Exception) -> str:
    """Return the problem with a driver that `find_driver` did not find, with what to do where the error does not say it."""
    advice = "; install it, or put it beside the robot file" if isinstance(error, ModuleNotFoundError) else ""
    return f"{source!r} {NOT_IMPORTED}: {_said(error)}{advice}"


def class_problems(found: Any, needs: tuple[str, ...]) -> list[str]:
    """Return why an import path names no driver class. A description names classes alone: any other callable would have to be called."""
    if not isinstance(found, type):
        return [f"an import path names a driver class, got {type(found).__name__}; write 'package.module:Class'"]
    return [f"{found.__name__} is no driver: {problem}" for problem in driver_flaws(found, needs)]


def new_driver(source: Any, name: str) -> Any:
    """A driver from a class, a function that makes one, or the import path of either."""
    try:
        make = find_driver(source)
    except Exception as error:  # its module may raise anything
        raise InputError(f"{name}: driver {import_problem(source, error)}") from error
    if not callable(make):
        raise InputError(f"{name}: driver {source!r} is neither a class, nor a function that makes a driver, nor 'package.module:Class'")
    try:
        return make()
    except Exception as error:
        what = f"{source!r}" if isinstance(source, str) else getattr(source, "__name__", repr(source))
        raise InputError(f"{name}: driver {what} cannot be made: {_said(error)}; it is called without arguments") from error


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"


def option_flaws(data: dict[str, Any], kind: Any) -> list[tuple[Keys, str]]:
    """What is wrong with resolved options, by their path."""
    if kind is None:
        names = ", ".join(sorted(data))
        how = f"let its class declare them, `options = Options` with a msgspec.Struct that has {names}, or leave them out"
        return [((), f"its driver takes no options, got {names}: {how}")] if data else []
    try:
        msgspec.convert(data, kind, str_keys=True)
    except msgspec.ValidationError as error:
        return mistakes(kind, data, error)
    return []


def checked_options(data: dict[str, Any], kind: Any, name: str) -> Any:
    """Resolved options as the driver's own struct."""
    flaws = option_flaws(data, kind)
    if flaws:
        raise InputError("\n".join(f"{name}: {what}" if kind is None else f"{name}: {dotted(('options', *at))}: {what}" for at, what in flaws))
    return None if kind is None else msgspec.convert(data, kind, str_keys=True)
