"""Models, plants, vehicles, worlds, signals and metrics: their equations from the heads of their files, their tables from their records."""

import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Iterable
from typing import Any

from page_text import block, code, joined, table

from pushrod.core.quantity import INF, Choice, Q, Table
from pushrod.core.record import get, leaves
from pushrod.core.ring import Ring

UNITS = "Numbers are in SI; `-` is a number without a unit, or in the unit of the signal that passes through. A range is closed."


def models() -> str:
    from pushrod.models import MODELS

    head = f"Effects and actuators, `pushrod.models.MODELS`. {UNITS} To write one of your own: [Add a model](../howto/model.md)."
    return joined("# Models", head, *(component(model) for model in MODELS.values()))


def plants() -> str:
    from pushrod.plants import PLANTS

    return joined("# Plants", f"What actuators move, `pushrod.plants.PLANTS`. {UNITS}", *(component(plant) for plant in PLANTS.values()))


def vehicles() -> str:
    from pushrod.vehicles import VEHICLES, make

    head = f"""The twelve vehicle models under their public names, `pushrod.vehicles.make(name)`. {UNITS} What `reference` changes is told in
[its own page](vehicle_reference_mode.md), how they are used in [Vehicles](../howto/vehicles.md)."""
    return joined("# Vehicles", head, *(component(make(name), name) for name in VEHICLES))


def worlds() -> str:
    from pushrod.sim.worlds import WORLDS
    from pushrod.vehicles import VEHICLES

    own = [component(world) for name, world in WORLDS.items() if name.removesuffix("_BY_CONTROL") not in VEHICLES]
    head = f"A world is a whole machine as one step; a [machine file](machine_file.md) names one and puts values over its parameters. {UNITS}"
    rows = [(code(name), _world_of(name, VEHICLES)) for name in WORLDS if name.removesuffix("_BY_CONTROL") in VEHICLES]
    text = "Each [vehicle](vehicles.md) is a world as well, with the same parameters."
    return joined("# Worlds", head, *own, "## The vehicles", text, table(("world", "is"), rows))


def _world_of(name: str, vehicles: Any) -> str:
    base = name.removesuffix("_BY_CONTROL")
    link = f"[{base}](vehicles.md#{base.lower()})"
    return link if name in vehicles else f"{link}, asked for acceleration and tyre angle through the converter"


def signals() -> str:
    from pushrod.signals import KINDS

    head = """What an input channel is given over time, in a [scenario](scenario_file.md) or by `pushrod.signals`; how they are combined is told in
[Signals](../howto/signals.md). `y` stands for the unit of the channel."""
    parts = []
    for name, kind in KINDS.items():
        doc = inspect.getdoc(sys.modules[kind.row.__module__]) or kind.about
        parts += [f"## {name}", *_head(doc), fields(kind.Fields)]
    return joined("# Signal kinds", head, *parts)


def metrics() -> str:
    from pushrod import metrics as folds
    from pushrod.sim.expectation import METRICS

    needs = {"": "", "to": "`to`", "goal": "`goal`, `band`", "near": "`to`, `band`", "level": "`goal`"}
    expected = [(code(name), m.about, "that of the signal" if m.unit == "y" else m.unit, needs[m.needs]) for name, m in METRICS.items()]
    batch = []
    for name in folds.METRICS:
        function = getattr(folds, name)
        batch.append((code(f"{name}{_arguments(function)}"), (inspect.getdoc(sys.modules[function.__module__]) or "").partition("\n\n")[0]))
    return joined(
        "# Metrics",
        "## Of an expectation or a comparison",
        "One number of a run, in a [scenario](scenario_file.md) under `expectations` and `compare`, or of every run of a [study](study_file.md).",
        table(("metric", "is", "unit", "needs"), expected),
        "## Of a batch",
        "`pushrod.metrics`: folded inside the loop, so that [a million runs](../howto/batch.md) give a million numbers and no trajectories.",
        table(("metric", "is"), batch),
    )


def _arguments(function: Any) -> str:
    shown = [p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in inspect.signature(function).parameters.values()]
    return f"({', '.join(shown)})"


def component(model: Any, name: str = "") -> str:
    """Heading, equation, and a table for each of its records."""
    doc = inspect.getdoc(sys.modules[model.step.__module__]) or ""
    return joined(
        f"## {name or model.name}",
        *_head(doc),
        _titled("Parameters", fields(model.Params)),
        _titled("In", fields(model.In, defaults=False)),
        _titled("Out", fields(model.Out, defaults=False)),
        _titled("State", fields(model.State)),
    )


def _titled(title: str, rows: str) -> str:
    return f"**{title}**\n\n{rows}" if rows else ""


def _head(doc: str) -> Iterable[str]:
    """What the head of a file says: equations and lists of symbols as they stand, all else as text."""
    for part in re.split(r"\n\s*\n", doc):
        lines = part.splitlines()
        runs = itertools.groupby(lines, key=lambda line: bool(re.match(r"\s", line) or re.search(r"\S\s{3,}\S", line)) and not line.startswith("- "))
        if any(line.startswith("- ") for line in lines):
            yield part
            continue
        for as_it_stands, run in runs:
            text = list(run)
            yield block(textwrap.dedent("\n".join(text))) if as_it_stands else _prose(" ".join(text))


def _prose(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;")


def fields(record: Any, defaults: bool = True) -> str:
    """One row for each leaf: its path, default, unit, range and meaning."""
    given = isinstance(record, type) and len(record._field_defaults) == len(record._fields)
    start = record() if defaults and given else None
    rows = []
    for leaf in leaves(record):
        meta = leaf.meta
        value = get(start, leaf.path) if start is not None else getattr(record, "_field_defaults", {}).get(leaf.path) if defaults else None
        rows.append((code(leaf.path or "value"), _default(meta, value), _unit(meta), _range(meta), _about(meta)))
    return table(("name", "default", "unit", "range", "what"), rows)


def _default(meta: Any, value: Any) -> str:
    if value is None or isinstance(meta, Ring):
        return ""
    if isinstance(meta, Choice):
        return meta.names[int(value)]
    if isinstance(meta, Table):
        return f"{len(value)} numbers" if len(value) > 6 else ", ".join(f"{x:g}" for x in value)
    return f"{value:.9g}"


def _unit(meta: Any) -> str:
    return "" if isinstance(meta, (Ring, Choice)) else str(meta.unit)


def _range(meta: Any) -> str:
    if isinstance(meta, Choice):
        return ", ".join(meta.names)
    if isinstance(meta, Q) and (meta.lo != -INF or meta.hi != INF):
        return f"{_bound(meta.lo)} to {_bound(meta.hi)}"
    return "rising" if isinstance(meta, Table) and meta.rising else ""


def _bound(x: float) -> str:
    return "open" if abs(x) == INF else f"{x:.9g}"


def _about(meta: Any) -> str:
    return f"delay line of {meta.slots} slots" if isinstance(meta, Ring) else str(meta.about)
