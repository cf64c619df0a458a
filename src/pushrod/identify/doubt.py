"""What speaks against believing a fit, in plain words, worst first."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pushrod.identify.covariance import Scatter
from pushrod.identify.search import Fit
from pushrod.identify.ticking import FINER

if TYPE_CHECKING:
    from pushrod.identify.belief import Belief, Estimate

Array = NDArray[np.float64]
TRADE = 0.98  # correlation above which two parameters can stand in for each other
ILL = 1e3  # condition above which a group of parameters can
VAGUE = 0.5  # of its range, or of its value: an interval that reaches further to each side says next to nothing
EXACT = 1e-6  # of the noise: a residual that is none
COARSE = 1.0  # standard deviations by which finer ticks may move an estimate
SMALL = 2e-3  # of its value: a lesser move is none
APART = 3.0  # standard deviations that seeds may lie apart
WORSE = 2.0  # times the error of what was fitted to: a model that does not carry over


def doubts(found: Fit, told: "Belief", spread: Scatter, inside: list[int], moved: Array) -> Iterator[str]:
    """`moved`: by how much each free number (0..1 of its range) would be another with finer ticks."""
    if found.stopped:
        yield "the search was stopped before its end: this is the best found until then"
    yield from _edges(told)
    yield from _ticks(found, told, moved)
    yield from _unseen(told)
    yield from _trades(found, told, spread, inside)
    yield from _seeds(found, told)
    yield from _rest(told)


def _edges(told: "Belief") -> Iterator[str]:
    for one in told.estimates:
        if one.edge:
            end = one.free.lo if one.edge == "lower" else one.free.hi
            yield (
                f"{one.free.name} lies at the {one.edge} end of its range ({end:.4g}{_unit(one)}): widen the range if it may go beyond, "
                "else the model lacks an effect or this one is not there"
            )


def _ticks(found: Fit, told: "Belief", moved: Array) -> Iterator[str]:
    """The equations are solved tick by tick: where that is coarse, a parameter makes up for it, and no interval knows."""
    worst, by = None, COARSE
    for one, z, far in zip(told.estimates, found.z, moved, strict=True):
        away = abs(far) * one.free.slope(z)
        if one.seen and one.free.of == "parameter" and away > by * one.sd and away > SMALL * abs(one.value):
            worst, by = (one, float(one.free.value(np.clip(z + far, 0.0, 1.0)))), away / one.sd
    if worst is not None:
        one, then = worst
        dt = max(trial.dt for trial in found.problem.trials)
        yield (
            f"{one.free.name} depends on the tick: {one.value:.4g}{_unit(one)} with {dt:.3g} s, about {then:.4g} with a quarter of that, "
            f"{by:.1f} standard deviations away; fit with a shorter one (--tick {dt / FINER:.2g})"
        )


def _unseen(told: "Belief") -> Iterator[str]:
    for one in told.estimates:
        if one.edge:
            continue
        if not one.seen:
            yield f"{one.free.name} cannot be told from this data: it changes nothing that was measured, or only together with others; fix it"
        elif _vague(one):
            within = f"{one.lo:.3g} to {one.hi:.3g}{_unit(one)}"
            yield f"{one.free.name} is hardly seen in this data: anything from {within} fits; fix it, or excite it more"


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
        if one.free.of == "parameter" and one.seen and one.sd > 0.0 and one.spread > APART * one.sd and one.spread > 1e-3 * abs(one.value):
            yield f"{one.free.name} differs by {one.spread:.3g}{_unit(one)} between seeds that fit as well: its interval is too narrow"


def _rest(told: "Belief") -> Iterator[str]:
    coloured = [one for one in told.remainders if one.whiteness is not None and not one.whiteness.white]
    if coloured:
        worst = max(coloured, key=lambda one: abs(one.whiteness.r[1]))  # type: ignore[union-attr]
        r = worst.whiteness.r[1]  # type: ignore[union-attr]
        yield (
            f"what is left of {worst.path} in {worst.log} is not white (neighbours are alike by {r:.2f}): the model lacks something that the "
            "data show. Intervals allow for it (HAC), as far as the model is right otherwise"
        )
    for path in dict.fromkeys(one.path for one in told.held_out):
        fitted = [one.rms for one in told.remainders if one.path == path]
        held = [one.rms for one in told.held_out if one.path == path]
        times = float(np.mean(held) / max(float(np.mean(fitted)), 1e-300))
        if times > WORSE:
            yield f"{path}: the error on what was held out is {times:.1f} times that on what was fitted: the fit does not carry over"


def _unit(one: "Estimate") -> str:
    return "" if one.free.unit == "-" else f" {one.free.unit}"
