"""A fit as files: YAML that is a machine and that other machine files can include, and plain figures for JSON.

world: servo                        runs by itself (`pushrod run`), or gives its values to another machine:
parameters:                         parameters: {include: servo_fit.yaml, body: {J: 0.02}}
  lag:
    T: 0.0301  # s, 95 %: 0.0298 to 0.0304
uncertainty:                        what a study can draw from
  sd: {lag.T: 0.00015}
  correlation: [[1]]
  range: {}                         of estimates at an end of it, or that the data do not inform
scenario: servo_step                scenario, robot, ports and tracked pairs are those of the machine that was fitted
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pushrod.core.errors import LogError
from pushrod.core.quantity import Choice, Q, Table
from pushrod.core.record import get, leaves, put
from pushrod.identify.belief import Belief, Estimate, Remainder
from pushrod.identify.interval_text import interval_text
from pushrod.identify.plain_yaml import flow, name_of
from pushrod.identify.search import Fit
from pushrod.sim import machine_robot as robots
from pushrod.sim import scenario as scenarios
from pushrod.sim.machine import Machine


def yaml_text(found: Fit, told: Belief, machine: Machine, file: Path) -> str:
    """The fitted parameters, and of the others those that are not as the world has them by default."""
    known = {one.free.path: one for one in told.estimates if one.free.of == "parameter"}
    params, apart = _with_constants(found)
    lines = [f"# fitted by pushrod to {', '.join(one.name for one in found.problem.trials)}", *(f"# doubt: {text}" for text in told.doubts)]
    lines += [f"# {text}" for text in apart]
    lines += [
        f"machine: {name_of(machine.name)}_fit",
        f"world: {_code(machine, str(machine.document.data['world']), file)}",
        f"about: {flow(f'{machine.name}, fitted to data')}",
        "parameters:",
    ]
    return "\n".join([*lines, *_nested(params, machine.world.Params(), known), *_uncertainty(told), *_rest(machine, file)]) + "\n"


def _rest(machine: Machine, file: Path) -> Iterator[str]:
    """What else the machine has, so that the fitted one runs, is served and is studied as it is: scenario, tracked pairs, robot and ports."""
    data = machine.document.data
    for key, known in (("scenario", scenarios.shipped()), ("robot", robots.shipped())):
        name = data.get(key)
        if isinstance(name, str):
            yield f"{key}: {flow(name if name in known else _beside(machine, name, file))}"
    if data.get("live") is not None:
        yield f"live: {_code(machine, str(data['live']), file)}"
    if data.get("ports"):
        yield f"ports: {flow(data['ports'])}"
    if data.get("track"):
        yield from ("track:", *(f"  - {flow(pair)}" for pair in data["track"]))


def _beside(machine: Machine, name: str, file: Path) -> str:
    """A file beside the machine's, named from where the new one will lie."""
    return str(os.path.relpath(machine.document.folder / name, file.resolve().parent))


def _with_constants(found: Fit) -> tuple[Any, list[str]]:
    """What was found, with what is known of all logs alike; and what to say of constants that each log has for itself."""
    params, apart = found.params, []
    trials = found.problem.trials
    for path in dict.fromkeys(path for one in trials for path in one.constants):
        values = [one.constants.get(path, float(get(found.params, path))) for one in trials]
        if min(values) == max(values):
            params = put(params, path, values[0])
        else:
            apart.append(
                f"{path} was {', '.join(dict.fromkeys(f'{value:g}' for value in values))} in the logs: say yours; here it is {get(params, path):g}"
            )
    return params, apart


def _uncertainty(told: Belief) -> Iterator[str]:
    """Errors and correlations of what the data tell, for studies: {fit: FILE}."""
    seen = [j for j, one in enumerate(told.estimates) if one.free.of == "parameter" and one.sd > 0.0]
    if not seen:
        return
    yield "uncertainty:  # standard deviations, and how errors go together, in the same order; a study draws from it by {fit: this file}"
    yield "  sd:"
    for j in seen:
        yield f"    {told.estimates[j].free.path}: {told.estimates[j].sd:.6g}"
    yield "  correlation:"
    for j in seen:
        yield f"    - {flow([float(told.correlation[j, i]) for i in seen])}"
    bounded = [told.estimates[j] for j in seen if told.estimates[j].edge or not told.estimates[j].informed]
    if bounded:
        yield "  range:  # of estimates at an end of it, and of those that the data do not inform: a study draws within it"
        yield from (f"    {one.free.path}: {flow(_range(one))}" for one in bounded)


