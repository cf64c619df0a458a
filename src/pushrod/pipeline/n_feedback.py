"""Stage 4 for n effectors: what was achieved on each axis, which stage took the rest, what integrators may unwind by, and the limits in effect.

    ach = B y      net = B (y - o) / g      aw = net - cmd      aw_req as in `feedback`, axis by axis

B   effectiveness times the announced health;  y outputs of the effectors;  g, o trim;  all as the allocator used them
"""

from pushrod.core.purity import pure
from pushrod.core.scalar import maximum, minimum, single
from pushrod.pipeline.act import Esc
from pushrod.pipeline.allocate.axes import (
    Axes,
    Line,
    axis_line,
    effector_line,
    from_axes,
    from_effectors,
    from_health,
    to_axes,
    to_effectors,
    to_pulses,
)
from pushrod.pipeline.allocate.health import is_share
from pushrod.pipeline.allocate.solve import Answer, effect
from pushrod.pipeline.esc import to_pulse
from pushrod.pipeline.feedback import CHANGED, changed, in_request, to_flag
from pushrod.pipeline.motor_stage import LONGEST
from pushrod.pipeline.n_act import Act, law
from pushrod.pipeline.n_motor_stage import Stages, trim_offset
from pushrod.pipeline.n_shaping import Shaped, felt
from pushrod.pipeline.n_topic import In, Losses, Out
from pushrod.pipeline.names import BY_NOT_FINITE, BY_UNKNOWN, FINE, NONE
from pushrod.pipeline.request import finite, is_source


@pure
def minus(a: Axes, b: Axes) -> Axes:
    return Axes(a.a0 - b.a0, a.a1 - b.a1, a.a2 - b.a2, a.a3 - b.a3, a.a4 - b.a4, a.a5 - b.a5)


@pure
def differ(a: Axes, b: Axes, rounding: float) -> bool:
    d = minus(a, b)
    return maximum(maximum(maximum(abs(d.a0), abs(d.a1)), abs(d.a2)), maximum(maximum(abs(d.a3), abs(d.a4)), abs(d.a5))) > rounding


@pure
def why_at_rest(u: In) -> float:
    if u.src == NONE:
        return u.reason
    return BY_NOT_FINITE if is_source(u.src) else BY_UNKNOWN


@pure
def in_requests(p: Act, net: Axes, shaped: Shaped, src: float, m: int) -> Axes:
    """The residual of each axis in the space of its request, envelope included."""
    aw = from_axes(axis_line.empty(), minus(net, shaped.before))
    req = from_axes(axis_line.empty(), shaped.req)
    for i in range(m):
        x = axis_line.get(req, i)
        aw = axis_line.put(aw, i, in_request(axis_line.get(aw, i), x, felt(p, x, src, i)))
    return to_axes(aw)


@pure
def free(p: Act, y: Line, k: Line, at_rest: bool, n: int, m: int) -> Axes:
    """The axes from the outputs, the trim removed, through the effectiveness the allocator used."""
    u = effector_line.empty()
    for j in range(n):
        y_j = effector_line.get(y, j)
        k_j = effector_line.get(k, j)
        u = effector_line.put(u, j, y_j if at_rest or k_j == 0.0 else (y_j - trim_offset(p, j, k_j)) / p.trim.gain[j])
    return to_axes(effect(axis_line.empty(), law(p), u, k, n, m))


