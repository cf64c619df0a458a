"""The parameters `act.*` of a pipeline in a robot's store: declared from the record, named in the options, read back as the record.

A flag is true or false, a choice its name, a table one parameter an element: act.hw.u_max.e0 of effector 0, act.sw.a_max.a1 of axis 1. A pulse is
in us, as its name says. The effectiveness act.alloc.B is how the machine is built: it stands in the options and cannot be changed while it runs.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any

from pushrod.config.unit import parse
from pushrod.core.check import NAN, problems
from pushrod.core.errors import ParameterError
from pushrod.core.names import unknown
from pushrod.core.quantity import INF, Choice, Q, Table
from pushrod.core.record import Meta, fields, is_record, leaves
from pushrod.pipeline import act, n_act
from pushrod.pipeline.n_act import OVER_AXES, RANGES
from pushrod.robot.parameter import Parameter, ParameterRef

FLAG = ("false", "true")
BUILT = "act.alloc.B"


def declared(record: Any, path: str = "act", tables: bool = True) -> tuple[Parameter, ...]:
    """Every number of a record as a parameter, with its value as the default; `tables`: elements of tables too."""
    made: list[Parameter] = []
    record_class: Any = type(record)
    for name, kind, meta in fields(record_class):
        value, at = getattr(record, name), f"{path}.{name}"
        if is_record(kind):
            made += declared(value, at, tables)
        elif isinstance(meta, Table):
            if at == BUILT or not tables:
                continue
            lo, hi = RANGES.get(at.partition(".")[2], (None, None))
            unit = _unit(meta)
            made += [Parameter(f"{at}.{word}", float, x, lo, hi, unit, meta.about) for word, x in zip(_words(at, value), value, strict=True)]
        elif isinstance(meta, Choice):
            is_flag = meta.names == FLAG
            made.append(Parameter(at, bool if is_flag else str, bool(value) if is_flag else meta.names[int(value)], doc=meta.about))
        elif isinstance(meta, Q):
            made.append(Parameter(at, float, value, _finite(meta.lo), _finite(meta.hi), _unit(meta), meta.about))
    return tuple(made)


def declaration(path: str) -> Meta | None:
    """What the record of a pipeline says of one of its parameters, element of a table or not; None of a parameter that is none of those.

    So whoever shows one knows the words of a choice, and that a pulse is in us: the store itself keeps text, and SI.
    """
    places = (path, path.rpartition(".")[0])
    records: tuple[Any, ...] = (act.Act, n_act.Act)
    return next((leaf.meta for record in records for leaf in leaves(record) if f"act.{leaf.path}" in places), None)


def named(record: Any, path: str = "act", tables: bool = True) -> dict[str, Any]:
    """The options that name these parameters."""
    made: dict[str, Any] = {}
    record_class: Any = type(record)
    for name, kind, meta in fields(record_class):
        value, at = getattr(record, name), f"{path}.{name}"
        if is_record(kind):
            made[name] = named(value, at, tables)
        elif isinstance(meta, Table):
            if not tables:
                continue
            made[name] = list(value) if at == BUILT else [ParameterRef(f"{at}.{word}") for word in _words(at, value)]
        else:
            made[name] = ParameterRef(at)
    return made


def read(default: Any, data: Mapping[str, Any], dt: float | None, path: str = "act") -> Any:
    """The record from options; what they leave out is as in `default`. ParameterError lists all that is wrong with them as a whole."""
    wrong: dict[str, str] = {}
    record = _read(default, data, path, wrong)
    found = [*wrong.values(), *problems(record, path, dt, wrong)]
    if found:
        raise ParameterError(found)
    return record


def _read(default: Any, data: Mapping[str, Any], path: str, wrong: dict[str, str]) -> Any:
    """What could not be read is noted by its path, and is NaN or an empty table."""
    record_class: Any = type(default)
    known = {field.name: field for field in fields(record_class)}
    new: dict[str, Any] = {}
    for name, value in data.items():
        at = f"{path}.{name}"
        if name not in known:
            wrong[at] = f"{path}: {unknown(known, str(name), 'parameter')}"
            continue
        kind, meta = known[name].type, known[name].meta
        if is_record(kind):
            if isinstance(value, Mapping):
                new[name] = _read(getattr(default, name), value, at, wrong)
            else:
                wrong[at] = f"{at} is a group, got {value!r}"
        elif isinstance(meta, Table):
            if isinstance(value, (list, tuple)) and all(map(_is_number, value)):
                new[name] = tuple(map(float, value))
            else:
                wrong[at] = f"{at} must be a list of numbers [{meta.unit}], got {value!r}"
                new[name] = ()
        elif isinstance(meta, Choice) and isinstance(value, (str, bool)):
            word = str(value).lower() if isinstance(value, bool) else value
            new[name] = float(meta.names.index(word)) if word in meta.names else NAN
            if word not in meta.names:
                wrong[at] = f"{at} = {value!r}: allowed are {', '.join(meta.names)}"
        else:
            new[name] = float(value) if _is_number(value) else NAN
            if not _is_number(value):
                wrong[at] = f"{at} must be a number, got {value!r}"
    return default._replace(**new)


def _is_number(x: Any) -> bool:
    return isinstance(x, Real) and not isinstance(x, bool)


def _unit(meta: Q | Table) -> str:
    """The store keeps SI. A pulse stays in us, and what has a unit of its own (a fitted steering, in shares of torque) is a plain number."""
    try:
        parse(meta.unit)
    except ValueError:
        return "-"
    return "-" if meta.unit == "us" else meta.unit


def _finite(x: float) -> float | None:
    return None if abs(x) == INF else x


def _words(path: str, values: Any) -> list[str]:
    return [f"{'a' if path.partition('.')[2] in OVER_AXES else 'e'}{j}" for j in range(len(values))]
