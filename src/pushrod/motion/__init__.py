"""Motion profiles: how an axis gets from where it is to where it should be, as frozen data and pure functions, live and compiled.

make_limits, move, announce     to rest at a position: trapezoid, triangle, rectangle or jerk-limited, from any velocity
ramp_to, halt                   to a velocity; to rest
follow, fit, where, duration    through waypoints, with repeats
sample                          where a profile is at a time
EASINGS, ease                   shapes for an open-loop guess
"""

from pushrod.motion.course import Course, Waypoint, duration, fit, follow, where
from pushrod.motion.easing import EASINGS, Easing, ease
from pushrod.motion.limits import Limits
from pushrod.motion.plan import Announcement, announce, make_limits, move
from pushrod.motion.profile import Profile, Sample, sample
from pushrod.motion.ramp import halt, ramp_to
from pushrod.motion.s_curve import point_to_point
from pushrod.motion.trapezoid import trapezoidal

__all__ = [
    "EASINGS",
    "Announcement",
    "Course",
    "Easing",
    "Limits",
    "Profile",
    "Sample",
    "Waypoint",
    "announce",
    "duration",
    "ease",
    "fit",
    "follow",
    "halt",
    "make_limits",
    "move",
    "point_to_point",
    "ramp_to",
    "sample",
    "trapezoidal",
    "where",
]
