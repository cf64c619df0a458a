"""Kinematic bicycle, reference point at the rear axle.

    x' = v cos(yaw)        y' = v sin(yaw)        yaw' = v k,  k = tan(steer) / L

x, y [m]; yaw [rad], positive to the left, never wrapped; v speed [m/s], positive forward; k curvature [1/m]; L wheelbase [m]

One step of classical Runge-Kutta with the speeds and curvatures of its four stages given. The stage headings differ from the first by small
angles, so that the way is summed up in the frame of the car and turned once: one sine and one cosine a step.
Source: the public vehicle models of Autoware, restated.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.vehicles.parameter import Acceleration, Angle, Position, Velocity, YawRate


class Pose(NamedTuple):
    x: Position = 0.0
    y: Position = 0.0
    yaw: Angle = 0.0


class Stages(NamedTuple):
    """A quantity at the four stages of a Runge-Kutta step: at its start, twice at its middle, at its end."""

    k1: A[float, Q("-")] = 0.0
    k2: A[float, Q("-")] = 0.0
    k3: A[float, Q("-")] = 0.0
    k4: A[float, Q("-")] = 0.0


class Out(NamedTuple):
    """What every vehicle reports."""

    vx: Velocity = 0.0
    ax: Acceleration = 0.0
    wz: YawRate = 0.0
    steer: Angle = 0.0


class Turn(NamedTuple):
    c: A[float, Q("-", -1.0, 1.0)] = 1.0
    s: A[float, Q("-", -1.0, 1.0)] = 0.0


@pure
def turn(d: float) -> Turn:
    """cos and sin of an angle that is mostly small; to the last bits below 0.25 rad by the series."""
    if d > 0.25 or d < -0.25:
        return Turn(math.cos(d), math.sin(d))
    q = d * d
    c = 1.0 + q * (-0.5 + q * (1.0 / 24.0 + q * (-1.0 / 720.0 + q * (1.0 / 40320.0 - q * (1.0 / 3628800.0)))))
    s = d + d * q * (-1.0 / 6.0 + q * (1.0 / 120.0 + q * (-1.0 / 5040.0 + q * (1.0 / 362880.0))))
    return Turn(c, s)


@pure
def travel(at: Pose, v: Stages, k: Stages, dt: float) -> Pose:
    """Where a car is after a step at the speeds v and curvatures k of its stages."""
    w1 = v.k1 * k.k1
    w2 = v.k2 * k.k2
    w3 = v.k3 * k.k3
    w4 = v.k4 * k.k4
    t2 = turn(0.5 * dt * w1)
    t3 = turn(0.5 * dt * w2)
    t4 = turn(dt * w3)
    h = dt / 6.0
    ahead = h * (v.k1 + 2.0 * (v.k2 * t2.c + v.k3 * t3.c) + v.k4 * t4.c)
    aside = h * (2.0 * (v.k2 * t2.s + v.k3 * t3.s) + v.k4 * t4.s)
    c = math.cos(at.yaw)
    s = math.sin(at.yaw)
    return Pose(at.x + c * ahead - s * aside, at.y + s * ahead + c * aside, at.yaw + h * (w1 + 2.0 * (w2 + w3) + w4))


@pure
def curvatures(L: float, steer: float, half: float, full: float) -> Stages:
    """Curvatures of the stages where the tyre angle at the middle is the same for both middle stages."""
    middle = math.tan(half) / L
    return Stages(math.tan(steer) / L, middle, middle, math.tan(full) / L)
