"""The ladders there are, by name. Each is made for the facts of the first recording, from which its ranges follow."""

from collections.abc import Callable, Mapping

from pushrod.identify.rung import Ladder
from pushrod.identify.rungs_axis import axis
from pushrod.identify.rungs_servo import servo
from pushrod.identify.rungs_steering import steering

LADDERS: dict[str, Callable[[Mapping[str, float]], Ladder]] = {
    "servo": lambda facts: servo(facts),
    "steering": lambda facts: steering(),
    "axis": lambda facts: axis(),
}
