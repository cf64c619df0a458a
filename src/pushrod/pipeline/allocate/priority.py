"""Stage 2 for n effectors and m axes, by priority: each axis in its order gets as much as the ones before it leave.

    for i in order:   a_i = the value of (B u)_i nearest to v_i,   lo <= u <= hi,   (B u)_h = a_h for all h before i

v command on the axes;  u outputs of the effectors;  a what each axis gets;  B effectiveness times the announced health

A command the effectors can do is done, by least squares under bounds. Else the axes are served one after another, and what they get is done the
same way. `optimality` is the most by which an axis misses what it got, in shares of its authority.
"""

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.pipeline.allocate import solve
from pushrod.pipeline.allocate.effectiveness import In, Params, State
from pushrod.pipeline.allocate.solve import Out, answer


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    return s, answer(p, solve.PRIORITY, u)


PRIORITY = Model("priority", Params, State, In, Out, step)