def _range(one: Estimate) -> dict[str, Any]:
    """Return the range that was searched, with the scale on which any value in it was as likely (`free.py`)."""
    entry: dict[str, Any] = {"low": one.free.lo, "high": one.free.hi, "informed": one.informed}
    return entry if one.free.scale == "linear" else {**entry, "scale": one.free.scale, "size": one.free.size}


def _code(machine: Machine, name: str, file: Path) -> str:
    """A world as the machine's file names it; of a Python file beside that, its place from where the new one will lie."""
    if ".py:" not in name:
        return name
    module, _, constant = name.rpartition(":")
    return f"{_beside(machine, module, file)}:{constant}"


def _nested(params: Any, default: Any, known: dict[str, Estimate]) -> Iterator[str]:
    above: tuple[str, ...] = ()
    record: Any = type(params)
    for leaf in leaves(record):
        value = get(params, leaf.path)
        if leaf.path not in known and (not isinstance(leaf.meta, (Q, Choice, Table)) or value == get(default, leaf.path)):
            continue
        *groups, name = leaf.path.split(".")
        same = next((n for n, pair in enumerate(zip(above, groups, strict=False)) if pair[0] != pair[1]), min(len(above), len(groups)))
        for depth in range(same, len(groups)):
            yield f"{'  ' * (depth + 1)}{groups[depth]}:"
        above = tuple(groups)
        shown = flow([float(x) for x in value]) if isinstance(leaf.meta, Table) else _number(leaf.meta, value)
        about = f"  # {_about(known[leaf.path])}" if leaf.path in known else ""
        yield f"{'  ' * (len(groups) + 1)}{name}: {shown}{about}"


def _number(meta: Any, value: float) -> str:
    return str(meta.names[int(value)]) if isinstance(meta, Choice) else f"{value:.10g}"


def _about(one: Estimate) -> str:
    unit = "" if one.free.unit == "-" else f"{one.free.unit}, "
    if not one.informed:
        return f"{unit}not informed by the data: anything from {interval_text(one.lo, one.hi)}"
    return f"{unit}95 %: {interval_text(one.lo, one.hi)}" + (f", at the {one.edge} end of its range" if one.edge else "")


def write(text: str, file: Path) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as e:
        raise LogError(f"{file}: cannot be written: {e.strerror or e}") from e


def figures(found: Fit, told: Belief) -> dict[str, Any]:
    """All that was found, as plain data."""
    return {
        "parameters": {one.free.path: _estimate(one) for one in told.estimates if one.free.of == "parameter"},
        "others": [
            {"of": one.free.of, "path": one.free.path, "log": one.free.trial, **_estimate(one)}
            for one in told.estimates
            if one.free.of != "parameter"
        ],
        "loss": found.loss,
        "noise": found.noise,
        "seeds": [{"seed": seed.seed, "loss": seed.loss, "parameters": seed.values} for seed in found.seeds],
        "names": [one.free.name for one in told.estimates],
        "correlation": told.correlation.tolist(),
        "condition": told.condition,
        "coloured": told.coloured,
        "criterion": told.criterion,
        "residuals": [_remainder(one) for one in told.remainders],
        "held_out": [_remainder(one) for one in told.held_out],
        "doubts": list(told.doubts),
        "values": found.problem.samples,
        "simulated": found.simulated,
        "seconds": found.seconds,
        "stopped": found.stopped,
    }


def _estimate(one: Estimate) -> dict[str, Any]:
    return {
        "value": one.value,
        "unit": one.free.unit,
        "sd": one.sd,
        "interval": [one.lo, one.hi],
        "informed": one.informed,
        "range": [one.free.lo, one.free.hi],
        "spread_over_seeds": one.spread,
        "edge": one.edge or None,
    }


def _remainder(one: Remainder) -> dict[str, Any]:
    return {
        "log": one.log,
        "output": one.path,
        "unit": one.unit,
        "values": one.n,
        "rms": one.rms,
        "mean_absolute": one.mean_absolute,
        "worst": one.worst,
        "explained": one.explained,
        "white": None if one.whiteness is None else one.whiteness.white,
        "neighbours_alike": None if one.whiteness is None or len(one.whiteness.r) < 2 else float(one.whiteness.r[1]),
    }
