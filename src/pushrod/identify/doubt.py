"""What speaks against believing a fit, in plain words, worst first."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pushrod.identify.cause import causes
from pushrod.identify.covariance import Scatter
from pushrod.identify.search import Fit
from pushrod.identify.ticking import FINER

if TYPE_CHECKING:
    from pushrod.identify.belief import Belief, Estimate

Array = NDArray[np.float64]
PLACED = 1e-9  # of its range: an estimate that is nearer to its guess lies there
TRADE = 0.98  # correlation above which two parameters can stand in for each other
ILL = 1e3  # condition above which a group of parameters can
VAGUE = 0.5  # of its range, or of its value: an interval that reaches further to each side says next to nothing
EXACT = 1e-6  # of the noise: a residual that is none
COARSE = 1.0  # standard deviations by which finer ticks may move an estimate
SMALL = 2e-3  # of its value: a lesser move is none
COUPLED = 0.3  # correlation above which an estimate at the end of its range acts on another one's interval
APART = 3.0  # standard deviations that seeds may lie apart
WORSE = 2.0  # times the error of what was fitted to: a model that does not carry over


def doubts(found: Fit, told: "Belief", spread: Scatter, inside: list[int], moved: Array) -> Iterator[str]:
    """`moved`: by how much each free number (0..1 of its range) would be another with finer ticks."""
    if found.stopped:
        yield "the search was stopped before its end: this is the best found until then"
    own = {(one.log, one.path): one.own_noise for one in told.remainders}
    logs = [one.name or f"log {i + 1}" for i, one in enumerate(found.problem.trials)]
    yield from causes(found.problem, found.z, found.problem.errors(found.z), lambda i, path: own.get((logs[i], path), 0.0))
    yield from _edges(told)
    yield from _ticks(found, told, moved)
    yield from _unseen(told)
    yield from _trades(found, told, spread, inside)
    yield from _seeds(found, told)
    yield from _rest(told)


def _edges(told: "Belief") -> Iterator[str]:
    names = [one.free.name for one in told.estimates]
    for j, one in enumerate(told.estimates):
        if one.edge:
            end = one.free.lo if one.edge == "lower" else one.free.hi
            others = np.argsort(-np.abs(told.correlation[j])) if one.informed else ()
            coupled = [names[i] for i in others if i != j and abs(told.correlation[j, i]) > COUPLED]
            profiled = f". The intervals of {', '.join(coupled)} let it vary up to {one.hi if one.edge == 'lower' else one.lo:.3g}" if coupled else ""
            yield (
                f"{one.free.name} lies at the {one.edge} end of its range ({end:.4g}{_unit(one)}): widen the range if it may go beyond, "
                f"else the model lacks an effect or this one is not there{profiled}"
            )


def _ticks(found: Fit, told: "Belief", moved: Array) -> Iterator[str]:
    """The equations are solved tick by tick: where that is coarse, a parameter makes up for it, and no interval knows."""
    far = []
    for one, z, by in zip(told.estimates, found.z, moved, strict=True):
        then = float(one.free.value(np.clip(z + by, 0.0, 1.0)))
        away = abs(then - one.value)
        if one.informed and one.free.of == "parameter" and away > COARSE * one.sd and away > SMALL * max(abs(one.value), abs(then)):
            far.append((away / max(abs(one.value), abs(then)), f"{one.free.name} ({one.value:.4g}{_unit(one)}, about {then:.4g} at a quarter of it)"))
    if far:
        dt = max(trial.dt for trial in found.problem.trials)
        names = ", ".join(text for _, text in sorted(far, reverse=True))
        yield f"these depend on the tick of {dt:.3g} s by more than their intervals: {names}; fit with a shorter one (--tick {dt / FINER:.2g})"


def _unseen(told: "Belief") -> Iterator[str]:
    for one in told.estimates:
        if one.edge:
            continue
        if not one.informed:
            yield (
                f"{one.free.name} is not informed by this data: it changes nothing that was measured, or only together with others. "
                f"{_kept(one)}, and is written with the spread of its range; fix it by --set, or measure what it acts on"
            )
        elif _vague(one):
            within = f"{one.lo:.3g} to {one.hi:.3g}{_unit(one)}"
            yield f"{one.free.name} is hardly seen in this data: anything from {within} fits; fix it, or excite it more"


def _kept(one: "Estimate") -> str:
    value = f"{one.value:.4g}{_unit(one)}"
    if abs(one.free.place(one.value) - one.free.place(one.free.guess)) < PLACED:
        return f"It is kept at {value}, its guess"
    return f"It is {value}, as near to its guess ({one.free.guess:.4g}) as fits with the others"


def _vague(one: "Estimate") -> bool:
    half = 0.5 * (one.hi - one.lo)
    return half > VAGUE * (one.free.hi - one.free.lo) or (one.free.of == "parameter" and half > VAGUE * abs(one.value) and one.value != 0.0)


def _trades(found: Fit, told: "Belief", spread: Scatter, inside: list[int]) -> Iterator[str]:
    names = [f.name for f in found.problem.free]
    paired = set()
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            if abs(told.correlation[i, j]) > TRADE:
                paired |= {i, j}
                alike = f"{names[i]} and {names[j]} trade off (correlation {told.correlation[i, j]:+.3f})"
                yield f"{alike}: fix one of them, or measure what tells them apart"
    if not len(spread.singular) or spread.singular[0] <= ILL * spread.singular[-1]:
        return
    group = {inside[j] for j in np.flatnonzero(np.abs(spread.directions[-1]) > 0.2)}
    if len(group) > 2 or (len(group) == 2 and not group & paired):
        together = ", ".join(names[j] for j in sorted(group))
        yield f"{together} can be changed together with next to no effect (condition {told.condition:.0f}): fix one of them"


def _seeds(found: Fit, told: "Belief") -> Iterator[str]:
    if len(found.seeds) < 2:
        return
    losses = sorted(seed.loss for seed in found.seeds)
    if losses[-1] > max(1.05 * losses[0], EXACT):
        yield (
            f"seeds end at different fits (residual {losses[0]:.4g} to {losses[-1]:.4g}, middle {losses[len(losses) // 2]:.4g}, weighted): "
            "the best is shown; more seeds or generations may find a better one"
        )
    for one in told.estimates:
        if one.free.of == "parameter" and one.informed and one.sd > 0.0 and one.spread > APART * one.sd and one.spread > 1e-3 * abs(one.value):
            what = "there are several answers" if one.hi - one.lo >= one.spread else "its interval is too narrow"
            yield f"{one.free.name} differs by {one.spread:.3g}{_unit(one)} between seeds that fit as well: {what}"


def _rest(told: "Belief") -> Iterator[str]:
    coloured = [one for one in told.remainders if one.lacks_effect]
    if coloured:
        worst = max(coloured, key=lambda one: abs(one.whiteness.r[1]))  # type: ignore[union-attr]
        r = worst.whiteness.r[1]  # type: ignore[union-attr]
        yield (
            f"residuals of {worst.path} in {worst.log} are autocorrelated (lag-1 correlation {r:.2f}): the model lacks an effect that the data show. "
            "The intervals (HAC) cover chance alone: parameters may be wrong by far more, as they stand in for that effect"
        )
    for path in dict.fromkeys(one.path for one in told.held_out):
        fitted = [one.rms for one in told.remainders if one.path == path]
        held = [one.rms for one in told.held_out if one.path == path]
        times = float(np.mean(held) / max(float(np.mean(fitted)), 1e-300))
        if times > WORSE:
            yield f"{path}: the error on what was held out is {times:.1f} times that on what was fitted: the fit does not carry over"


def _unit(one: "Estimate") -> str:
    return "" if one.free.unit == "-" else f" {one.free.unit}"
