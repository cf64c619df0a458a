"""Bounded tables for what is keyed by text that a sender chose."""

from collections.abc import Hashable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def remember(table: dict[K, V], key: K, value: V, room: int) -> None:
    """Set an entry, and drop the oldest entries beyond `room`."""
    table[key] = value
    while len(table) > room:
        try:
            del table[next(iter(table))]
        except (KeyError, StopIteration, RuntimeError):  # another thread has changed it meanwhile, and drops what is too much
            return
