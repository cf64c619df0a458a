"""Stage 2 for n effectors and m axes, weighted: the least squared error under bounds, exactly.

    min  sum_i weight_i (B u - v)_i^2      lo <= u <= hi       and, of all minimisers, the one near `prefer`

v command on the axes;  u outputs of the effectors;  B effectiveness times the announced health

An axis the effectors can no longer serve with a bounded gain is left out and told in `lost`. `optimality` is the certificate, computed from u: how
far a step down the gradient of the scaled problem, brought back within the bounds, moves an effector, in half-ranges; 0 at an exact minimum, more
where the bound on the gain refuses what is left. A command that is not finite is refused: every effector rests, and `refused` reports it.
"""

from pushrod.core.model import Model
from pushrod.core.purity import pure
from pushrod.pipeline.allocate import solve
from pushrod.pipeline.allocate.effectiveness import In, Params, State
from pushrod.pipeline.allocate.solve import Out, answer


@pure
def step(p: Params, s: State, u: In, dt: float) -> tuple[State, Out]:
    return answer(p, s, solve.WEIGHTED, u, dt)


WEIGHTED = Model("weighted", Params, State, In, Out, step)
