"""Run a scenario on a machine: signals sampled tick by tick, the compiled world in chunks, responses and expectations afterwards."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import InputError
from pushrod.core.quantity import Choice, Q
from pushrod.core.record import Leaf, get, numbers
from pushrod.log.writer import Said
from pushrod.signals import Track, value
from pushrod.sim.comparison import Compared, take
from pushrod.sim.expectation import Outcome, judge
from pushrod.sim.machine import Machine
from pushrod.sim.response import Response, respond
from pushrod.sim.scenario import Scenario
from pushrod.sim.tracked import TAKEN, Tracked, signals_of

Array = NDArray[np.float64]
CHUNKS = 20
COPIES = 4  # of every signal at the worst moment: chunks, the whole, its inputs, and what figures and log are made of
PLAIN = 50_000  # ticks up to which signals are sampled in plain Python


@dataclass(frozen=True)
class Result:
    """A finished run. `columns` holds every signal by name: outputs, and inputs as in.<channel>."""

    machine: Machine
    scenario: Scenario
    run: Any  # compiled.Run
    columns: dict[str, Array]
    units: dict[str, str]
    responses: tuple[tuple[Tracked, Response], ...]
    outcomes: tuple[Outcome, ...]
    compared: tuple[Compared, ...] = ()

    @property
    def t(self) -> Array:
        """Time [s] of each record: the end of its tick."""
        return np.asarray(self.run.t)

    @property
    def held(self) -> bool:
        return all(outcome.held for outcome in self.outcomes) and all(compared.held for compared in self.compared)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a run: `result` is what it had come to, with the figures that were taken, `steps` how long it should have been.

    `live`: it went through a runtime, which has disarmed everything, and had `said` this until then.
    """

    def __init__(self, result: Result, steps: int, live: bool, said: Sequence[Said] = ()) -> None:
        self.said = said
        self.result = result
        self.steps = steps
        self.live = live
        super().__init__()


class _Halted(KeyboardInterrupt):
    def __init__(self, run: Any) -> None:
        self.run = run
        super().__init__()


def interrupted(
    machine: Machine, scenario: Scenario, run: Any, inputs: dict[str, Array], live: bool = False, said: Sequence[Said] = ()
) -> Interrupted:
    """What to raise after so much of a run."""
    n = run.ticks
    short = replace(scenario, steps=n, expectations=(), comparisons=())
    try:
        result = finish(machine, short, run, {name: column[:n] for name, column in inputs.items()})
    except Interrupted as again:  # without waiting for the figures, then
        result = again.result
    return Interrupted(result, scenario.steps, live, said)


def simulate(machine: Machine, scenario: Scenario, progress: Callable[[int, int], None] = lambda done, total: None) -> Result:
    """The whole scenario. `progress(done, total)` is called with ticks, from 0 on. One that commands actuators needs the runtime: see `live.run`."""
    if scenario.live:
        raise InputError(f"{scenario.document.file}: the scenario {scenario.name} commands actuators; run it with pushrod.live.run.simulate")
    check_room(scenario)
    inputs = sample(machine, scenario)
    try:
        run = roll(scenario, scenario.params, inputs, progress)
    except _Halted as halted:
        raise interrupted(machine, scenario, halted.run, inputs) from None
    result = finish(machine, scenario, run, inputs)
    return compared(result, lambda params: signals(roll(scenario, params, inputs), inputs))


def roll(scenario: Scenario, params: Any, inputs: dict[str, Array], progress: Callable[[int, int], None] = lambda done, total: None) -> Any:
    """The compiled world through the whole scenario, in chunks."""
    from pushrod.compiled.rollout import rollout

    progress(0, scenario.steps)
    runs, state, k = [], scenario.state, 0
    try:
        for end in chunk_ends(scenario.steps):
            part = {name: values[k:end] for name, values in inputs.items()}
            run = rollout(
                scenario.world, params, part, steps=end - k, dt=scenario.dt, state=state, k0=k, seed=scenario.seed, instance=scenario.instance
            )
            runs.append(run)
            state, k = run.state_rows, end
            progress(k, scenario.steps)
        return _joined(runs)
    except KeyboardInterrupt:
        if not runs:
            raise
        raise _Halted(_joined(runs)) from None


def _joined(runs: list[Any]) -> Any:
    data = np.concatenate([run.data for run in runs])
    return replace(runs[-1], k0=0, ticks=len(data), data=data)


def compared(result: Result, again: Callable[[Any], dict[str, Array]], live: bool = False, said: Sequence[Said] = ()) -> Result:
    """With the comparisons of its scenario. Stopped in one of them, the run itself and what was expected of it stay."""
    scenario = result.scenario
    if not scenario.comparisons:
        return result
    try:
        return replace(result, compared=compare(result, again))
    except KeyboardInterrupt:
        raise Interrupted(replace(result, scenario=replace(scenario, comparisons=())), scenario.steps, live, said) from None


