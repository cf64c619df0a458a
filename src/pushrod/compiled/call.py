"""A pure function for live code, compiled: numbers and records of numbers go in, a record comes out; equal bits to calling it in plain Python.

What it calls is not inlined, as it is in a step: a solver calls the same few functions from many places, and would take three times as long to
compile.
"""

import functools
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

from pushrod.compiled.entry import HEADS, spelling
from pushrod.compiled.link import dotted
from pushrod.compiled.module import load
from pushrod.core.record import is_record, leaves, numbers, unflat

_CALL = """@entry
def call(X, Y):
    y = {name}({args})
{stores}"""


@functools.cache
def compiled(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled here and now, once. Its arguments are floats, and records whose fields are floats; by position alone."""
    linker = spelling("cpu", "float64")
    name = linker.function(fn)
    hints = typing.get_type_hints(fn)
    record = hints.pop("return")
    width = sum(len(numbers(kind)) if is_record(kind) else 1 for kind in hints.values())
    cells = (f"X[{j}]" for j in range(width))
    args = [linker.construct(kind, lambda _: next(cells)) if is_record(kind) else next(cells) for kind in hints.values()]
    n = len(leaves(record))
    stores = "".join(f"    Y[{j}] = y{dotted(leaf.path)}\n" for j, leaf in enumerate(leaves(record)))
    linker.parts.append(_CALL.format(name=name, args=", ".join(args), stores=stores))
    call = load(HEADS["call", "float64"] + "\n\n" + "\n\n".join(linker.parts), name).call
    call.compile("(float64[::1], float64[::1])")

    def quick(*given: Any) -> Any:
        row: list[float] = []
        for one in given:
            if isinstance(one, tuple):
                row += one
            else:
                row.append(one)
        X, Y = np.array(row, float), np.empty(n)
        if len(X) != width:
            raise TypeError(f"{fn.__name__} takes {width} numbers, got {len(X)}")
        call(X, Y)
        return unflat(record, Y.tolist())

    return quick
