"""The parameters of the machine: value, unit, range, where the value came from, and how it changed while it ran."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pushrod.core.quantity import INF, Choice, Q
from pushrod.core.quantity import Table as Values
from pushrod.core.record import get, leaves
from pushrod.report.logged import Logged

DEFAULT, OF_FILE = "default", "machine file"


@dataclass(frozen=True)
class Parameter:
    """`low` and `high` are None where there is no bound. `origin`: default, machine file, or the option that put it there."""

    path: str
    value: float | str
    unit: str
    low: float | None
    high: float | None
    about: str
    origin: str

    @property
    def is_override(self) -> bool:
        return self.origin not in (DEFAULT, OF_FILE)


@dataclass(frozen=True)
class Change:
    """`t` [s]: when it was changed while the machine ran."""

    t: float
    path: str
    old: str
    new: str
    source: str


def parameters(log: Logged) -> tuple[Parameter, ...]:
    document = log.said.machine
    if document is None:
        return ()
    given = document.data.get("parameters")
    given = given if isinstance(given, dict) else {}
    if log.said.world is None:
        return tuple(Parameter(path, value, "", None, None, "", _origin(log, path, given)) for path, value in _flat(given, ""))
    found = []
    for leaf in leaves(log.said.world.Params):
        if leaf.path.startswith("faults."):
            continue  # they belong to the scenario
        value, meta = get(log.said.params, leaf.path), leaf.meta
        origin = _origin(log, leaf.path, given)
        if isinstance(meta, Choice):
            name = meta.names[int(value)] if meta.allows(value) else str(value)
            found.append(Parameter(leaf.path, name, "", None, None, meta.about or " | ".join(meta.names), origin))
        elif isinstance(meta, Q):
            low, high = (None if abs(bound) == INF else bound for bound in (meta.lo, meta.hi))
            found.append(Parameter(leaf.path, float(value), meta.unit, low, high, meta.about, origin))
        elif isinstance(meta, Values):
            found.append(Parameter(leaf.path, _values(value, leaf.path, given), meta.unit, None, None, meta.about, origin))
    return tuple(found)


def changes(log: Logged) -> tuple[Change, ...]:
    return tuple(
        Change(t, *(str(message.get(key, "")) for key in ("path", "old", "new", "source")))
        for topic in log.table.topics
        if topic == "/param" or topic.startswith("/param/")
        for t, message in log.messages(topic)
        if "path" in message and "new" in message
    )


def _origin(log: Logged, path: str, given: Mapping[str, Any]) -> str:
    assert log.said.machine is not None
    option = log.said.machine.from_elsewhere(("parameters", *path.split(".")))
    return option or (OF_FILE if _is_given(path, given) else DEFAULT)


def _is_given(path: str, given: Any) -> bool:
    for name in path.split("."):
        if not isinstance(given, dict):
            return True  # a map, by its file
        if name not in given:
            return False
        given = given[name]
    return True


def _values(value: tuple[float, ...], path: str, given: Any) -> str:
    for name in path.split("."):
        given = given.get(name) if isinstance(given, dict) else given
    if isinstance(given, str):
        return given
    if len(value) <= 6:
        return ", ".join(f"{x:g}" for x in value)
    return f"{len(value)} values, {min(value):g} … {max(value):g}"


def _flat(given: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, float | str]]:
    for name, value in given.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value if isinstance(value, float) else str(value)
