"""What a scenario expects of a run, and whether it held.

{signal: steer_ach, metric: max, below: 0.6}
{signal: v, metric: final, near: 0, within: 0.1}
{signal: steer_ach, metric: rms_error, to: steer_req, below: 2 deg}
{signal: yaw, metric: settling_time, goal: 90 deg, band: 1 deg, below: 8 s}
{signal: steer_ach, metric: overshoot, to: steer_req, below: 20 %}
{signal: v, metric: recovery_time, to: v_req, band: 0.1, from: 22 s, below: 3 s}
"""

import math
from collections.abc import Callable, Mapping
from typing import Annotated as A
from typing import Any, NamedTuple

import msgspec
import numpy as np

from pushrod import metrics
from pushrod.config.structure import WRONG, number_of
from pushrod.config.yaml_file import Document, Keys
from pushrod.core.names import unknown
from pushrod.core.quantity import Q
from pushrod.core.record import Leaf
from pushrod.sim import response
from pushrod.sim.response import Signal

Text = msgspec.Meta


class Samples(NamedTuple):
    """One signal within the window that counts: value a, the other signal r (a itself where there is none), goal and band."""

    t: Signal
    a: Signal
    r: Signal
    goal: float
    band: float
    dt: float


Fold = Callable[[str, str | None, float, float], metrics.Measure]  # of a signal, another one, goal and band


class Metric(NamedTuple):
    """`fold` takes the same number while a run goes on; None where the whole of it has to be looked at."""

    about: str
    unit: str  # "y": that of the signal
    needs: str  # "to", "goal" (and a band), "near" (another signal and a band), "level" (a goal alone) or ""
    measure: Callable[[Samples], float | None]
    fold: Fold | None = None


def _step_of(m: Callable[[Any, Any], float | None]) -> Callable[[Samples], float | None]:
    def measure(s: Samples) -> float | None:
        step = response.largest_step(s.r, s.a, s.dt, response.delay(s.r, s.a, s.dt))
        return None if step is None else m(s, step)

    return measure


METRICS = {
    "max": Metric("largest value", "y", "", lambda s: float(np.max(s.a)), lambda a, r, goal, band: metrics.maximum(a)),
    "min": Metric("smallest value", "y", "", lambda s: float(np.min(s.a)), lambda a, r, goal, band: metrics.minimum(a)),
    "max_abs": Metric("largest magnitude", "y", "", lambda s: float(np.max(np.abs(s.a))), lambda a, r, goal, band: metrics.magnitude(a)),
    "mean": Metric("mean value", "y", "", lambda s: float(np.mean(s.a)), lambda a, r, goal, band: metrics.mean(a)),
    "rms": Metric("root of the mean square", "y", "", lambda s: float(np.sqrt(np.mean(s.a * s.a))), lambda a, r, goal, band: metrics.rms(a)),
    "final": Metric("last value", "y", "", lambda s: float(s.a[-1]), lambda a, r, goal, band: metrics.final(a)),
    "rms_error": Metric(
        "rms difference to another signal",
        "y",
        "to",
        lambda s: float(np.sqrt(np.mean((s.a - s.r) ** 2))),
        lambda a, r, goal, band: metrics.rms(a, to=r),
    ),
    "max_error": Metric(
        "largest difference to another signal",
        "y",
        "to",
        lambda s: float(np.max(np.abs(s.a - s.r))),
        lambda a, r, goal, band: metrics.magnitude(a, to=r),
    ),
    "delay": Metric("by how much it follows another signal", "s", "to", lambda s: response.delay(s.r, s.a, s.dt)),
    "rise_time": Metric("10 % to 90 % of the largest step", "s", "to", _step_of(lambda s, step: response.rise_time(s.a, step, s.dt))),
    "overshoot": Metric("beyond the largest step, as a share of it", "-", "to", _step_of(lambda s, step: response.overshoot(s.r, s.a, step))),
    "recovery_time": Metric(
        "from the start of the window until it stays within `band` of another signal",
        "s",
        "near",
        lambda s: response.settling_time(s.a, s.t - s.t[0], s.r, s.band),
        lambda a, r, goal, band: metrics.recovery_time(a, 0.0, band, to=r),
    ),
    "settling_time": Metric(
        "after which it stays within goal +- band",
        "s",
        "goal",
        lambda s: response.settling_time(s.a, s.t, s.goal, s.band),
        lambda a, r, goal, band: metrics.settling_time(a, goal, band),
    ),
    "first_above": Metric(
        "first time at or above the goal",
        "s",
        "level",
        lambda s: response.crossing_time(s.a, s.t, s.goal),
        lambda a, r, goal, band: metrics.crossing_time(a, goal),
    ),
    "first_below": Metric(
        "first time at or below the goal",
        "s",
        "level",
        lambda s: response.crossing_time(-s.a, s.t, -s.goal),
        lambda a, r, goal, band: metrics.crossing_time(a, goal, falling=True),
    ),
}


class ExpectationEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"since": "from"}):
    """One number of a run and the bounds it must keep."""

    signal: A[str, Text(description="signal to look at")]
    metric: A[str, Text(description="what to take of it", extra_json_schema={"enum": list(METRICS)})]
    to: A[str | None, Text(description="the other signal, where the metric compares two")] = None
    goal: A[float | str | None, Text(description="value to settle at or to reach, in the unit of the signal")] = None
    band: A[float | str | None, Text(description="half the width of the band around the goal")] = None
    below: A[float | str | None, Text(description="largest value that is fine")] = None
    above: A[float | str | None, Text(description="smallest value that is fine")] = None
    near: A[float | str | None, Text(description="value it must come close to; needs `within`")] = None
    within: A[float | str | None, Text(description="how close")] = None
    since: A[float, Q("s", 0.0, about="look from here on")] = 0.0
    until: A[float | None, Q("s", 0.0, about="look until here")] = None


