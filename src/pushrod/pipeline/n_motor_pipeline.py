"""The whole pipeline for n effectors and m axes: shape, allocate, motor limits, feedback, in one step.

    req -> cmd = clamp(k req) -> alloc: u -> trim, clamp, dead band, slew -> y -> pulse    ach = B y,   aw = B (y - o) / g - cmd
    u_min_eff <= u <= u_max_eff            a_min_eff <= cmd_i <= a_max_eff where no other axis asks for anything

req, cmd, ach   on the axes [unit of the axis];  u, y of the effectors [-];  B effectiveness times the announced health;  g, o trim

The parameters are named as those of the two-motor pipeline, with a table over effectors or axes in place of each number. The losses are told per
axis, stage by stage, and add up. A neutral request (source NONE, or one that is no number) takes every effector to rest within
`act.slew.neutral_time`. The gain is bounded by act.alloc.gain_max: an axis that would need more with no effector at a limit is `lost`
(`allocate.rank`) and comes back a little below that bound, a weak effector is asked for less than gain_max times what a well one would be
(`allocate.health`), and no effector is moved by more than gain_max times what it contributes (`allocate.solve`), whatever limits act.

A tick that is no length of time is 0: nothing moves, and `bad_dt` tells. An effector whose health is no number counts as dead, with a measurement
that is none there is no residual, and `bad_known` tells; so it does of a health outside 0 to 1.
"""

from typing import NamedTuple

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.core.scalar import clamp
from pushrod.pipeline.allocate.axes import Axes, Effectors, Health, Line, axis_line, effector_line, from_axes, from_effectors, from_health, to_axes
from pushrod.pipeline.allocate.health import edge, known_health, used
from pushrod.pipeline.allocate.solve import Answer, effect, solve
from pushrod.pipeline.motor_stage import tick
from pushrod.pipeline.n_act import Params, law
from pushrod.pipeline.n_feedback import told
from pushrod.pipeline.n_motor_stage import Stages, greatest, least, motor, pass_all
from pushrod.pipeline.n_shaping import asked, shape
from pushrod.pipeline.n_topic import In, Out
from pushrod.pipeline.names import NONE


class State(NamedTuple):
    u: Effectors = Effectors()
    lost: Axes = Axes()


@pure
def healths(line: Line, health: Health, gain_max: float, n: int) -> Line:
    """The health of each effector; 0 for one that would need too much gain, or of which nothing is known."""
    line = from_health(line, health)
    for j in range(n):
        line = effector_line.put(line, j, known_health(effector_line.get(line, j), gain_max))
    return line


@pure
def step(params: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    p = params.act
    n = len(p.hw.u_min)
    m = len(p.sw.a_min)
    h = tick(dt)
    at_rest = not asked(u.req, u.src, m)
    shaped = shape(p, Axes(0.0, 0.0, 0.0, 0.0, 0.0, 0.0) if at_rest else u.req, NONE if at_rest else u.src, m)
    last = from_effectors(effector_line.empty(), s.u)
    for j in range(n):
        last = effector_line.put(last, j, clamp(effector_line.get(last, j), p.hw.u_min[j], p.hw.u_max[j]))
    lo = least(effector_line.empty(), p, last, n, h)
    hi = greatest(effector_line.empty(), p, last, n, h)

    # at first as if all were well, where they are not: the difference is what the announced faults cost
    k = healths(effector_line.empty(), u.health, p.alloc.gain_max, n)
    faulty = False
    for j in range(n):
        faulty = faulty or effector_line.get(k, j) < 1.0
    cmd = from_axes(axis_line.empty(), shaped.cmd)
    asks = effector_line.empty()
    a = Answer(effector_line.empty(), axis_line.empty(), 0.0, 0.0, 0.0, 0.0)
    well = shaped.cmd
    low = least(effector_line.empty(), p, last, n, h)
    high = greatest(effector_line.empty(), p, last, n, h)
    for turn in range(0 if faulty else 1, 1 if at_rest else 2):
        for j in range(n):
            k_j = effector_line.get(k, j) if turn == 1 else 1.0
            f = used(k_j, p.alloc.gain_max)
            q = motor(p, j, 1.0, False)
            asks = effector_line.put(asks, j, k_j)
            low = effector_line.put(low, j, clamp(edge(f, q.lo, q.lo, q.hi), effector_line.get(lo, j), effector_line.get(hi, j)))
            high = effector_line.put(high, j, clamp(edge(f, q.hi, q.lo, q.hi), effector_line.get(lo, j), effector_line.get(hi, j)))
        gone = from_axes(a.lost, s.lost if turn == 1 else Axes(0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        a = solve(a.u, gone, law(p), p.alloc.policy, cmd, asks, low, high, n, m)
        if turn == 0 or not faulty:
            well = to_axes(effect(axis_line.empty(), law(p), a.u, asks, n, m))
    if at_rest:
        for j in range(n):
            asks = effector_line.put(asks, j, 0.0)
        a = Answer(asks, a.lost, 0.0, 0.0, 0.0, 0.0)
        well = shaped.cmd

    z = Stages(effector_line.empty(), effector_line.empty(), effector_line.empty(), effector_line.empty(), effector_line.empty(), 0.0)
    z = pass_all(z, p, last, a.u, k, at_rest, n, h)
    y = told(p, u, shaped, well, a, z, k, low, high, at_rest, n, m, dt)
    return State(y.u, s.lost if at_rest else y.lost) if h > 0.0 else s, y


N_MOTOR_PIPELINE = Model("n_motor_pipeline", Params, State, In, Out, step)
