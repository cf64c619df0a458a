"""What moves of a car with a lagged acceleration: pose, speed, true tyre angle, acceleration."""

from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.scalar import maximum
from pushrod.vehicles.kinematics import Pose, Stages, travel
from pushrod.vehicles.longitudinal import Speed
from pushrod.vehicles.parameter import Acceleration, Angle, Position, Velocity


class Car(NamedTuple):
    x: Position = 0.0
    y: Position = 0.0
    yaw: Angle = 0.0
    vx: Velocity = 0.0
    steer: Angle = 0.0
    accx: Acceleration = 0.0


@pure
def driven(c: Car, speed: Speed, k: Stages, steer: float, dt: float) -> Car:
    """After a step at the speeds and curvatures of its stages."""
    at = travel(Pose(c.x, c.y, c.yaw), speed.v, k, dt)
    return Car(at.x, at.y, at.yaw, speed.vx, steer, speed.accx)


@pure
def put_back(c: Car, steer: float, dt: float) -> Car:
    """The reference's gear guard: at rest where it was, with the acceleration this would have taken. The steering went on."""
    return Car(c.x, c.y, c.yaw, 0.0, steer, -c.vx / maximum(dt, 1e-5))
