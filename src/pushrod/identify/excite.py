"""Design a test: the signal that tells most of the parameters while the machine stays within its limits.

    found = excite(subject("servo"), inputs={"torque_req": (-2, 2)}, outputs={"q": 0.002}, limits={"q": (-1, 1)}, duration=10.0)
    found.kind, found.signals, found.expected          the best signal, and the error of each parameter to be expected with it

D-optimal: among the families of `excitation_signal` differential evolution looks for the greatest determinant of the Fisher matrix (`information`);
what leaves a limit counts as worse than all that does not. Limits are kept with a margin, because the machine is not the model yet.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import InputError
from pushrod.core.names import find
from pushrod.core.record import numbers
from pushrod.identify.excitation_signal import FAMILIES, Family, Span
from pushrod.identify.excite_request import channels as channels_of
from pushrod.identify.excite_request import free_parameters, inside, noises, output_range, roomy
from pushrod.identify.information import Expected, expected, log_det, typical
from pushrod.identify.limit import Range
from pushrod.identify.sensitivity import Setup
from pushrod.sim.machine import Machine
from pushrod.sim.record_file import record
from pushrod.sim.scenario import Scenario, ticks
from pushrod.sim.scenario import load as load_scenario

Array = NDArray[np.float64]
PEOPLE = 32  # signals that are tried at a time
GENERATIONS = 20
SAMPLE = 0.01  # [s] between two samples, where nobody says
TICK = 1e-3  # [s], where nobody says
LEFT = 1e3  # how bad it is to leave a limit: worse than any signal that does not
SLOPE = 20.0  # ticks in a period of the fastest frequency


@dataclass(frozen=True)
class Tried:
    """The best signal of a family; `typical` is the relative error that the parameters have between them, None where no signal kept the limits."""

    kind: str
    typical: float | None
    signals: Mapping[str, Any]
    stopped: bool = False  # by Ctrl-C


@dataclass(frozen=True)
class Excitation:
    """`kind` and `signals` of the best test, what it tells of the parameters, and how far the outputs go in it. `tried`: the best of each family."""

    machine: Machine
    setup: Setup
    kind: str
    signals: dict[str, Any]
    inputs: dict[str, Range]
    limits: dict[str, Range]  # as they were asked for, without the margin
    rates: dict[str, float]
    expected: tuple[Expected, ...]
    tried: tuple[Tried, ...]
    assumed: tuple[str, ...]  # what nobody said
    rest: dict[str, Any]  # of the scenario it builds on: state at the start, signals of other channels

    @property
    def stopped(self) -> bool:
        """By Ctrl-C: it is the best of what was tried until then."""
        return self.tried[-1].stopped

    @property
    def sample(self) -> float:
        """Seconds between two samples."""
        return self.setup.every * self.setup.dt

    @property
    def seconds(self) -> float:
        return self.setup.steps * self.setup.dt


def excite(
    machine: Machine,
    *,
    inputs: Mapping[str, tuple[float, float]] | None = None,
    outputs: Mapping[str, float | None] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    rates: Mapping[str, float] | None = None,
    free: Sequence[str] = (),
    offsets: Sequence[str] = (),
    kinds: Sequence[str] = (),
    duration: float = 10.0,
    dt: float | None = None,
    sample: float | None = None,
    band: tuple[float, float] | None = None,
    margin: float = 0.1,
    scenario: Scenario | None = None,
    seed: int = 0,
    generations: int = GENERATIONS,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Excitation:
    """The best test of at most `duration` seconds for the parameters `free` of a machine (all of them where none are named).

    `inputs`: the channels to excite and their ranges. `outputs`: what is measured and its noise; `offsets` those of them with a constant error of its
    own. `scenario`: what the other channels are given, and the state at the start. All in SI units. Ctrl-C ends the search with the best so far.
    """
    assumed: list[str] = []
    if not 0.0 <= margin < 1.0:
        raise InputError(f"margin = {margin:g}; the share of a limit that is kept free is at least 0 and below 1")
    families = [find(FAMILIES, kind, "kind of test signal") for kind in (kinds or FAMILIES)]
    tick = _tick(machine, scenario) if dt is None else dt
    steps, every = _ticks(duration, tick, SAMPLE if sample is None else sample)
    paths = free_parameters(machine, free, assumed)
    world, params = roomy(machine, paths, tick)
    rest = {} if scenario is None else {key: scenario.document.data.get(key) or {} for key in ("initial", "signals")}
    channels = channels_of(machine, inputs, assumed)
    kept = {path: inside(Range(*output_range(machine, path, span)), margin) for path, span in (limits or {}).items()}
    for path, most in (rates or {}).items():
        output_range(machine, path, (-most, most))
    f_lo, f_hi = (1.0 / duration, 1.0 / (SLOPE * tick)) if band is None else band
    if not 0.0 < f_lo < f_hi:
        raise InputError(f"band = {f_lo:g} to {f_hi:g} Hz; the lower frequency is above 0 and below the upper one")
    spans = {path: Span(r.lo, r.hi, duration, f_lo, f_hi) for path, r in channels.items()}
    state = None if scenario is None else record(world.State, rest["initial"], world.State(), ("initial",), scenario.document)
    others = {} if scenario is None else {path: track for path, track in scenario.tracks.items() if path not in channels}
    measured: dict[str, float] = {}
    slow = {path: (1.0 - margin) * most for path, most in (rates or {}).items()}
    setup = Setup(world, params, state, tick, steps, every, paths, measured, kept, slow, others, tuple(offsets))
    measured |= noises(setup, outputs, spans, machine, assumed)
    for path in offsets:
        find(measured, path, "measured output")
    tried = _search(setup, families, spans, seed, generations, progress)
    best = min((one for one in tried if one.typical is not None), key=lambda one: one.typical or math.inf)
    units = {leaf.path: str(leaf.meta.unit) for leaf in numbers(world.Params)}  # type: ignore[union-attr]
    F = setup.information([dict(best.signals)])[0]
    rows = expected(F, list(paths), [units[path] for path in paths], setup.values)
    asked = {path: Range(*span) for path, span in (limits or {}).items()}
    return Excitation(
        machine, setup, best.kind, dict(best.signals), channels, asked, dict(rates or {}), tuple(rows), tuple(tried), tuple(assumed), rest
    )


def _tick(machine: Machine, scenario: Scenario | None) -> float:
    """That of the scenario, or of the machine's own."""
    if scenario is None and machine.scenario is not None:
        scenario = load_scenario(None, machine)
    return TICK if scenario is None else scenario.dt


