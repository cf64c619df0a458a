"""Gears, and what each lets a car do.

    forward {DRIVE .. DRIVE_18, LOW, LOW_2}      reverse {REVERSE, REVERSE_2}      NEUTRAL      PARK, NONE

The codes are those of the public vehicle messages. A car in a forward gear may not roll backwards, nor forwards in a reverse gear, and
in any other gear the reference does not let it move at all: it is put back to where it was, with speed 0, in one step (`is_held`).
With `reference` off NEUTRAL rolls freely, and PARK, NONE or a gear against the motion bring the car to rest (`is_stopping`).
"""

from typing import Annotated as A

from pushrod.core.purity import pure
from pushrod.core.quantity import Choice

NAMES = (
    *("none", "neutral", "drive"),
    *(f"drive_{k}" for k in range(2, 19)),
    *("reverse", "reverse_2", "park", "low", "low_2"),
)
NONE, NEUTRAL, DRIVE, REVERSE, REVERSE_2, PARK, LOW, LOW_2 = 0.0, 1.0, 2.0, 20.0, 21.0, 22.0, 23.0, 24.0
DRIVE_18 = 19.0

Gear = A[float, Choice(NAMES, "gear lever")]


@pure
def is_forward(gear: float) -> bool:
    return DRIVE <= gear <= DRIVE_18 or LOW <= gear <= LOW_2


@pure
def is_reverse(gear: float) -> bool:
    return REVERSE <= gear <= REVERSE_2


@pure
def is_locked(gear: float) -> bool:
    """NONE or PARK."""
    return gear < NEUTRAL or gear == PARK


@pure
def is_against(gear: float, v: float) -> bool:
    """Does the car move in the direction its gear forbids?"""
    return (v < 0.0 and is_forward(gear)) or (v > 0.0 and is_reverse(gear))


@pure
def is_held(gear: float, v: float) -> bool:
    """Does the reference put the car back? v is the speed after the step."""
    return is_against(gear, v) or not (is_forward(gear) or is_reverse(gear))


@pure
def is_stopping(gear: float, v: float) -> bool:
    """With `reference` off: is the car being brought to rest? v is the speed before the step."""
    return is_against(gear, v) or is_locked(gear)
