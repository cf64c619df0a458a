"""A trajectory: from where the axis is, through waypoints, once, several times or for ever.

    first pass    from the present position and velocity
    again         the passes between
    last          ends at rest, or at the velocity the last waypoint asks for

Between waypoints see `track`. A velocity that is not given is chosen so that the path never leaves the range between its neighbours (Fritsch and
Butland's harmonic mean of the slopes on both sides, 0 at a turning point: a monotone cubic), so waypoints within the travel of an axis keep the
whole path within it. The path is continuous in velocity throughout, whatever is given.

The seam. A first waypoint at a time above 0 is reached in that time: from the present position on the first pass, from the last waypoint on
those after it. A first waypoint at time 0 where the axis is not, or moves otherwise, is led up to by a cubic as short as the limits allow, at
rest where no rate is given, and all that follows is later by so much; likewise between passes. A closed path (last position = first, first time
0) runs on without a break. Without limits such a lead takes no time: it jumps. Jerk is bounded where accelerations are given and jumps
elsewhere; a jerk limit does not apply to a trajectory.
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.errors import InputError
from pushrod.core.purity import pure
from pushrod.core.quantity import INF, Q
from pushrod.motion.extent import extent
from pushrod.motion.limits import Limits
from pushrod.motion.profile import Sample
from pushrod.motion.track import Point, Track, along, between, through

REST = Sample()
SHORTEST = 1e-6  # [s] a pass lasts at least this long
NEAR = 1e-9  # positions and velocities this near to each other are the same


class Waypoint(NamedTuple):
    """Where to be at a time [s] from the start; how fast and with which acceleration, if that matters."""

    x: float
    t: float
    v: float | None = None
    a: float | None = None


class Course(NamedTuple):
    passes: A[float, Q("-", 1.0, INF, "how many; infinite: for ever; 1: all three tracks are the same")] = 1.0
    first: Track = Track()
    again: Track = Track()
    last: Track = Track()


@pure
def length(p: Track) -> float:
    return p.t[len(p.t) - 1]


@pure
def where(c: Course, t: float) -> Sample:
    """Where the trajectory is at time t. After its end it is at rest where it ended."""
    u = t - length(c.first)
    if u < 0.0:
        return along(c.first, t)
    k = float(math.floor(u / length(c.again)))
    if k < c.passes - 2.0:
        return along(c.again, u - k * length(c.again))
    u = u - (c.passes - 2.0) * length(c.again)
    if u <= length(c.last):
        return along(c.last, u)
    return Sample(along(c.last, length(c.last)).x, 0.0, 0.0)


def duration(c: Course) -> float:
    """Infinite where it goes on for ever."""
    return length(c.first) + (length(c.again) * (c.passes - 2.0) + length(c.last) if c.passes > 1.0 else 0.0)


def end(c: Course) -> Sample:
    """The state it ends in; the velocity is not 0 where the last waypoint asks for one. For a trajectory without end: that of a pass."""
    track = c.last if c.passes > 1.0 else c.first
    return along(track, length(track))


def follow(
    waypoints: tuple[Waypoint, ...], x0: float, v0: float, bounds: Limits, *, a0: float | None = None, passes: float = 1.0, slower: float = 1.0
) -> Course:
    """The trajectory from (x0, v0) through the waypoints; `slower` = 2 takes twice the time with half the rates."""
    _check(waypoints, passes, slower)
    points = [Waypoint(w.x, w.t * slower, *_slowed(w, slower)) for w in waypoints]
    now = Waypoint(x0, 0.0, v0, a0)
    lead = _lead(now, points, bounds)
    seam_lead = _lead(points[-1], points, bounds)
    if passes == 1.0 or points[-1].t - points[0].t + seam_lead <= 0.0:
        only = _pass(now, points, lead, 0.0)
        return Course(1.0, only, only, only)
    seam = _seam_rate(points, seam_lead)
    start = Waypoint(points[-1].x, 0.0, seam, points[-1].a)
    return Course(
        passes,
        _pass(now, points, lead, seam),
        _pass(start, points, seam_lead, seam),
        _pass(start, points, seam_lead, 0.0),
    )


def fit(
    waypoints: tuple[Waypoint, ...], x0: float, v0: float, bounds: Limits, *, a0: float | None = None, passes: float = 1.0
) -> tuple[Course, float]:
    """The trajectory, slowed down by the factor that is also given back where it would exceed the limits."""
    slower, tries = 1.0, 1
    course = follow(waypoints, x0, v0, bounds, a0=a0, passes=passes)
    while tries < 60 and (k := excess(course, bounds, Sample(x0, v0, a0 or 0.0))) > 1.0 + 1e-9:
        slower *= max(k, 1.0 + 1e-3)
        tries += 1
        course = follow(waypoints, x0, v0, bounds, a0=a0, passes=passes, slower=slower)
    return course, slower


def excess(c: Course, bounds: Limits, start: Sample = REST) -> float:
    """How many times slower the trajectory would have to be for its velocity and acceleration limits; at most 1 where it respects them.

    Where it starts beyond them, its first segment may be as fast as its start.
    """
    k = 0.0
    v, a = max(bounds.v, abs(start.v)), max(bounds.a, abs(start.a))
    for track in _passes(c):
        for e in extent(track):
            k = max(k, e.v / v, math.sqrt(e.a / a))
            v, a = bounds.v, bounds.a
    return k


def reach(c: Course) -> tuple[float, float]:
    """The lowest and the highest position on the way."""
    found = [e for track in _passes(c) for e in extent(track)]
    return min(e.lo for e in found), max(e.hi for e in found)


def _passes(c: Course) -> tuple[Track, ...]:
    """The passes that differ from each other."""
    if c.passes <= 2.0:
        return (c.first,) if c.passes == 1.0 else (c.first, c.last)
    return (c.first, c.again) if c.passes == INF else (c.first, c.again, c.last)


def _check(waypoints: tuple[Waypoint, ...], passes: float, slower: float) -> None:
    if not waypoints:
        raise InputError("a trajectory needs at least one waypoint, got none")
    last = -INF
    for i, w in enumerate(waypoints):
        for name, x in (("x", w.x), ("t", w.t), ("v", w.v or 0.0), ("a", w.a or 0.0)):
            if not math.isfinite(x):
                raise InputError(f"waypoints[{i}].{name} = {x!r} is not a finite number")
        if w.t < 0.0 or w.t <= last:
            raise InputError(f"waypoints[{i}].t = {w.t!r} s: times start at 0 or later and rise; the one before is {last:g} s")
        last = w.t
    if not (passes >= 1.0 and (passes == INF or passes == math.floor(passes))):
        raise InputError(f"passes = {passes!r}: allowed are whole numbers from 1, and infinity for ever")
    if not (slower > 0.0 and math.isfinite(slower)):
        raise InputError(f"slower = {slower!r}: allowed are finite numbers above 0")


def _slowed(w: Waypoint, k: float) -> tuple[float | None, float | None]:
    return None if w.v is None else w.v / k, None if w.a is None else w.a / (k * k)


def _pass(start: Waypoint, points: list[Waypoint], lead: float, end_rate: float) -> Track:
    """From `start` through all points; the first of them is reached after `lead`, which is 0 where it is the start itself."""
    shift = lead - points[0].t
    first = start._replace(t=0.0)
    if lead == 0.0:
        jumps = abs(points[0].x - start.x) > NEAR
        v = points[0].v if points[0].v is not None else 0.0 if jumps else start.v
        first = Waypoint(points[0].x, 0.0, v, points[0].a)
    ahead = [w._replace(t=w.t + shift) for w in (points if lead > 0.0 else points[1:])]
    led = lead > 0.0 and points[0].t == 0.0  # by a segment nobody asked for
    if led and points[0].v is None:
        ahead[0] = ahead[0]._replace(v=0.0)
    if not ahead:
        rate = first.v or 0.0
        ahead = [Waypoint(first.x + rate * SHORTEST, SHORTEST, rate)]
    if ahead[-1].v is None:
        ahead[-1] = ahead[-1]._replace(v=end_rate)
    path = [first, *ahead]
    rates = [w.v if w.v is not None else _rate(path[i - 1], w, path[i + 1]) for i, w in enumerate(path)]
    track = through(tuple(Point(w.t, w.x, v, w.a) for w, v in zip(path, rates, strict=True)))
    if led:  # a cubic fits any limits; one that meets accelerations at its ends may not
        track = Track(track.t, between(Point(0.0, first.x, rates[0]), Point(lead, ahead[0].x, rates[1])) + track.c[6:])
    return track


def _slope(p: Waypoint, q: Waypoint) -> float:
    return (q.x - p.x) / (q.t - p.t)


def _rate(before: Waypoint, w: Waypoint, after: Waypoint) -> float:
    return _harmonic(_slope(before, w), w.t - before.t, _slope(w, after), after.t - w.t)


def _harmonic(m: float, h: float, n: float, g: float) -> float:
    """The rate at a point between slope m over h and slope n over g."""
    if m * n <= 0.0:
        return 0.0
    return 3.0 * (h + g) / ((2.0 * g + h) / m + (g + 2.0 * h) / n)


def _seam_rate(points: list[Waypoint], lead: float) -> float:
    """The velocity with which a pass ends and the next begins."""
    first, last = points[0], points[-1]
    if last.v is not None:
        return last.v
    if lead == 0.0 and first.v is not None:
        return first.v
    if lead > 0.0 and first.t == 0.0:
        return 0.0
    m, h = (_slope(points[-2], last), last.t - points[-2].t) if len(points) > 1 else (0.0, 1.0)
    if lead > 0.0:
        return _harmonic(m, h, (first.x - last.x) / lead, lead)
    return _harmonic(m, h, _slope(first, points[1]), points[1].t - first.t) if abs(first.x - last.x) <= NEAR else 0.0


def _lead(start: Waypoint, points: list[Waypoint], bounds: Limits) -> float:
    """How long the way from `start` to the first waypoint takes; a rate that is not given fits any."""
    first = points[0]
    if first.t > 0.0:
        return first.t
    wanted = first.v if first.v is not None or len(points) > 1 else 0.0
    if abs(start.x - first.x) <= NEAR and (wanted is None or start.v is None or abs(wanted - start.v) <= NEAR):
        return 0.0
    return _shortest(start, first, bounds)


def _shortest(start: Waypoint, first: Waypoint, bounds: Limits) -> float:
    """The length of the shortest segment between two states within the limits (to a tenth); 0 where nothing limits it."""
    if bounds.v == INF and bounds.a == INF:
        return 0.0
    v, v1 = start.v or 0.0, first.v or 0.0
    top = max(bounds.v, abs(v), abs(v1))
    d = abs(first.x - start.x)
    h = max(1.5 * d / top, math.sqrt(6.0 * d / bounds.a), abs(v1 - v) / bounds.a, SHORTEST)

    def fits(h: float) -> bool:
        e = extent(through((Point(0.0, start.x, v), Point(h, first.x, v1))))[0]
        return e.v <= top * (1.0 + 1e-9) and e.a <= bounds.a * (1.0 + 1e-9)

    tries = 0
    while tries < 200 and not fits(h):
        h *= 1.1
        tries += 1
    return h
