"""What happened, in words: one line each, newest last; the same again within a short time is counted, not repeated."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pushrod.dash.payload_words import number
from pushrod.runtime.message import (
    EndMotion,
    HardwareError,
    LeaseChanged,
    Message,
    OperatorVanished,
    Outcome,
    ParameterChanged,
    Requested,
    Transition,
)
from pushrod.runtime.result import Accepted, Clamped, Refused

KEPT = 500
AGAIN = 2.0  # [s] within which the same is counted

Level = Literal["info", "warning", "error"]
BAD_STATES = ("error", "estopped")


@dataclass
class Event:
    """`time` is the wall clock's [s]; `n` how often it came."""

    number: int
    time: float
    level: Level
    what: str
    text: str
    n: int = 1


class Events:
    def __init__(self) -> None:
        self._kept: deque[Event] = deque(maxlen=KEPT)
        self._count = 0
        self.changes = 0  # goes up whenever there is something new to show

    def __iter__(self) -> Iterator[Event]:
        return iter(tuple(self._kept))

    def add(self, time: float, level: Level, what: str, text: str) -> None:
        self.changes += 1
        for event in reversed(self._kept):
            if time - event.time > AGAIN:
                break
            if (event.what, event.text) == (what, text):
                event.n, event.time = event.n + 1, time
                return
        self._count += 1
        self._kept.append(Event(self._count, time, level, what, text))

    def newest(self, n: int) -> list[Event]:
        return sorted(self._kept, key=lambda event: event.time)[-n:][::-1]


def told(message: Message) -> tuple[Level, str, str] | None:
    """Level, what it is about and what is to be said of a message; None of what happens all the time."""
    payload: Any = message.payload
    about = message.topic[-1]
    if isinstance(payload, Transition):
        why = f": {payload.why}" if payload.why not in ("", payload.to) else ""
        return ("error" if payload.to in BAD_STATES else "info"), "safety", f"{payload.to}{why}"
    if isinstance(payload, HardwareError):
        return "error", "/".join(payload.path), payload.error
    if isinstance(payload, OperatorVanished):
        return "warning", "operator", payload.told
    if isinstance(payload, LeaseChanged):
        return "info", about, f"leased by {payload.new}" if payload.new else f"lease of {payload.old} ended"
    if isinstance(payload, ParameterChanged):
        return ("warning" if payload.path.startswith("fault.") else "info"), payload.path, f"{payload.old} -> {payload.new}, by {payload.source}"
    if isinstance(payload, EndMotion) and payload.reason in ("fault", "limit_reached"):
        return "warning", about, f"motion ended: {payload.reason}{f', {payload.message}' if payload.message else ''}"
    if isinstance(payload, Requested):
        return _request_told(message.topic[-2], payload)
    if isinstance(payload, Outcome):
        return result_told(about, payload.command.source, payload.result)
    return None


def _request_told(about: str, told: Requested) -> tuple[Level, str, str] | None:
    """What was asked in words (a mode) and every refusal; numbers, as a course that follows a slider, are asked for all the time."""
    asked = {name: value for name, value in told.payload.items() if name != "type"} if isinstance(told.payload, dict) else {}
    words = ", ".join(f"{name} {number(value)}" for name, value in asked.items() if name != "by")
    if told.result == "refused":
        return "warning", about, f"refused {told.kind} ({words}) of {told.source}: {told.reason}"
    if any(isinstance(value, (int, float, list)) for value in asked.values()):
        return None
    return "info", about, f"{words or told.kind}, requested by {told.source}"


def result_told(about: str, source: str, result: Accepted | Clamped | Refused) -> tuple[Level, str, str] | None:
    """Nothing of what was accepted as it was asked."""
    if isinstance(result, Refused):
        detail = f" ({result.detail})" if result.detail else ""
        return "warning", about, f"refused {result.command} of {source}: {result.reason.replace('_', ' ')}{detail}; {result.advice}"
    if isinstance(result, Clamped):
        return "info", about, f"clamped a {type(result.asked).__name__} of {source} to the limits"
    return None
