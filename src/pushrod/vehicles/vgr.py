"""Variable gear ratio between steering wheel and tyre, both ways.

    ratio = max(1e-5, a + b v^2 - c |wheel|)
    tire  = wheel / ratio
    wheel = (a + b v^2) tire / (1 + c |tire|)           the exact inverse while the floor of the ratio is not reached

    v speed [m/s]; wheel, tire angles [rad], positive to the left; a [-], b [s2/m2], c [1/rad] fitted coefficients

Source: the public vehicle models and command converter of Autoware, restated.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import maximum


class Vgr(NamedTuple):
    a: A[float, Q("-", 0.0, 100.0, "ratio at rest, wheel straight")] = 15.713
    b: A[float, Q("s2/m2", 0.0, 1.0, "growth with the square of speed")] = 0.053
    c: A[float, Q("1/rad", 0.0, 10.0, "loss with wheel angle")] = 0.042


@pure
def ratio(p: Vgr, v: float, wheel: float) -> float:
    """Wheel angle over tyre angle."""
    return maximum(1e-5, p.a + p.b * v * v - p.c * abs(wheel))


@pure
def tire_from_wheel(p: Vgr, v: float, wheel: float) -> float:
    return wheel / ratio(p, v, wheel)


@pure
def wheel_from_tire(p: Vgr, v: float, tire: float) -> float:
    return (p.a + p.b * v * v) * tire / (1.0 + p.c * abs(tire))


@pure
def tire_command(p: Vgr, v: float, tire: float, wheel_cmd: float) -> float:
    """The tyre angle a wheel command asks for, with the ratio taken where the tyre is now."""
    return wheel_cmd / ratio(p, v, wheel_from_tire(p, v, tire))


@pure
def wheel_command(p: Vgr, v: float, wheel: float, tire_cmd: float) -> float:
    """The wheel angle that a tyre command asks for, with the ratio taken where the wheel is now."""
    return tire_cmd * ratio(p, v, wheel)
