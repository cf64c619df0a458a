"""One recording, prepared for one world: inputs per tick, and what was measured at its own times.

    one = trial(world, log.read("servo.csv"), inputs={"goal": "goal [deg]"}, outputs={"q": "position [deg]"}, constants={"mass": 0.49})

Time starts where the first output was measured and all inputs are known. An input holds its value until the next one comes; a tick gets its mean
over the tick, so that a change inside it is not moved to its edge. Measured values stay at their own times, however irregular, and need not be
there at all. Values that fall into the same tick are put together into their mean, which counts as many times as there are of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import DiagnosisError, InputError
from pushrod.core.model import Model, World
from pushrod.core.names import find
from pushrod.core.quantity import Choice, Q
from pushrod.core.record import numbers
from pushrod.identify.column import Column, Recorded, beyond, column
from pushrod.identify.spread import held, interpolated, period
from pushrod.log.table import Table

Array = NDArray[np.float64]
SLOW = 1.0  # [s] between two values from which one asks whether times are in another unit
WEIGHT = Q("-", 0.0)
WHOLE = 1e-6  # of a tick: what is nearer to its end than this was taken there


@dataclass(frozen=True)
class Measured:
    """One output as it was measured: `value` at tick `k`, at the share `a` of it. `held_out`: not used for fitting.

    `count` is how much it counts: the weights, added up, of the values that it is the mean of.
    """

    k: NDArray[np.int64]
    a: Array
    value: Array
    count: Array
    held_out: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.k)

    @property
    def first(self) -> float:
        return float(self.value[0])

    @property
    def span(self) -> float:
        return float(np.ptp(self.value))


@dataclass(frozen=True)
class Trial:
    """Inputs by channel of the world, outputs by path ("y" for a lone number), what is known of this log alone, and states at its start."""

    name: str
    dt: float
    steps: int
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Measured]
    constants: Mapping[str, float] = field(default_factory=dict)
    start: Mapping[str, float] = field(default_factory=dict)
    used: Mapping[str, Column] = field(default_factory=dict)
    t0: float = 0.0
    run_dt: float | None = None  # tick of the simulated run that was recorded, where the log states it

    @property
    def seconds(self) -> float:
        return self.steps * self.dt

    def t(self, path: str) -> Array:
        """When each value of an output was taken [s], from the start of the trial."""
        one = self.outputs[path]
        return (one.k + one.a) * self.dt


def trial(
    world: Model | World,
    recorded: Recorded,
    *,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    constants: Mapping[str, float] | None = None,
    start: Mapping[str, str | float] | None = None,
    weights: Mapping[str, str] | None = None,
    dt: float | None = None,
    hold: str = "zero",
    begin: float | None = None,
    end: float | None = None,
    held_out: float = 0.0,
    missing: str = "refuse",
    name: str = "",
) -> Trial:
    """Prepare a recording: a log.Table, or arrays by name with their times under "t". Columns are "name" or "name [unit]".

    `hold` is "zero", or "linear" for inputs that were samples of something that moves on between them. `start` gives states at the begin, as numbers
    or as the name of an output whose first value they have. `weights` are columns that say how much each value of an output counts: 1 is a value like
    any other, 4 one with half the noise, 0 none. The last share `held_out` of the measured values is kept for judging the fit.
    """
    taken = {leaf.path or "u": leaf.meta for leaf in numbers(world.In)}
    given = {leaf.path or "y": leaf.meta for leaf in numbers(world.Out)}
    known = {leaf.path: leaf.meta for leaf in numbers(world.Params)}
    find({"refuse": 0, "drop": 0}, missing, "way to treat what is missing")
    wrong: list[str] = []
    told = _columns(recorded, inputs, taken, f"input of {world.name}", missing, wrong)
    seen = _columns(recorded, outputs, given, f"output of {world.name}", missing, wrong)
    wrong += [text for path, one in told.items() for text in beyond(path, one, taken[path])]
    if wrong:
        raise DiagnosisError([f"{name}: {text}" if name else text for text in wrong])
    if not seen:
        raise InputError(f"no output to compare: say which columns were measured, such as outputs={{{next(iter(given))!r}: 'column'}}")
    for path in constants or {}:
        find(known, path, f"parameter of {world.name}")
    find({"zero": 0, "linear": 0}, hold, "way to hold an input")
    t0, t1 = _span(told, seen, begin, end, name or "the log")
    tick = _tick(recorded, seen, dt, name or "the log")
    steps = int(np.ceil((t1 - t0) / tick - WHOLE))
    if steps < 2:
        raise InputError(f"{name or 'the log'}: {t1 - t0:g} s from the first to the last value, which is less than two ticks of {tick:g} s")
    per_tick = {path: _per_tick(one, taken[path], t0, tick, steps, hold) for path, one in told.items()}
    heavy = {path: column(recorded, text, WEIGHT) for path, text in (weights or {}).items() if find(seen, path, "compared output")}
    measured = {path: _measured(one, t0, tick, steps, held_out, heavy.get(path)) for path, one in seen.items()}
    known_start, used = _start(world, start or {}, seen, t0), {**told, **seen}
    return Trial(name, tick, steps, per_tick, measured, dict(constants or {}), known_start, used, t0, _run_tick(recorded))


def _columns(recorded: Recorded, asked: Mapping[str, str], legal: Mapping[str, Any], what: str, missing: str, wrong: list[str]) -> dict[str, Column]:
    """Those that can be used; what is wrong with the others is noted, all of it at once."""
    found = {}
    for path, text in asked.items():
        meta = find(legal, path, what)
        try:
            found[path] = column(recorded, text, meta, missing)
        except DiagnosisError as e:
            wrong += e.problems
    return found


def _span(told: Mapping[str, Column], seen: Mapping[str, Column], begin: float | None, end: float | None, name: str) -> tuple[float, float]:
    """From where all inputs are known to the last measured value. Inputs that come one sample ahead of the outputs say when it begins."""
    first = min(float(one.t[0]) for one in seen.values())
    known = max((float(one.t[0]) for one in told.values()), default=first)
    ahead = first - known
    gap = max(period(one.t) for one in seen.values())
    t0 = known if ahead <= 1.5 * gap else first
    t1 = max(float(one.t[-1]) for one in seen.values())
    t0, t1 = t0 if begin is None else max(t0, begin), t1 if end is None else min(t1, end)
    if not t1 > t0:
        if all(one.t[0] == one.t[-1] for one in (*told.values(), *seen.values())):
            raise DiagnosisError([f"{name}: every value has the same time, {t0:g} s: is it the right column of times?"])
        raise InputError(f"{name}: nothing is left of the log between {t0:g} and {t1:g} s: inputs and outputs must be known at the same time")
    return t0, t1


def _tick(recorded: Recorded, seen: Mapping[str, Column], dt: float | None, name: str) -> float:
    """The tick that was asked for, else that of the run that was recorded, else the time between two samples.

    A finer one would be more exact for many equations, but a world that contains a controller is another machine at another tick.
    """
    dt = _run_tick(recorded) if dt is None else dt
    if dt is not None:
        if not 0.0 < dt < np.inf:
            raise InputError(f"dt = {dt} s; a tick must be longer than 0 and finite")
        return float(dt)
    sampled = min(period(one.t) for one in seen.values())
    if sampled >= SLOW:
        raise DiagnosisError(
            [f"{name}: {sampled:g} s between two values: are the times in another unit, such as ms? If they are not, say the tick (--tick)"]
        )
    return float(sampled)


def _run_tick(recorded: Recorded) -> float | None:
    """None where a file states no tick, or something that is no time."""
    try:
        dt = float(recorded.about["dt"]) if isinstance(recorded, Table) else 0.0
    except (KeyError, ValueError):
        return None
    return dt if 0.0 < dt < np.inf else None


def _per_tick(one: Column, meta: Any, t0: float, dt: float, steps: int, hold: str) -> Array:
    if hold == "linear" and not isinstance(meta, Choice):
        return interpolated(one.t, one.values, t0, dt, steps)
    return held(one.t, one.values, t0, dt, steps, whole=isinstance(meta, Choice))


def _measured(one: Column, t0: float, dt: float, steps: int, held_out: float, heavy: Column | None) -> Measured:
    at = (one.t - t0) / dt
    near = np.round(at)
    at = np.where(np.abs(at - near) < WHOLE, near, at)
    weight = np.ones(len(at)) if heavy is None else np.interp(one.t, heavy.t, heavy.values)
    good = (at >= 1.0) & (at <= steps) & (weight > 0.0)  # before the end of the first tick there is nothing to compare with
    if not good.any():
        raise InputError(f"column {one.name!r}: no value of it lies within the {steps * dt:g} s from {t0:g} s on, where all inputs are known")
    at, values, weight = at[good], one.values[good], weight[good]
    tick = np.ceil(at).astype(np.int64) - 1
    k, back = np.unique(tick, return_inverse=True)
    count: Array = np.bincount(back, weight).astype(np.float64)
    mean = np.bincount(back, weight * values) / count
    place = np.bincount(back, weight * (at - tick)) / count
    last = k >= k[0] + round((1.0 - held_out) * (k[-1] + 1 - k[0])) if held_out > 0.0 else np.zeros(len(k), bool)
    return Measured(k, np.clip(place, 0.0, 1.0), mean, count, last)


def _start(world: Model | World, start: Mapping[str, str | float], seen: Mapping[str, Column], t0: float) -> dict[str, float]:
    """States where the trial starts. An output that starts later gives its first value; one that was measured at that time, or around it, that."""
    states = {leaf.path: leaf.meta for leaf in numbers(world.State)}
    found = {}
    for path, value in start.items():
        find(states, path, f"state of {world.name}")
        one = find(seen, value, "compared output") if isinstance(value, str) else None
        found[path] = float(value) if one is None else float(np.interp(t0, one.t, one.values))
    return found
