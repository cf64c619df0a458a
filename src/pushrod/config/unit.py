"""Numbers with units as people write them in files: "90 deg", "5 ms", "30 km/h" become the SI number a record wants.

A unit is factors joined by `.` and `/` (each `/` divides by the one factor after it, or by a product in brackets), a factor a
prefixed symbol with an exponent: N.m.s/rad, kg.m2, m/s2, W/(m.K). Angle counts as a dimension of its own, so that 50 Hz is not taken for 50 rad/s.
"""

import difflib
import functools
import math
import re
from fractions import Fraction
from typing import NamedTuple

PREFIXES = {"n": -9, "u": -6, "µ": -6, "m": -3, "c": -2, "d": -1, "k": 3, "M": 6, "G": 9}
PI = Fraction(math.pi)

# symbol: (factor, exponents of m, kg, s, A, K, rad)
SYMBOLS: dict[str, tuple[Fraction, tuple[int, int, int, int, int, int]]] = {
    "-": (Fraction(1), (0, 0, 0, 0, 0, 0)),
    "1": (Fraction(1), (0, 0, 0, 0, 0, 0)),
    "%": (Fraction(1, 100), (0, 0, 0, 0, 0, 0)),
    "percent": (Fraction(1, 100), (0, 0, 0, 0, 0, 0)),
    "m": (Fraction(1), (1, 0, 0, 0, 0, 0)),
    "g": (Fraction(1, 1000), (0, 1, 0, 0, 0, 0)),
    "s": (Fraction(1), (0, 0, 1, 0, 0, 0)),
    "A": (Fraction(1), (0, 0, 0, 1, 0, 0)),
    "K": (Fraction(1), (0, 0, 0, 0, 1, 0)),
    "rad": (Fraction(1), (0, 0, 0, 0, 0, 1)),
    "deg": (PI / 180, (0, 0, 0, 0, 0, 1)),
    "°": (PI / 180, (0, 0, 0, 0, 0, 1)),
    "rev": (PI * 2, (0, 0, 0, 0, 0, 1)),
    "rpm": (PI / 30, (0, 0, -1, 0, 0, 1)),
    "min": (Fraction(60), (0, 0, 1, 0, 0, 0)),
    "h": (Fraction(3600), (0, 0, 1, 0, 0, 0)),
    "Hz": (Fraction(1), (0, 0, -1, 0, 0, 0)),
    "N": (Fraction(1), (1, 1, -2, 0, 0, 0)),
    "Nm": (Fraction(1), (2, 1, -2, 0, 0, 0)),
    "J": (Fraction(1), (2, 1, -2, 0, 0, 0)),
    "W": (Fraction(1), (2, 1, -3, 0, 0, 0)),
    "Pa": (Fraction(1), (-1, 1, -2, 0, 0, 0)),
    "bar": (Fraction(100_000), (-1, 1, -2, 0, 0, 0)),
    "V": (Fraction(1), (2, 1, -3, -1, 0, 0)),
    "ohm": (Fraction(1), (2, 1, -3, -2, 0, 0)),
    "Ω": (Fraction(1), (2, 1, -3, -2, 0, 0)),
    "F": (Fraction(1), (-2, -1, 4, 2, 0, 0)),
    "H": (Fraction(1), (2, 1, -2, -2, 0, 0)),
    "Wb": (Fraction(1), (2, 1, -2, -1, 0, 0)),
    "T": (Fraction(1), (0, 1, -2, -1, 0, 0)),
    "mph": (Fraction(1609344, 3_600_000), (1, 0, -1, 0, 0, 0)),
    "kn": (Fraction(1852, 3600), (1, 0, -1, 0, 0, 0)),
    "in": (Fraction(254, 10_000), (1, 0, 0, 0, 0, 0)),
    "ft": (Fraction(3048, 10_000), (1, 0, 0, 0, 0, 0)),
    "g0": (Fraction(980665, 100_000), (1, 0, -2, 0, 0, 0)),
}

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
WITH_UNIT = re.compile(r"(.*\S)\s*\[([^\[\]]+)\]\s*")
TEXT = re.compile(rf"\s*({NUMBER})\s*(\S.*?)?\s*")
FACTOR = re.compile(r"([./*·]?)([A-Za-zµΩ°%]+|1(?!\d))\^?(-?\d|²|³)?")


