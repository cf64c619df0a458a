"""The same scenario with one parameter this way and that: what it is worth, in one number of each run.

compare:
  - {parameter: feedback, values: [true, false], signal: v, metric: recovery_time, to: v_req, band: 0.1, from: 22 s, times: 5}

The number of the second run must be at least `times` that of the first one.
"""

import math
from collections.abc import Mapping
from typing import Annotated as A
from typing import Any, NamedTuple

import msgspec

from pushrod.config.yaml_file import Document, Keys
from pushrod.core.model import World
from pushrod.core.names import unknown
from pushrod.core.quantity import Q
from pushrod.core.record import Leaf, numbers
from pushrod.sim.expectation import METRICS, Expectation, ExpectationEntry, compile_entry, measure
from pushrod.sim.record_file import check_ranges, record
from pushrod.sim.response import Signal

Text = msgspec.Meta
Value = float | int | str | bool


class ComparisonEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"since": "from"}):
    """One number of two runs that differ in one parameter."""

    parameter: A[str, Text(description="path of the parameter in which the runs differ")]
    values: A[tuple[Value, Value], Text(description="what it is in the first run, and in the second")]
    signal: A[str, Text(description="signal to look at")]
    metric: A[str, Text(description="what to take of it", extra_json_schema={"enum": list(METRICS)})]
    to: A[str | None, Text(description="the other signal, where the metric compares two")] = None
    goal: A[float | str | None, Text(description="value to settle at, in the unit of the signal")] = None
    band: A[float | str | None, Text(description="half the width of the band around the goal")] = None
    times: A[float, Text(description="the number of the second run is at least so many times that of the first", ge=0.0)] = 0.0
    since: A[float, Q("s", 0.0, about="look from here on")] = 0.0
    until: A[float | None, Q("s", 0.0, about="look until here")] = None


class Comparison(NamedTuple):
    """A comparison for one world: the number to take, and both sets of parameters with a name for each."""

    what: Expectation
    labels: tuple[str, str]
    params: tuple[Any, Any]
    times: float


class Compared(NamedTuple):
    comparison: Comparison
    values: tuple[float | None, float | None]

    @property
    def ratio(self) -> float | None:
        """The second number over the first; None where either cannot be had."""
        a, b = self.values
        if a is None or b is None or not math.isfinite(a):
            return None
        return b / a if a != 0.0 else (math.inf if b > 0.0 else None)

    @property
    def held(self) -> bool:
        return self.comparison.times == 0.0 or (self.ratio is not None and self.ratio >= self.comparison.times)


def compile_comparison(
    entry: ComparisonEntry, world: World, params: Any, signals: Mapping[str, Leaf], at: Keys, document: Document, dt: float, duration: float
) -> Comparison | None:
    """Names looked up, both sets of parameters checked; None with the problems noted."""
    about = ExpectationEntry(entry.signal, entry.metric, entry.to, entry.goal, entry.band, since=entry.since, until=entry.until)
    what = compile_entry(about, signals, at, document, duration, bounded=False)
    known = {leaf.path: leaf for leaf in numbers(world.Params)}
    if entry.parameter not in known:
        document.add((*at, "parameter"), unknown(known, entry.parameter, "parameter"))
        return None
    before = len(document.problems)
    found = []
    for i, value in enumerate(entry.values):
        nested: Any = value
        for name in reversed(entry.parameter.split(".")):
            nested = {name: nested}
        made = record(world.Params, nested, params, (*at, "values", i), document)
        check_ranges(made, dt, (*at, "values", i), document)
        found.append(made)
    if what is None or len(document.problems) > before:
        return None
    first, second = (f"{entry.parameter} = {str(value).lower() if isinstance(value, bool) else value}" for value in entry.values)
    return Comparison(what, (first, second), (found[0], found[1]), entry.times)


def take(comparison: Comparison, t: Signal, runs: tuple[Mapping[str, Signal], Mapping[str, Signal]], dt: float) -> Compared:
    """The number of each run, given its signals."""
    first, second = (measure(comparison.what, t, columns, dt) for columns in runs)
    return Compared(comparison, (first, second))
