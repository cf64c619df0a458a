"""What a number in a record means: its unit, its legal range, or the names of its choices.

Written once, at the declaration of the field (`A[float, Q("rad/s", 0.0, 5.0)]`); checks, logs, schemas and plots read it there.
"""

from dataclasses import dataclass

INF = float("inf")

Floats = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Q:
    """A real quantity: unit, closed legal range, one line about it."""

    unit: str
    lo: float = -INF
    hi: float = INF
    about: str = ""

    def __post_init__(self) -> None:
        if not self.lo <= self.hi:
            raise ValueError(f"Q({self.unit!r}, {self.lo}, {self.hi}): the lower bound lies above the upper one")

    def allows(self, value: float) -> bool:
        return self.lo <= value <= self.hi

    def legal(self) -> str:
        return f"[{self.lo:g}, {self.hi:g}] {self.unit}"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few named cases, stored as the float of its position."""

    names: tuple[str, ...]
    about: str = ""
    unit: str = "-"

    def allows(self, value: float) -> bool:
        return 0.0 <= value < len(self.names) and float(int(value)) == value

    def legal(self) -> str:
        return " | ".join(f"{i} ({name})" for i, name in enumerate(self.names))


def flag(about: str = "") -> Choice:
    """Off or on, stored as 0.0 or 1.0; pure code asks `p.flag != 0.0`."""
    return Choice(("false", "true"), about)


@dataclass(frozen=True, slots=True)
class Table:
    """A read-only tuple of floats. `rising`: strictly increasing axis. `shape`: names of the sibling axes it is a grid over."""

    unit: str
    rising: bool = False
    shape: tuple[str, ...] = ()
    about: str = ""
