"""What is wrong with a recording, where what a fit leaves of it shows that; each with the option that mends it.

sign       the model at its guess moves against what was measured, and the fit explains little or needs a parameter of the other sign
start      what is left lies in the beginning, or is explained by states that start where they were measured: the machine was not in the initial
           state of the model
offset     a fit with a constant on the output explains most of what is left
outliers   single values far beyond the scatter of the others
degrees    a free gain is 57.3 times its guess, or that part of it
clipping   the highest or lowest value comes again and again, and the simulation goes beyond it there
gaps       an input is unknown for many of its own periods
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from pushrod.core.names import count
from pushrod.core.record import numbers
from pushrod.identify.alternative import Alternative, differing_states, state_of, with_measured_start, with_offsets
from pushrod.identify.descent import cost_of
from pushrod.identify.experiment import Trial
from pushrod.identify.problem import Problem
from pushrod.identify.spread import period

Array = NDArray[np.float64]
AGAINST = -0.5  # correlation of what moves the other way
POOR = 0.7  # of an output: less is explained little
MOST = 0.5  # of the squares of what is left, which a cause has to account for
FIRST = 0.15  # of a log: its beginning
CLEAR = 5.0  # times the standard error: no chance
CLIPPED, IN_A_ROW = 0.03, 5  # share of values at an extreme, and how many of them come one after another
BEYOND, OFTEN = 0.02, 0.25  # of the span: how far the simulation goes beyond a clipped value, and for which share of these values
GAP = 10.0  # periods without a value
OF_THE_WORLD = 1.5  # times what the noise of the world leaves by itself: residuals that are no larger have no other cause
NEIGHBOURS = 0.2  # of the squares of residuals: what products of neighbours amount to where residuals have a mean or a slow part
ALIKE = 1.1  # times the least loss: two explanations that fit alike
OUTLYING, OUTLIERS, SINGLE = 6.0, (1e-3, 0.2), 0.5  # standard deviations, shares of all values, share of outliers that stand alone
DEGREES = 180.0 / np.pi
NEAR_57 = 0.01  # relative


def causes(problem: Problem, z: Array, errors: list[dict[str, Array]], own_noise: Callable[[int, str], float] = lambda i, path: 0.0) -> Iterator[str]:
    """`errors` are simulated less measured, at every measured value; `own_noise(log, output)` is what the noise of the world leaves by itself.

    A specific cause of a log suppresses the general ones: parameters that make up for a sign or for clipping leave a constant as well.
    """
    guessed = problem.simulated_outputs(problem.guess)
    unexplained = []
    for i, one in enumerate(problem.trials):
        where = one.name or f"log {i + 1}"
        specific: list[str] = []
        early: list[str] = []
        usable = [path for path in problem.paths if len(errors[i][path]) >= 2 * IN_A_ROW and np.all(np.isfinite(errors[i][path]))]
        for path in usable:
            seen, e = one.outputs[path], errors[i][path]
            specific += _sign(where, path, one, e, guessed[i][path][seen.k], _turned(problem, z))
            specific += _clipped(where, path, one, e)
            specific += _outliers(where, path, one, e, problem)
            early += _start(where, path, one, e, problem)
        gaps = list(_gaps(where, one))
        yield from (*specific, *(() if specific else early), *gaps)
        if not specific and not early and not gaps and any(_is_systematic(errors[i][path], own_noise(i, path), one, path) for path in usable):
            unexplained.append(i)
    yield from _degrees(problem, z)
    if unexplained:
        yield from _constant(problem, z, unexplained)


def _turned(problem: Problem, z: Array) -> dict[str, float]:
    """Parameters that have another sign than their guess."""
    return {path: value for f, (path, value) in zip(problem.parameters, problem.values(z).items(), strict=True) if f.guess * value < 0.0}


def _sign(where: str, path: str, one: Trial, e: Array, guess: Array, turned: dict[str, float]) -> Iterator[str]:
    y = one.outputs[path].value
    moves = np.all(np.isfinite(guess)) and np.ptp(guess) > 0.0 and np.ptp(y) > 0.0
    explained = 1.0 - float(e @ e) / max(float(np.sum((y - y.mean()) ** 2)), 1e-300)
    if not moves or float(np.corrcoef(guess, y)[0, 1]) > AGAINST:
        return
    name = one.used[path].name if path in one.used else path
    if explained < POOR:
        yield f"{where}: output {path} moves against the model: if its sign is inverted, write --output '{path}=-{name}'"
    elif turned:
        values = ", ".join(f"{each} = {value:.4g}" for each, value in turned.items())
        yield (
            f"{where}: output {path} moves against the model at its guess, and {values} makes up for it: if the sign of {name} is inverted, write "
            f"--output '{path}=-{name}'; else start from that sign (--set)"
        )


def _is_systematic(e: Array, own_noise: float, one: Trial, path: str) -> bool:
    """Return whether residuals have a part that a constant or another initial state may be: a mean, or neighbours that are alike."""
    squares = float(e @ e)
    if np.sqrt(squares / len(e)) <= max(OF_THE_WORLD * own_noise, 1e-6 * one.outputs[path].span):
        return False
    return float(e[1:] @ e[:-1]) > NEIGHBOURS * squares


def _constant(problem: Problem, z: Array, logs: list[int]) -> Iterator[str]:
    """Offsets, or other initial states: whichever lowers the loss more, if it accounts for most of it; both where they fit alike."""
    loss = cost_of(problem, problem.residuals(z))
    given = {state for one in problem.trials for state in one.start}
    # An output whose state starts at its measured value has no offset: the two would contradict each other.
    free = [path for path in problem.paths if path not in problem.offsets and state_of(problem, path) not in given]
    offset = with_offsets(problem, z, free) if free else None
    start = with_measured_start(problem, z)
    best = min((one.loss for one in (offset, start) if one is not None), default=loss)
    if best > (1.0 - MOST) * loss:
        return
    if start is not None and start.loss <= ALIKE * best:
        for i in logs:
            yield from _other_start(problem, i)
    if offset is not None and offset.loss <= ALIKE * best:
        paths = _needed(problem, z, free, offset)
        for i in logs:
            one, where = problem.trials[i], problem.trials[i].name or f"log {i + 1}"
            for path in paths:
                by = offset.offsets[i, path]
                if abs(by) > 1e-6 * one.outputs[path].span:
                    far = f"{by:.3g}{_unit(one, path)}"
                    yield f"{where}: output {path} is off by {far} all along: if its sensor has an offset, find it by --offset {path}"


def _needed(problem: Problem, z: Array, paths: list[str], offset: Alternative) -> list[str]:
    """Return the outputs whose constants lower the loss: those without which it is clearly higher."""
    if len(paths) < 2:
        return paths
    found = []
    for path in paths:
        without = with_offsets(problem, z, [each for each in paths if each != path])
        if without is None or without.loss > ALIKE * offset.loss:
            found.append(path)
    return found


def _other_start(problem: Problem, i: int) -> Iterator[str]:
    one, where = problem.trials[i], problem.trials[i].name or f"log {i + 1}"
    states = differing_states(problem, i)
    for path in problem.paths:
        state = state_of(problem, path)
        if state in states:
            yield (
                f"{where}: output {path} is {states[state]:.3g}{_unit(one, path)} at first, and a fit that starts there leaves far less: the "
                f"recording begins in another state than the model. Give that state (--start {state}={path})"
            )


def _outliers(where: str, path: str, one: Trial, e: Array, problem: Problem) -> Iterator[str]:
    """Single values far beyond the scatter of the others, which squares count too much."""
    scatter = 1.4826 * float(np.median(np.abs(e - np.median(e))))
    if problem.loss != "linear" or not scatter > 1e-9 * one.outputs[path].span:
        return
    far = np.abs(e - np.median(e)) > OUTLYING * scatter
    alone = far & ~np.concatenate(([False], far[:-1])) & ~np.concatenate((far[1:], [False]))
    if OUTLIERS[0] < far.mean() < OUTLIERS[1] and alone.sum() > SINGLE * far.sum() and float(e[far] @ e[far]) > MOST * float(e @ e):
        yield (
            f"{where}: output {path} has {count(int(far.sum()), 'outlier')} in {len(e)} values, beyond {OUTLYING:.0f} standard deviations of the "
            "rest: give outliers less weight by a robust loss (--loss huber)"
        )


def _degrees(problem: Problem, z: Array) -> Iterator[str]:
    """A gain that is 57.3 times its guess, or times 1, or that part of it: one side is in degrees, the other in radians."""
    for f, (path, value) in zip(problem.parameters, problem.values(z).items(), strict=True):
        if f.unit != "-":
            continue
        for guess in dict.fromkeys((abs(f.guess), 1.0)):
            for side, option, factor in (("outputs", "--output", DEGREES), ("inputs", "--input", 1.0 / DEGREES)):
                if guess > 0.0 and abs(abs(value) / (guess * factor) - 1.0) < NEAR_57:
                    bare = _bare(problem.trials[0], side)
                    if bare:
                        how = ", ".join(f"{option} '{each}={name} [deg]'" for each, name in bare.items())
                        what = "57.3 times" if factor > 1.0 else "1/57.3 of"
                        yield (
                            f"{path} = {value:.4g} is {what} {guess:.4g}, and 57.3 is the number of degrees in a radian: if {', '.join(bare)} is in "
                            f"degrees, give that unit ({how})"
                        )
                        return


def _bare(one: Trial, side: str) -> dict[str, str]:
    """Return the columns without a unit that are of any unit or an angle, by input or output."""
    columns = {path: one.used[path] for path in getattr(one, side) if path in one.used}
    return {path: column.name for path, column in columns.items() if not column.written and (column.unit in ("", "-") or column.unit == "rad")}


def _start(where: str, path: str, one: Trial, e: Array, problem: Problem) -> Iterator[str]:
    early = one.outputs[path].k < FIRST * one.steps
    if early.sum() < IN_A_ROW or early.all():
        return
    squares, rest = float(e[early] @ e[early]), float(np.sqrt(np.mean(e[~early] ** 2)))
    if squares > MOST * float(e @ e) and np.mean(np.abs(e[early][:IN_A_ROW])) > CLEAR * max(rest, 1e-9 * one.outputs[path].span):
        states = [leaf.path for leaf in numbers(problem.world.State)]
        same = state_of(problem, path)
        how = f"--start {same}={path}" if same is not None else f"--start STATE=LOW..HIGH, such as {states[0]}" if states else "--from"
        if same in one.start:
            how = f"--start {same}=LOW..HIGH, which finds it"
        yield (
            f"{where}: output {path} differs by {-float(e[0]):.3g}{_unit(one, path)} at first and then fits: the recording begins in another state "
            f"than the model; say where ({how})"
        )


def _clipped(where: str, path: str, one: Trial, e: Array) -> Iterator[str]:
    """A fit makes up for a clipped sensor, so that residuals there are no larger than elsewhere: what counts is that the simulation goes beyond."""
    y = one.outputs[path].value
    ends, is_clipped = [], False
    for extreme, beyond in ((float(np.max(y)), e), (float(np.min(y)), -e)):
        at = y == extreme
        at[: int(np.argmin(at))] = False  # a recording that begins there begins at rest
        runs = np.diff(np.flatnonzero(np.diff(np.concatenate(([0], at.astype(int), [0])))))[::2]
        if at.mean() > CLIPPED and runs.max(initial=0) >= IN_A_ROW:
            ends.append(f"{extreme:.4g}{_unit(one, path)} for {count(int(at.sum()), 'value')}")
            is_clipped = is_clipped or float(np.mean(beyond[at] > BEYOND * one.outputs[path].span)) > OFTEN
    if is_clipped:
        yield (
            f"{where}: output {path} is {' and '.join(ends)}, and the simulation goes beyond: if the sensor is clipped there, give these values no "
            f"weight (--weight {path}=COLUMN, 0 where it is clipped)"
        )


def _gaps(where: str, one: Trial) -> Iterator[str]:
    for channel in one.inputs:
        t = one.used[channel].t if channel in one.used else np.zeros(0)
        t = t[(t >= one.t0) & (t <= one.t0 + one.seconds)]
        gaps = np.diff(t)
        if len(gaps) > IN_A_ROW and gaps.max() > GAP * period(t) and np.sum(gaps > GAP * period(t)) < CLIPPED * len(gaps):
            i = int(np.argmax(gaps))
            yield (
                f"{where}: input {channel} has no value from {t[i]:.4g} to {t[i + 1]:.4g} s, {gaps[i] / period(t):.0f} of its periods, and is held: "
                f"cut the log (--to {t[i]:.4g} or --from {t[i + 1]:.4g}), or join its values by --hold linear"
            )


def _unit(one: Trial, path: str) -> str:
    unit = one.used[path].unit if path in one.used else "-"
    return "" if unit in ("", "-") else f" {unit}"
