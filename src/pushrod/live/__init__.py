"""A machine of `sim`, live: its world moves behind the runtime, whose drivers are ports into it. The names are brought in when first used."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushrod.live.machine import SimulatedMachine
    from pushrod.live.payload import Actuation, Attitude, Flight, Throttle, Torque
    from pushrod.live.run import Live, simulate
    from pushrod.live.sensors import Imu, WheelSpeeds

_HOMES = {
    "Actuation": "pushrod.live.payload",
    "Attitude": "pushrod.live.payload",
    "Flight": "pushrod.live.payload",
    "Imu": "pushrod.live.sensors",
    "Live": "pushrod.live.run",
    "SimulatedMachine": "pushrod.live.machine",
    "Throttle": "pushrod.live.payload",
    "Torque": "pushrod.live.payload",
    "WheelSpeeds": "pushrod.live.sensors",
    "simulate": "pushrod.live.run",
}

__all__ = ["Actuation", "Attitude", "Flight", "Imu", "Live", "SimulatedMachine", "Throttle", "Torque", "WheelSpeeds", "simulate"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pushrod.live' has no attribute {name!r}; it offers {', '.join(__all__)}")
