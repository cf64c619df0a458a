"""Units and names in the signals of a scenario file: {at: 500 ms, linear: [0, 10 deg]} becomes {at: 0.5, linear: [0, 0.1745]}.

What a number means follows from where it stands: times are seconds, a field of a kind has the unit of its declaration, and
"y" there means the unit of the channel. A channel of named cases takes their names: {at: 5, constant: reverse}.
"""

from typing import Any

from pushrod.config.structure import WRONG, number_of
from pushrod.config.unit import TEXT
from pushrod.config.yaml_file import Document, Keys
from pushrod.core.quantity import Choice, Q
from pushrod.core.record import fields
from pushrod.signals import KINDS
from pushrod.signals.kind import FlawError
from pushrod.signals.place import SHORT
from pushrod.sim.signal_file import CASE, is_file, points_of

TIMES = ("at", "for", "until", "t_start", "t_end")


def in_si(data: Any, meta: Q | Choice, at: Keys, document: Document, key: Keys = ()) -> Any:
    """The same data with every text that is a number with a unit replaced by its SI number; problems are noted in the document."""
    if isinstance(data, dict) and is_file(data, key):
        try:
            data = points_of(data, CASE if isinstance(meta, Choice) else meta.unit, document.folder_of((*at, *key)))
        except FlawError as flaw:
            document.add((*at, *key, *flaw.path), f"{SHORT.repr(flaw.value)} {flaw.why}")
            return data
    if isinstance(data, dict):
        return {name: in_si(value, meta, at, document, (*key, name)) for name, value in data.items()}
    if isinstance(data, list):
        return [in_si(value, meta, at, document, (*key, i)) for i, value in enumerate(data)]
    if not isinstance(data, str):
        return data
    if isinstance(meta, Choice) and data in meta.names and _unit(key, "case") == "case":
        return float(meta.names.index(data))
    if TEXT.fullmatch(data):
        number = number_of(_unit(key, meta.unit), data, (*at, *key), document)
        return 0.0 if number is WRONG else number
    return data


def _unit(key: Keys, unit: str) -> str:
    """The unit of the number at a path within a channel."""
    names = [i for i, part in enumerate(key) if isinstance(part, str)]
    if not names:
        return unit
    name, rest = key[names[-1]], key[names[-1] + 1 :]
    if name in TIMES:
        return "s"
    if name in KINDS:  # fields by place: {linear: [0, 1]}, {steps: [[t, y], ...]}
        declared = fields(KINDS[str(name)].Fields)
        place = rest[-1] if rest else 0
        meta = declared[int(place)].meta if int(place) < len(declared) else None
    else:
        meta = next((f.meta for kind in KINDS.values() for f in fields(kind.Fields) if f.name == name), None)
    own = "y" if meta is None else str(meta.unit)  # type: ignore[union-attr]
    return unit if own == "y" else own
