"""What happened, for people: the topic /events (foxglove.Log), and where there is none the transitions of the safety state machine."""

from typing import NamedTuple

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
    for t, message in table.messages_if_any("/events"):
        level = message.get("level")
        word = LEVELS[level] if isinstance(level, int) and 0 <= level < len(LEVELS) else str(level or "").lower()
        found.append(Event(t, word, str(message.get("message", "")), str(message.get("name", ""))))
    if not found:
        for t, message in table.messages_if_any("/safety"):
            why = f": {message['why']}" if message.get("why") else ""
            found.append(Event(t, "info", f"{message.get('from')} → {message.get('to')}{why}", "safety"))
    return tuple(found)
