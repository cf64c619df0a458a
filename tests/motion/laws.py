"""What every motion profile obeys, checked on a grid of times; used by the tests of all kinds of profile."""

import math
from itertools import pairwise

from pushrod.motion.limits import Limits
from pushrod.motion.profile import Profile, Sample, at, sample

INF = math.inf


def phases(p: Profile) -> list[tuple[float, float, object]]:
    """(start, end, phase) of the phases that act."""
    found, start = [], 0.0
    for phase in p[1:8]:
        if phase.end > start:
            found.append((start, phase.end, phase))
            start = phase.end
    return found


def size(p: Profile, start: Sample) -> float:
    """The lengths in play: what rounding is measured against."""
    edges = [sample(p, t) for _, t, _ in phases(p)]
    return max([1.0, abs(p.after.x), *(abs(s.x) for s in (start, *edges))])


def check_joined(p: Profile, start: Sample, order: int) -> None:
    """Starts where told, ends at `after`, and is continuous in position (order 0), velocity (1), acceleration (2)."""
    before = start
    near = 1e-9 * size(p, start)
    for begin, stop, phase in [*phases(p), (p.seven.end, p.T + 1.0, p.after)]:
        now = at(phase, begin)
        for name, x, y in list(zip(("x", "v", "a"), before, now, strict=True))[: order + 1]:
            assert abs(x - y) <= near, f"{name} jumps from {x} to {y} at t = {begin}"
        before = at(phase, stop)


def check_limits(p: Profile, start: Sample, limits: Limits) -> None:
    """Within the limits from the moment it is within them; before that, on its way there and never further out than it must go."""
    times = [begin + (stop - begin) * k / 20.0 for begin, stop, _ in phases(p) for k in range(21)]
    release = start.a * start.a / (2.0 * limits.j) if limits.j < INF else 0.0
    top, inside = abs(start.v) + release, False
    for t in times:
        s = sample(p, t)
        if inside:
            assert abs(s.v) <= limits.v * (1.0 + 1e-7) + 1e-9
        else:
            assert abs(s.v) <= max(top, limits.v) * (1.0 + 1e-9) + 1e-9
        beyond = start.a if limits.j < INF else 0.0
        assert abs(s.a) <= max(limits.a, abs(beyond)) * (1.0 + 1e-9)
        # while the acceleration is let go the velocity goes on changing: within means that it stays within
        released = s.v + s.a * abs(s.a) / (2.0 * limits.j) if limits.j < INF else s.v
        inside = inside or max(abs(s.v), abs(released)) <= limits.v * (1.0 - 1e-9)
    for _, _, phase in phases(p):
        assert abs(phase.j) <= limits.j


def travelled(p: Profile, start: float, t: float, n: int = 400) -> float:
    """start + the integral of the velocity up to t: exact for cubics by Simpson's rule between the ends of phases."""
    edges = sorted({0.0, t, *(min(end, t) for _, end, _ in phases(p))})
    x = start
    for lo, hi in pairwise(edges):
        inner = [lo + (hi - lo) * f for f in (1e-12, 0.5, 1.0 - 1e-12)]
        v = [sample(p, u).v for u in inner]
        x += (hi - lo) * (v[0] + 4.0 * v[1] + v[2]) / 6.0
    return x
