"""Sine.

y = offset + amplitude sin(2 pi frequency (t - t_start) + phase)
"""

import math
from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.signals.kind import Kind, Row


class Fields(NamedTuple):
    amplitude: A[float, Q("y", about="half of peak to peak")]
    frequency: A[float, Q("Hz", 0.0, 1e6)]
    phase: A[float, Q("rad", about="at the start of the interval")] = 0.0
    offset: A[float, Q("y", about="mean value")] = 0.0


@pure
def sine(tau: float, amplitude: float, frequency: float, phase: float, offset: float) -> float:
    return offset + amplitude * math.sin(2.0 * math.pi * frequency * tau + phase)


def row(f: Fields, t_start: float, t_end: float) -> Row:
    return Row((f.amplitude, f.frequency, f.phase, f.offset))


SINE = Kind("sine", "sine of one frequency", Fields, row)
