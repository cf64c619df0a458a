"""Where each leaf of a record lies in flat storage, indexed [row, instance]: numbers first, then delay lines; tables lie in arrays of their own."""

import functools
from typing import Any, NamedTuple

from pushrod.core.quantity import Table
from pushrod.core.record import leaves, numbers
from pushrod.core.ring import Ring


class Layout(NamedTuple):
    rows: dict[str, int]  # path of a number -> its row
    lines: dict[str, int]  # path of a delay line -> its first row
    tables: tuple[str, ...]  # paths of tables
    height: int  # rows in all


@functools.cache
def layout(record: Any) -> Layout:
    rows = {leaf.path: row for row, leaf in enumerate(numbers(record))}
    lines: dict[str, int] = {}
    height = len(rows)
    for leaf in leaves(record):
        if isinstance(leaf.meta, Ring):
            lines[leaf.path] = height
            height += leaf.meta.slots * len(numbers(leaf.meta.record))
    return Layout(rows, lines, tuple(leaf.path for leaf in leaves(record) if isinstance(leaf.meta, Table)), height)
