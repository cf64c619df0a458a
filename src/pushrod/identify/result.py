"""A fit as files: YAML that is a machine and that other machine files can include, and plain figures for JSON.

world: servo                        runs by itself (`pushrod run`), or gives its values to another machine:
parameters:                         parameters: {include: servo_fit.yaml, body: {J: 0.02}}
  lag:
    T: 0.0301  # s, 95 %: 0.0298 to 0.0304
uncertainty:                        what a study can draw from
  sd: {lag.T: 0.00015}
  correlation: [[1]]
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pushrod.core.errors import LogError
from pushrod.core.quantity import Choice, Q, Table
from pushrod.core.record import get, leaves, put
from pushrod.identify.belief import Belief, Estimate, Remainder
from pushrod.identify.plain_yaml import flow, name_of
from pushrod.identify.search import Fit
from pushrod.sim.machine import Machine


def yaml_text(found: Fit, told: Belief, machine: Machine, file: Path) -> str:
    """The fitted parameters, and of the others those that are not as the world has them by default."""
    known = {one.free.path: one for one in told.estimates if one.free.of == "parameter"}
    params, apart = _with_constants(found)
    lines = [f"# fitted by pushrod to {', '.join(one.name for one in found.problem.trials)}", *(f"# doubt: {text}" for text in told.doubts)]
    lines += [f"# {text}" for text in apart]
    lines += [
        f"machine: {name_of(machine.name)}_fit",
        f"world: {_world(machine, file)}",
        f"about: {flow(f'{machine.name}, fitted to data')}",
        "parameters:",
    ]
    return "\n".join([*lines, *_nested(params, machine.world.Params(), known), *_uncertainty(told)]) + "\n"


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
    seen = [j for j, one in enumerate(told.estimates) if one.free.of == "parameter" and one.seen and not one.edge]
    if not seen:
        return
    yield "uncertainty:  # standard deviations, and how errors go together, in the same order; a study draws from it by {fit: this file}"
    yield "  sd:"
    for j in seen:
        yield f"    {told.estimates[j].free.path}: {told.estimates[j].sd:.6g}"
    yield "  correlation:"
    for j in seen:
        yield f"    - {flow([float(told.correlation[j, i]) for i in seen])}"


def _world(machine: Machine, file: Path) -> str:
    """As the file says it; a file beside the machine's is named from where this one will lie."""
    name = str(machine.document.data["world"])
    if ".py:" not in name:
        return name
    return str(os.path.relpath(machine.document.folder / name.rpartition(":")[0], file.resolve().parent)) + ":" + name.rpartition(":")[2]


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
    if one.edge:
        return f"{unit}at the {one.edge} end of its range"
    return f"{unit}95 %: {one.lo:.5g} to {one.hi:.5g}" if one.seen else f"{unit}not told by the data"


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
    seen = np.isfinite(one.sd)
    return {
        "value": one.value,
        "unit": one.free.unit,
        "sd": one.sd if seen else None,
        "interval": [one.lo, one.hi] if seen else None,
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
