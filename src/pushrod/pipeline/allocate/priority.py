"""Stage 2 for n effectors and m axes, by priority: each axis in its order gets as much as the ones before it leave.

    for i in order:   a_i = the value of (B u)_i nearest to v_i,   lo <= u <= hi,   (B u)_h = a_h for all h before i

v command on the axes;  u outputs of the effectors;  a what each axis gets;  B effectiveness times the announced health

A command that the answer nearest to `prefer` does within bounds is done by that. Else the axes are served one after another (`level`), and of all
answers that give them as much the one nearest to `prefer` is taken. Two rows of B that depend on each other up to rounding are held as one.
`optimality` is the most an axis lacks of what it could get, in authorities, computed from u: 0 at an exact answer, up to what the bound on the gain
costs where that refuses a little more. A command that is not finite is refused: every effector rests, and `refused` reports it.
"""

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.pipeline.allocate import solve
from pushrod.pipeline.allocate.effectiveness import In, Params, State
from pushrod.pipeline.allocate.solve import Out, answer


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    return answer(p, s, solve.PRIORITY, u, dt)


PRIORITY = Model("priority", Params, State, In, Out, step)
