"""Worlds: whole machines as one step. Adding one touches two files: the new one and this table."""

from pushrod.core.model import World
from pushrod.sim.worlds import car, satellite, servo

WORLDS: dict[str, World] = {
    "car": car.CAR,
    "car_control": car.CAR_CONTROL,
    "satellite": satellite.SATELLITE,
    "servo": servo.SERVO,
}
