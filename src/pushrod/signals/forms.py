"""The ways to write a channel, and `parse`, which reads them all.

0.3                                                        a constant, at all times
{sine: {amplitude: 0.1, frequency: 0.5}}                   one interval
[{at: 1, for: 2, linear: [0, 0.3]}, {constant: 0.3}]       intervals; `at` left out: where the one before ends; no `for` and no
                                                           `until`: until the next one begins, or for ever
[{type: linear, t_start: 1, t_end: 3, y_end: 0.3}]         the same by the names of the parameter form
{num_intervals: 1, interval_0: {type: linear, ...}}        the parameter form
{sum: [0.1, {sine: {...}}, [...]]}                         the sum of any of these
"""

import math
import warnings
from collections.abc import Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from pushrod.core.errors import SignalWarning
from pushrod.core.names import unknown
from pushrod.core.quantity import Choice, Q, Table
from pushrod.core.record import Field, fields
from pushrod.signals import place
from pushrod.signals.kind import FlawError, Kind
from pushrod.signals.place import Spec, fault, spell
from pushrod.signals.table import KINDS
from pushrod.signals.track import FOREVER, Track

MAX_INTERVALS = 10
TIMES = {"t_start": "start", "t_end": "end"}
SHORT_TIMES = {"at": "start", "for": "duration", "until": "end, in place of `for`"}
# The first three kinds share one set of parameters, all of which may be given to any of them; those left out are 0.
SHARED_KINDS = ("constant", "linear", "quadratic")
SHARED_FIELDS = ("y_start", "y_end", "t_mid", "y_mid")
HELP = "write a number, an interval such as {at: 1, for: 2, linear: [0, 0.3]}, a list of intervals, {sum: [...]}, or num_intervals and interval_0 ..."


def parse(channel: str, data: Any, max_intervals: int | None = None, folder: Path | None = None) -> Track:
    """Read one channel. `max_intervals`: read no more (None: 10 in the parameter form, no bound in a list). `folder`: where its files are."""
    track, notes = read(channel, data, max_intervals, folder)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return track


def read(channel: str, data: Any, max_intervals: int | None, folder: Path | None) -> tuple[Track, list[SignalWarning]]:
    """The same, with what would be warned about as a list."""
    reader = _Reader(channel, max_intervals, folder)
    if isinstance(data, Mapping) and "sum" in data:
        if len(data) > 1 or not isinstance(data["sum"], (list, tuple)):
            raise fault(channel, ("sum",), data["sum"], "must be a list of signals and stand alone")
        terms = [reader.term(part, ("sum", k)) for k, part in enumerate(data["sum"])]
    else:
        terms = [reader.term(data, ())]
    return place.compile_terms(channel, terms), reader.notes


