"""A pure function of a record and a number, over an array of numbers: y_j = fn(p, x_j), in one compiled loop."""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.compiled import rows
from pushrod.compiled.entry import HEADS, spelling
from pushrod.compiled.layout import layout
from pushrod.compiled.module import load

_LOOP = """@entry
def over(P, X, Y{tables}):
    p = {params}
    for j in range(X.shape[0]):
        Y[j] = {name}(p, X[j])
"""


@functools.lru_cache(64)
def _module(fn: Callable[[Any, float], float], record: Any) -> ModuleType:
    linker = spelling("cpu", "float64")
    name = linker.function(fn)
    where = layout(record)
    table_of = {path: f"T{j}" for j, path in enumerate(where.tables)}
    params = linker.construct(record, lambda leaf: table_of.get(leaf.path) or f"P[{where.rows[leaf.path]}]")
    tables = "".join(f", {t}" for t in table_of.values())
    linker.parts.append(_LOOP.format(tables=tables, params=params, name=name))
    return load(HEADS["cpu", "float64"] + "\n\n" + "\n\n".join(linker.parts), name)


def evaluate(fn: Callable[[Any, float], float], p: Any, xs: Any) -> NDArray[np.float64]:
    """The values of `fn(p, x)` for every x, in the shape of `xs`; equal bits to calling it in plain Python."""
    X = np.asarray(xs, float)
    packed = rows.pack_params(p, {}, "float64")
    Y = np.empty(X.size)
    record: Any = type(p)
    _module(fn, record).over(packed.values, np.ascontiguousarray(X.ravel()), Y, *packed.tables)
    return Y.reshape(X.shape)
