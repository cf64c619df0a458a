"""The space an allocator works in: up to 6 axes and 8 effectors, as records at the border and as lines of numbers inside.

    v = B u        v on the axes, u of the effectors, B the effectiveness, row by row: B[i n + j] is what effector j does on axis i

A set with fewer axes or effectors leaves the last fields at 0.
"""

from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.ring import Ring

M_MOST = 6
N_MOST = 8

Line = tuple[Any, ...]
number = A[float, Q("-")]
axis_line = Ring(number, M_MOST)
effector_line = Ring(number, N_MOST)
matrix_line = Ring(number, M_MOST * N_MOST)
square_line = Ring(number, N_MOST * N_MOST)


class Axes(NamedTuple):
    a0: A[float, Q("-")] = 0.0
    a1: A[float, Q("-")] = 0.0
    a2: A[float, Q("-")] = 0.0
    a3: A[float, Q("-")] = 0.0
    a4: A[float, Q("-")] = 0.0
    a5: A[float, Q("-")] = 0.0


class Effectors(NamedTuple):
    e0: A[float, Q("-")] = 0.0
    e1: A[float, Q("-")] = 0.0
    e2: A[float, Q("-")] = 0.0
    e3: A[float, Q("-")] = 0.0
    e4: A[float, Q("-")] = 0.0
    e5: A[float, Q("-")] = 0.0
    e6: A[float, Q("-")] = 0.0
    e7: A[float, Q("-")] = 0.0


class Pulses(NamedTuple):
    e0: A[float, Q("us")] = 0.0
    e1: A[float, Q("us")] = 0.0
    e2: A[float, Q("us")] = 0.0
    e3: A[float, Q("us")] = 0.0
    e4: A[float, Q("us")] = 0.0
    e5: A[float, Q("us")] = 0.0
    e6: A[float, Q("us")] = 0.0
    e7: A[float, Q("us")] = 0.0


class Health(NamedTuple):
    """Share of its effect each effector still has, as announced: 1 well, 0 dead."""

    e0: A[float, Q("-", 0.0, 1.0)] = 1.0
    e1: A[float, Q("-", 0.0, 1.0)] = 1.0
    e2: A[float, Q("-", 0.0, 1.0)] = 1.0
    e3: A[float, Q("-", 0.0, 1.0)] = 1.0
    e4: A[float, Q("-", 0.0, 1.0)] = 1.0
    e5: A[float, Q("-", 0.0, 1.0)] = 1.0
    e6: A[float, Q("-", 0.0, 1.0)] = 1.0
    e7: A[float, Q("-", 0.0, 1.0)] = 1.0


@pure
def from_axes(line: Line, a: Axes) -> Line:
    line = axis_line.put(line, 0, a.a0)
    line = axis_line.put(line, 1, a.a1)
    line = axis_line.put(line, 2, a.a2)
    line = axis_line.put(line, 3, a.a3)
    line = axis_line.put(line, 4, a.a4)
    return axis_line.put(line, 5, a.a5)


@pure
def to_axes(line: Line) -> Axes:
    return Axes(
        axis_line.get(line, 0), axis_line.get(line, 1), axis_line.get(line, 2), axis_line.get(line, 3), axis_line.get(line, 4), axis_line.get(line, 5)
    )


@pure
def from_effectors(line: Line, e: Effectors) -> Line:
    line = effector_line.put(line, 0, e.e0)
    line = effector_line.put(line, 1, e.e1)
    line = effector_line.put(line, 2, e.e2)
    line = effector_line.put(line, 3, e.e3)
    line = effector_line.put(line, 4, e.e4)
    line = effector_line.put(line, 5, e.e5)
    line = effector_line.put(line, 6, e.e6)
    return effector_line.put(line, 7, e.e7)


@pure
def from_health(line: Line, k: Health) -> Line:
    return from_effectors(line, Effectors(k.e0, k.e1, k.e2, k.e3, k.e4, k.e5, k.e6, k.e7))


@pure
def to_effectors(line: Line) -> Effectors:
    return Effectors(
        effector_line.get(line, 0),
        effector_line.get(line, 1),
        effector_line.get(line, 2),
        effector_line.get(line, 3),
        effector_line.get(line, 4),
        effector_line.get(line, 5),
        effector_line.get(line, 6),
        effector_line.get(line, 7),
    )


@pure
def to_pulses(line: Line) -> Pulses:
    e = to_effectors(line)
    return Pulses(e.e0, e.e1, e.e2, e.e3, e.e4, e.e5, e.e6, e.e7)
