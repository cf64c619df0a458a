"""Recordings that nothing can be learnt from: told before a fit, with what to do about it.

What is wrong with a column by itself is told when it is read (`column.py`). Here it is what the columns are beside each other and beside the model:
nothing moves, an output moves before its input, two columns fit when they are swapped, an output is a thousand times too large.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pushrod.config.unit import parse
from pushrod.core.errors import DiagnosisError, InputError
from pushrod.core.names import count
from pushrod.identify.experiment import Trial
from pushrod.identify.problem import Problem

Array = NDArray[np.float64]
STILL = 1e-9  # of its size: a signal that moves less does not move
LEAST = 3  # values for each free number
FAR_OFF = 100.0  # times: as far as the spans of two signals of one dimension may differ
FAR_FROM_GUESS = 300.0  # times: as far as what was measured may differ from what the model does at its guess
LIKE_57 = 1.5  # times: as far as the ratio of two spans may be from that of a radian to a degree
NEARLY = 10.0  # times: as far as two spans may differ that are of one size
BARE = ("", "-")
LEADS, LESS = 0.6, 0.7  # correlation of what leads, and the share of the difference that is left where it does
ALIKE, UNLIKE = 0.9, 0.5  # correlations that say that two signals are the same, or not


def diagnose(problem: Problem) -> None:
    """Raise DiagnosisError with all that is wrong."""
    wrong = list(_alone(problem)) or [*_early(problem), *_beside_the_model(problem)]
    if wrong:
        raise DiagnosisError(wrong)


def _alone(problem: Problem) -> Iterator[str]:
    if problem.samples < LEAST * len(problem.free):
        few = f"{count(problem.samples, 'value')} to fit {count(len(problem.free), 'free number')} to"
        yield f"{few}: at least {LEAST} for each are needed; record more, or free less"
    told = [path for one in problem.trials for path in one.inputs]
    if told and not any(_moves(values) for one in problem.trials for values in one.inputs.values()) and not any(one.start for one in problem.trials):
        still = ", ".join(dict.fromkeys(told))
        where = f"{_name(problem.trials[0], 0)}: " if len(problem.trials) == 1 else ""
        still += " never changes, which says nothing of how the machine answers"
        yield f"{where}{still}: excite it (pushrod excite), or say how it was let go (--start)"
    for i, one in enumerate(problem.trials):
        for path, seen in one.outputs.items():
            if not _moves(seen.value):
                value = f"{seen.first:g} {_unit(one, path)}".removesuffix(" -").strip()
                yield f"{_name(one, i)}: output {path} is {value} all the time: nothing can be learnt from it; is it the right column?"


def _early(problem: Problem) -> Iterator[str]:
    """Outputs that move before what drives them, and spans of signals of one dimension that are worlds apart."""
    for i, one in enumerate(problem.trials):
        for output in problem.paths:
            for channel, u in one.inputs.items():
                if not _moves(u) or not _same_dimension(_unit(one, output), _unit(one, channel)):
                    continue
                y = _on_ticks(one, output)
                ratio = float(np.ptp(y) / np.ptp(u))
                degrees = _degrees(one, output, channel, ratio)
                if degrees:
                    yield f"{_name(one, i)}: {degrees}"
                elif _unit(one, output) not in BARE and not 1.0 / FAR_OFF < ratio < FAR_OFF:
                    spans = f"output {output} spans {np.ptp(y):.3g} {_unit(one, output)}, input {channel} {np.ptp(u):.3g} {_unit(one, channel)}"
                    how = f"is one of both in another unit? Say which, such as '{output}=column [m{_unit(one, output)}]'"
                    yield f"{_name(one, i)}: {spans}, a factor of {ratio:.3g}: {how}"
                elif _leads(y, u):
                    yield f"{_name(one, i)}: output {output} moves before input {channel} does: are the two columns swapped?"


def _degrees(one: Trial, output: str, channel: str, ratio: float) -> str:
    """What to say where one of two angles is 57 times the other, and no unit was given for the larger one; "" where that is not so."""
    if not _is_angle(_unit(one, output)):
        return ""
    larger, side = (output, "--output") if ratio > 1.0 else (channel, "--input")
    column = one.used[larger]
    if column.written or abs(np.log(max(ratio, 1.0 / ratio) * np.pi / 180.0)) > np.log(LIKE_57):
        return ""
    unit = "deg" + column.unit.removeprefix("rad")
    return (
        f"output {output} spans {ratio:.3g} times input {channel}, and 57.3 is the number of degrees in a radian: if {larger} is in degrees, say so "
        f"({side} '{larger}={column.name} [{unit}]')"
    )


def _unsaid_degrees(one: Trial, path: str, ratio: float, likeness: float) -> str:
    """The same for an output beside the model at its guess, where both move alike."""
    column = one.used.get(path)
    if (
        column is None
        or column.written
        or not _is_angle(column.unit)
        or likeness < ALIKE
        or abs(np.log(max(ratio, 1e-9) * np.pi / 180.0)) > np.log(LIKE_57)
    ):
        return ""
    unit = "deg" + column.unit.removeprefix("rad")
    return (
        f"output {path} spans {ratio:.3g} times what the model does at its guess, and 57.3 is the number of degrees in a radian: if it is in "
        f"degrees, say so (--output '{path}={column.name} [{unit}]')"
    )


def _is_angle(unit: str) -> bool:
    try:
        return unit.startswith("rad") and parse(unit).dimension[-1] == 1
    except ValueError:
        return False


def _beside_the_model(problem: Problem) -> Iterator[str]:
    """What the model does at its guess, against what was measured."""
    simulated = problem.simulated_outputs(problem.guess)
    for i, (one, y) in enumerate(zip(problem.trials, simulated, strict=True)):
        seen = {path: (y[path][one.outputs[path].k], one.outputs[path].value) for path in problem.paths}
        for path, (model, measured) in seen.items():
            span = float(np.ptp(model)) if np.all(np.isfinite(model)) else 0.0
            ratio = float(np.ptp(measured)) / span if span > 0.0 else 1.0
            degrees = _unsaid_degrees(one, path, ratio, _likeness(model, measured))
            if degrees:
                yield f"{_name(one, i)}: {degrees}"
            elif _unit(one, path) not in BARE and not 1.0 / FAR_FROM_GUESS < ratio < FAR_FROM_GUESS:
                spans = f"output {path} spans {np.ptp(measured):.3g} {_unit(one, path)}, the model at its guess {span:.3g}"
                how = (
                    f"is the column in another unit (say which, such as '{path}=column [m{_unit(one, path)}]'), or is the guess that far off (--set)?"
                )
                yield f"{_name(one, i)}: {spans}, a factor of {ratio:.3g}: {how}"
        yield from _too_weak(problem, i, one, seen)
        for a, b in combinations(problem.paths, 2):
            if one.outputs[a].k.shape != one.outputs[b].k.shape:
                continue
            straight = max(_likeness(*seen[a]), _likeness(*seen[b]))
            crossed = min(_likeness(seen[a][0], seen[b][1]), _likeness(seen[b][0], seen[a][1]))
            if crossed > ALIKE and straight < UNLIKE:
                yield f"{_name(one, i)}: outputs {a} and {b} look like each other's: are the two columns swapped?"
        yield from _swapped_inputs(problem, i, one, seen)


def _too_weak(problem: Problem, i: int, one: Trial, seen: dict[str, tuple[Array, Array]]) -> Iterator[str]:
    """A model that friction holds, while with a thousand times the input it would move about as far as was measured."""
    if any(np.ptp(model) > 0.0 or not np.all(np.isfinite(model)) for model, _ in seen.values()):
        return
    for channel, u in one.inputs.items():
        unit = _unit(one, channel)
        if unit in BARE or not _moves(u):
            continue
        try:
            y = problem.outputs_with(i, {**one.inputs, channel: 1000.0 * u})
        except InputError:  # it cannot be meant like that
            continue
        if all(measured.size and 1.0 / NEARLY < np.ptp(y[path]) / np.ptp(measured) < NEARLY for path, (_, measured) in seen.items()):
            told = f"input {channel}, up to {np.max(np.abs(u)):.3g} {unit}, does not move the model at its guess; a thousand times as much would"
            yield f"{_name(one, i)}: {told}: is the column in another unit than {one.used[channel].written or unit}, or is the guess far off (--set)?"


def _swapped_inputs(problem: Problem, i: int, one: Trial, seen: dict[str, tuple[Array, Array]]) -> Iterator[str]:
    straight = max(_likeness(*pair) for pair in seen.values())
    if straight >= UNLIKE:
        return
    for a, b in combinations(one.inputs, 2):
        try:
            y = problem.outputs_with(i, {**one.inputs, a: one.inputs[b], b: one.inputs[a]})
        except InputError:  # it cannot be meant like that
            continue
        if min(_likeness(y[path][one.outputs[path].k], one.outputs[path].value) for path in problem.paths) > ALIKE:
            yield f"{_name(one, i)}: with inputs {a} and {b} the other way round the model does what was measured: are the two columns swapped?"


def _moves(values: Array) -> bool:
    return float(np.ptp(values)) > STILL * max(float(np.max(np.abs(values))), 1e-300)


def _likeness(x: Array, y: Array) -> float:
    if not np.all(np.isfinite(x)) or not _moves(x) or not _moves(y):
        return 0.0
    return float(np.corrcoef(x, y)[0, 1])


def _leads(y: Array, u: Array) -> bool:
    """Whether y moves before u: laid over each other with y ahead, clearly less of them differs than wherever y follows."""
    from scipy.signal import correlate

    y, u = y - y.mean(), u - u.mean()
    r = np.abs(correlate(y, u, "full")) / float(np.linalg.norm(y) * np.linalg.norm(u))
    zero = len(u) - 1  # here both lie as they were recorded; beyond it y follows u
    ahead, after = float(np.max(r[:zero], initial=0.0)), float(np.max(r[zero:], initial=0.0))
    return ahead > LEADS and 1.0 - ahead < LESS * (1.0 - after)


def _on_ticks(one: Trial, path: str) -> Array:
    return np.asarray(np.interp(np.arange(one.steps) + 1.0, one.outputs[path].k + one.outputs[path].a, one.outputs[path].value))


def _same_dimension(a: str, b: str) -> bool:
    if a in BARE or b in BARE:
        return a == b  # a model that takes a signal of any unit gives one of the same
    try:
        return parse(a).dimension == parse(b).dimension
    except ValueError:  # of a record's own
        return False


def _name(one: Trial, i: int) -> str:
    return one.name or f"log {i + 1}"


def _unit(one: Trial, path: str) -> str:
    return one.used[path].unit if path in one.used else ""
