"""Messages as columns: every number found in them, by its dotted path, with the times of the messages that have it.

{"a": 1, "b": {"c": 2}, "d": [3, 4], "e": [{"name": "left", "x": 5}]}  ->  a, b.c, d.0, d.1, e.left.x
Lists side by side, {"name": ["left", "right"], "position": [1, 2]}, are read by name too: left.position, right.position.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.log.row import BEYOND

Array = NDArray[np.float64]
Columns = dict[str, tuple[list[Array], list[Array]]]

DEEPEST = 16  # levels of nesting that are looked into
LONGEST = 128  # entries of a list that become channels; a longer one is an image or a cloud of points
MOST = 20_000  # different numbers in one file
NUMBERS = frozenset((float, int, bool, type(None)))
_ABSENT = object()


def spread(rows: list[Any], t: Array, into: Columns, prefix: str = "", depth: int = 0) -> int:
    """Put the numbers of all rows (as many as there are times) into the columns, and say how many there were."""
    if depth == 0:
        rows = [_infinite(row) if isinstance(row, dict) and BEYOND in row else row for row in rows]
    if depth > DEEPEST or not rows:
        return 0
    kinds = set(map(type, rows))
    if kinds <= NUMBERS:
        return _put(rows, t, into, prefix)
    if kinds == {dict}:
        return _spread_objects(rows, t, into, prefix, depth)
    if kinds == {list}:
        named = [_named(row) for row in rows]
        if all(row is not None for row in named):
            return spread(named, t, into, prefix, depth + 1)
        short = np.array([len(row) <= LONGEST for row in rows])
        return spread([dict(enumerate(row)) for row in rows if len(row) <= LONGEST], t[short], into, prefix, depth + 1)
    if len(kinds) == 1:
        return 0  # text
    # now this, now that: each for itself
    groups: tuple[frozenset[Any], ...] = (NUMBERS, frozenset((dict,)), frozenset((list,)))
    return sum(_spread_some(rows, np.array([type(row) in group for row in rows]), t, into, prefix, depth) for group in groups)


def _spread_some(rows: list[Any], here: NDArray[np.bool_], t: Array, into: Columns, prefix: str, depth: int) -> int:
    return spread([row for row, it in zip(rows, here, strict=True) if it], t[here], into, prefix, depth)


def _spread_objects(rows: list[dict[Any, Any]], t: Array, into: Columns, prefix: str, depth: int) -> int:
    if any("name" in row and type(row["name"]) is list for row in rows):
        rows = [_side_by_side(row) for row in rows]
    keys = list(rows[0])
    if all(list(row) == keys for row in rows):  # as nearly always: all alike
        columns = zip(*(row.values() for row in rows), strict=True)
        return sum(spread(list(column), t, into, _under(prefix, key), depth + 1) for key, column in zip(keys, columns, strict=True)) if keys else 0
    found = 0
    for key in dict.fromkeys(chain.from_iterable(rows)):
        values = [row.get(key, _ABSENT) for row in rows]
        there = np.array([value is not _ABSENT for value in values])
        found += spread([value for value in values if value is not _ABSENT], t[there], into, _under(prefix, key), depth + 1)
    return found


def _under(prefix: str, key: Any) -> str:
    return f"{prefix}.{key}" if prefix else str(key)


def _put(values: list[Any], t: Array, into: Columns, path: str) -> int:
    if path not in into:
        if len(into) >= MOST or all(value is None for value in values):  # null may stand for anything
            return 0
        into[path] = ([], [])
    into[path][0].append(t)
    into[path][1].append(floats(values))
    return len(values)


def floats(values: Iterable[Any]) -> Array:
    """None is nan; a whole number beyond all floats is inf."""
    values = list(values)
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        return np.array([_float(x) for x in values])


def _float(x: Any) -> float:
    try:
        return float("nan") if x is None else float(x)
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def _named(items: list[Any]) -> dict[str, Any] | None:
    """A list of objects that all have a name of their own, by that; None for any other list."""
    if not items or not all(type(item) is dict and type(item.get("name")) is str for item in items):
        return None
    found = {item["name"]: item for item in items}
    return found if len(found) == len(items) else None


def _side_by_side(row: dict[Any, Any]) -> dict[Any, Any]:
    names = row.get("name")
    if type(names) is not list or not names or not all(type(name) is str for name in names):
        return row
    lists = {key: column for key, column in row.items() if key != "name" and type(column) is list and len(column) == len(names)}
    rest = {key: value for key, value in row.items() if key != "name" and key not in lists}
    return rest | {name: {key: column[i] for key, column in lists.items()} for i, name in enumerate(names)}


def _infinite(row: dict[str, Any]) -> dict[str, Any]:
    """A message with its infinite numbers put in."""
    signs = row[BEYOND]
    row = {key: value for key, value in row.items() if key != BEYOND}
    for path, sign in signs.items() if isinstance(signs, dict) else ():
        *way, last = path.split(".")
        node: Any = row
        for name in way:
            node = node.get(name) if isinstance(node, dict) else None
        if isinstance(node, dict) and node.get(last, _ABSENT) is None:
            node[last] = float("-inf") if sign == -1 else float("inf")
    return row
