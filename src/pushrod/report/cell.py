"""Tables of the page: texts with the number behind them, so that nothing is lost by rounding and the smallest screen can fold them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pushrod.report.number import number, quantity, share


class Cell(NamedTuple):
    """`value` is the number itself, `tone` how it is to be seen: good, bad, warn, dim, or nothing."""

    text: str
    value: float | None = None
    tone: str = ""
    align: str = ""


class Grid(NamedTuple):
    """`heads` and rows of as many cells. `fold`: after how many rows the rest is shown only when asked for. `marks`: a word for each row."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    fold: int = 1_000_000
    marks: tuple[str, ...] = ()


def text(what: Any, tone: str = "") -> Cell:
    return Cell("" if what is None else str(what), None, tone)


def count(n: int) -> Cell:
    return Cell(str(n) if n else "–", float(n), "" if n else "dim", "right")


def amount(value: float | None, unit: str = "-", digits: int = 3) -> Cell:
    return Cell(quantity(value, unit, digits), value, "dim" if value is None else "", "right")


def plain(value: float | None, digits: int = 4) -> Cell:
    return Cell(number(value, digits), value, "dim" if value is None else "", "right")


def percent(value: float | None) -> Cell:
    return Cell(share(value), value, "dim" if value is None else "", "right")
