"""What happened, for people: the topic /events (foxglove.Log), and where there is none the transitions of the safety state machine."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pushrod.log.table import Table

LEVELS = ("", "debug", "info", "warning", "error", "fatal")  # as foxglove.Log counts them
TROUBLE = LEVELS[3:]


class Event(NamedTuple):
    t: float
    level: str
    text: str
    source: str


def events(table: Table) -> tuple[Event, ...]:
    found = []
    for t, message in _messages(table, "/events"):
        level = message.get("level")
        word = LEVELS[level] if isinstance(level, int) and 0 <= level < len(LEVELS) else str(level or "").lower()
        found.append(Event(t, word, str(message.get("message", "")), str(message.get("name", ""))))
    if not found:
        for t, message in _messages(table, "/safety"):
            why = f": {message['why']}" if message.get("why") else ""
            found.append(Event(t, "info", f"{message.get('from')} → {message.get('to')}{why}", "safety"))
    return tuple(found)


def _messages(table: Table, topic: str) -> Iterator[tuple[float, dict[str, Any]]]:
    """Of a topic that may not be there, in a file that anybody may have written."""
    return ((t, message) for t, message in table.messages(topic) if isinstance(message, dict)) if topic in table.topics else iter(())
