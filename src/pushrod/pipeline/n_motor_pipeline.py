"""The whole pipeline for n effectors and m axes: shape, allocate, motor limits, feedback, in one step.

    req -> cmd = clamp(k req) -> alloc: u -> trim, clamp, dead band, slew -> y         ach = B y,   aw = B (y - o) / g - cmd

req, cmd, ach   on the axes [unit of the axis];  u, y of the effectors [-];  B effectiveness times the announced health;  g, o trim

The parameters are named as those of the two-motor pipeline, with a table over effectors or axes in place of each number. The losses are told per
axis, stage by stage, and add up. A neutral request (source NONE, or one that is no number) takes every effector to rest within
`act.slew.neutral_time`.
"""

from typing import Annotated as A
from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.quantity import Choice, Q, flag
from pushrod.core.scalar import clamp
from pushrod.pipeline.allocate.axes import (
    M_MOST,
    Axes,
    Effectors,
    Health,
    Line,
    axis_line,
    effector_line,
    from_axes,
    from_effectors,
    from_health,
    to_axes,
    to_effectors,
)
from pushrod.pipeline.allocate.solve import Answer, effect, solve
from pushrod.pipeline.feedback import changed, in_request, to_flag
from pushrod.pipeline.n_act import Act, Params, law
from pushrod.pipeline.n_motor_stage import Stages, greatest, least, motor, pass_all
from pushrod.pipeline.names import BY_NOT_FINITE, BY_UNKNOWN, FINE, NONE, REASONS, SOURCES
from pushrod.pipeline.request import finite, is_source
from pushrod.pipeline.shaping import Feel, feel


class State(NamedTuple):
    u: Effectors = Effectors()


class In(NamedTuple):
    req: Axes = Axes()
    src: A[float, Choice(SOURCES, "whose request it is; NONE: neutral")] = 0.0
    reason: A[float, Choice(REASONS, "why it is neutral")] = 0.0
    health: Health = Health()
    measured: A[float, flag("the next is known")] = 0.0
    u_meas: Effectors = Effectors()


class Losses(NamedTuple):
    """What each stage took away on each axis, with its sign. The first two sum to req - cmd, all others to cmd - ach with the trim removed."""

    shaping: Axes = Axes()
    envelope: Axes = Axes()
    allocation: Axes = Axes()
    fault: Axes = Axes()
    clamp: Axes = Axes()
    dead_band: Axes = Axes()
    slew: Axes = Axes()


class Out(NamedTuple):
    reason: A[float, Choice(REASONS, "why the request is neutral")] = 0.0
    cmd: Axes = Axes()
    alloc: Axes = Axes()
    u: Effectors = Effectors()
    ach: Axes = Axes()
    aw: Axes = Axes()
    aw_req: Axes = Axes()
    trim: Axes = Axes()
    resid: Axes = Axes()
    sat: Effectors = Effectors()
    sat_any: A[float, flag()] = 0.0
    sat_cmd_stage: A[float, flag("the envelope cut the command")] = 0.0
    sat_alloc: A[float, flag("the allocator changed the command")] = 0.0
    sat_motor_stage: A[float, flag("clamp or slew of an effector acted")] = 0.0
    lost: Axes = Axes()
    gain: A[float, Q("-", 0.0, about="bound on effectors per share of the healthy authority")] = 0.0
    rank: A[float, Q("-", 0.0, M_MOST, "axes that are served")] = 0.0
    optimality: A[float, Q("-", 0.0)] = 0.0
    loss: Losses = Losses()


class Shaped(NamedTuple):
    req: Axes = Axes()
    before: Axes = Axes()
    cmd: Axes = Axes()


@pure
def minus(a: Axes, b: Axes) -> Axes:
    return Axes(a.a0 - b.a0, a.a1 - b.a1, a.a2 - b.a2, a.a3 - b.a3, a.a4 - b.a4, a.a5 - b.a5)


@pure
def plus(a: Axes, b: Axes) -> Axes:
    return Axes(a.a0 + b.a0, a.a1 + b.a1, a.a2 + b.a2, a.a3 + b.a3, a.a4 + b.a4, a.a5 + b.a5)


@pure
def differ(a: Axes, b: Axes) -> bool:
    s = changed(a.a0, b.a0) or changed(a.a1, b.a1) or changed(a.a2, b.a2)
    return s or changed(a.a3, b.a3) or changed(a.a4, b.a4) or changed(a.a5, b.a5)


@pure
def felt(p: Act, x: float, src: float, i: int) -> Feel:
    return feel(x, src, p.shp.ap.scale[i], p.shp.man.scale[i], p.shp.man.deadband, p.shp.man.expo)


@pure
def asked(req: Axes, src: float, m: int) -> bool:
    """Is there a request, and is it a number on every axis?"""
    v = from_axes(axis_line.empty(), req)
    fine = is_source(src)
    for i in range(m):
        fine = fine and finite(axis_line.get(v, i))
    return fine


@pure
def shape(p: Act, req: Axes, src: float, m: int) -> Shaped:
    x = from_axes(axis_line.empty(), req)
    before = axis_line.empty()
    cmd = axis_line.empty()
    for i in range(M_MOST):
        f = felt(p, axis_line.get(x, i), src, i) if i < m else Feel(0.0, 1.0)
        before = axis_line.put(before, i, f.u)
        cmd = axis_line.put(cmd, i, clamp(f.u, p.sw.a_min[i], p.sw.a_max[i]) if i < m and src != NONE else 0.0)
        x = axis_line.put(x, i, axis_line.get(x, i) if i < m else 0.0)
    return Shaped(to_axes(x), to_axes(before), to_axes(cmd))


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
        q = motor(p, j, at_rest or effector_line.get(k, j) == 0.0)
        u = effector_line.put(u, j, (effector_line.get(y, j) - q.offset) / q.gain)
    return to_axes(effect(axis_line.empty(), law(p), u, k, n, m))


