"""What a servo has been told to do and has not finished."""

from typing import Literal, NamedTuple

from pushrod.core.quantity import INF
from pushrod.drivers.dynamixel.preparation import Bounds
from pushrod.drivers.dynamixel.register import RPM
from pushrod.drivers.dynamixel.servo import Feedback
from pushrod.motion import Course, Limits, make_limits
from pushrod.motion.course import Waypoint, duration, fit
from pushrod.runtime.payload import Trajectory

AT_REST = 3.0 * RPM  # [rad/s] slower than this is at rest
Kind = Literal["position", "velocity", "effort", "trajectory"]


class UnderWay(NamedTuple):
    """`due`: when it should be done [s of the runtime's clock]; infinite where it has no end of its own.

    `target`: where it should be then. `drive`: the sign of what pushes, where nothing but this driver looks after the end of the travel.
    `passive`: torque goes off at its end.
    """

    kind: Kind | None
    id: str | None
    start: float
    due: float = INF
    target: float | None = None
    course: Course | None = None
    drive: float = 0.0
    passive: bool = False


class Fitted(NamedTuple):
    """A course from where the servo is, how long it takes [s], and how many times slower it is than asked."""

    here: Feedback
    course: Course
    length: float
    slower: float


def motion_limits(bounds: Bounds) -> Limits:
    return make_limits(bounds.velocity, bounds.acceleration)


def course_of(payload: Trajectory, x: float, v: float, bounds: Bounds) -> tuple[Course, float, float]:
    """The course through the waypoints, how long it takes, and how many times slower it is than asked."""
    points = tuple(Waypoint(w.position, w.time, w.velocity, w.acceleration) for w in payload.waypoints)
    course, slower = fit(points, x, v, motion_limits(bounds), passes=INF if payload.repeat == "forever" else float(payload.repeat))
    return course, duration(course), slower


def runs_out(bounds: Bounds, x: float, v: float, drive: float) -> bool:
    """Is it about to leave its travel? Braking distance counts where the acceleration is known."""
    way = v * v / (2.0 * bounds.acceleration) if bounds.acceleration else 0.0
    if bounds.upper is not None and drive > 0.0 and x + (way if v > 0.0 else 0.0) >= bounds.upper:
        return True
    return bounds.lower is not None and drive < 0.0 and x - (way if v < 0.0 else 0.0) <= bounds.lower
