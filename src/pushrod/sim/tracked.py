"""Which request of a machine belongs to which achieved signal, and what counts as saturated: the rows of the summary.

track:
  - {request: steer_req, achieved: steer_ach, limit: steer_lim, rate: 0.5}              bounds: numbers, texts with a unit, or parameters
  - {request: req.u_s_req, achieved: fb.u_s_ach, saturated: [diag.loss_s.clamp], when: {req.src: AUTOPILOT}}
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated as A
from typing import Any

import msgspec

from pushrod.config.structure import WRONG, number_of
from pushrod.config.yaml_file import Document, Keys
from pushrod.core.model import World
from pushrod.core.names import unknown
from pushrod.core.quantity import Choice
from pushrod.core.record import Leaf, get, numbers

Text = msgspec.Meta
TAKEN = 1e-6  # of a signal that tells what a limit takes: less is rounding


class Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request, what was achieved of it, and the limits that explain a difference."""

    request: A[str, Text(description="signal that was asked for")]
    achieved: A[str, Text(description="signal that came of it")]
    limit: A[float | str | None, Text(description="bound of |achieved|: a number, text with a unit, or the path of a parameter")] = None
    limits: A[tuple[float | str, float | str] | None, Text(description="lower and upper bound of achieved")] = None
    rate: A[float | str | None, Text(description="bound of the rate of achieved, per second")] = None
    saturated: A[list[str], Text(description="flags of limits, or what they take: while one of these signals is not 0 counts as saturated")] = []
    when: A[dict[str, float | str], Text(description="a signal and its value: where it never has it nobody asks, and the row is left out")] = {}


@dataclass(frozen=True)
class Tracked:
    """A pair with its limits as numbers."""

    request: str
    achieved: str
    low: float | None = None
    high: float | None = None
    rate: float | None = None
    saturated: tuple[str, ...] = ()
    when: tuple[tuple[str, float], ...] = ()


def signals_of(world: World) -> dict[str, Leaf]:
    """Every signal of a run: outputs by their path, inputs as in.<channel>."""
    found = {leaf.path: leaf for leaf in numbers(world.Out)}
    return found | {f"in.{leaf.path}": leaf for leaf in numbers(world.In)}


def tracked(pair: Pair, world: World, params: Any, at: Keys, document: Document) -> Tracked:
    signals = signals_of(world)
    named: list[tuple[Keys, str]] = [(("request",), pair.request), (("achieved",), pair.achieved)]
    for key, name in [*named, *((("saturated", i), name) for i, name in enumerate(pair.saturated))]:
        if name not in signals:
            document.add((*at, *key), unknown(signals, name, "signal"))
    unit = signals[pair.achieved].meta.unit if pair.achieved in signals else "-"  # type: ignore[union-attr]
    low = high = rate = None
    if pair.limit is not None:
        high = _bound(pair.limit, unit, params, (*at, "limit"), document)
        low = -high
    if pair.limits is not None:
        low, high = (_bound(value, unit, params, (*at, "limits", i), document) for i, value in enumerate(pair.limits))
    if pair.rate is not None:
        rate = _bound(pair.rate, f"{unit}/s", params, (*at, "rate"), document)
    when = tuple((name, _value(value, name, signals, (*at, "when", name), document)) for name, value in pair.when.items())
    return Tracked(pair.request, pair.achieved, low, high, rate, tuple(pair.saturated), when)


def _bound(value: float | str, unit: str, params: Any, at: Keys, document: Document) -> float:
    """A number, text with a unit, or the value of the parameter at that path."""
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w.]*", value):
        kind: Any = type(params)
        known = {leaf.path: leaf for leaf in numbers(kind)}
        if value not in known:
            document.add(at, unknown(known, value, "parameter"))
            return 0.0
        return float(get(params, value))
    number = number_of(unit, value, at, document)
    return 0.0 if number is WRONG else float(number)


def _value(value: float | str, name: str, signals: Mapping[str, Leaf], at: Keys, document: Document) -> float:
    """What a signal is to be: a number, text with a unit, or the name of a case."""
    if name not in signals:
        document.add(at, unknown(signals, name, "signal"))
        return 0.0
    meta: Any = signals[name].meta
    if isinstance(meta, Choice) and isinstance(value, str):
        if value in meta.names:
            return float(meta.names.index(value))
        document.add(at, unknown(dict.fromkeys(meta.names), value, f"case of {name}"))
        return 0.0
    number = number_of(meta.unit, value, at, document)
    return 0.0 if number is WRONG else float(number)
