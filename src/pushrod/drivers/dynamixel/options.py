"""The options of one servo. Whatever is wrong with them is said when they are read, before anything is opened or changed."""

import math
from collections.abc import Iterator
from typing import Literal

import msgspec

from pushrod.drivers.dynamixel.line import BAUD_RATES
from pushrod.drivers.dynamixel.model import MODELS

ModeName = Literal["position", "extended_position", "current_position", "velocity", "current", "pwm"]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """
    port, id, baud      where it is; a servo leaves the factory with id 1 at 57600 bit/s
    mode                what it can be asked for; see `mode`
    model               what must answer ("XL330-M288"); whatever answers if not given
    feedback_hz         how often position, velocity and current are read, 1 to 100
    torque_per_ampere   [N.m/A] what turns an effort into a current and back; without it no Effort is accepted and none reported
    current_limit       [A] the most it drives in mode current_position; the servo's own limit if not given
    bus_watchdog        [s] the servo stops by itself after so long without a packet while torque is on, up to 2.54; 0: never
    retries             how often an exchange is tried again before the actuator is stopped
    patience            [s] to wait for an answer
    stale_after         [s] without a good reading before the actuator is stopped
    tolerance           [rad] so near its goal a motion has arrived
    on_hardware_error   "stop": a latched error (overload ...) stops the actuator for good; "reboot": it is rebooted once at each start
    """

    port: str
    id: int = 1
    baud: int = 57_600
    mode: ModeName = "position"
    model: str | None = None
    feedback_hz: float = 25.0
    torque_per_ampere: float | None = None
    current_limit: float | None = None
    bus_watchdog: float = 0.5
    retries: int = 2
    patience: float = 0.04
    stale_after: float = 0.5
    tolerance: float = 0.02
    on_hardware_error: Literal["stop", "reboot"] = "stop"

    def __post_init__(self) -> None:
        found = list(flaws(self))
        if found:
            raise ValueError("; ".join(found))

    @property
    def address(self) -> tuple[str, int, int, str]:
        """What cannot change while the driver runs."""
        return self.port, self.id, self.baud, self.mode


RANGES = {  # lowest, highest, unit
    "id": (0, 252, ""),
    "feedback_hz": (1.0, 100.0, " Hz"),
    "torque_per_ampere": (1e-4, 1e3, " N.m/A"),
    "current_limit": (0.0, 50.0, " A"),
    "bus_watchdog": (0.0, 2.54, " s"),
    "retries": (0, 100, ""),
    "patience": (0.001, 1.0, " s"),
    "stale_after": (0.05, 60.0, " s"),
    "tolerance": (0.001, 1.0, " rad"),
}


class Place(msgspec.Struct, frozen=True):
    """Where a servo is: all that switching its torque off needs to know, whatever the other options say."""

    port: str
    id: int = 1
    baud: int = 57_600
    patience: float = 0.04


def flaws(options: Options) -> Iterator[str]:
    """Everything that is wrong, one text each."""
    for name, (lowest, highest, unit) in RANGES.items():
        value = getattr(options, name)
        if value is not None and not (math.isfinite(value) and lowest <= value <= highest):
            yield f"{name} = {value!r}{unit}: allowed are {lowest:g} to {highest:g}{unit}"
    if options.baud not in BAUD_RATES:
        yield f"baud = {options.baud} bit/s: allowed are {', '.join(str(b) for b in BAUD_RATES)}"
    names = {model.name for model in MODELS.values()}
    if options.model is not None and options.model not in names:
        yield f"model = {options.model!r}: known are {', '.join(sorted(names))}"
    if not options.port:
        yield "port is empty: name the serial device, such as /dev/ttyUSB0"
    period = 1.0 / options.feedback_hz if options.feedback_hz > 0.0 else 0.0
    if options.stale_after < period:
        yield f"stale_after = {options.stale_after:g} s is shorter than the time between two readings, {period:g} s"
    if 0.0 < options.bus_watchdog < 2.0 * period:
        yield f"bus_watchdog = {options.bus_watchdog:g} s is shorter than two readings take, {2.0 * period:g} s: it would bite at once"
