"""Values that a record declares invalid beside each other (`flaws`: lower above upper, an inertia that no body has), for many instances of it.

Only the records with such a method that contain a varied field are asked, and only where a corner of the ranges is invalid.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from pushrod.core.record import fields, get, is_record, put

MOST = 12  # varied fields of one record whose corners are checked


class Part(NamedTuple):
    """A record with `flaws`: where it is, and which varied fields are where in it."""

    path: str
    record: Any
    places: tuple[tuple[int, str], ...]

    def flaws(self, values: Sequence[float], dt: float) -> Iterator[str]:
        """Yield what the record objects to with these values of its varied fields, by path."""
        record = self.record
        for (_, path), value in zip(self.places, values, strict=True):
            record = put(record, path, value)
        for text in record.flaws(dt):
            yield f"{self.path}.{text}" if self.path else text

    def is_valid(self, values: Sequence[float], dt: float) -> bool:
        return next(self.flaws(values, dt), None) is None


def parts_to_check(base: Any, paths: Sequence[str], ranges: Sequence[tuple[float, float]], dt: float) -> list[Part]:
    """Return the records of which some combination of values may be invalid, where the fields at `paths` vary within `ranges`."""
    return [part for part in _parts(base, paths) if len(part.places) > MOST or not _valid_at_all_corners(part, ranges, dt)]


def _parts(base: Any, paths: Sequence[str]) -> Iterator[Part]:
    for at in _with_flaws(type(base), ""):
        head = f"{at}." if at else ""
        inside = tuple((j, path[len(head) :]) for j, path in enumerate(paths) if path.startswith(head))
        if inside:
            yield Part(at, get(base, at) if at else base, inside)


def _with_flaws(record: Any, path: str) -> list[str]:
    below = [at for f in fields(record) if is_record(f.type) for at in _with_flaws(f.type, f"{path}.{f.name}" if path else f.name)]
    return [*([path] if hasattr(record, "flaws") else []), *below]


def _valid_at_all_corners(part: Part, ranges: Sequence[tuple[float, float]], dt: float) -> bool:
    return all(part.is_valid(corner, dt) for corner in product(*(ranges[j] for j, _ in part.places)))
