"""A test as the scenario file that `pushrod run` takes: what is expected of it stands in its comments, its limits are its expectations.

A world or a model that is no machine gets a machine file beside it.
"""

import os
from pathlib import Path
from typing import Any

from pushrod.identify.excite import Excitation
from pushrod.identify.information import Expected
from pushrod.identify.plain_yaml import flow, name_of
from pushrod.identify.written import refuse_taken, write_all
from pushrod.sim.machine import Machine, shipped


def scenario_text(found: Excitation, machine: str, name: str) -> str:
    """`machine`: how the scenario names the machine it was written for."""
    units = _units(found)
    lines = [f"# A test that tells the parameters of {found.machine.name}, by `pushrod excite`: {found.kind}."]
    lines += ["#", "# Standard deviation to be expected of each parameter, with"]
    lines += [f"#   {path} measured every {found.sample * 1e3:g} ms, noise {sigma:.3g} {units[path]}" for path, sigma in found.setup.outputs.items()]
    width = max(len(row.path) for row in found.expected)
    lines += ["#", *(f"#   {row.path:<{width}}  {words(row)}" for row in found.expected)]
    lines += [f"scenario: {name}", f"machine: {machine}", f"about: a {found.kind} that tells the parameters"]
    lines += [f"duration: {found.seconds:g}", f"dt: {found.setup.dt:g}"]
    kept: Any = found.rest.get("initial")
    if kept:
        lines += [f"initial: {flow(kept)}"]
    lines += ["", "signals:"]
    for path, signal in {**found.rest.get("signals", {}), **found.signals}.items():
        lines += _signal(path, signal)
    expectations = [
        f"  - {{signal: {path}, metric: {metric}, {side}: {bound:.6g}}}"
        for path, span in found.limits.items()
        for metric, side, bound in (("max", "below", span.hi), ("min", "above", span.lo))
    ]
    lines += ["", "expectations:", *expectations] if expectations else []
    return "\n".join(lines) + "\n"


def words(row: Expected) -> str:
    """`0.02 kg.m2 +- 0.0003 (1.5 %), well`."""
    sd = "" if row.verdict == "unseen" else f" +- {row.sd:.2g} ({row.relative * 100:.2g} %)"
    return f"{row.text}{sd}, {row.verdict}{f': {row.why}' if row.why else ''}"


def shown(typical: float | None) -> str:
    return "none that keeps the limits" if typical is None else f"{typical * 100:.2g} %"


def _signal(path: str, signal: Any) -> list[str]:
    if isinstance(signal, list):
        return [f"  {path}:", *(f"    - {flow(part)}" for part in signal)]
    if isinstance(signal, dict) and set(signal) == {"sum"}:
        return [f"  {path}:", "    sum:", *(f"      - {flow(part)}" for part in signal["sum"])]
    return [f"  {path}: {flow(signal)}"]


def _units(found: Excitation) -> dict[str, str]:
    from pushrod.core.record import numbers

    return {leaf.path: str(leaf.meta.unit) for leaf in numbers(found.machine.world.Out)}  # type: ignore[union-attr]


def files_of(machine: Machine, file: Path) -> list[Path]:
    """The files to be written: the scenario, and before it the machine where it has no file of its own. Nothing is written over."""
    own = Path(machine.document.file).suffix in (".yaml", ".yml")
    files = [file] if own else [file.with_name(f"{file.stem}_machine.yaml"), file]
    refuse_taken(files)
    return files


def write(found: Excitation, file: Path) -> list[Path]:
    """Write them; the machine that `pushrod run` is given is the first, or the one there was."""
    files = files_of(found.machine, file)
    if len(files) > 1:
        machine = files[0].name
    else:
        document = Path(found.machine.document.file)
        machine = document.stem if document in shipped().values() else os.path.relpath(document, file.parent)
    return write_all({one: machine_text(found) if one is not file else scenario_text(found, machine, name_of(file.stem)) for one in files})


def machine_text(found: Excitation) -> str:
    data = found.machine.document.data
    lines = [f"machine: {data['machine']}", f"world: {data['world']}"]
    if data.get("parameters"):
        lines.append(f"parameters: {flow(data['parameters'])}")
    return "\n".join(lines) + "\n"
