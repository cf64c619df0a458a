"""A motion in up to seven phases of constant jerk, and what comes after the last of them.

    x(t) = x + v h + a h^2 / 2 + j h^3 / 6,   h = t - t_phase

t      time from the start of the motion [s];  t_phase the time a phase is anchored at: its start, or its end where it must land exactly
x v a  position, velocity and acceleration at the anchor;  j the jerk of the phase
A phase acts up to its `end`; a phase that ends at or before the one ahead of it never acts. After the seventh the phase `after` acts for ever:
at rest for a motion that arrives, at a steady velocity for a ramp. Where acceleration is not limited the velocity may jump between two phases.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.scalar import maximum


class Sample(NamedTuple):
    x: A[float, Q("x", about="position")] = 0.0
    v: A[float, Q("x/s", about="velocity")] = 0.0
    a: A[float, Q("x/s2", about="acceleration")] = 0.0


class Phase(NamedTuple):
    end: A[float, Q("s", about="acts up to this time")] = 0.0
    t: A[float, Q("s", about="the time it is anchored at")] = 0.0
    x: A[float, Q("x")] = 0.0
    v: A[float, Q("x/s")] = 0.0
    a: A[float, Q("x/s2")] = 0.0
    j: A[float, Q("x/s3")] = 0.0


class Profile(NamedTuple):
    T: A[float, Q("s", 0.0, about="duration")] = 0.0
    one: Phase = Phase()
    two: Phase = Phase()
    three: Phase = Phase()
    four: Phase = Phase()
    five: Phase = Phase()
    six: Phase = Phase()
    seven: Phase = Phase()
    after: Phase = Phase()


@pure
def at(p: Phase, t: float) -> Sample:
    h = t - p.t
    return Sample(p.x + h * (p.v + h * (0.5 * p.a + h * p.j / 6.0)), p.v + h * (p.a + 0.5 * h * p.j), p.a + h * p.j)


@pure
def then(p: Phase, h: float, j: float) -> Phase:
    """The phase that goes on where p ends, for h, with a jerk of its own."""
    s = at(p, p.end)
    return Phase(p.end + h, p.end, s.x, s.v, s.a, j)


@pure
def sample(p: Profile, t: float) -> Sample:
    """Where the motion is at time t."""
    f = p.after
    if t < p.one.end:
        f = p.one
    elif t < p.two.end:
        f = p.two
    elif t < p.three.end:
        f = p.three
    elif t < p.four.end:
        f = p.four
    elif t < p.five.end:
        f = p.five
    elif t < p.six.end:
        f = p.six
    elif t < p.seven.end:
        f = p.seven
    return at(f, t)


@pure
def top_speed(f: Phase, start: float) -> float:
    """The greatest speed within a phase that takes over at `start`."""
    if f.end <= start:
        return 0.0
    v = maximum(abs(at(f, start).v), abs(at(f, f.end).v))
    if f.j != 0.0:
        turn = f.t - f.a / f.j
        if start < turn and turn < f.end:
            v = maximum(v, abs(f.v - 0.5 * f.a * f.a / f.j))
    return v


@pure
def top_push(f: Phase, start: float) -> float:
    """The greatest acceleration within a phase that takes over at `start`, as a magnitude."""
    return maximum(abs(at(f, start).a), abs(at(f, f.end).a)) if f.end > start else 0.0


@pure
def peak_velocity(p: Profile) -> float:
    v = maximum(top_speed(p.one, 0.0), top_speed(p.two, p.one.end))
    v = maximum(v, maximum(top_speed(p.three, p.two.end), top_speed(p.four, p.three.end)))
    v = maximum(v, maximum(top_speed(p.five, p.four.end), top_speed(p.six, p.five.end)))
    return maximum(v, maximum(top_speed(p.seven, p.six.end), abs(p.after.v)))


@pure
def peak_acceleration(p: Profile) -> float:
    a = maximum(top_push(p.one, 0.0), top_push(p.two, p.one.end))
    a = maximum(a, maximum(top_push(p.three, p.two.end), top_push(p.four, p.three.end)))
    a = maximum(a, maximum(top_push(p.five, p.four.end), top_push(p.six, p.five.end)))
    return maximum(a, top_push(p.seven, p.six.end))


@pure
def still(x: float, T: float) -> Profile:
    """At rest at x, for T and ever after."""
    f = Phase(0.0, 0.0, x, 0.0, 0.0, 0.0)
    return Profile(T, f, f, f, f, f, f, f, f)
