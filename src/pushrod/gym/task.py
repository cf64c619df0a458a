"""A task: what an agent sees of a machine, which channels it commands, what it is paid for, and how long an episode lasts.

The scenario gives the tick, the state at the start, the faults, and the signals of all channels that the agent does not command.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.config.unit import to_si
from pushrod.core.errors import InputError
from pushrod.core.model import World
from pushrod.core.names import find
from pushrod.core.quantity import Choice, Q
from pushrod.core.record import flat, numbers
from pushrod.gym.randomise import Pool, randomised
from pushrod.gym.reward import Judge, Terms, reward_of
from pushrod.sim import machine as machines
from pushrod.sim import scenario as scenarios
from pushrod.sim.machine import Machine
from pushrod.sim.run import sample
from pushrod.sim.scenario import Scenario
from pushrod.sim.tracked import signals_of

Array = NDArray[Any]


@dataclass(frozen=True)
class Channel:
    """An input that the agent commands, and how far it may; of a choice, one of the `names`."""

    path: str
    row: int
    lo: float
    hi: float
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    """A signal, and the bounds that its record declares."""

    name: str
    lo: float
    hi: float


@dataclass(frozen=True)
class Task:
    machine: Machine
    scenario: Scenario
    world: World  # of the scenario, with room for all that is drawn
    params: Any
    observe: tuple[Seen, ...]
    also: tuple[Seen, ...]  # what reward and end look at besides
    act: tuple[Channel, ...]
    reward: Judge | Terms
    ended: Judge | None
    ticks: int  # that an action lasts
    steps: int  # of an episode
    signals: Mapping[str, Array]  # [tick] of the channels the scenario drives, up to the end of an episode
    state: Array  # state row at the start
    pool: Pool
    dtype: str


def task(
    machine: str | Machine,
    scenario: str | None = None,
    *,
    reward: Judge | Mapping[str, Any] | None = None,
    observe: Iterable[str] | None = None,
    act: Iterable[str] | Mapping[str, tuple[float, float]] | None = None,
    ended: Judge | None = None,
    also: Iterable[str] = (),
    period: float | str | None = None,
    episode: float | str | None = None,
    randomise: Any = None,
    overrides: Iterable[str] = (),
    dtype: str = "float64",
    trust: bool = False,
) -> Task:
    """A task of a machine (shipped name, file, or itself) in one of its scenarios.

    reward     a function of the signals by name (arrays over environments) that gives a number for each environment, or metrics: see `reward`
    observe    outputs by path, inputs as in.CHANNEL; all outputs if not said
    act        channels, with bounds if they shall be narrower than what the channel allows; all channels if not said
    ended      a function like reward, true where an episode is over for good
    also       signals that reward and ended look at besides what is observed
    period     how long an action lasts [s], a whole number of ticks; one tick if not said
    episode    how long an episode lasts before it is cut [s]; as long as the scenario if not said
    randomise  parameters by path (and states at the start, as initial.PATH) with their values, of which an episode takes one each; or a study
    trust      import the Python file of a world that the machine file names
    """
    built = machine if isinstance(machine, Machine) else machines.load(machine, overrides, trust=trust)
    chosen = scenarios.load(scenario, built)
    dt = chosen.dt
    paid = reward_of(reward, chosen.world)
    ticks = 1 if period is None else whole_ticks(seconds(period), dt)
    length = chosen.steps * dt if episode is None else seconds(episode)
    steps = max(1, round(length / (ticks * dt)))
    channels = _channels(chosen, act)
    _check_commands(chosen, channels)
    seen, extra = _seen(chosen, observe), _seen(chosen, tuple(also))
    acted = {channel.path for channel in channels}
    driven = sample(built, replace(chosen, steps=steps * ticks + 1))
    signals = {path: driven[path] for path in chosen.tracks if path not in acted}
    case, pool = randomised(randomise, built, chosen, trust)
    row = np.array(flat(case.world.State() if case.state is None else case.state, case.world.State))
    return Task(built, chosen, case.world, case.params, seen, extra, channels, paid, ended, ticks, steps, signals, row, pool, dtype)


def seconds(value: float | str) -> float:
    return to_si(value, "s") if isinstance(value, str) else float(value)


def whole_ticks(period: float, dt: float) -> int:
    ticks = round(period / dt)
    if ticks < 1 or abs(ticks * dt - period) > 1e-6 * dt:
        raise InputError(f"period = {period:g} s; an action must last a whole number of ticks of {dt:g} s, such as {max(1, ticks) * dt:g} s")
    return ticks


def _seen(scenario: Scenario, names: Iterable[str] | None) -> tuple[Seen, ...]:
    known = signals_of(scenario.world)
    if names is None:
        names = [leaf.path for leaf in numbers(scenario.world.Out)]
    if isinstance(names, str):
        raise InputError(f"{names!r} is one text; give a list of signals")
    return tuple(Seen(name, *_bounds(find(known, name, f"signal of {scenario.world.name}").meta)) for name in names)


def _bounds(meta: Any) -> tuple[float, float]:
    return (meta.lo, meta.hi) if isinstance(meta, Q) else (0.0, float(len(meta.names) - 1))


def _channels(scenario: Scenario, act: Any) -> tuple[Channel, ...]:
    """The channels of an agent. What it asks for must be legal, and both ends must be known."""
    known: dict[str, tuple[int, Any]] = {leaf.path: (row, leaf.meta) for row, leaf in enumerate(numbers(scenario.world.In))}
    wanted = act if isinstance(act, Mapping) else dict.fromkeys(known if act is None else act)
    if not wanted:
        raise InputError(f"act is empty: the agent must command something; channels of {scenario.world.name}: {', '.join(known)}")
    channels = []
    for path, bounds in wanted.items():
        row, meta = find(known, path, f"input channel of {scenario.world.name}")
        lo, hi = _bounds(meta)
        names = meta.names if isinstance(meta, Choice) else ()
        if bounds is not None:
            low, high = (float(bound) for bound in bounds)
            if names or not lo <= low < high <= hi:
                allowed = f"choices have none ({meta.legal()})" if names else f"they must lie within {meta.legal()}, the lower one first"
                raise InputError(f"act[{path!r}]: bounds {low:g} and {high:g}; {allowed}")
            lo, hi = low, high
        if not np.isfinite([lo, hi]).all():
            raise InputError(f"act[{path!r}]: the channel allows {meta.legal()}; say how far the agent may go: act={{{path!r}: (LOW, HIGH)}}")
        channels.append(Channel(path, row, lo, hi, names))
    return tuple(channels)


def _check_commands(scenario: Scenario, channels: tuple[Channel, ...]) -> None:
    """Commands to actuators need the runtime; where the agent has every channel it stands in their place."""
    left = [leaf.path for leaf in numbers(scenario.world.In) if leaf.path not in {channel.path for channel in channels}]
    if scenario.live and left:
        raise InputError(
            f"{scenario.document.file}: the scenario {scenario.name} commands actuators, which an environment does not do, "
            f"and act leaves out {', '.join(left)}; act on all channels, or give a scenario with signals"
        )
