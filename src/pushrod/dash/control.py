"""What of a payload can be moved on the page: its numbers, each with its range. A driver's own payload needs a row here to have sliders."""

from collections.abc import Callable
from math import pi
from typing import Any, NamedTuple

from pushrod.live.payload import FLIGHT, Actuation, Attitude, Flight, Throttle, Torque
from pushrod.net.told import ActuatorTold
from pushrod.vehicles.gear import DRIVE, NAMES


class Knob(NamedTuple):
    """One number of a payload: `words` where it is a choice, then its values count from 0. `actual`: the output of the world that it becomes."""

    field: str
    unit: str
    low: float
    high: float
    at_first: float = 0.0
    words: tuple[str, ...] = ()
    actual: str = ""


def _actuation(told: ActuatorTold) -> tuple[Knob, ...]:
    low, high = told.lower or -pi, told.upper or pi
    gear = Knob("gear", "", 0.0, len(NAMES) - 1.0, DRIVE, tuple(str(name) for name in NAMES))
    return (
        Knob("accel", "-", 0.0, 1.0, actual="accel_cmd"),
        Knob("brake", "-", 0.0, 1.0, actual="brake_cmd"),
        Knob("steer", "rad", low, high, actual="wheel_meas"),
        gear,
    )


def _torque(told: ActuatorTold) -> tuple[Knob, ...]:
    most = told.effort or 1.0
    return tuple(Knob(axis, "N.m", -most, most, actual=f"torque_ach_{axis}") for axis in "xyz")


def _attitude(told: ActuatorTold) -> tuple[Knob, ...]:
    ends = {"roll": pi, "pitch": pi / 2, "yaw": pi}
    return tuple(Knob(axis, "rad", -end, end, actual=axis) for axis, end in ends.items())


def _flight(told: ActuatorTold) -> tuple[Knob, ...]:
    tilt = min(0.5, FLIGHT["roll"][1])
    ends = {"roll": tilt, "pitch": tilt, "yaw": pi}
    return (Knob("z", "m", 0.0, 10.0, actual="z"), *(Knob(axis, "rad", -end, end, actual=axis) for axis, end in ends.items()))


def _throttle(told: ActuatorTold) -> tuple[Knob, ...]:
    return (Knob("u", "-", -1.0, 1.0),)


KNOBS: dict[str, tuple[Any, Callable[[ActuatorTold], tuple[Knob, ...]]]] = {
    kind.__name__: (kind, knobs)
    for kind, knobs in ((Actuation, _actuation), (Torque, _torque), (Attitude, _attitude), (Flight, _flight), (Throttle, _throttle))
}
