"""When something was broken or not armed: the bands behind every plot."""

import math
import re
from typing import Any, NamedTuple

from pushrod.config.structure import WRONG, Aside, number_of
from pushrod.log.table import Channel
from pushrod.report.logged import Logged
from pushrod.report.tracking import Span, spans, union

ARMED = "armed"
WHOLE = "none"  # the kind of a fault that is none
BROKEN = re.compile(r"fault\.(\w+(?:\.\w+)*)\.kind")


def faults(log: Logged) -> dict[str, tuple[Span, ...]]:
    """By what broke: as the scenario says, where a signal that ends in _fault is not 0, and from when until when one was put in by hand.

    A fault need not be announced to be there.
    """
    told = {name.removesuffix("_fault"): _where(log, channel, True) for name, channel in log.channels.items() if name.endswith("_fault")}
    for fault in scripted(log):
        begin, end = log.span
        span = (max(fault.since, begin), min(fault.until, end))
        if span[0] < span[1]:
            told[fault.channel] = union([told.get(fault.channel, ()), (span,)])
    for name, when in by_hand(log).items():
        told[name] = union([told.get(name, ()), when])
    return {name: when for name, when in told.items() if when}


def by_hand(log: Logged) -> dict[str, tuple[Span, ...]]:
    """Faults of a simulated machine that somebody set while it ran: parameters fault.<channel>.kind."""
    kinds: dict[str, list[tuple[float, Any]]] = {}
    for t, message in log.messages("/param"):
        if m := BROKEN.fullmatch(str(message.get("path"))):
            kinds.setdefault(m[1], [(log.span[0], message.get("old"))]).append((t, message.get("new")))
    found = {}
    for channel, told in kinds.items():
        ends = [*(t for t, _ in told[1:]), log.span[1]]
        found[channel] = union([((begin, end),) for (begin, kind), end in zip(told, ends, strict=True) if kind != WHOLE and end > begin])
    return found


def not_armed(log: Logged) -> tuple[Span, ...]:
    """By what the safety state machine told, else by what the world was told."""
    states = [(t, message.get("to")) for t, message in log.messages("/safety") if isinstance(message.get("to"), str)]
    if states:
        begin, end = log.span
        times = [begin, *(t for t, _ in states), end]
        names = ["", *(str(state) for _, state in states)]
        return tuple((a, b) for a, b, state in zip(times, times[1:], names, strict=False) if state != ARMED and b > a)
    told = log.channels.get(f"in.{ARMED}")
    return () if told is None else _where(log, told, False)


def _where(log: Logged, channel: Channel, on: bool) -> tuple[Span, ...]:
    return spans(channel.t, (channel.values != 0.0) == on, log.dt)


class Fault(NamedTuple):
    """A fault of the scenario: what breaks, from when until when [s], and all else that stands there, in words."""

    channel: str
    since: float
    until: float
    words: str


def scripted(log: Logged) -> list[Fault]:
    data = log.said.scenario.data.get("faults") if log.said.scenario else None
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    found = []
    for entry in entries:
        rest = [f"{key} {value}" for key, value in entry.items() if key not in ("channel", "kind", "announced")]
        words = ", ".join([f"{entry.get('channel')}: {entry.get('kind')}", *rest, *(["announced"] if entry.get("announced") is True else [])])
        found.append(Fault(str(entry.get("channel")), _seconds(entry.get("at"), math.inf), _seconds(entry.get("until"), math.inf), words))
    return found


def _seconds(value: Any, otherwise: float) -> float:
    number = otherwise if value is None else number_of("s", value, (), Aside())
    return otherwise if number is WRONG else float(number)
