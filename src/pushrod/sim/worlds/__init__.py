"""Worlds: whole machines as one step. Adding one touches two files: the new one and this table."""

from pushrod.core.model import World
from pushrod.sim.worlds import arm, boat, car, hull, quad, satellite, servo, vehicle
from pushrod.vehicles import VEHICLES

WORLDS: dict[str, World] = {
    "arm": arm.ARM,
    "boat": boat.BOAT,
    "car": car.CAR,
    "car_control": car.CAR_CONTROL,
    "hull": hull.HULL,
    "quad": quad.QUAD,
    "satellite": satellite.SATELLITE,
    "servo": servo.SERVO,
    **{name: vehicle.of(name) for name in VEHICLES},
    **{f"{name}_BY_CONTROL": vehicle.by_control(name) for name in vehicle.STEERED},
}
