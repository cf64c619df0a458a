"""A watchdog per actuator: silence past its limit makes the actuator react, once, and stay there until it is cleared.

hold      keep the position, with force          (SS2, stop category 2: stops and stays powered)
ramp      slow down to rest, then hold            (SS1 with power kept: controlled stop)
damp      slow down to rest, then go passive      (SS1, stop category 1: controlled stop, then no torque)
release   go passive at once                      (STO, stop category 0: no torque)
"""

from enum import StrEnum
from typing import NamedTuple


class Reaction(StrEnum):
    HOLD = "hold"
    RAMP = "ramp"
    DAMP = "damp"
    RELEASE = "release"


class Watchdog(NamedTuple):
    """How long an actuator may go without a command [s], and what it does then."""

    silence: float
    reaction: Reaction = Reaction.HOLD


class Watch(NamedTuple):
    """When the last command acted, and whether the watchdog has tripped."""

    fed: float
    bitten: bool = False


def look(dog: Watchdog, watch: Watch, now: float) -> Watch:
    """Bites once silence is longer than allowed; what has bitten stays so."""
    return Watch(watch.fed, True) if watch.bitten or now - watch.fed > dog.silence else watch
