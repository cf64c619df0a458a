"""The files of a new study: a machine's own parameters, each a tenth off, or those of a fit by their uncertainty; and what its scenario expects as
metrics and pass criteria."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from pushrod.core.errors import InputError

BOUNDS = ("below", "above", "near", "within")
FREE = 6  # parameters that vary at first: those that the machine's file sets come first
OFF = ("90 %", "110 %")


def study_text(name: str, like: str, head: str, trust: bool, folder: Path, fitted: bool) -> str:
    """The study's file, for a folder; `head` is the comment it begins with. `fitted`: `like` is a fit, whose uncertainty varies."""
    from pushrod.sim import machine as machines
    from pushrod.sim import scenario as scenarios

    what = machines.load(like, trust=trust)
    how = scenarios.load(None, what)
    if how.commands:
        raise InputError(
            f"{how.name}, the scenario of {what.name}, commands actuators, and a study runs the world alone; start --like another machine"
        )
    at_first, others = _parameters(what, how, _uncertain(what) if fitted else ())
    place = like if like in machines.shipped() else os.path.relpath(like, folder)
    drawn = (
        ["# Drawn together as the fit knows them: by their standard deviations and correlations. `scale: 2` makes these twice as large.", "vary:"]
        if fitted
        else ["# A text in % is a share of the nominal value: the one the machine has.", "vary:"]
    )
    drawn += [f"  fitted: {{fit: {place}}}"] if fitted else [f"  {line}" for line in at_first]
    metrics, criteria = _measured(how.document.data.get("expectations") or [])
    return "\n".join(
        [
            f"{head.rstrip()}",
            f"study: {name}",
            f"about: {what.name} with {'what a fit leaves uncertain' if fitted else 'parameters a tenth off to either side'}",
            f"machine: {place}",
            "runs: 10000                              # samples; each runs in every scenario of the study",
            "design: lhs                              # of each parameter one sample in each of 10000 equal shares; or random, sobol, grid",
            "seed: 1                                  # of what is drawn, and of the noise in each run",
            "",
            *drawn,
            "",
            "# The other parameters of this machine, for moving up into `vary`:",
            *(f"#   {line}" for line in ([*at_first, *others] if fitted else others)),
            "",
            "# One number of every run each, taken from what the machine's scenario expects; `from` and `until` say which part of it counts.",
            "metrics:",
            *(f"  {metric}: {_flow(entry)}" for metric, entry in metrics.items()),
            "",
            "pass:",
            *(f"  - {_flow({'metric': metric} | bounds)}" for metric, bounds in criteria),
            "",
        ]
    )


def _uncertain(what: Any) -> list[str]:
    """The parameters whose errors a fit wrote."""
    told = what.document.data.get("uncertainty") or {}
    found = list(told.get("sd") or {}) if isinstance(told, dict) else []
    if not found:
        raise InputError(f"--from {what.document.file}: has no `uncertainty` with the errors of a fit; give a file that `pushrod fit` wrote")
    return found


def _parameters(what: Any, how: Any, fitted: Collection[str]) -> tuple[list[str], list[str]]:
    """Those that vary at first, and the others that can. A share of 0 is nothing, and neither is one of a choice or of a switch."""
    from pushrod.config.quantity_schema import span
    from pushrod.core.check import problems
    from pushrod.core.quantity import Choice
    from pushrod.core.record import get, numbers, put

    own = set(_paths(what.document.data.get("parameters") or {}))
    lines: dict[str, str] = {}
    for leaf in numbers(what.world.Params):
        value, meta = get(what.params, leaf.path), leaf.meta
        if isinstance(meta, Choice) or isinstance(value, (bool, int)) or value == 0.0 or leaf.path in fitted:
            continue
        if any(any(problems(put(how.params, leaf.path, share * value), "", how.dt)) for share in (0.9, 1.1)):
            continue  # it would leave its range, or not go with another
        drawn = f"{{uniform: [{', '.join(OFF if value > 0.0 else reversed(OFF))}]}}"
        lines[leaf.path] = f"{leaf.path}: {drawn}  # {value:g} [{meta.unit}{span(meta)}] {meta.about}".rstrip()  # type: ignore[union-attr]
    ordered = sorted(lines, key=lambda path: path not in own)
    return [lines[path] for path in ordered[:FREE]], [lines[path] for path in ordered[FREE:]]


def _paths(data: Any, above: str = "") -> Iterator[str]:
    if not isinstance(data, dict):
        yield above
        return
    for key, value in data.items():
        yield from _paths(value, f"{above}.{key}" if above else str(key))


def _measured(expected: list[dict[str, Any]]) -> tuple[dict[str, dict[str, Any]], list[tuple[str, dict[str, Any]]]]:
    """Metrics by name, and the bounds of each; what looks at a whole run is left out, since a study keeps none."""
    from pushrod.sweep.study_file import FOLDED

    metrics: dict[str, dict[str, Any]] = {}
    criteria: list[tuple[str, dict[str, Any]]] = []
    for entry in expected:
        if entry["metric"] not in FOLDED:
            continue
        name = f"{entry['signal']}_{entry['metric']}".replace(".", "_")
        while name in metrics:
            name = f"{name}_too"
        metrics[name] = {key: value for key, value in entry.items() if key not in BOUNDS}
        criteria.append((name, {key: entry[key] for key in BOUNDS if key in entry}))
    return metrics, criteria


def _flow(entry: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in entry.items()) + "}"
