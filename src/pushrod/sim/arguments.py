"""Check what a user hands in: finite numbers and vectors, or an InputError that says what, got, allowed and unit."""

import math
import numbers
from collections.abc import Iterable

from pushrod.core.errors import InputError
from pushrod.core.quantity import INF


def number(what: str, value: object, unit: str, lo: float = -INF, above: float = -INF) -> float:
    """A finite float not below `lo` and, where given, greater than `above`."""
    allowed = f"a finite number [{unit}]"
    if lo > -INF:
        allowed = f"a finite number of at least {lo:g} {unit}"
    if above > -INF:
        allowed = f"a finite number greater than {above:g} {unit}"
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise InputError(f"{what} must be {allowed}, got {value!r}; nothing was changed")
    try:
        x = float(value)
    except OverflowError:  # an integer too large for a float
        x = INF
    if not math.isfinite(x) or x < lo or not x > above:
        raise InputError(f"{what} must be {allowed}, got {x:g}; nothing was changed")
    return x


def vector(what: str, values: object, unit: str, size: int = 3) -> tuple[float, ...]:
    """A tuple of `size` finite floats from any sequence or array of them."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{what} must be {size} finite numbers [{unit}], got {values!r}; nothing was changed")
    items = tuple(values)
    if len(items) != size:
        raise InputError(f"{what} must be {size} finite numbers [{unit}], got {len(items)}: {values!r}; nothing was changed")
    return tuple(number(f"{what}[{i}]", item, unit) for i, item in enumerate(items))
