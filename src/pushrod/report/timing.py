"""How late the loops of a live run were: the last word of each on the topic /loops."""

from collections import Counter
from typing import Any, NamedTuple

from pushrod.report.logged import Logged
from pushrod.report.number import as_float

EDGES = tuple(m * 10.0**p for p in range(8) for m in (1.0, 2.0, 5.0))  # [us]
FIGURES = ("p50", "p99", "worst", "delay", "call_p99")  # [s]


class Loop(NamedTuple):
    """`bins`: how many ticks were late by up to each edge [us], and by more than the edge before."""

    name: str
    ticks: int
    missed: int
    figures: dict[str, float]
    bins: tuple[tuple[float, int], ...]


def loops(log: Logged) -> tuple[Loop, ...]:
    if log.about.get("kind") == "stepped":
        return ()  # its clock waits for everybody
    last: dict[str, dict[str, Any]] = {}
    for _, message in log.messages("/loops"):
        if isinstance(message.get("name"), str):
            last[message["name"]] = message
    return tuple(_loop(name, one) for name, one in last.items())


def _loop(name: str, message: dict[str, Any]) -> Loop:
    figures = {key: as_float(message[key]) for key in FIGURES if isinstance(message.get(key), (int, float))}
    raw = message.get("bins")
    found: list[tuple[float, int]] = []
    for edge, count in raw.items() if isinstance(raw, dict) else ():
        try:
            found.append((float(edge), _whole(count)))
        except ValueError:
            continue  # no edge
    return Loop(name, _whole(message.get("ticks")), _whole(message.get("missed")), figures, _coarse(found))


def _coarse(bins: list[tuple[float, int]]) -> tuple[tuple[float, int], ...]:
    """1, 2, 5, 10, 20, 50 ... us: steps one can read. All between the first and the last are there."""
    if not bins:
        return ()
    counts: Counter[int] = Counter()
    for edge, count in bins:
        counts[next((i for i, limit in enumerate(EDGES) if edge <= limit), len(EDGES) - 1)] += count
    return tuple((EDGES[i], counts[i]) for i in range(min(counts), max(counts) + 1))


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and abs(value) < 1e15 else 0
