"""Worlds: whole machines as one step. Adding one touches two files: the new one and this table."""

from pushrod.core.model import World
from pushrod.sim.worlds import arm, boat, car, hull, lag, linear_axis, quad, satellite, servo, servo_bench, steering, vehicle
from pushrod.vehicles import VEHICLES

WORLDS: dict[str, World] = {
    "arm": arm.ARM,
    "boat": boat.BOAT,
    "car": car.CAR,
    "car_control": car.CAR_CONTROL,
    "hull": hull.HULL,
    "lag": lag.LAG,
    "linear_axis": linear_axis.LINEAR_AXIS,
    "mechanical_steering": steering.MECHANICAL_STEERING,
    "quad": quad.QUAD,
    "satellite": satellite.SATELLITE,
    "second_order_steering": steering.SECOND_ORDER_STEERING,
    "servo": servo.SERVO,
    "servo_bench": servo_bench.SERVO_BENCH,
    **{name: vehicle.of(name) for name in VEHICLES},
    **{f"{name}_BY_CONTROL": vehicle.by_control(name) for name in vehicle.STEERED},
}
