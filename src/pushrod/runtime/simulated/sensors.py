"""Simulated sensors that publish what a signal says, at a fixed rate: an IMU and wheel speeds.

The source is a SignalSet, or any function (channel, t) -> value, t in seconds from the start of the sensor; the k-th reading is of t = k / rate, so
that a run can be repeated. A value that is not finite is not published, and counted. From a robot file, `pushrod.live:Imu` reads signals by itself.
"""

import math
from collections.abc import Callable
from typing import Annotated as A
from typing import Any, Protocol

import msgspec

from pushrod.core.errors import InputError
from pushrod.core.quantity import Q
from pushrod.runtime.driver import Context
from pushrod.runtime.simulated.pulse import Pulse


class Signals(Protocol):
    """A SignalSet, as far as it is needed here."""

    def value(self, name: str, t: float) -> float: ...


Source = Callable[[str, float], float] | Signals


class ImuReading(msgspec.Struct, frozen=True, gc=False, tag=True):
    """Linear acceleration [m/s2] and angular velocity [rad/s] in the sensor's own axes."""

    linear_x: A[float, Q("m/s2")]
    linear_y: A[float, Q("m/s2")]
    linear_z: A[float, Q("m/s2")]
    angular_x: A[float, Q("rad/s")]
    angular_y: A[float, Q("rad/s")]
    angular_z: A[float, Q("rad/s")]


class WheelSpeedReading(msgspec.Struct, frozen=True, gc=False, tag=True):
    """The speed of each wheel, in the unit of the signal: rad/s, or m/s at the rim."""

    names: tuple[str, ...]
    speeds: tuple[float, ...]


class ImuOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """rate [Hz]"""

    rate: float = 100.0


class WheelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """rate [Hz]; wheels: the channels to read, which are also the names published"""

    rate: float = 50.0
    wheels: tuple[str, ...] = ("wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr")


class _Replay:
    """Reads its channels `rate` times a second and publishes what `reading` makes of them."""

    def __init__(self, source: Source, channels: tuple[str, ...], rate: float, reading: Callable[..., Any], context: Context) -> None:
        if not 0.0 < rate <= 1e4:
            raise InputError(f"rate = {rate!r} Hz: allowed are numbers above 0, up to 10000")
        self.published = 0
        self.dropped = 0
        self._source = value = function_of(source)
        self._channels = channels
        self._reading = reading
        self._context = context
        for name in channels:
            value(name, 0.0)  # a channel that is not there is told now, not in a timer
        self.pulse = Pulse(rate, context.now, context.call_later, self._tick)

    def _tick(self, k: int) -> None:
        t = k / self.pulse.hz
        values = [float(self._source(name, t)) for name in self._channels]
        if all(map(math.isfinite, values)):
            self.published += 1
            self._context.publish(self._reading(*values))
        else:
            self.dropped += 1


def function_of(source: Source) -> Callable[[str, float], float]:
    value = source if callable(source) else getattr(source, "value", None)
    if isinstance(source, type) or not callable(value):
        raise InputError(f"signals must be a SignalSet, or a function (channel, t) -> value; got {source!r}")
    return value


class Sensor:
    """`replay` is there once it has been set up."""

    replay: _Replay | None = None

    def __init__(self, source: Source) -> None:
        function_of(source)
        self.source = source

    def terminate(self, reason: str) -> None:
        if self.replay is not None:
            self.replay.pulse.stop()


class Imu(Sensor):
    """Six channels: linear_x, linear_y, linear_z, angular_x, angular_y, angular_z."""

    options = ImuOptions

    def init(self, context: Context, options: ImuOptions | None = None) -> None:
        self.replay = _Replay(self.source, ImuReading.__struct_fields__, (options or ImuOptions()).rate, ImuReading, context)
        self.replay.pulse.start()


class WheelSpeeds(Sensor):
    """One channel a wheel."""

    options = WheelOptions

    def init(self, context: Context, options: WheelOptions | None = None) -> None:
        names = (options or WheelOptions()).wheels

        def reading(*speeds: float) -> WheelSpeedReading:
            return WheelSpeedReading(names, speeds)

        self.replay = _Replay(self.source, names, (options or WheelOptions()).rate, reading, context)
        self.replay.pulse.start()
