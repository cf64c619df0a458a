"""A fit as one HTML page that needs nothing else, made of the pieces of `report`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.identify.belief import Belief, Estimate, Remainder, judged
from pushrod.identify.doubt import TRADE
from pushrod.identify.experiment import Trial
from pushrod.identify.interval_text import digits_for
from pushrod.identify.problem import Problem
from pushrod.identify.search import Fit
from pushrod.report.cell import Cell, Grid, amount, plain, text
from pushrod.report.drawing import Drawing
from pushrod.report.html_page import filled
from pushrod.report.number import number, quantity, unit_text, whole
from pushrod.report.thinning import thin

Array = NDArray[np.float64]
FOLDER = Path(__file__).parent / "template"
WIDE = 12  # parameters beyond which a matrix of all is no help: then only those that trade off
STRONG = 0.9  # correlation that is worth a colour
SEEDS = 12  # columns of parameters


def page(found: Fit, told: Belief, name: str, held_out: Sequence[Trial] = (), ladder: Grid | None = None) -> str:
    """`ladder`: the rungs it was chosen from."""
    trials = [*found.problem.trials, *held_out]
    sheet = Drawing([name], (0.0, max(one.seconds for one in trials)))
    logs = _logs(found.problem, found.z, found.problem.errors(found.z), sheet, False)
    if held_out:
        other, z, errors = judged(found, held_out)
        logs += _logs(other, z, errors, sheet, True)
    estimates = [one for one in told.estimates if one.free.of == "parameter"]
    content = {
        "title": f"{name}, fitted",
        "verdict": _verdict(told),
        "doubts": told.doubts,
        "facts": _facts(found, told),
        "ladder": ladder,
        "intervals": _intervals(told),
        "parameters": _estimates(estimates),
        "others": _estimates([one for one in told.estimates if one.free.of != "parameter"]) if len(estimates) < len(told.estimates) else None,
        "errors": _errors([*told.remainders, *told.held_out]),
        "logs": logs,
        "left": _left(told, sheet),
        "correlation": _correlation(told),
        "condition": number(told.condition),
        "seeds": _seeds(found) if len(found.seeds) > 1 else None,
    }
    return filled("fit.html", content, sheet, FOLDER)


def _verdict(told: Belief) -> dict[str, str]:
    least = min(told.remainders, key=lambda one: one.explained)
    share = f"{100.0 * least.explained:.2f} % of {least.path} explained" + (
        f", in the worst of {len(told.remainders)}" if len(told.remainders) > 1 else ""
    )
    if least.explained < 0.5:
        return {"state": "failed", "head": "No fit", "why": share}
    if told.doubts:
        return {"state": "partly", "head": "Fitted, with doubts", "why": share}
    return {"state": "held", "head": "Fitted", "why": f"{share}; what is left looks like noise"}


def _facts(found: Fit, told: Belief) -> list[tuple[str, str]]:
    problem = found.problem
    noise = ", ".join(f"{path} {quantity(value, _unit(problem, path))}" for path, value in found.noise.items())
    facts = [
        ("Logs", ", ".join(one.name for one in problem.trials)),
        ("Values fitted to", whole(problem.samples)),
        ("Noise, " + ("learnt" if problem.learns_noise else "given"), noise),
        ("Loss", problem.loss),
        ("Information criterion (BIC)", number(told.criterion, 6)),
        ("Simulated", f"{whole(found.simulated)} runs in {found.seconds:.1f} s"),
    ]
    return facts


def _intervals(told: Belief) -> str:
    if told.coloured and not any(one.lacks_effect for one in told.remainders):
        return (
            "The residuals are autocorrelated, and no larger than the noise of the world makes them. The intervals take both into account: the "
            "correlation of the residuals (HAC), and the errors that runs with noise cause."
        )
    if told.coloured:
        return (
            "The residuals are autocorrelated: the model lacks an effect, and parameters stand in for it. The intervals take the correlation of the "
            "residuals into account (HAC), which covers chance alone and not the error of the model."
        )
    return "Intervals hold the true value in 95 of 100 cases if the model is right and the noise is white, as the residuals say it is."


def _estimates(every: Sequence[Estimate]) -> Grid:
    rows = []
    for one in every:
        f = one.free
        if one.informed:
            end = f", at the {one.edge} end" if one.edge else ""
            digits = digits_for(one.lo, one.hi)
            within = Cell(f"{number(one.lo, digits)} … {number(one.hi, digits)}{end}", None, "bad" if end else "", "right")
            share = abs(one.sd / one.value) if one.value else None
            percent = "–" if share is None else f"{100.0 * share:.2g} %" if share < 1.0 else f"{100.0 * share:.0f} %"
            sd = Cell(percent, share, "warn" if share is not None and share > 0.25 else "", "right")
        else:
            within, sd = Cell("not informed", None, "bad", "right"), Cell("–", None, "dim", "right")
        searched = Cell(f"{number(f.lo)} … {number(f.hi)}", None, "dim", "right")
        rows.append((text(f.name), amount(one.value, f.unit, 5), within, sd, plain(one.spread, 2), searched, text(f.about)))
    return Grid(("parameter", "value", "95 % interval", "relative error", "over seeds", "searched", "about"), rows)


def _errors(every: Sequence[Remainder]) -> Grid:
    rows = []
    for one in every:
        white = one.whiteness
        said = (
            text("held out", "dim") if white is None else text("white", "good") if white.white else text(f"coloured, r₁ = {white.r[1]:.2f}", "warn")
        )
        tone = "bad" if one.explained < 0.5 else ""
        rows.append(
            (
                text(one.log),
                text(one.path),
                Cell(whole(one.n), float(one.n), "", "right"),
                amount(one.rms, one.unit, 4),
                amount(one.mean_absolute, one.unit, 4),
                amount(one.worst, one.unit, 4),
                Cell(f"{100.0 * one.explained:.2f} %", one.explained, tone, "right"),
                said,
            )
        )
    return Grid(("log", "output", "values", "rms error", "mean absolute", "worst", "explained", "residuals"), rows, 24)


def _logs(problem: Problem, z: Array, errors: list[dict[str, Array]], sheet: Drawing, held_out: bool) -> list[dict[str, Any]]:
    made = []
    for i, (one, y, e) in enumerate(zip(problem.trials, problem.simulated_outputs(z), errors, strict=True)):
        panels = []
        for path in problem.paths:
            panels += _panels(problem, one, i, path, y[path], e[path], z, sheet)
        made.append({"name": one.name or f"log {i + 1}", "held_out": held_out, "panels": panels})
    return made


def _panels(problem: Problem, one: Trial, i: int, path: str, y: Array, e: Array, z: Array, sheet: Drawing) -> list[dict[str, Any]]:
    """Simulated, a line, over measured, dots of another colour; and below it what is left."""
    seen, unit = one.outputs[path], unit_text(_unit(problem, path))
    late = one.t(path)[seen.held_out]
    bands = [{"kind": "unarmed", "label": "held out", "spans": [[float(late[0]), float(late[-1])]]}] if len(late) else []
    same = [
        (channel, values) for channel, values in one.inputs.items() if channel in one.used and one.used[channel].unit == one.used[path].unit != "-"
    ]
    ticks: Array = np.arange(1, one.steps + 1, dtype=np.float64) * one.dt
    lines = [_line(sheet, channel, "request", ticks - one.dt, values, unit) for channel, values in same]
    lines.append(_line(sheet, "measured", "measured", one.t(path), seen.value, unit) | {"dots": True})
    lines.append(_line(sheet, "simulated", "command", ticks, y + problem.offset(z, i, path), unit))
    drawn = sheet.add({"type": "time", "unit": unit, "lines": lines, "bands": bands})
    left = sheet.add(
        {"type": "time", "unit": unit, "lines": [_line(sheet, "simulated less measured", "series-1", one.t(path), e, unit)], "bands": bands}
    )
    return [{"panel": drawn, "title": path, "about": ""}, {"panel": left, "title": f"{path}: what is left", "about": ""}]


def _line(sheet: Drawing, label: str, part: str, t: Array, y: Array, unit: str) -> dict[str, Any]:
    t, y = thin(t, y)
    return {"label": label, "part": part, "run": 0, "x": sheet.times(np.ascontiguousarray(t)), "y": sheet.array(y), "unit": unit}


def _left(told: Belief, sheet: Drawing) -> list[dict[str, Any]]:
    made = []
    for one in told.remainders:
        white = one.whiteness
        if white is None or len(white.r) < 3:
            continue
        panel = sheet.add({"type": "lags", "lags": list(range(1, len(white.r))), "values": [float(r) for r in white.r[1:]], "bound": white.bound})
        about = f"white (Ljung-Box p = {number(white.p, 2)})" if white.white else f"not white (Ljung-Box p = {number(white.p, 2)})"
        made.append({"panel": panel, "title": f"{one.log}: {one.path}", "about": about})
    return made


def _correlation(told: Belief) -> Grid | None:
    R = told.correlation
    shown = list(range(len(R)))
    if len(shown) > WIDE:
        strong = np.abs(R - np.eye(len(R))).max(axis=0)
        shown = sorted(np.argsort(-strong)[:WIDE].tolist())
    if len(shown) < 2:
        return None
    names = [told.estimates[j].free.name for j in shown]
    rows = [(text(names[a]), *(_correlated(R[i, j], i == j) for j in shown)) for a, i in enumerate(shown)]
    return Grid(("", *names), rows)


def _correlated(r: float, same: bool) -> Cell:
    if same:
        return Cell("1", 1.0, "dim", "right")
    tone = "bad" if abs(r) > TRADE else "warn" if abs(r) > STRONG else ""
    return Cell(f"{r:+.2f}".replace("-", "−"), float(r), tone, "right")


def _seeds(found: Fit) -> Grid:
    free = found.problem.parameters[:SEEDS]
    ordered = sorted(found.seeds, key=lambda seed: seed.loss)
    rows = [(text(seed.seed), plain(seed.loss, 5), *(plain(seed.values[f.path], 4) for f in free)) for seed in ordered]
    return Grid(("seed", "residual", *(f"{f.path} [{unit_text(f.unit)}]" if unit_text(f.unit) else f.path for f in free)), rows)


def _unit(problem: Problem, path: str) -> str:
    used = problem.trials[0].used
    return used[path].unit if path in used else ""
