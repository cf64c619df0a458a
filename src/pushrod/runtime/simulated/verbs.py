"""What each verb makes a simulated motor do: a plan from where it is and how fast it moves, in stages without a jump of velocity between them.

    Position     the quickest profile to the target; the velocity hint lowers its speed, the duration stretches it
    Velocity     a ramp to the velocity; after the duration, to rest
    Effort       acceleration effort / inertia, up to the velocity limit; no jerk limit; after the duration, to rest, as no friction does it
    Trajectory   through the waypoints (see `motion.course`), slowed down where it would exceed the limits; rest at its end
    Hold, Stop   to rest within the limits; Stop("immediate") on the spot
Whatever would run past an end of the travel brakes in time to rest on it, and ends with the reason limit_reached.

Times are seconds from the command, positions in motor space.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

from pushrod.core.errors import InputError
from pushrod.core.quantity import INF
from pushrod.core.scalar import clamp, sign
from pushrod.motion import Announcement, Limits, Sample, Waypoint, announce, fit, halt, make_limits, move, point_to_point, ramp_to, sample, where
from pushrod.motion.course import duration, end, length, reach
from pushrod.motion.plan import Solver
from pushrod.motion.profile import Phase, Profile
from pushrod.robot.motor_profile import MotorProfile
from pushrod.runtime.payload import Effort, Hold, Position, Stop, Trajectory, Velocity

HORIZON = 3600.0  # [s] a motion without an end is announced for so long, then again
SHARP, ROUGH = 1e-12, 1e-9  # so far beyond the end of the travel is on it: for what is solved exactly, for what somebody wrote down
Path = Callable[[float], Sample]
Kind = Literal["position", "velocity", "effort", "trajectory"] | None


class Axis(NamedTuple):
    """What the motor can do. `effort` is the greatest, `inertia` what an effort has to move; `solver` finds its motions."""

    limits: Limits
    lower: float
    upper: float
    effort: float
    inertia: float
    solver: Solver = point_to_point

    @staticmethod
    def of(motor: MotorProfile, jerk: float | None, inertia: float, solver: Solver = point_to_point) -> "Axis":
        return Axis(
            make_limits(motor.velocity, motor.acceleration, jerk),
            -INF if motor.lower is None else motor.lower,
            INF if motor.upper is None else motor.upper,
            INF if motor.effort is None else motor.effort,
            inertia,
            solver,
        )


class Stage(NamedTuple):
    """`loose`: its acceleration may jump (no jerk limit, an effort, a trajectory), so what follows need not go on from it."""

    start: float
    path: Path
    loose: bool = False


class Plan(NamedTuple):
    """The stages, how long until it rests (infinite: never), how it then has ended, what to tell of it; how many times slower than asked it is."""

    kind: Kind
    stages: tuple[Stage, ...]
    length: float
    reason: Literal["completed", "limit_reached"]
    told: Announcement
    slower: float = 1.0

    def stage(self, t: float) -> Stage:
        found = self.stages[0]
        for following in self.stages[1:]:
            if t >= following.start:
                found = following
        return found

    def at(self, t: float) -> Sample:
        stage = self.stage(t)
        return stage.path(t - stage.start)

    def handover(self, t: float) -> Sample:
        """The state from which another plan goes on."""
        stage = self.stage(t)
        s = stage.path(t - stage.start)
        return Sample(s.x, s.v) if stage.loose else s


def plan(axis: Axis, s: Sample, payload: Any) -> Plan:
    """What the payload makes of a motor at s."""
    axis = _urgent(axis, s)
    kind = type(payload)
    if kind is Position:
        return to_position(axis, s, payload)
    if kind is Velocity:
        return at_velocity(axis, s, payload)
    if kind is Effort:
        return with_effort(axis, s, payload)
    if kind is Trajectory:
        return along_trajectory(axis, s, payload)
    if kind is Stop or kind is Hold:
        stop = halt(*s, axis.limits, 1.0 if kind is Stop and payload.mode == "immediate" else 0.0)
        return Plan(None, (_stage(axis, 0.0, stop),), stop.T, "completed", announce(s.x, stop))
    raise InputError(f"a kinematic motor does not know {kind.__name__}; it takes Position, Velocity, Effort, Trajectory, Hold and Stop")


def to_position(axis: Axis, s: Sample, payload: Position) -> Plan:
    hint = payload.velocity if payload.velocity is not None and abs(payload.velocity) >= 1e-9 else None  # at 0 it would never arrive
    x = clamp(payload.position, axis.lower, axis.upper)
    p = move(s.x, x, axis.limits, v0=s.v, a0=s.a, velocity=hint, duration=payload.duration, solver=axis.solver)
    return Plan("position", (_stage(axis, 0.0, p),), p.T, "completed", announce(s.x, p))


def at_velocity(axis: Axis, s: Sample, payload: Velocity) -> Plan:
    v = clamp(payload.velocity, -axis.limits.v, axis.limits.v)
    ramp = ramp_to(*s, v, axis.limits)
    path = partial(sample, ramp)
    until = payload.duration if payload.duration is not None else INF if v != 0.0 else ramp.T
    return _ended(axis, s, "velocity", _stage(axis, 0.0, ramp), until, _crossing(axis, path, 0.0, until, v))


def with_effort(axis: Axis, s: Sample, payload: Effort) -> Plan:
    a = clamp(clamp(payload.effort, -axis.effort, axis.effort) / axis.inertia, -axis.limits.a, axis.limits.a)
    if a == 0.0 or axis.limits.v < INF:
        path = partial(sample, ramp_to(s.x, s.v, 0.0, sign(a) * axis.limits.v if a != 0.0 else s.v, Limits(a=abs(a) or INF)))
    else:
        for_ever = Phase(INF, 0.0, s.x, s.v, a, 0.0)
        path = partial(sample, Profile(INF, for_ever, for_ever, for_ever, for_ever, for_ever, for_ever, for_ever, for_ever))
    until = INF if payload.duration is None else payload.duration
    turn = min(until, -s.v / a) if a * s.v < 0.0 else 0.0  # until then it still moves the other way, and the effort alone may not stop it in time
    free = partial(_released, path)
    cut = _crossing(axis, free, 0.0, turn, s.v)
    return _ended(axis, s, "effort", Stage(0.0, path, True), until, _crossing(axis, free, turn, until, a or s.v) if cut is None else cut)


def along_trajectory(axis: Axis, s: Sample, payload: Trajectory) -> Plan:
    points = tuple(Waypoint(w.position, w.time, w.velocity, w.acceleration) for w in payload.waypoints)
    passes = INF if payload.repeat == "forever" else float(payload.repeat)
    course, slower = fit(points, s.x, s.v, axis.limits, passes=passes)
    path = partial(where, course)
    low, high = reach(course)
    cut = None
    if low < axis.lower - _edge(axis.lower, ROUGH) or high > axis.upper + _edge(axis.upper, ROUGH) or abs(end(course).v) > ROUGH:
        cut = _scanned(axis, partial(_released, path), min(duration(course), length(course.first) + length(course.again)))
    return _ended(axis, s, "trajectory", Stage(0.0, path, True), duration(course), cut, slower)


def rest(axis: Axis, s: Sample) -> float:
    """Where braking at once would end."""
    return halt(*s, axis.limits, 0.0).after.x


def _stage(axis: Axis, start: float, p: Profile) -> Stage:
    return Stage(start, partial(sample, p), axis.limits.j == INF)


def _urgent(axis: Axis, s: Sample) -> Axis:
    """Without the jerk limit where it is too late to brake softly: the end of the travel comes before comfort."""
    x = rest(axis, s)
    hard = axis.limits.j < INF and (x < axis.lower - _edge(axis.lower, ROUGH) or x > axis.upper + _edge(axis.upper, ROUGH))
    return axis._replace(limits=axis.limits._replace(j=INF)) if hard else axis


def _released(path: Path, t: float) -> Sample:
    s = path(t)
    return Sample(s.x, s.v)


def _ended(axis: Axis, s: Sample, kind: Kind, first: Stage, until: float, cut: float | None, slower: float = 1.0) -> Plan:
    """The first stage up to an end of the travel (cut), or to its own end; then to rest."""
    t = until if cut is None else cut
    stages: tuple[Stage, ...] = (first,)
    total = until
    if t < INF:
        here = _released(first.path, t) if first.loose else first.path(t)
        axis = _urgent(axis, here)
        if cut is None:
            p = halt(*here, axis.limits, 0.0)
        else:
            x = axis.upper if rest(axis, here) > 0.5 * (axis.lower + axis.upper) else axis.lower
            p = move(here.x, x, axis.limits, v0=here.v, a0=here.a, solver=axis.solver)
        stages = (*stages, _stage(axis, t, p))
        total = t + p.T
    whole = Plan(kind, stages, total, "completed" if cut is None else "limit_reached", Announcement(s.x, s.x, 0.0), slower)
    told = total if total < INF else HORIZON
    return whole._replace(told=Announcement(s.x, whole.at(told).x, told))


def _edge(x: float, share: float) -> float:
    return share * (1.0 + abs(x))


def _beyond(axis: Axis, path: Path, t: float, share: float = SHARP) -> bool:
    x = rest(axis, path(t))
    return x < axis.lower - _edge(axis.lower, share) or x > axis.upper + _edge(axis.upper, share)


def _crossing(axis: Axis, path: Path, start: float, until: float, way: float) -> float | None:
    """The last moment at which a motion in one direction can still brake in time for the end of the travel; None where it need not."""
    if way == 0.0 or until <= start or (axis.upper if way > 0.0 else axis.lower) in (INF, -INF):
        return None
    last = start + 1.0
    while last < until and not _beyond(axis, path, last) and last < 1e12:
        last = start + 2.0 * (last - start)
    last = min(last, until)
    return _halved(axis, path, start, last) if _beyond(axis, path, last) else None


def _scanned(axis: Axis, path: Path, until: float, n: int = 500) -> float | None:
    """The same for any path, looked at n times."""
    for k in range(n + 1):
        if _beyond(axis, path, until * k / n, ROUGH):
            return _halved(axis, path, until * max(k - 1, 0) / n, until * k / n)
    return None


def _halved(axis: Axis, path: Path, lo: float, hi: float) -> float:
    if _beyond(axis, path, lo):
        return lo
    while lo < (mid := 0.5 * (lo + hi)) < hi:
        if _beyond(axis, path, mid):
            hi = mid
        else:
            lo = mid
    return lo
