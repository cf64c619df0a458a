"""What the files in a log say of its machine and scenario: read as data, whole or in part.

Nothing is built, run or opened for it: a log may come from anywhere. A world that is not shipped is somebody's code, so its parameters stay as they
are written; a map is named, not read.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pushrod.config import yaml_file
from pushrod.config.structure import sound_items
from pushrod.config.yaml_file import Document
from pushrod.core.errors import ConfigError, UnknownNameError
from pushrod.core.model import World
from pushrod.core.record import fields, is_record
from pushrod.log.table import Table
from pushrod.sim.machine import override
from pushrod.sim.record_file import record
from pushrod.sim.tracked import Pair, Tracked, signals_of, tracked


@dataclass(frozen=True)
class Said:
    """`params` is the record of the world as far as it could be read; None where the world is not known here."""

    machine: Document | None = None
    scenario: Document | None = None
    world: World | None = None
    params: Any = None
    track: tuple[Tracked, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def text(self, which: str, key: str) -> str:
        """A text of either file, "" where it is none."""
        document = self.machine if which == "machine" else self.scenario
        value = document.data.get(key) if document else None
        return value if isinstance(value, str) else ""

    @property
    def judged(self) -> tuple[str, ...]:
        """Every signal that the scenario expects something of, or compares, each once."""
        data = self.scenario.data if self.scenario else {}
        entries = [
            entry for key in ("expectations", "compare") if isinstance(given := data.get(key), list) for entry in given if isinstance(entry, dict)
        ]
        names = [entry.get(key) for entry in entries for key in ("signal", "to")]
        return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


def read(table: Table) -> Said:
    notes: list[str] = []
    machine = _document(table, "machine.yaml", notes)
    scenario = _document(table, "scenario.yaml", notes)
    if machine is None:
        return Said(None, scenario, notes=tuple(notes))
    for name in sorted(key for key in table.about if key.startswith("override ")):
        text = table.about[name]
        if text.startswith("--set "):
            try:
                override(machine, text.removeprefix("--set "))
            except ConfigError as e:
                notes += e.problems
    world = _world(machine.data.get("world"), notes)
    if world is None:
        return Said(machine, scenario, notes=tuple(notes))
    given = machine.data.get("parameters")
    params = record(world.Params, _without_maps(world.Params, given) if isinstance(given, dict) else {}, world.Params(), ("parameters",), machine)
    pairs = sound_items(Pair, machine.data.get("track"), ("track",), machine)
    known = signals_of(world)
    track = tuple(tracked(pair, world, params, at, machine) for at, pair in pairs if _is_known(pair, known))
    notes += [text for _, text in machine.problems]
    machine.problems.clear()
    return Said(machine, scenario, world, params, track, tuple(notes))


def _is_known(pair: Pair, known: Mapping[str, Any]) -> bool:
    return {pair.request, pair.achieved, *pair.saturated, *pair.when} <= known.keys()


def _document(table: Table, name: str, notes: list[str]) -> Document | None:
    if name not in table.attachments:
        return None
    try:
        return yaml_file.parse(table.attachments[name].text, name)
    except ConfigError as e:
        notes += [f"in the log: {problem}" for problem in e.problems]
        return None


def _world(name: Any, notes: list[str]) -> World | None:
    from pushrod.sim.named_world import named_world

    if isinstance(name, str):
        with contextlib.suppress(UnknownNameError):
            return named_world(name)
    notes.append(f"the world {name!r} is not a shipped one: nothing that a log names is executed, so its parameters have no units here")
    return None


def _without_maps(kind: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The mapping without maps that are named by their file."""
    nested = {f.name: f.type for f in fields(kind) if is_record(f.type)}
    return {
        key: _without_maps(nested[key], value) if key in nested and isinstance(value, dict) else value
        for key, value in given.items()
        if not (key in nested and isinstance(value, str))
    }
