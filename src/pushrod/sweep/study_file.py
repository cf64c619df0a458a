"""What a study file may say.

study: steering_tolerance
machine: car
scenarios: [car_default]                 # each sample runs in each of them; the machine's own if left out
runs: 100000                             # samples
design: lhs                              # random, lhs, sobol, saltelli or grid
seed: 1                                  # of what is drawn, and of the noise in every run
vary:
  dead_time.steer: {uniform: [30 ms, 90 ms]}
  vehicle.mechanical_params.kp: {normal: {mean: nominal, sd: 10 %}}
metrics:
  error: {signal: steer_ach, to: steer_req, metric: rms_error, from: 7.5 s, until: 9.5 s}
pass:
  - {metric: error, below: 2 deg}
"""

from typing import Annotated as A
from typing import Any

import msgspec

from pushrod.core.quantity import Q
from pushrod.sim.expectation import METRICS
from pushrod.sweep.design import DESIGNS

Text = msgspec.Meta
FOLDED = [name for name, metric in METRICS.items() if metric.fold is not None]
MOST_RUNS = 10**9
DTYPES = ("float64", "float32")


class MetricEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"since": "from"}):
    """One number of every run, taken while it goes on."""

    signal: A[str, Text(description="signal to look at: an output, or in.CHANNEL")]
    metric: A[str, Text(description="what to take of it", extra_json_schema={"enum": FOLDED})]
    to: A[str | None, Text(description="the other signal, where the metric compares two")] = None
    goal: A[float | str | None, Text(description="value to settle at or to reach, in the unit of the signal")] = None
    band: A[float | str | None, Text(description="half the width of the band around the goal")] = None
    since: A[float, Q("s", 0.0, about="look from here on")] = 0.0
    until: A[float | None, Q("s", 0.0, about="look until here")] = None


class PassEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bounds that a metric must keep for a run to pass."""

    metric: A[str, Text(description="a metric of this study")]
    below: A[float | str | None, Text(description="largest value that is fine")] = None
    above: A[float | str | None, Text(description="smallest value that is fine")] = None
    near: A[float | str | None, Text(description="value it must come close to; needs `within`")] = None
    within: A[float | str | None, Text(description="how close")] = None
    scenario: A[str | None, Text(description="only in this scenario of the study; in all of them if left out")] = None


class AttainedEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"since": "from"}):
    """Two signals over each other in runs that go once round all that can be attained, for each pair of values of two parameters: for the report."""

    across: A[str, Text(description="signal to the right")]
    up: A[str, Text(description="signal upwards")]
    columns: A[str, Text(description="parameter of this study, with few values")]
    rows: A[str, Text(description="another one")]
    since: A[float, Q("s", 0.0, about="look from here on")] = 0.0


class StudyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"criteria": "pass"}):
    """One machine many times, with parameters that are drawn."""

    study: A[str, Text(description="name of the study", pattern=r"^[A-Za-z][\w-]*$")]
    machine: A[str, Text(description="a shipped machine or a file beside this one")]
    vary: A[dict[str, Any], Text(description="by path of a parameter, or initial.PATH of a state: how it is drawn")]
    metrics: A[dict[str, MetricEntry], Text(description="the numbers that are kept of every run, by name")]
    about: A[str, Text(description="one line for `pushrod list`")] = ""
    scenarios: A[list[str], Text(description="shipped scenarios or files beside this one; the machine's own if left out")] = []
    runs: A[A[int, Text(ge=1, le=MOST_RUNS)] | None, Text(description="samples; of a grid as many as it has")] = None
    design: A[str, Text(description="how samples are laid out", extra_json_schema={"enum": list(DESIGNS)})] = "lhs"
    levels: A[A[int, Text(ge=1, le=10**6)] | None, Text(description="of a grid: levels of each parameter that does not say its own")] = None
    seed: A[int, Text(description="of all that is drawn, and of all noise", ge=0, le=2**31 - 1)] = 0
    chunk: A[A[int, Text(ge=1, le=10**7)] | None, Text(description="samples that are computed, kept and redone together")] = None
    dtype: A[str, Text(description="numbers of the simulation", extra_json_schema={"enum": list(DTYPES)})] = "float64"
    duration: A[float | None, Q("s", 1e-6, 1e6, "length of every run; that of its scenario if left out")] = None
    criteria: A[list[PassEntry], Text(description="what a run must keep to pass: all of these")] = []
    attained: A[AttainedEntry | None, Text(description="two signals over each other, drawn by the report")] = None
