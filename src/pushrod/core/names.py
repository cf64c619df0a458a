"""Look a name up in a literal table; a wrong one is answered with the nearest right ones."""

import difflib
from collections.abc import Mapping
from typing import TypeVar

from pushrod.core.errors import UnknownNameError

T = TypeVar("T")


def find(table: Mapping[str, T], name: str, what: str) -> T:
    """The entry called `name`, or an UnknownNameError that says what else there is."""
    if name in table:
        return table[name]
    raise UnknownNameError(unknown(table, name, what))


def unknown(table: Mapping[str, object], name: str, what: str) -> str:
    """The sentence for a name that is not in the table."""
    by_fold = {key.casefold(): key for key in table}
    near = [by_fold[key] for key in difflib.get_close_matches(str(name).casefold(), by_fold, n=3, cutoff=0.5)]
    hint = f"did you mean {' or '.join(repr(key) for key in near)}? " if near else ""
    return f"there is no {what} named {name!r}; {hint}known: {', '.join(sorted(table)) or 'none'}"
