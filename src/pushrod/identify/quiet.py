"""A world without the noise of its own, for comparing candidates.

Noise depends on the instance, and in a batch every candidate is another one. A search would then choose the candidate with the luckiest noise, and
differences of neighbours would be differences of noise. The noise of a recording is another one in any case, so candidates are run without.
"""

import functools
from typing import Any

from pushrod.core.model import Model, Tick, World
from pushrod.core.noise import QUIET
from pushrod.core.purity import pure


@functools.cache
def quiet(world: Model | World) -> Model | World:
    """Return the world with all noise at 0; a model has none. Equal arguments give the same world, so that it is compiled once.

    Delay lines keep the length they have: size the world first.
    """
    if isinstance(world, Model):
        return world
    inner = world.step

    @pure
    def step(p: Any, s: Any, u: Any, at: Tick) -> tuple[Any, Any]:
        return inner(p, s, u, Tick(at.k, at.dt, at.seed, QUIET))

    return World(world.name, world.Params, world.State, world.In, world.Out, step)
