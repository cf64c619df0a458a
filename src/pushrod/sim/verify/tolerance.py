"""The tolerance a reference file states: {"absolute": 1e-9, "relative": 1e-9}, each left out as it is by default."""

import math
from pathlib import Path
from typing import Any

from pushrod.core.errors import VerifyError


def read(path: Path, given: Any, default: float) -> tuple[float, float]:
    """Absolute and relative. What is no tolerance is refused with file and field: below 0 nothing would pass, with text nothing be compared."""
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise VerifyError(f'{path}: tolerance must be an object such as {{"absolute": {default:g}, "relative": {default:g}}}, got {given!r}')
    return _side(path, given, "absolute", default), _side(path, given, "relative", default)


def _side(path: Path, given: dict[str, Any], side: str, default: float) -> float:
    value = given.get(side, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value < math.inf:
        raise VerifyError(f"{path}: tolerance.{side} must be a finite number of at least 0, got {value!r}")
    return float(value)
