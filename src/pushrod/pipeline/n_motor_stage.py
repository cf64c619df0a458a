"""The motor stage of all effectors: `motor_stage` for each, with its own row of the tables, and the bounds it leaves to the allocator.

lo_j = max(sw.u_min, hw.u_min)_j     hi_j = min(sw.u_max, hw.u_max)_j
slew aware:  no less than (y_last - down dt - o) / g, no more than (y_last + up dt - o) / g, before the trim
"""

from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.purity import pure
from pushrod.core.quantity import flag
from pushrod.core.scalar import clamp, maximum, minimum
from pushrod.pipeline.allocate.axes import Line, effector_line
from pushrod.pipeline.allocate.health import used
from pushrod.pipeline.feedback import changed, to_flag
from pushrod.pipeline.motor_stage import Params as MotorParams
from pushrod.pipeline.motor_stage import pass_motor
from pushrod.pipeline.n_act import Act


class Stages(NamedTuple):
    """Every effector after each part of the stage."""

    trimmed: A[tuple[Any, ...], effector_line] = effector_line.empty()
    clamped: A[tuple[Any, ...], effector_line] = effector_line.empty()
    banded: A[tuple[Any, ...], effector_line] = effector_line.empty()
    y: A[tuple[Any, ...], effector_line] = effector_line.empty()
    through: A[tuple[Any, ...], effector_line] = effector_line.empty()
    acted: A[float, flag("a clamp or a slew limit acted")] = 0.0


@pure
def trim_offset(p: Act, j: int, k: float) -> float:
    return used(k, p.alloc.gain_max) * p.trim.offset[j]


@pure
def motor(p: Act, j: int, k: float, at_rest: bool) -> MotorParams:
    """Of health k: a dead one rests, without its trim."""
    if at_rest or k == 0.0:
        least = maximum(abs(p.hw.u_min[j]), abs(p.hw.u_max[j])) / p.slew.neutral_time
        up = maximum(p.slew.up[j], least)
        down = maximum(p.slew.down[j], least)
        return MotorParams(1.0, 0.0, p.hw.u_min[j], p.hw.u_max[j], p.hw.u_min[j], p.hw.u_max[j], 0.0, up, down)
    lo = maximum(p.sw.u_min[j], p.hw.u_min[j])
    hi = minimum(p.sw.u_max[j], p.hw.u_max[j])
    return MotorParams(p.trim.gain[j], trim_offset(p, j, k), lo, hi, p.hw.u_min[j], p.hw.u_max[j], p.motor.deadband[j], p.slew.up[j], p.slew.down[j])


@pure
def least(line: Line, p: Act, last: Line, n: int, dt: float) -> Line:
    """Lower bounds for the allocator."""
    for j in range(n):
        q = motor(p, j, 1.0, False)
        a = (effector_line.get(last, j) - q.down * dt - q.offset) / q.gain if p.alloc.slew_aware != 0.0 else q.lo
        line = effector_line.put(line, j, clamp(a, q.lo, q.hi))
    return line


@pure
def greatest(line: Line, p: Act, last: Line, n: int, dt: float) -> Line:
    """Upper bounds for the allocator."""
    for j in range(n):
        q = motor(p, j, 1.0, False)
        b = (effector_line.get(last, j) + q.up * dt - q.offset) / q.gain if p.alloc.slew_aware != 0.0 else q.hi
        line = effector_line.put(line, j, clamp(b, q.lo, q.hi))
    return line


@pure
def pass_all(z: Stages, p: Act, last: Line, u: Line, k: Line, at_rest: bool, n: int, dt: float) -> Stages:
    """`k`: the health of each."""
    trimmed = z.trimmed
    clamped = z.clamped
    banded = z.banded
    y = z.y
    through = z.through
    acted = False
    for j in range(n):
        w = pass_motor(motor(p, j, effector_line.get(k, j), at_rest), effector_line.get(last, j), effector_line.get(u, j), dt)
        trimmed = effector_line.put(trimmed, j, w.trimmed)
        clamped = effector_line.put(clamped, j, w.clamped)
        banded = effector_line.put(banded, j, w.banded)
        y = effector_line.put(y, j, w.y)
        through = effector_line.put(through, j, w.through)
        acted = acted or changed(w.trimmed, w.clamped) or changed(w.banded, w.y)
    return Stages(trimmed, clamped, banded, y, through, to_flag(acted))
