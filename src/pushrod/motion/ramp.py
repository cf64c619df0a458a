"""From one velocity to another as fast as acceleration and jerk limits allow, and then on at that velocity.

    j unlimited:  dv/dt = +-a until v = v1
    j limited:    da/dt = +-j, |a| <= limit: the acceleration goes through the three legs of a trapezoid to 0, as the velocity does in a move
    a and j unlimited:  v1 at once

x0, v0, a0   where the ramp starts;  v1 the velocity it ends at
"""

from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import INF
from pushrod.core.scalar import sign
from pushrod.motion.limits import Limits
from pushrod.motion.profile import Phase, Profile, at, still
from pushrod.motion.trapezoid import legs


class Change(NamedTuple):
    """A change of velocity in three phases of jerk, and the steady velocity after it."""

    one: Phase = Phase()
    two: Phase = Phase()
    three: Phase = Phase()
    after: Phase = Phase()


@pure
def change(t: float, x: float, v: float, a: float, v1: float, A: float, J: float) -> Change:
    """From (x, v, a) at time t to v1 without acceleration; J is finite."""
    g = legs(v1 - v, a, A, J, 0.0)
    top = g.s * g.vc
    # each phase by its own length: differences of late times would lose digits
    s1 = at(Phase(0.0, 0.0, x, v, a, g.s1 * J), g.t1)
    s2 = at(Phase(0.0, 0.0, s1.x, s1.v, top, 0.0), g.t2)
    x3 = at(Phase(0.0, 0.0, s2.x, s2.v, top, -g.s * J), g.t3).x
    t1 = t + g.t1
    t2 = t1 + g.t2
    t3 = t2 + g.t3
    return Change(
        Phase(t1, t, x, v, a, g.s1 * J),
        Phase(t2, t1, s1.x, s1.v, top, 0.0),
        Phase(t3, t3, x3, v1, 0.0, -g.s * J),
        Phase(t3, t3, x3, v1, 0.0, 0.0),
    )


@pure
def ramp_to(x0: float, v0: float, a0: float, v1: float, limits: Limits) -> Profile:
    """From (x0, v0, a0) to the velocity v1. Without a jerk limit a0 does not matter: the acceleration may jump."""
    if limits.j < INF:
        c = change(0.0, x0, v0, a0, v1, limits.a, limits.j)
        return Profile(c.after.t, c.one, c.two, c.three, c.after, c.after, c.after, c.after, c.after)
    t = abs(v1 - v0) / limits.a
    one = Phase(t, 0.0, x0, v0, sign(v1 - v0) * limits.a if t > 0.0 else 0.0, 0.0)
    after = Phase(t, t, at(one, t).x, v1, 0.0, 0.0)
    return Profile(t, one, after, after, after, after, after, after, after)


@pure
def halt(x0: float, v0: float, a0: float, limits: Limits, immediate: float) -> Profile:
    """To rest: where it is, at once (immediate != 0), or by slowing down within the limits."""
    return still(x0, 0.0) if immediate != 0.0 else ramp_to(x0, v0, a0, 0.0, limits)