def compare(result: Result, again: Callable[[Any], dict[str, Array]]) -> tuple[Compared, ...]:
    """The comparisons of a scenario: run `again` with what differs, but for the run there is."""

    def columns(params: Any) -> dict[str, Array]:
        return result.columns if params == result.scenario.params else again(params)

    return tuple(
        take(comparison, result.t, (columns(comparison.params[0]), columns(comparison.params[1])), result.scenario.dt)
        for comparison in result.scenario.comparisons
    )


def check_room(scenario: Scenario) -> None:
    """InputError where the run could not be kept in memory."""
    signals = len(signals_of(scenario.world))
    need, free = COPIES * 8 * signals * scenario.steps, free_memory()
    if free is not None and need > free:
        raise InputError(
            f"{scenario.document.file}: {scenario.steps} ticks of {signals} signals take about {need / 1e9:.1f} GB and {free / 1e9:.1f} GB are free; "
            f"make the run shorter than {scenario.steps * scenario.dt * free / need:.3g} s or dt longer"
        )


def free_memory() -> int | None:
    """Bytes that can be had; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return None


def chunk_ends(steps: int) -> list[int]:
    """Where the chunks end; the first is short, so that whoever waits sees the compiler apart from the run."""
    return sorted({1, *(round(steps * i / CHUNKS) for i in range(1, CHUNKS + 1))} - {0})


def sample(machine: Machine, scenario: Scenario) -> dict[str, Array]:
    """Every input channel at the start of every tick; one without a signal keeps the default of its field."""
    t = np.arange(scenario.steps, dtype=np.float64) * scenario.dt
    rest = machine.world.In()
    found: dict[str, Array] = {}
    for leaf in numbers(machine.world.In):
        track = scenario.tracks.get(leaf.path)
        found[leaf.path] = np.full(len(t), float(get(rest, leaf.path))) if track is None else sample_track(track, t)
        _check_range(leaf, found[leaf.path], t, scenario)
    scenario.document.raise_problems()
    return found


def _check_range(leaf: Leaf, values: Array, t: Array, scenario: Scenario) -> None:
    """Note a signal that leaves the range of its channel, by the line of the signal."""
    assert isinstance(leaf.meta, (Q, Choice))
    illegal = [x for x in np.unique(values) if not leaf.meta.allows(float(x))]
    outside = np.flatnonzero(np.isin(values, illegal))
    if len(outside):
        k = int(outside[0])
        reached = f"{values[k]:g} {leaf.meta.unit}".removesuffix(" -")
        what = f"reaches {reached} at {t[k]:g} s, outside the range of the channel; allowed {leaf.meta.legal()}"
        scenario.document.add(("signals", leaf.path), what)


def sample_track(track: Track, t: Array) -> Array:
    """Both ways give the same bits; plain Python is at once ready, compiled code is quick once it is compiled."""
    if len(t) <= PLAIN:
        return np.array([value(track, float(x)) for x in t])
    from pushrod.compiled.evaluate import evaluate

    return evaluate(value, track, t)


def signals(run: Any, inputs: dict[str, Array]) -> dict[str, Array]:
    """Every signal of a run by name."""
    return {name: np.asarray(run[name], float) for name in run.names} | {f"in.{name}": values for name, values in inputs.items()}


def asked(track: Iterable[Tracked], columns: Mapping[str, Array]) -> tuple[Tracked, ...]:
    """The pairs of which somebody asked something in this run."""
    return tuple(pair for pair in track if all(np.any(columns[name] == value) for name, value in pair.when))


def acting(pair: Tracked, columns: Mapping[str, Array]) -> NDArray[np.bool_] | None:
    """At which samples something between request and achieved tells of a limit; None where nothing would."""
    flags = [np.abs(columns[name]) > TAKEN for name in pair.saturated]
    return np.logical_or.reduce(flags) if flags else None


def _response(pair: Tracked, columns: dict[str, Array], dt: float) -> Response:
    return respond(columns[pair.request], columns[pair.achieved], dt, pair.low, pair.high, pair.rate, acting(pair, columns))


def finish(machine: Machine, scenario: Scenario, run: Any, inputs: dict[str, Array], live: bool = False, said: Sequence[Said] = ()) -> Result:
    """The figures of a run. Those of a long one take longer than the run itself: stopped in them, the run and those that were taken stay."""
    columns = signals(run, inputs)
    units = {name: str(leaf.meta.unit) for name, leaf in signals_of(machine.world).items()}  # type: ignore[union-attr]
    responses: list[tuple[Tracked, Response]] = []
    try:
        for pair in asked(machine.track, columns):
            responses.append((pair, _response(pair, columns, scenario.dt)))
        outcomes = tuple(judge(e, np.asarray(run.t), columns, scenario.dt) for e in scenario.expectations)
    except KeyboardInterrupt:
        short = replace(scenario, expectations=(), comparisons=())
        raise Interrupted(Result(machine, short, run, columns, units, tuple(responses), ()), scenario.steps, live, said) from None
    return Result(machine, scenario, run, columns, units, tuple(responses), outcomes)
