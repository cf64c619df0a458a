"""What a browser is told in one tick, and only as far as it is new."""

from typing import Any


class Told:
    """texts, bars (from, to in % of their place), flags: by key. plots: by element, per line its new times [ms] and values."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.bars: dict[str, tuple[float, float]] = {}
        self.flags: dict[str, bool] = {}
        self.rows: dict[str, list[list[str]]] = {}  # of a table: its class, then its cells
        self.plots: dict[int, list[tuple[list[float], list[float | None]]]] = {}

    def bar(self, key: str, value: float | None, low: float, high: float) -> None:
        """From the middle of what there is, or from 0 where that is within, to the value."""
        if value is None or not high > low:
            self.bars[key] = (0.0, 0.0)
            return
        origin = min(max(0.0, low), high)
        ends = [100.0 * (min(max(x, low), high) - low) / (high - low) for x in (origin, value)]
        self.bars[key] = (round(ends[0], 1), round(ends[1], 1))

    def news(self, before: "Told") -> dict[str, Any]:
        """What `before` did not tell."""
        return {
            "texts": {key: text for key, text in self.texts.items() if before.texts.get(key) != text},
            "bars": {key: bar for key, bar in self.bars.items() if before.bars.get(key) != bar},
            "flags": {key: flag for key, flag in self.flags.items() if before.flags.get(key) is not flag},
            "rows": {key: table for key, table in self.rows.items() if before.rows.get(key) != table},
            "plots": self.plots,
        }


def figure(value: float | None, unit: str = "", digits: int = 3) -> str:
    """A number that does not jump about: so many digits after the point, and its unit."""
    if value is None:
        return "-"
    shown = f"{round(value, digits) + 0.0:.{digits}f}" if abs(value) < 1e6 else f"{value:.3e}"  # no -0.000
    return f"{shown} {unit}" if unit not in ("", "-") else shown


def span(seconds: float | None) -> str:
    """A time in the unit that suits."""
    if seconds is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1e3 else f"{seconds:.0f} s"
    return "0 s"
