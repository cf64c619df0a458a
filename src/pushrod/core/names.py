"""Look a name up in a literal table; a wrong one is answered with the nearest right ones."""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from pushrod.core.errors import UnknownNameError

T = TypeVar("T")
MOST = 30  # names that are listed


def find(table: Mapping[str, T], name: str, what: str) -> T:
    """The entry called `name`, or an UnknownNameError that says what else there is."""
    if name in table:
        return table[name]
    raise UnknownNameError(unknown(table, name, what))


def unknown(table: Mapping[str, object], name: str, what: str) -> str:
    """The sentence for a name that is not in the table."""
    hint = did_you_mean(table, name)
    known = ", ".join(sorted(table)) or "none"
    if len(table) > MOST:
        known = f"{len(table)} names, from {min(table)} to {max(table)}"
    return f"there is no {what} named {name!r}; {hint}{' ' if hint else ''}known: {known}"


def did_you_mean(known: Iterable[str], name: str) -> str:
    """The question that offers the nearest known names; empty where none is near."""
    by_fold = {key.casefold(): key for key in known}
    near = [by_fold[key] for key in difflib.get_close_matches(str(name).casefold(), by_fold, n=3, cutoff=0.5)]
    return f"did you mean {' or '.join(repr(key) for key in near)}?" if near else ""


def count(n: int, what: str) -> str:
    """1 signal, 2 signals."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