class Expectation(NamedTuple):
    """An expectation in SI numbers."""

    signal: str
    metric: str
    unit: str
    to: str | None
    goal: float
    band: float
    low: float
    high: float
    since: float
    until: float

    def __str__(self) -> str:
        other = f" against {self.to}" if self.to else ""
        window = (
            ""
            if self.since == 0.0 and self.until == math.inf
            else f" from {self.since:g} s" + (f" to {self.until:g} s" if self.until < math.inf else "")
        )
        return f"{self.metric} of {self.signal}{other}{window}"

    @property
    def bounds(self) -> str:
        unit = "" if self.unit == "-" else f" {self.unit}"
        if self.low == self.high:
            return f"= {self.low:.4g}{unit}"
        if self.low > -math.inf and self.high < math.inf:
            return f"{self.low:.4g} … {self.high:.4g}{unit}"
        return f"≤ {self.high:.4g}{unit}" if self.high < math.inf else f"≥ {self.low:.4g}{unit}"


class Outcome(NamedTuple):
    expectation: Expectation
    value: float | None
    held: bool


def compile_entry(
    entry: ExpectationEntry, signals: Mapping[str, Leaf], at: Keys, document: Document, duration: float = math.inf, bounded: bool = True
) -> Expectation | None:
    """Names looked up, texts turned into SI; None with the problems noted. `duration` is that of the run [s]; `bounded`: it must say what is fine."""
    before = len(document.problems)
    for key in ("signal", "to"):
        name = getattr(entry, key)
        if name is not None and name not in signals:
            document.add((*at, key), unknown(signals, name, "signal"))
    if entry.metric not in METRICS:
        document.add((*at, "metric"), unknown(METRICS, entry.metric, "metric"))
    if len(document.problems) > before:
        return None
    metric, own = METRICS[entry.metric], str(signals[entry.signal].meta.unit)  # type: ignore[union-attr]
    for need in {"goal": ("goal", "band"), "to": ("to",), "near": ("to", "band"), "level": ("goal",), "": ()}[metric.needs]:
        if getattr(entry, need) is None:
            document.add(at, f"metric {entry.metric} needs `{need}`")
    if entry.to is not None and metric.needs not in ("to", "near"):
        pairs = [name for name, other in METRICS.items() if other.needs in ("to", "near")]
        document.add((*at, "to"), f"metric {entry.metric} is of one signal; leave `to` out, or take one of two signals: {', '.join(pairs)}")
    unit = own if metric.unit == "y" else metric.unit

    def si(key: str, unit: str, default: float) -> float:
        value = getattr(entry, key)
        number = default if value is None else number_of(unit, value, (*at, key), document)
        return default if number is WRONG else float(number)

    low, high = si("above", unit, -math.inf), si("below", unit, math.inf)
    if (entry.near is None) != (entry.within is None):
        document.add(at, "`near` and `within` go together")
    elif entry.near is not None:
        near, within = si("near", unit, 0.0), si("within", unit, 0.0)
        low, high = max(low, near - within), min(high, near + within)
    if bounded and all(bound is None for bound in (entry.below, entry.above, entry.near, entry.within)):
        document.add(at, "says nothing: give `below`, `above`, or `near` and `within`")
    if low > high:
        document.add(at, f"can never hold: asks for at least {low:g} and at most {high:g} {unit}".removesuffix(" -"))
    if entry.until is not None and entry.since > entry.until:
        document.add((*at, "from"), f"from {entry.since:g} s is after until {entry.until:g} s: there is nothing to look at")
    elif entry.since > duration:
        document.add((*at, "from"), f"from {entry.since:g} s is after the end of the run at {duration:g} s: there is nothing to look at")
    goal, band = si("goal", own, 0.0), si("band", own, 0.0)
    found = Expectation(
        entry.signal, entry.metric, unit, entry.to, goal, band, low, high, entry.since, math.inf if entry.until is None else entry.until
    )
    return found if len(document.problems) == before else None


def measure(e: Expectation, t: Signal, columns: Mapping[str, Signal], dt: float) -> float | None:
    """The number an expectation is about; None where it cannot be taken (no step in the request, say)."""
    keep = (t >= e.since) & (t <= e.until)
    if not np.any(keep):
        return None
    other = columns[e.signal if e.to is None else e.to][keep]
    return METRICS[e.metric].measure(Samples(t[keep], columns[e.signal][keep], other, e.goal, e.band, dt))


def folded(e: Expectation) -> metrics.Measure | None:
    """The same number, taken while the run goes on; None where that cannot be."""
    fold = METRICS[e.metric].fold
    return None if fold is None else fold(e.signal, e.to, e.goal, e.band).within(e.since, e.until)


def judge(e: Expectation, t: Signal, columns: Mapping[str, Signal], dt: float) -> Outcome:
    """Whether an expectation held. A metric that cannot be taken did not hold."""
    value = measure(e, t, columns, dt)
    return Outcome(e, value, value is not None and e.low <= value <= e.high)