def _ticks(duration: float, tick: float, sample: float) -> tuple[int, int]:
    """Ticks of the test, and from one sample to the next."""
    if not 0.0 < tick < duration:
        raise InputError(f"a test of {duration:g} s with a tick of {tick:g} s: the tick must be above 0 and the test longer")
    steps, every = ticks(duration, tick), max(1, round(sample / tick))
    if steps // every < 2:
        raise InputError(f"one sample every {every * tick:g} s in {duration:g} s are fewer than two; sample more often, or longer")
    return steps, every


def _search(
    setup: Setup, families: Sequence[Family], spans: Mapping[str, Span], seed: int, generations: int, progress: Callable[[int, int], None]
) -> list[Tried]:
    """The best signal of each family, at least one of which keeps the limits."""
    tried: list[Tried] = []
    for family in families:
        before, total = len(tried) * generations, len(families) * generations
        tried.append(_best(setup, family, spans, seed, generations, lambda done, before=before, total=total: progress(before + done, total)))
        if tried[-1].stopped:
            break
    if all(one.typical is None for one in tried):
        raise KeyboardInterrupt if tried[-1].stopped else _nothing_holds(setup, families, spans)
    return tried


def _best(setup: Setup, family: Family, spans: Mapping[str, Span], seed: int, generations: int, told: Callable[..., None]) -> Tried:
    """The best signal of a family, by differential evolution over whole generations at a time."""
    from scipy.optimize import differential_evolution

    size = family.size * len(spans)

    def written(x: Array) -> dict[str, Any]:
        return {path: family.write(x[j * family.size : (j + 1) * family.size], span) for j, (path, span) in enumerate(spans.items())}

    best: tuple[float, Array] = (math.inf, np.full(size, 0.5))

    def badness(X: Array) -> Array:
        nonlocal best
        signals = [written(x) for x in np.atleast_2d(X.T)]
        beyond = setup.excess(signals)
        bad = LEFT * (1.0 + beyond)
        within = np.flatnonzero(beyond <= 0.0)
        if len(within):
            bad[within] = -log_det(setup.information([signals[k] for k in within]))
        k = int(np.argmin(bad))
        if bad[k] < best[0]:
            best = (float(bad[k]), np.array(np.atleast_2d(X.T)[k]))
        return bad

    rng = np.random.default_rng(seed)
    first = rng.uniform(0.0, 1.0, (PEOPLE, size))
    first[: PEOPLE // 4, :: family.size] *= 0.3  # some are gentle, so that one keeps the limits
    done = 0

    def count(*_: Any, **__: Any) -> None:
        nonlocal done
        done += 1
        told(done)

    told(0)
    stopped = False
    try:
        differential_evolution(
            badness,
            [(0.0, 1.0)] * size,
            init=first,
            maxiter=generations,
            rng=rng,
            vectorized=True,
            updating="deferred",
            polish=False,
            tol=0.0,
            callback=count,
        )
        told(generations)
    except KeyboardInterrupt:
        stopped = True
    bad, x = best
    return Tried(family.name, typical(-bad, len(setup.free)) if bad < LEFT else None, written(x), stopped)


def _nothing_holds(setup: Setup, families: Sequence[Family], spans: Mapping[str, Span]) -> InputError:
    gentle = {path: families[0].write(np.array([0.0] + [0.5] * (families[0].size - 1)), span) for path, span in spans.items()}
    beyond = float(setup.excess([gentle])[0])
    return InputError(
        f"no signal was found that keeps the limits of {', '.join((*setup.limits, *setup.rates))}: even the gentlest one goes beyond by "
        f"{beyond * 100:.0f} % of the width. Make the test shorter, the limits wider, or the range of the input smaller"
    )
