"""How far a fit can be believed: intervals, what trades off with what, and whether what is left is noise.

told = believe(found)
told.estimates[0].lo, told.estimates[0].hi      95 % interval
told.doubts                                     in plain words
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.identify.covariance import ANYWHERE, Scatter, at_least, correlation, likeness_of, persistence_of, pull, scatter
from pushrod.identify.doubt import doubts
from pushrod.identify.experiment import Trial
from pushrod.identify.free import Free
from pushrod.identify.own_noise import noise_runs, of_own_noise
from pushrod.identify.problem import Problem
from pushrod.identify.profile import profile
from pushrod.identify.search import Fit
from pushrod.identify.ticking import moved_by_finer_ticks
from pushrod.identify.whiteness import Whiteness, whiteness

Array = NDArray[np.float64]
PINNED, EDGE = 1e-7, 2e-4  # of its range: an estimate nearer to an end than this lies there; nearer than that, if its error reaches the end
ROUNDING = 1e-9  # of its span: what is left of an output that a model has to the last digits
OF_THE_WORLD = 1.5  # times what the noise of the world leaves by itself: residuals that are no larger show no effect that the model lacks
ALIKE_LOSS = 1.02  # seeds whose loss is at most this many times the best one's found as good a fit


@dataclass(frozen=True)
class Estimate:
    """A free number with its 95 % interval. `spread` is how far the seeds that fitted as well lie apart.

    At an `edge` the interval goes from there to where the data object (`profile.py`). What the data do not inform has its guess, and the whole range
    as interval; `sd` is then that of any value in the range.
    """

    free: Free
    value: float
    sd: float
    lo: float
    hi: float
    spread: float
    edge: str = ""  # lower, upper
    informed: bool = True


@dataclass(frozen=True)
class Remainder:
    """What a fit leaves of one output in one log, in its unit. `held_out` is of values that were not used."""

    log: str
    path: str
    unit: str
    n: int
    rms: float
    mean_absolute: float
    worst: float
    # 1 - sum w e2 / sum w (y - mean)2, with the weights w of the loss: 1 for squares, less for outliers of a robust one. 0 where that is negative:
    # such a model explains nothing.
    explained: float
    whiteness: Whiteness | None
    held_out: bool = False
    own_noise: float = 0.0  # root mean square that the noise of the world leaves by itself

    @property
    def lacks_effect(self) -> bool:
        """Whether it shows an effect that the model does not have: it is autocorrelated, and more than the noise of the world."""
        return self.whiteness is not None and not self.whiteness.white and self.rms > OF_THE_WORLD * self.own_noise


@dataclass(frozen=True)
class Belief:
    """Everything that says how good a fit is. `criterion` (Bayes) compares models fitted to the same values: less is better."""

    estimates: tuple[Estimate, ...]
    correlation: Array
    singular: Array
    condition: float
    coloured: bool
    remainders: tuple[Remainder, ...]
    held_out: tuple[Remainder, ...]
    criterion: float
    doubts: tuple[str, ...]


def believe(found: Fit, held_out: Sequence[Trial] = ()) -> Belief:
    """`held_out` are logs that the fit has not seen; of those it has, the part kept back is looked at in any case."""
    problem, z = found.problem, found.z
    errors = problem.errors(z)
    remainders = [_remainder(problem, i, path, e[path], False) for i, e in enumerate(errors) for path in problem.paths]
    e = problem.weighed(errors)
    coloured = any(one.whiteness is not None and not one.whiteness.white for one in remainders)
    tests = [one.whiteness for one in remainders if one.whiteness is not None]
    likeness, persistence = likeness_of(tests), persistence_of(tests)
    J = problem.jacobian(z)
    edges = [_edge(x, PINNED) for x in z]
    inside = [j for j, edge in enumerate(edges) if not edge]
    spread = scatter(problem, J[:, inside], e, coloured, persistence)
    reaching = [j for j, sd in zip(inside, np.sqrt(np.diag(spread.C)), strict=True) if _edge(z[j], min(EDGE, sd))]
    if reaching:
        edges = [_edge(x, EDGE) if j in reaching else edge for j, (x, edge) in enumerate(zip(z, edges, strict=True))]
        inside = [j for j, edge in enumerate(edges) if not edge]
        spread = scatter(problem, J[:, inside], e, coloured, persistence)
    whole = scatter(problem, J, e, coloured, persistence) if len(inside) < len(z) else spread
    noisy = noise_runs(problem, z)
    if noisy is not None:
        caused = of_own_noise(noisy, J)
        remainders = _beside_own_noise(problem, remainders, noisy)
        whole = whole._replace(C=at_least(whole.C, caused), within=at_least(whole.within, np.minimum(caused, ANYWHERE)))
    estimates = _estimates(found, edges, whole, J, e)
    R = correlation(whole.C if whole.informed.all() else whole.within)
    kept = [
        _remainder(problem, i, path, each[path], True)
        for i, each in enumerate(errors)
        for path in problem.paths
        if problem.trials[i].outputs[path].held_out.any()
    ]
    others = [*kept, *_other_logs(found, held_out)]
    made = Belief(
        tuple(estimates), R, spread.singular, spread.condition, coloured, tuple(remainders), tuple(others), _criterion(found, e, likeness), ()
    )
    return Belief(**{**vars(made), "doubts": tuple(doubts(found, made, spread, inside, moved_by_finer_ticks(found, J, inside)))})


def _beside_own_noise(problem: Problem, remainders: list[Remainder], noisy: Array) -> list[Remainder]:
    """With what the noise of the world leaves by itself; rows of `noisy` and remainders come log by log, output by output."""
    made, row = [], 0
    for one in remainders:
        part = noisy[row : row + one.n]
        row += one.n
        made.append(replace(one, own_noise=float(np.sqrt(np.mean(part * part))) * problem.noise[one.path]))
    return made


def _edge(z: float, near: float) -> str:
    return "lower" if z < near else "upper" if z > 1.0 - near else ""


def _estimates(found: Fit, edges: list[str], spread: Scatter, J: Array, e: Array) -> list[Estimate]:
    sd = np.sqrt(np.diag(spread.C))
    reach = spread.quantile(len(e) - len(sd))
    weight = np.sqrt(pull(found.problem, e))
    below, above = profile(J * weight[:, None], e * weight, found.z, spread.C, reach) if any(edges) else (found.z, found.z)
    best = min((seed.loss for seed in found.seeds), default=found.loss)
    # what the likelihood ratio does not tell apart belongs to the interval, however far the curvature of one of them reaches
    equal = [found.z, *(seed.z for seed in found.seeds if seed.loss**2 <= best**2 * (1.0 + reach**2 / len(e)))]
    good = [seed.z for seed in found.seeds if seed.loss <= ALIKE_LOSS * best] or [found.z]
    made = []
    for j, (f, z, edge) in enumerate(zip(found.problem.free, found.z, edges, strict=True)):
        value, informed = float(f.value(z)), bool(spread.informed[j])
        if not informed:
            lo, hi, error = f.lo, f.hi, np.sqrt(spread.within[j, j]) * f.slope(z)
        elif any(edges):
            lo, hi = float(f.value(below[j])), float(f.value(above[j]))
            error = (hi - lo) / reach / (1.0 if edge else 2.0)
        else:
            lo, hi = _interval(f, z, reach * sd[j])
            error = float(sd[j] * f.slope(z))
        if informed:
            lo, hi = min(lo, *(float(f.value(one[j])) for one in equal)), max(hi, *(float(f.value(one[j])) for one in equal))
        edge = edge if informed or z != f.place(f.guess) else ""  # what is kept at its guess was not driven there
        seeds = [float(f.value(one[j])) for one in good]
        made.append(Estimate(f, value, float(error), lo, hi, max(seeds) - min(seeds) if informed else 0.0, edge, informed))
    return made


def _interval(f: Free, z: float, reach: float) -> tuple[float, float]:
    """As far below as above; by a factor where the range is searched by factors, so that it never goes below 0."""
    if f.scale == "log":
        return float(f.value(z - reach)), float(f.value(z + reach))
    value, far = float(f.value(z)), reach * f.slope(z)
    return max(value - far, f.lo), min(value + far, f.hi)


def _remainder(problem: Problem, i: int, path: str, error: Array, held_out: bool) -> Remainder:
    one = problem.trials[i]
    seen = one.outputs[path]
    use = seen.held_out if held_out else ~seen.held_out
    weight = pull(problem, error[use] * np.sqrt(seen.count[use]) / problem.noise[path])
    unit = one.used[path].unit if path in one.used else ""
    return remainder(one.name or f"log {i + 1}", path, unit, error[use], seen.value[use], held_out, weight)


def remainder(log: str, path: str, unit: str, e: Array, y: Array, held_out: bool, weight: Array) -> Remainder:
    mean = float(weight @ y / np.sum(weight)) if len(y) else 0.0
    about = float(weight @ (y - mean) ** 2)
    return Remainder(
        log,
        path,
        unit,
        len(e),
        float(np.sqrt(np.mean(e * e))),
        float(np.mean(np.abs(e))),
        float(np.max(np.abs(e))),
        max(1.0 - float(weight @ (e * e)) / about, 0.0) if about > 0.0 else float("nan"),
        None if held_out else whiteness(e if np.any(np.abs(e) > ROUNDING * float(np.ptp(y))) else np.zeros_like(e)),
        held_out,
    )


def judged(found: Fit, trials: Sequence[Trial]) -> tuple[Problem, Array, list[dict[str, Array]]]:
    """Logs that were not fitted to, with what was found: states start where they were measured, an offset is the mean one of the fitted logs."""
    problem = found.problem
    ranges = {f.path: (f.lo, f.hi) for f in problem.parameters}
    same: dict[str, Any] = {name: getattr(problem, name) for name in ("params", "offsets", "noise", "loss", "loss_scale", "device")}
    other = Problem(problem.world, trials, ranges, **same)
    z = other.guess
    z[: len(problem.parameters)] = [f.place(value) for f, value in zip(other.parameters, found.values.values(), strict=True)]
    for j, f in enumerate(other.free):
        if f.of == "offset":
            z[j] = f.place(float(np.mean([g.value(x) for g, x in zip(problem.free, found.z, strict=True) if g.of == "offset" and g.path == f.path])))
    return other, z, other.errors(z)


def _other_logs(found: Fit, trials: Sequence[Trial]) -> list[Remainder]:
    if not trials:
        return []
    other, _, errors = judged(found, trials)
    made = []
    for i, (one, each) in enumerate(zip(trials, errors, strict=True)):
        for path in other.paths:
            unit, seen = one.used[path].unit if path in one.used else "", one.outputs[path]
            weight = pull(other, each[path] * np.sqrt(seen.count) / other.noise[path])
            made.append(remainder(one.name or f"held-out log {i + 1}", path, unit, each[path], seen.value, True, weight))
    return made


def _criterion(found: Fit, e: Array, likeness: float) -> float:
    """n ln(loss / n) + k ln n, with n the values that count as independent: neighbours that are alike count less."""
    r = min(max(likeness, 0.0), 0.9999)
    n = max(len(e) * (1.0 - r) / (1.0 + r), 2.0)
    scale: Any = sum(np.log(found.problem.noise[path]) for path in found.problem.paths) / len(found.problem.paths)
    return float(n * (np.log(max(found.loss**2, 1e-300)) + 2.0 * scale) + len(found.z) * np.log(n))
