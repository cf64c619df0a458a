"""A component is one record: its four data types and its pure step.

Model:  step(p, s, u, dt) -> (s, y)     knows only the length of the tick
World:  step(p, s, u, at) -> (s, y)     may also ask which tick, which instance, which seed
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Tick(NamedTuple):
    """Where a world is: tick number, tick length [s], seed of the noise, number of the instance. Time is `float(k) * dt`."""

    k: int
    dt: float
    seed: int = 0
    instance: int = 0


@dataclass(frozen=True, eq=False)
class Model:
    """An actuator effect, a plant or a whole vehicle. In and Out are records or a lone annotated float."""

    name: str
    Params: Any
    State: Any
    In: Any
    Out: Any
    step: Callable[[Any, Any, Any, float], tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class World:
    """A composed step that also knows time and chance. In and Out are records.

    `sized(slots)` gives the same world with delay lines of that many slots, where it has such lines.
    """

    name: str
    Params: Any
    State: Any
    In: Any
    Out: Any
    step: Callable[[Any, Any, Any, Tick], tuple[Any, Any]]
    sized: Callable[[int], "World"] | None = None
