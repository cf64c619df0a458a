"""From what a user hands over (records, dicts of numbers and arrays) to flat arrays, checked on the way."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.compiled.layout import layout
from pushrod.core.check import check, expect
from pushrod.core.errors import InputError, ParameterError
from pushrod.core.model import Model, World
from pushrod.core.names import unknown
from pushrod.core.record import flat, get, is_record, numbers
from pushrod.core.validity import parts_to_check

Array = NDArray[Any]
Vary = Mapping[str, Any]


class Params(NamedTuple):
    """Number r of instance i is values[first[r] + i * each[r]]."""

    values: Array
    first: Array
    each: Array
    tables: tuple[Array, ...]


def count(vary: Vary, inputs: Any, n: int | None) -> int:
    """How many instances: said outright, or by the lengths of what varies. They must agree."""
    sizes = {path: len(np.atleast_1d(values)) for path, values in vary.items()}
    if isinstance(inputs, Mapping):
        sizes |= {name: np.shape(values)[1] for name, values in inputs.items() if np.ndim(values) == 2}
    if n is not None:
        sizes["n"] = n
    if not sizes:
        raise InputError("how many instances? give n=..., or vary={'path': array with one value per instance}")
    if len(set(sizes.values())) > 1:
        raise InputError("the number of instances disagrees: " + ", ".join(f"{path} has {size}" for path, size in sizes.items()))
    size = next(iter(sizes.values()))
    if size < 1:
        raise InputError(f"a batch needs at least one instance, got {size}")
    return size


def checked_vary(record: Any, vary: Vary, where: str) -> dict[str, Array]:
    """The varied numbers as float arrays, each value inside the declared range of its field."""
    legal = {leaf.path: leaf.meta for leaf in numbers(record)}
    out: dict[str, Array] = {}
    for path, values in vary.items():
        if path not in legal:
            raise InputError(f"vary: {unknown(legal, path, f'number in {where}')}")
        array = np.ascontiguousarray(np.atleast_1d(values), float)
        if array.ndim != 1:
            raise InputError(f"vary[{path!r}] must hold one number per instance, got an array of shape {array.shape}")
        meta: Any = legal[path]
        lo, hi = (meta.lo, meta.hi) if hasattr(meta, "lo") else (0.0, float(len(meta.names) - 1))
        bad = np.flatnonzero(~((array >= lo) & (array <= hi)))
        if bad.size:
            i = int(bad[0])
            share = f"{bad.size} of {array.size} are"
            raise ParameterError([f"vary[{path!r}][{i}] = {array[i]:g} {meta.unit} is outside its legal range; allowed {meta.legal()} ({share})"])
        out[path] = array
    return out


def check_varied(params: Any, vary: dict[str, Array], where: str, dt: float) -> None:
    """Raise ParameterError for the first instance with values that contradict each other (`flaws`, e.g. a delay that does not fit its line)."""
    columns = list(vary.values())
    for part in parts_to_check(params, list(vary), [(float(x.min()), float(x.max())) for x in columns], dt):
        values = np.column_stack(np.broadcast_arrays(*(columns[j] for j, _ in part.places)))
        for i, row in enumerate(values.tolist()):
            if found := list(part.flaws(row, dt)):
                raise ParameterError([f"instance {i}: {where}.{text}" for text in found])


def pack_params(params: Any, vary: dict[str, Array], dtype: str) -> Params:
    record: Any = type(params)
    rows = layout(record).rows
    first, each, parts, length = [], [], [], 0
    for path in rows:
        part = vary[path] if path in vary else np.array([get(params, path)], float)
        first.append(length)
        each.append(int(path in vary))
        parts.append(part)
        length += len(part)
    values = np.concatenate(parts).astype(dtype) if parts else np.zeros(1, dtype)
    return Params(values, np.array(first or [0], np.int64), np.array(each or [0], np.int64), pack_tables(params, dtype))


def pack_tables(params: Any, dtype: str) -> tuple[Array, ...]:
    record: Any = type(params)
    return tuple(np.array(get(params, path), dtype) for path in layout(record).tables)


def checked_state(model: Model | World, state: Any) -> Any:
    """A state that compiled code may index with: of the right class, every number in its declared range."""
    if state is None:
        return model.State()
    expect(state, model.State, f"state of {model.name}")
    check(state, f"{model.name}.State")
    return state


def check_rows(record: Any, rows: Array, where: str) -> None:
    """The same for rows of many instances."""
    for leaf, row in zip(numbers(record), rows, strict=False):
        meta: Any = leaf.meta
        lo, hi = (meta.lo, meta.hi) if hasattr(meta, "lo") else (0.0, float(len(meta.names) - 1))
        bad = np.flatnonzero(~((row >= lo) & (row <= hi)))
        if bad.size:
            i = int(bad[0])
            raise InputError(f"{where}.{leaf.path} of instance {i} = {row[i]:g} {meta.unit} is outside its legal range; allowed {meta.legal()}")


def pack_state(model: Model | World, state: Any, vary_state: dict[str, Array], n: int, dtype: str, order: Any) -> Array:
    """State rows [row, instance]: from a State record, or from the rows an earlier run ended with.

    On order "C", which is a GPU's, one column stands for all where all begin alike: it is spread out there.
    """
    height = layout(model.State).height
    rows: Array
    if isinstance(state, np.ndarray):
        if state.shape != (height, n):
            raise InputError(f"state has shape {state.shape}; {model.name} needs ({height} rows, {n} instances)")
        rows = np.array(state, dtype, order=order)
        check_rows(model.State, rows, f"{model.name}.State")
    else:
        column = np.array(flat(checked_state(model, state), model.State), dtype)
        alike = order == "C" and not vary_state
        rows = np.array(np.broadcast_to(column[:, None], (height, 1 if alike else n)), order=order)
    where = layout(model.State).rows
    for path, values in vary_state.items():
        rows[where[path]] = values
    return rows


def by_channel(model: Model | World, inputs: Any) -> Any:
    """Inputs as a dict of channels, or as an In record. A model that takes a lone number takes it bare; its channel is called u."""
    if inputs is None:
        return {}
    if is_record(model.In) or isinstance(inputs, Mapping):
        return inputs
    return {"u": inputs}


def check_input(name: str, meta: Any, array: Array) -> None:
    lo, hi = (meta.lo, meta.hi) if hasattr(meta, "lo") else (0.0, float(len(meta.names) - 1))
    bad = np.argwhere(~((np.atleast_1d(array) >= lo) & (np.atleast_1d(array) <= hi)))
    if bad.size:
        where = bad[0].tolist()
        value = np.atleast_1d(array)[tuple(where)]
        raise InputError(f"input {name!r} is {value:g} {meta.unit} at index {where}, outside its legal range; allowed {meta.legal()}")


def pack_inputs(model: Model | World, inputs: Any, n: int, dtype: str) -> tuple[Array, int]:
    """Input history [tick, channel, instance or 1], and 1 if it differs between instances. `inputs` as `by_channel` gave them."""
    names = [leaf.path or "u" for leaf in numbers(model.In)]
    if not isinstance(inputs, Mapping):
        expect(inputs, model.In, f"input of {model.name}")
        inputs = {name: get(inputs, name) for name in names}
    known = dict.fromkeys(names)
    default = flat(model.In(), model.In) if is_record(model.In) else [0.0]
    for name in inputs:
        if name not in known:
            raise InputError(unknown(known, name, f"input of {model.name}"))
    arrays = [np.asarray(inputs.get(name, default[j]), float) for j, name in enumerate(names)]
    for leaf, name, array in zip(numbers(model.In), names, arrays, strict=True):
        if array.ndim > 2 or array.size == 0:
            raise InputError(f"input {name!r} has shape {array.shape}; give a number, [tick] or [tick, instance]")
        if array.ndim == 2 and array.shape[1] != n:
            raise InputError(f"input {name!r} holds {array.shape[1]} instances, the run has {n}")
        if not np.isfinite(array).all():
            where = np.argwhere(~np.isfinite(np.atleast_1d(array)))[0].tolist()
            raise InputError(f"input {name!r} is {np.atleast_1d(array)[tuple(where)]} at index {where}; inputs must be finite")
        check_input(name, leaf.meta, array)
    ticks = max(array.shape[0] if array.ndim else 1 for array in arrays)
    varied = any(array.ndim == 2 for array in arrays)
    U = np.empty((ticks, len(names), n if varied else 1), dtype)
    for j, array in enumerate(arrays):
        column = array.reshape(array.shape[0] if array.ndim else 1, -1)
        U[: column.shape[0], j, :] = column
        U[column.shape[0] :, j, :] = column[-1]
    return U, int(varied)
