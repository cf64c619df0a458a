"""Plain data that stays as it is: what a description holds of a driver's options. Mappings become `Frozen`, lists become tuples."""

from collections.abc import Iterator, Mapping
from typing import Any


class Frozen(Mapping[str, Any]):
    """A mapping that cannot be changed, can be compared with a dict, hashed, pickled and sent to another process."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Any] | None = None) -> None:
        self._items = {key: freeze(value) for key, value in (items or {}).items()}

    def __getitem__(self, key: str) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


def freeze(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value if isinstance(value, Frozen) else Frozen(value)
    return tuple(freeze(part) for part in value) if isinstance(value, (list, tuple)) else value


def plain(value: Any) -> Any:
    """The same as dicts and lists, a copy of its own."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value