@pure
def residual(p: Act, net: Axes, u: In, k: Line, at_rest: bool, n: int, m: int) -> Axes:
    """Measured less put out, the trim removed from both: a fault nobody announced."""
    meas = from_effectors(effector_line.empty(), u.u_meas)
    known = u.measured != 0.0
    for j in range(n):
        known = known and finite(effector_line.get(meas, j))
    if not known:
        return Axes(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return minus(free(p, meas, k, at_rest, n, m), net)


@pure
def numbers_known(u: In, n: int) -> bool:
    """Are healths from 0 to 1, and measurements numbers?"""
    k = from_health(effector_line.empty(), u.health)
    meas = from_effectors(effector_line.empty(), u.u_meas)
    fine = True
    for j in range(n):
        fine = fine and is_share(effector_line.get(k, j)) and (u.measured == 0.0 or finite(effector_line.get(meas, j)))
    return fine


@pure
def saturated(line: Line, z: Stages, u: Line, lo: Line, hi: Line, short: bool, rounding: float, n: int) -> Line:
    """Which effectors do not do what they are asked, or stand at a bound while the command is not met."""
    for j in range(n):
        x = effector_line.get(u, j)
        near = rounding * (effector_line.get(hi, j) - effector_line.get(lo, j))
        at_bound = not (x > effector_line.get(lo, j) + near and x < effector_line.get(hi, j) - near)
        line = effector_line.put(line, j, to_flag(changed(effector_line.get(z.y, j), effector_line.get(z.trimmed, j)) or (short and at_bound)))
    return line


@pure
def pulses(line: Line, p: Act, y: Line, n: int) -> Line:
    for j in range(n):
        e = Esc(p.esc.us_min[j], p.esc.us_mid[j], p.esc.us_max[j], 0.0, 0.0)
        line = effector_line.put(line, j, to_pulse(e, effector_line.get(y, j), p.esc.reverse[j]))
    return line


@pure
def reachable(line: Line, p: Act, k: Line, lo: Line, hi: Line, way: float, n: int, m: int) -> Line:
    """How far each axis gets by itself that way, within its own limit: max (way = 1) or min (-1) of B u within the bounds."""
    for i in range(m):
        t = 0.0
        for j in range(n):
            b = way * p.alloc.B[i * n + j] * effector_line.get(k, j)
            t = t + maximum(b * effector_line.get(lo, j), b * effector_line.get(hi, j))
        line = axis_line.put(line, i, way * minimum(t, p.sw.a_max[i] if way > 0.0 else -p.sw.a_min[i]))
    return line


@pure
def told(
    p: Act, u: In, shaped: Shaped, well: Axes, a: Answer, z: Stages, k: Line, lo: Line, hi: Line, at_rest: bool, n: int, m: int, dt: float
) -> Out:
    """Everything the outputs say, from the last to the first."""
    src = NONE if at_rest else u.src
    alloc = to_axes(effect(axis_line.empty(), law(p), a.u, k, n, m))
    clamped = free(p, z.clamped, k, at_rest, n, m)
    banded = free(p, z.banded, k, at_rest, n, m)
    net = free(p, z.y, k, at_rest, n, m)
    ach = to_axes(effect(axis_line.empty(), law(p), z.y, k, n, m))
    rounding = 1e-4 if single() else CHANGED  # in single precision the solver itself misses by 1e-5
    short = differ(alloc, shaped.cmd, rounding)
    sat = to_effectors(saturated(effector_line.empty(), z, a.u, lo, hi, short and not at_rest, rounding, n))
    loss = Losses(
        minus(shaped.req, shaped.before),
        minus(shaped.before, shaped.cmd),
        minus(shaped.cmd, well),
        minus(well, alloc),
        minus(alloc, clamped),
        minus(clamped, banded),
        minus(banded, net),
    )
    return Out(
        why_at_rest(u) if at_rest else FINE,
        shaped.cmd,
        alloc,
        to_effectors(z.y),
        ach,
        minus(net, shaped.cmd),
        in_requests(p, free(p, z.through, k, at_rest, n, m), shaped, src, m),
        minus(ach, net),
        residual(p, net, u, k, at_rest, n, m),
        sat,
        to_flag(sat.e0 + sat.e1 + sat.e2 + sat.e3 + sat.e4 + sat.e5 + sat.e6 + sat.e7 > 0.0),
        to_flag(differ(shaped.before, shaped.cmd, CHANGED)),
        to_flag(short),
        z.acted,
        to_axes(a.lost),
        a.gain,
        a.rank,
        a.optimality,
        loss,
        to_pulses(pulses(effector_line.empty(), p, z.y, n)),
        to_effectors(lo),
        to_effectors(hi),
        to_axes(reachable(axis_line.empty(), p, k, lo, hi, -1.0, n, m)),
        to_axes(reachable(axis_line.empty(), p, k, lo, hi, 1.0, n, m)),
        to_flag(not (dt >= 0.0 and dt <= LONGEST)),
        to_flag(not numbers_known(u, n)),
    )
