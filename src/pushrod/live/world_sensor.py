"""The world of a simulated machine, for whoever looks on: what its outputs are, once, and their values 50 times a second, at sensor/world.
Inputs that the machine file compares with an output come behind them, as in.<channel>.

It only looks: nothing it publishes is what a controller may know of a real machine.
"""

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from pushrod.core.model import World
from pushrod.core.quantity import Choice
from pushrod.core.record import numbers
from pushrod.live.world_node import WORLD
from pushrod.runtime.driver import Context
from pushrod.sim.machine import Machine

if TYPE_CHECKING:
    from pushrod.live.machine import SimulatedMachine

NAME = "world"
INPUT = "in."  # before the name of an input, as machine files have it
TOPIC = f"/sensor/{NAME}/WorldNow"  # of its values in a log
HZ = 50.0


class WorldTold(msgspec.Struct, frozen=True, tag=True):
    """Of each output its path, its unit, what it is, and its words where it is a choice (their numbers count from 0).

    `pairs`: which output asks for what another one is, (request, achieved), as the machine file says. `choices`: the words of those parameters
    of the world that are choices, by their paths in the store.
    """

    machine: str
    world: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    abouts: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    pairs: tuple[tuple[str, str], ...] = ()
    choices: dict[str, tuple[str, ...]] = {}


class WorldNow(msgspec.Struct, frozen=True, gc=False, tag=True):
    """After so many ticks, at a time of the world [s]; values in the order of the names."""

    k: int
    t: float
    values: tuple[float, ...]
    newest: ClassVar[bool] = True  # says all, to whoever only looks on


def told_of(machine: Machine, world: World) -> WorldTold:
    """`world` is the one behind the ports, which need not be that of the machine."""
    asked = _asked(machine, world)
    leaves = [*numbers(world.Out), *(leaf for leaf in numbers(world.In) if leaf.path in asked)]
    metas: list[Any] = [leaf.meta for leaf in leaves]
    words = tuple(meta.names if isinstance(meta, Choice) else () for meta in metas)
    names = tuple(leaf.path or "y" for leaf in numbers(world.Out)) + tuple(f"{INPUT}{path}" for path in asked)
    pairs = tuple((row.request, row.achieved) for row in machine.track if row.request in names and row.achieved in names)
    units, abouts = tuple(str(meta.unit) for meta in metas), tuple(meta.about for meta in metas)
    choices = {f"{WORLD}.{leaf.path}": leaf.meta.names for leaf in numbers(world.Params) if isinstance(leaf.meta, Choice)}
    return WorldTold(machine.name, world.name, names, units, abouts, words, pairs, choices)


def _asked(machine: Machine, world: World) -> tuple[str, ...]:
    """The inputs, in their order, that a row of the machine file asks by."""
    requests = {row.request for row in machine.track}
    return tuple(leaf.path for leaf in numbers(world.In) if f"{INPUT}{leaf.path}" in requests)


class WorldSensor:
    tick_hz = HZ

    def __init__(self, machine: "SimulatedMachine") -> None:
        self._machine = machine

    def init(self, context: Context, options: None) -> None:
        self._context = context
        world = self._machine.world
        asked = _asked(self._machine.machine, world)
        self._inputs = [j for j, leaf in enumerate(numbers(world.In)) if leaf.path in asked]
        context.publish(told_of(self._machine.machine, self._machine.world))
        self.tick(0.0)

    def tick(self, now: float) -> None:
        k, values = self._machine.outputs()
        told = self._machine.told() if self._inputs else []
        self._context.publish(WorldNow(k, k * self._machine.dt, (*values, *(told[j] for j in self._inputs))))
