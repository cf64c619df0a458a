"""A model or a plant by itself as a world: its inputs are told from outside, its outputs are all there is to see.

A lone number becomes a record of one field: `u` where it goes in, `y` where it comes out, as `rollout` calls them.
"""

import functools
from typing import Annotated as A
from typing import Any, NamedTuple

from pushrod.core.model import Model, Tick, World
from pushrod.core.purity import pure
from pushrod.core.quantity import Q
from pushrod.core.record import is_record

Number = A[float, Q("-")]


@pure
def same(x: Any) -> Any:
    return x


@functools.cache
def alone(body: Model) -> World:
    """The world that holds this model and nothing else."""
    taken, given = body.In, body.Out
    lone_in, lone_out = Number if is_record(taken) else taken, Number if is_record(given) else given

    class In(NamedTuple):
        u: lone_in = 0.0  # type: ignore[valid-type]

    class Out(NamedTuple):
        y: lone_out = 0.0  # type: ignore[valid-type]

    @pure
    def bare(u: Any) -> Any:
        return u.u

    @pure
    def named(y: Any) -> Any:
        return Out(y)

    told = same if is_record(taken) else bare
    seen = same if is_record(given) else named

    @pure
    def step(p: Any, s: Any, u: Any, at: Tick) -> tuple[Any, Any]:
        s, y = body.step(p, s, told(u), at.dt)
        return s, seen(y)

    return World(body.name, body.Params, body.State, taken if is_record(taken) else In, given if is_record(given) else Out, step)