class _Reader:
    def __init__(self, channel: str, max_intervals: int | None, folder: Path | None) -> None:
        self.channel = channel
        self.max_intervals = max_intervals
        self.folder = folder
        self.notes: list[SignalWarning] = []

    def term(self, data: Any, path: place.Path) -> list[Spec]:
        if _is_number(data):
            y = self.number(data, Q("y"), path)
            return [Spec(path, KINDS["constant"], KINDS["constant"].Fields(y), -FOREVER, FOREVER)]
        if isinstance(data, Mapping):
            if "sum" in data:
                raise fault(self.channel, path, dict(data), "is a sum within a sum; write all terms in one")
            if "num_intervals" in data or not data or any(str(key).startswith("interval_") for key in data):
                return self.parameters(data, path)
            return self.intervals([(data, path)])
        if isinstance(data, (list, tuple)):
            return self.intervals([(item, (*path, k)) for k, item in enumerate(data[: self.at_most(len(data), self.max_intervals)])])
        raise fault(self.channel, path, data, f"is not a signal; {HELP}")

    def parameters(self, data: Mapping[str, Any], path: place.Path) -> list[Spec]:
        """The parameter form: num_intervals, interval_0, interval_1 ..."""
        n = data.get("num_intervals", 0)
        if isinstance(n, bool) or not isinstance(n, int) or n < 0:
            raise fault(self.channel, (*path, "num_intervals"), n, "is not a whole number of at least 0")
        for key, value in ((str(key), value) for key, value in data.items()):
            if key.removeprefix("interval_").isdecimal() and key.startswith("interval_"):
                if int(key.removeprefix("interval_")) >= n:
                    self.note(f"signal {spell(self.channel, (*path, key))} is not read, because num_intervals = {n}", "unused")
            elif key != "num_intervals":
                why = unknown(dict.fromkeys(("num_intervals", "interval_0")), key, "parameter")
                raise fault(self.channel, (*path, key), value, f"is not understood: {why}", "unknown_field")
        most = MAX_INTERVALS if self.max_intervals is None else self.max_intervals
        names = [f"interval_{k}" for k in range(self.at_most(n, most))]
        for name in names:
            if name not in data:
                raise fault(self.channel, (*path, "num_intervals"), n, f"promises {name}, which is missing", "missing")
        return [self.typed(data[name], (*path, name)) for name in names]

    def at_most(self, n: int, most: int | None) -> int:
        if most is None or n <= most:
            return n
        self.note(f"signal {self.channel} has {n} intervals; only the first max_intervals = {most} are read", "truncated")
        return most

    def intervals(self, items: list[tuple[Any, place.Path]]) -> list[Spec]:
        specs: list[Spec] = []
        for item, path in items:
            typed = isinstance(item, Mapping) and "type" in item
            specs.append(self.typed(item, path) if typed else self.short(item, path, specs[-1] if specs else None))
        return specs

    def typed(self, data: Any, path: place.Path) -> Spec:
        """`type`, `t_start`, `t_end` and the fields of the kind, side by side."""
        if not isinstance(data, Mapping):
            raise fault(self.channel, path, data, "is not an interval; write {type: ..., t_start: ..., t_end: ..., ...}")
        name = data.get("type", "constant")
        if not isinstance(name, str):
            raise fault(self.channel, (*path, "type"), name, f"is not the name of a kind; known: {', '.join(KINDS)}")
        rest = {key: value for key, value in data.items() if key not in ("type", *TIMES)}
        if name not in KINDS:
            self.note(f"signal {spell(self.channel, path)}: {unknown(KINDS, name, 'signal kind')}; taken as constant", "unknown_type")
            name, rest = "constant", {key: value for key, value in rest.items() if key in SHARED_FIELDS}
        kind = KINDS[name]
        t_start = self.number(data.get("t_start", 0.0), Q("s"), (*path, "t_start"))
        t_end = self.number(data["t_end"], Q("s"), (*path, "t_end")) if "t_end" in data else 0.0 if name in SHARED_KINDS else None
        if name in SHARED_KINDS:
            self.known(rest, SHARED_FIELDS, path)
            for key, value in rest.items():
                self.number(value, Q("s" if key == "t_mid" else "y"), (*path, key))
            own = [f.name for f in fields(kind.Fields)]
            rest = dict.fromkeys(own, 0.0) | {key: value for key, value in rest.items() if key in own}
        return Spec(path, kind, self.fill(kind, rest, path), t_start, t_end)

    def short(self, data: Any, path: place.Path, before: Spec | None) -> Spec:
        """`at`, `for` or `until`, and the kind as a key."""
        if not isinstance(data, Mapping):
            raise fault(self.channel, path, data, "is not an interval; write one such as {at: 1, for: 2, linear: [0, 0.3]}")
        self.known(data, (*SHORT_TIMES, *KINDS), path)
        named = [key for key in data if key in KINDS]
        if len(named) != 1:
            raise fault(self.channel, path, dict(data), f"must name exactly one kind of {', '.join(KINDS)}", "missing")
        if "for" in data and "until" in data:
            raise fault(self.channel, (*path, "for"), data["for"], "and `until` are both given; keep one of them")
        t_start = before.t_end if before else 0.0
        if "at" in data:
            t_start = self.number(data["at"], Q("s"), (*path, "at"))
        if t_start is None:
            raise fault(self.channel, path, dict(data), "needs `at`, because the interval before it has no end", "missing")
        t_end = self.number(data["until"], Q("s"), (*path, "until")) if "until" in data else None
        if "for" in data:
            t_end = t_start + self.number(data["for"], Q("s", 0.0), (*path, "for"))
        kind = KINDS[named[0]]
        times = ("at", "for" if "for" in data else "until")
        return Spec(path, kind, self.fill(kind, data[kind.name], (*path, kind.name)), t_start, t_end, times, (kind.name,))

    def fill(self, kind: Kind, data: Any, path: place.Path) -> Any:
        """The record of fields of a kind, from a mapping by name, a list in order, or a lone number for the first."""
        try:
            data = kind.expand(data, self.folder) if kind.expand else data
        except FlawError as flaw:
            raise fault(self.channel, (*path, *flaw.path), flaw.value, flaw.why, flaw.kind) from None
        declared = fields(kind.Fields)
        names = [f.name for f in declared]
        if not isinstance(data, Mapping):
            values = list(data) if isinstance(data, (list, tuple)) else [data]
            if len(values) > len(names) or not all(isinstance(f.meta, (Q, Choice)) for f in declared):
                raise fault(self.channel, path, data, f"is not understood; write {{{', '.join(names)}}} by name")
            data = dict(zip(names, values, strict=False))
        self.known(data, (*names, *kind.words), path)
        missing = [name for name in names if name not in data and name not in kind.Fields._field_defaults]
        if missing:
            raise fault(self.channel, path, dict(data), f"lacks {', '.join(missing)}", "missing")
        return kind.Fields(**{f.name: self.field(data[f.name], f, (*path, f.name)) for f in declared if f.name in data})

    def field(self, value: Any, f: Field, path: place.Path) -> Any:
        if isinstance(f.meta, Q):
            return self.number(value, f.meta, path)
        if isinstance(f.meta, Choice):
            if value not in f.meta.names:
                raise fault(self.channel, path, value, f"is none of {', '.join(f.meta.names)}")
            return float(f.meta.names.index(value))
        assert isinstance(f.meta, Table)
        if isinstance(value, (str, Mapping)) or not hasattr(value, "__iter__"):
            raise fault(self.channel, path, value, f"is not a list of numbers [{f.meta.unit}]")
        return tuple(self.number(x, Q(f.meta.unit), (*path, k)) for k, x in enumerate(value))

    def number(self, value: Any, q: Q, path: place.Path) -> float:
        unit = "" if q.unit == "y" else f" [{q.unit}]"
        if not _is_number(value):
            raise fault(self.channel, path, value, f"is not a number{unit}")
        try:
            x = float(value)
        except OverflowError:  # a whole number beyond all floats
            x = math.inf if value > 0 else -math.inf
        if not math.isfinite(x):
            raise fault(self.channel, path, x, f"is not a finite number{unit}", "not_finite")
        if not q.allows(x):
            raise fault(self.channel, path, x, f"is outside its legal range; allowed {q.legal()}", "out_of_range")
        return x

    def known(self, data: Mapping[Any, Any], names: tuple[str, ...], path: place.Path) -> None:
        for key in data:
            if key not in names:
                why = unknown(dict.fromkeys(names), str(key), "field")
                raise fault(self.channel, (*path, str(key)), data[key], f"is not understood: {why}", "unknown_field")

    def note(self, text: str, kind: str) -> None:
        self.notes.append(SignalWarning(text, kind))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
