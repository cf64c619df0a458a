"""Numbers of one record put into another: a pure function that is data, for code that learns only at run time which outputs it looks at.

    two = Pick(Pair, ("body.q", "torque"))
    two(y)  ==  Pair(y.body.q, y.torque)

Steps call it like any pure function; the linker writes it out. The empty path is the value itself, where that is a lone number.
"""

from dataclasses import dataclass
from typing import Any

from pushrod.core.record import get


@dataclass(frozen=True)
class Pick:
    """`Record` is a flat record of as many numbers as there are paths."""

    Record: Any
    paths: tuple[str, ...]

    def __call__(self, value: Any) -> Any:
        return self.Record(*(get(value, path) for path in self.paths))