@pure
def residual(p: Act, y: Line, u: In, k: Line, at_rest: bool, n: int, m: int) -> Axes:
    """Measured less put out: a fault nobody announced."""
    meas = from_effectors(effector_line.empty(), u.u_meas)
    known = u.measured != 0.0
    for j in range(n):
        known = known and finite(effector_line.get(meas, j))
    if not known:
        return Axes(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return minus(free(p, meas, k, at_rest, n, m), free(p, y, k, at_rest, n, m))


@pure
def saturated(line: Line, z: Stages, u: Line, lo: Line, hi: Line, short: bool, n: int) -> Line:
    """Which effectors do not do what they are asked, or stand at a bound while the command is not met."""
    for j in range(n):
        x = effector_line.get(u, j)
        at_bound = not (x > effector_line.get(lo, j) and x < effector_line.get(hi, j))
        line = effector_line.put(line, j, to_flag(changed(effector_line.get(z.y, j), effector_line.get(z.trimmed, j)) or (short and at_bound)))
    return line


@pure
def why_at_rest(u: In) -> float:
    if u.src == NONE:
        return u.reason
    return BY_NOT_FINITE if is_source(u.src) else BY_UNKNOWN


@pure
def told(p: Act, u: In, shaped: Shaped, well: Axes, a: Answer, z: Stages, k: Line, lo: Line, hi: Line, at_rest: bool, n: int, m: int) -> Out:
    """Everything the outputs say, from the last to the first."""
    src = NONE if at_rest else u.src
    alloc = to_axes(effect(axis_line.empty(), law(p), a.u, k, n, m))
    clamped = free(p, z.clamped, k, at_rest, n, m)
    banded = free(p, z.banded, k, at_rest, n, m)
    slewed = free(p, z.slewed, k, at_rest, n, m)
    net = free(p, z.y, k, at_rest, n, m)
    ach = to_axes(effect(axis_line.empty(), law(p), z.y, k, n, m))
    short = differ(alloc, shaped.cmd)
    sat = to_effectors(saturated(effector_line.empty(), z, a.u, lo, hi, short and not at_rest, n))
    loss = Losses(
        minus(shaped.req, shaped.before),
        minus(shaped.before, shaped.cmd),
        minus(shaped.cmd, well),
        minus(well, alloc),
        plus(minus(alloc, clamped), minus(slewed, net)),
        minus(clamped, banded),
        minus(banded, slewed),
    )
    return Out(
        why_at_rest(u) if at_rest else FINE,
        shaped.cmd,
        alloc,
        to_effectors(z.y),
        ach,
        minus(net, shaped.cmd),
        in_requests(p, net, shaped, src, m),
        minus(ach, net),
        residual(p, z.y, u, k, at_rest, n, m),
        sat,
        to_flag(sat.e0 + sat.e1 + sat.e2 + sat.e3 + sat.e4 + sat.e5 + sat.e6 + sat.e7 > 0.0),
        to_flag(differ(shaped.before, shaped.cmd)),
        to_flag(short),
        z.acted,
        to_axes(a.lost),
        a.gain,
        a.rank,
        a.optimality,
        loss,
    )


@pure
def step(params: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    p = params.act
    n = len(p.hw.u_min)
    m = len(p.sw.a_min)
    at_rest = not asked(u.req, u.src, m)
    shaped = shape(p, Axes(0.0, 0.0, 0.0, 0.0, 0.0, 0.0) if at_rest else u.req, NONE if at_rest else u.src, m)
    last = from_effectors(effector_line.empty(), s.u)
    for j in range(n):
        last = effector_line.put(last, j, clamp(effector_line.get(last, j), p.hw.u_min[j], p.hw.u_max[j]))
    lo = least(effector_line.empty(), p, last, n, dt)
    hi = greatest(effector_line.empty(), p, last, n, dt)

    # at first as if all were well, where they are not: the difference is what the announced faults cost
    k = from_health(effector_line.empty(), u.health)
    faulty = False
    for j in range(n):
        faulty = faulty or effector_line.get(k, j) < 1.0
    cmd = from_axes(axis_line.empty(), shaped.cmd)
    asks = effector_line.empty()
    a = Answer(effector_line.empty(), axis_line.empty(), 0.0, 0.0, 0.0, 0.0)
    well = shaped.cmd
    for turn in range(0 if faulty else 1, 1 if at_rest else 2):
        for j in range(n):
            asks = effector_line.put(asks, j, effector_line.get(k, j) if turn == 1 else 1.0)
        a = solve(a.u, a.lost, law(p), p.alloc.policy, cmd, asks, lo, hi, n, m)
        if turn == 0 or not faulty:
            well = to_axes(effect(axis_line.empty(), law(p), a.u, asks, n, m))
    if at_rest:
        for j in range(n):
            asks = effector_line.put(asks, j, 0.0)
        a = Answer(asks, a.lost, 0.0, 0.0, 0.0, 0.0)
        well = shaped.cmd

    z = Stages(effector_line.empty(), effector_line.empty(), effector_line.empty(), effector_line.empty(), effector_line.empty(), 0.0)
    z = pass_all(z, p, last, a.u, k, at_rest, n, dt)
    y = told(p, u, shaped, well, a, z, k, lo, hi, at_rest, n, m)
    return State(y.u) if dt > 0.0 else s, y


N_MOTOR_PIPELINE = Model("n_motor_pipeline", Params, State, In, Out, step)
