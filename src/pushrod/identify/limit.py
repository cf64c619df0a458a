"""Limits as people write them on a command line: `q=1.5`, `q=-20..30 deg`, `w=2 rad/s`: from minus the number to it, or from one to another."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pushrod.config.unit import to_si
from pushrod.core.errors import InputError, UnknownNameError
from pushrod.core.names import find

BARE = re.compile(r"[-+.\deE\s]+")


class Range(NamedTuple):
    lo: float
    hi: float


def range_of(text: str, units: Mapping[str, str], what: str, option: str) -> tuple[str, Range]:
    """The path and the range of "PATH=RANGE"; `units` are those of all paths there are."""
    path, rest = _split(text, units, what, option)
    if not rest:
        raise InputError(f"{option} {text}: how far? Write {option} {path}=1, or {option} '{path}=-1..2 {units[path]}'")
    return path, read_range(rest, units[path], f"{option} {text}")


def most_of(text: str, units: Mapping[str, str], what: str, option: str, per: str = "") -> tuple[str, float | None]:
    """The path and the number of "PATH=NUMBER" in its unit, or that unit `per` something; no number where there is none."""
    path, rest = _split(text, units, what, option)
    return path, number(rest, units[path] + per, f"{option} {text}") if rest else None


def read_range(text: str, unit: str, where: str) -> Range:
    """ "2" is -2 to 2; "-1..3 deg" is -1 to 3, both in deg."""
    lower, dots, upper = text.partition("..")
    if not dots:
        most = number(text, unit, where)
        if not most > 0.0:
            raise InputError(f"{where}: a limit to either side is above 0, got {most:g} {unit}; write LOW..HIGH for others")
        return Range(-most, most)
    if BARE.fullmatch(lower):  # the unit behind the upper one is meant for both
        lower = f"{lower} {re.sub(r'^[-+.0-9eE]+', '', upper.strip())}"
    lo, hi = number(lower, unit, where), number(upper, unit, where)
    if not lo < hi:
        raise InputError(f"{where}: {lo:g} to {hi:g} {unit} holds nothing; the lower limit comes first")
    return Range(lo, hi)


def number(text: str, unit: str, where: str) -> float:
    try:
        return to_si(text.strip(), unit)
    except ValueError as e:
        raise InputError(f"{where}: {e}") from e


def _split(text: str, units: Mapping[str, str], what: str, option: str) -> tuple[str, str]:
    path, eq, rest = (part.strip() for part in text.partition("="))
    try:
        find(units, path, what)
    except UnknownNameError as e:
        raise UnknownNameError(f"{option} {text}: {e}") from e
    if eq and not rest:
        raise InputError(f"{option} {text}: nothing stands behind the =")
    return path, rest