class Unit(NamedTuple):
    factor: Fraction
    dimension: tuple[int, ...]


@functools.cache
def parse(text: str) -> Unit:
    """The SI factor and the dimension of a unit; ValueError says which symbol is not known."""
    if text in SYMBOLS:
        return Unit(*SYMBOLS[text])
    whole, text = text, re.sub(r"/\(([^()/]+)\)", lambda m: "/" + re.sub("[.*·]", "/", m[1]), text)
    factor, dimension, end = Fraction(1), [0] * 6, 0
    while end < len(text):
        m = FACTOR.match(text, end)
        if not m or (end > 0) != bool(m[1]):
            raise ValueError(f"{whole!r} is not a unit: write factors joined by '.' and '/', such as N.m/rad or m/s2")
        one = _symbol(m[2])
        power = {"²": 2, "³": 3, "": 1}.get(m[3] or "") or int(m[3])
        power = -power if m[1] == "/" else power
        factor *= one.factor**power
        dimension = [d + power * e for d, e in zip(dimension, one.dimension, strict=True)]
        end = m.end()
    return Unit(factor, tuple(dimension))


def _symbol(name: str) -> Unit:
    if name in SYMBOLS:
        return Unit(*SYMBOLS[name])
    if name[0] in PREFIXES and name[1:] in SYMBOLS:
        factor, dimension = SYMBOLS[name[1:]]
        return Unit(factor * Fraction(10) ** PREFIXES[name[0]], dimension)
    near = difflib.get_close_matches(name, SYMBOLS, n=2, cutoff=0.5)
    raise ValueError(f"unknown unit {name!r}; " + (f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(SYMBOLS)}"))


def bracketed(unit: str) -> str:
    """A unit as it stands behind a number in a message: " [rad]"; nothing where there is none, or none is known."""
    return "" if unit in ("", "-") else f" [{unit}]"


def split_name(text: str) -> tuple[str, str]:
    """Return name and unit of "name [unit]"; the unit is "" where there is none."""
    m = WITH_UNIT.fullmatch(text)
    return (m[1], m[2].strip()) if m else (text.strip(), "")


def conversion(written: str, wanted: str) -> float:
    """Return the factor from the unit that a file states ("" where it states none) to the one that is wanted.

    A signal of any unit ("-" or "" wanted) is in SI, so that a gain between two columns does not depend on their units: 1 % is 0.01, 1 deg 0.01745;
    a unit of the file's own, such as counts, stays as it is. ValueError where a unit is unknown or cannot be converted.
    """
    if written in ("", wanted):
        return 1.0
    if wanted in ("", "-"):
        try:
            return to_si(f"1 {written}", "")
        except ValueError:
            return 1.0
    return to_si(f"1 {written}", wanted)


def to_si(text: str, unit: str) -> float:
    """The number in a text such as "90 deg", in the given SI unit. A bare number is taken to be in that unit already.

    Where the unit wanted is not known (""), the SI number of whatever unit is written.
    """
    m = TEXT.fullmatch(text)
    if not m:
        how = f"write a number{bracketed(unit)} or text such as '1.5 {unit}'" if bracketed(unit) else "write a number"
        raise ValueError(f"{text!r} is not a number{' with a unit' if unit != '-' else ''}; {how}")
    near, written = float(m[1]), m[2]
    if not math.isfinite(near):
        raise ValueError(f"{text!r} is more than a number can hold")
    if written is None or written == unit:
        return near
    number = Fraction(m[1]) if near != 0.0 else Fraction(0)  # 1e-999999999 in full would take all memory
    given = parse(written)
    if unit == "":
        return _real(number * given.factor, text)
    try:
        wanted = parse(unit)
    except ValueError:  # a unit of the record's own, such as "counts"
        wanted = None
    if wanted is None or given.dimension != wanted.dimension:
        if unit == "-":
            raise ValueError(f"{text!r} is in {written}, but what is asked for has no unit; write the number alone")
        raise ValueError(f"{text!r} is in {written}, which cannot be turned into {unit}")
    return _real(number * given.factor / wanted.factor, text)


def _real(number: Fraction, text: str) -> float:
    try:
        return float(number)
    except OverflowError:
        raise ValueError(f"{text!r} is more than a number can hold") from None
