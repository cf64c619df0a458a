"""Numbers and units as people read them: 0.123 m/s², 1 234 567, 12 %."""

import math
import re

RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def unit_text(unit: str) -> str:
    """m/s2 is m/s², N.m is N·m, and "-" is nothing."""
    if unit in ("", "-"):
        return ""
    return re.sub(r"(?<=[A-Za-z])\^?(-?\d)", lambda m: m[1].translate(RAISED), unit).replace(".", "·")


def number(value: float | None, digits: int = 3) -> str:
    """So many significant digits, without an exponent where there can be none."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "∞" if value == math.inf else "−∞" if value == -math.inf else "–"
    text = f"{value + 0.0:.{digits}g}"  # -0.0 + 0.0 has no sign
    if "e" in text and 1e-4 <= abs(value) < 1e6:
        text = f"{value:.0f}"
    if "e" in text:
        mantissa, _, power = text.partition("e")
        text = f"{mantissa}·10{str(int(power)).translate(RAISED)}"
    return text.replace("-", "−")


def as_float(value: float) -> float:
    """JSON knows whole numbers that no float can hold."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def quantity(value: float | None, unit: str, digits: int = 3) -> str:
    if value is None or not math.isfinite(value):
        return number(value)
    shown = unit_text(unit)
    return f"{number(value, digits)} {shown}" if shown else number(value, digits)


def short_time(value: float | None) -> str:
    """Of loops and calls: in us or ms."""
    if value is None or not math.isfinite(value) or value >= 1.0:
        return quantity(value, "s")
    return f"{number(1e6 * value)} µs" if value < 1e-3 else f"{number(1e3 * value)} ms"


def share(value: float | None) -> str:
    return "–" if value is None else f"{100.0 * value:.1f} %"


def signed_share(value: float) -> str:
    """Return a difference of shares with its sign; zero has none."""
    rounded = round(100.0 * value, 1)
    return f"{rounded:+.1f} %".replace("-", "−") if rounded else "0.0 %"


def whole(n: int) -> str:
    """1 234 567, with narrow spaces."""
    return f"{n:,}".replace(",", "\u202f")
