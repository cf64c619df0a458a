"""Simulated sensors that read their own signals, so that a robot file can name them.

sensors:
  imu:
    link: body
    driver: pushrod.live:Imu
    options: {rate: 100, signals: {linear_x: [{at: 0, for: 2, linear: [0, 1 m/s2]}], angular_z: 10 deg/s}}

`signals` maps channels to signals as in a scenario, units allowed; or it names a YAML file that does, or that has them under `signals`, with a path
from the folder the program runs in. A channel that is not given is 0.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from pushrod.config import yaml_file
from pushrod.config.structure import Aside
from pushrod.config.yaml_file import dotted
from pushrod.core.errors import ConfigError
from pushrod.core.names import did_you_mean
from pushrod.core.quantity import Q
from pushrod.runtime.driver import Context
from pushrod.runtime.simulated import sensors
from pushrod.sim.signal_set import SignalSet
from pushrod.sim.signal_units import in_si

AXES = {name: Q("m/s2" if name.startswith("linear") else "rad/s") for name in sensors.ImuReading.__struct_fields__}


class ImuOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """rate [Hz]; signals: of linear_x, linear_y, linear_z [m/s2], angular_x, angular_y, angular_z [rad/s], or the name of a file"""

    signals: str | dict[str, Any]
    rate: float = 100.0


class WheelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """rate [Hz]; signals: one for each of the wheels, or the name of a file; wheels: their names"""

    signals: str | dict[str, Any]
    rate: float = 50.0
    wheels: tuple[str, ...] = ("wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr")


class Imu(sensors.Imu):
    options = ImuOptions  # type: ignore[assignment]

    def __init__(self) -> None:
        """Its signals come with its options."""

    def init(self, context: Context, options: ImuOptions) -> None:  # type: ignore[override]
        self.source = read_signals(options.signals, AXES, "options.signals")
        super().init(context, sensors.ImuOptions(options.rate))


class WheelSpeeds(sensors.WheelSpeeds):
    options = WheelOptions  # type: ignore[assignment]

    def __init__(self) -> None:
        """Its signals come with its options."""

    def init(self, context: Context, options: WheelOptions) -> None:  # type: ignore[override]
        self.source = read_signals(options.signals, {name: Q("") for name in options.wheels}, "options.signals")  # rad/s, or m/s at the rim
        super().init(context, sensors.WheelOptions(options.rate, options.wheels))


def read_signals(signals: str | Mapping[str, Any], channels: Mapping[str, Q], where: str) -> SignalSet:
    """The signals of these channels. ConfigError names every one that is unknown or not in a fitting unit; SignalError what is malformed."""
    document, folder, data = Aside(), None, signals
    if isinstance(signals, str):
        file = Path(signals)
        read = yaml_file.load(file).data
        data, where, folder = read.get("signals", read), str(file), file.parent
    if not isinstance(data, Mapping):
        raise ConfigError([f"{where}: signals must map channels to signals, got {data!r:.60}"])
    plain: dict[str, Any] = {}
    for key, signal in data.items():
        channel = next((name for name in channels if key == name or str(key).startswith(f"{name}.")), None)
        if channel is None and key != "max_intervals":
            hint = did_you_mean(channels, str(key))
            document.add((str(key),), f"there is no channel {key!r}; {hint}{' ' if hint else ''}known: {', '.join(channels)}")
        else:
            plain[key] = signal if channel is None else in_si(signal, channels[channel], (str(key),), document)
    if document.found:
        raise ConfigError([f"{where}: {dotted(at)}: {what}" for at, what in document.found])
    return SignalSet(list(channels), plain, folder)
