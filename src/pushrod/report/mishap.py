"""What went wrong in a live run, in a line: e-stops, trips of the guard, errors, warnings. Refused commands have a section of their own."""

from typing import NamedTuple

from pushrod.core.names import count
from pushrod.log.events import Event
from pushrod.report.logged import Logged
from pushrod.report.number import quantity

BAD = ("error", "fatal")


class Mishap(NamedTuple):
    """`tone` is bad or warn; `head` says how many of what, `text` when the first was and why."""

    tone: str
    head: str
    text: str


def mishaps(log: Logged, events: tuple[Event, ...]) -> tuple[Mishap, ...]:
    """The worst first."""
    stops = [
        Event(t, "error", str(message.get("why") or ""), "safety")
        for t, message in log.messages("/safety")
        if message.get("to") == "estopped" and message.get("from") != "estopped"
    ]
    trips = [event for event in events if event.source == "guard" and event.level in BAD]
    errors = [event for event in events if event.source not in ("guard", "safety") and event.level in BAD]
    warnings = [event for event in events if event.level == "warning" and " refused " not in event.text]
    kinds = (("bad", stops, "e-stop"), ("bad", trips, "guard trip"), ("bad", errors, "error"), ("warn", warnings, "warning"))
    return tuple(Mishap(tone, count(len(found), what), _first(found)) for tone, found, what in kinds if found)


def _first(found: list[Event]) -> str:
    first = found[0]
    where = f"{first.source}: " if first.source not in ("", "safety", "guard") else ""
    return f"{'the first ' if len(found) > 1 else ''}at {quantity(first.t, 's', 4)}{f': {where}{first.text}' if first.text else ''}"
