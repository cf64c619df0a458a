"""The commands of a run and what became of them, each way they came: who asked which actuator or controller for what, and whether it was done.

Commands of one sender that are alike and got the same answer one after the other are one entry: a loop sends thousands a minute.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pushrod.report.logged import Logged
from pushrod.report.number import as_float, quantity
from pushrod.report.spread import Spread

TOPIC = re.compile(r"/(?:actuator/(?P<to>.+)/command|(?:actuator|controller|sensor)/(?P<part>.+)/request)")
MOST = 2000  # entries that are listed
RESULTS = ("accepted", "clamped", "refused")


@dataclass
class Entry:
    """`first` and `last` [s] of `count` commands; what they asked for and what was done instead, from the lowest to the highest."""

    actuator: str
    source: str
    kind: str
    result: str
    reason: str
    first: float
    last: float
    asked: Spread
    done: Spread
    units: Mapping[str, str]
    detail: str
    end: str = ""
    count: int = 1


@dataclass
class Sender:
    """All commands of one sender to one actuator: how many got which answer, and why they were refused."""

    actuator: str
    source: str
    results: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass
class Ledger:
    senders: list[Sender] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(sum(sender.results.values()) for sender in self.senders)

    def count(self, result: str) -> int:
        return sum(sender.results[result] for sender in self.senders)


def ledger(log: Logged) -> Ledger:
    found = Ledger()
    topics = {topic: m["to"] or m["part"] for topic in sorted(log.table.topics) if (m := TOPIC.fullmatch(topic))}
    names = _short(list(dict.fromkeys(topics.values())))
    for topic, path in topics.items():
        _read(log, topic, path, names[path], found)
    found.entries.sort(key=lambda entry: entry.first)
    return found


def _short(paths: list[str]) -> dict[str, str]:
    """The last part of each path where no other has the same."""
    tails = Counter(path.rpartition("/")[2] for path in paths)
    return {path: tail if tails[tail := path.rpartition("/")[2]] == 1 else path for path in paths}


def _read(log: Logged, topic: str, path: str, actuator: str, into: Ledger) -> None:
    given = {name.rpartition(".")[2]: channel.unit for name, channel in log.channels.items() if name.startswith(f"{topic[1:]}.payload.")}
    units = {name: unit or (log.unit(name) if name in log.channels else "") for name, unit in given.items()}  # a request has those of its signal
    ends = {_text(message.get("command_id")): (t, message) for t, message in log.messages(f"/actuator/{path}/EndMotion")}
    senders: dict[str, Sender] = {}
    open_entry: Entry | None = None
    for t, message in log.messages(topic):
        entry = _entry(t, actuator, message, units, ends)
        sender = senders.setdefault(entry.source, Sender(actuator, entry.source))
        sender.results[entry.result] += 1
        if entry.result == "refused":
            sender.reasons[entry.reason] += 1
        if open_entry is not None and _alike(open_entry, entry):
            open_entry.count += 1
            open_entry.last = t
            open_entry.asked.add(message.get("payload"))
            open_entry.done.add(message.get("done"))
        else:
            into.entries.append(entry)
            open_entry = entry
    into.senders += senders.values()


def _alike(a: Entry, b: Entry) -> bool:
    same = (a.source, a.kind, a.result, a.reason, a.detail) == (b.source, b.kind, b.result, b.reason, b.detail)
    return same and not a.end and not b.end


def _entry(t: float, actuator: str, message: Mapping[str, Any], units: Mapping[str, str], ends: Mapping[str, Any]) -> Entry:
    kind = _text(message.get("kind"))
    end = ends.get(_text(message["id"])) if message.get("id") is not None else None
    return Entry(
        actuator,
        _text(message.get("source")),
        kind,
        _text(message.get("result")) or "unknown",
        _text(message.get("reason")).replace("_", " "),
        t,
        t,
        Spread(message.get("payload")),
        Spread(message.get("done")),
        units,
        _text(message.get("detail")),
        "" if end is None else _ended(end[0], end[1], units),
    )


def _ended(t: float, message: Mapping[str, Any], units: Mapping[str, str]) -> str:
    at = message.get("position")
    where = f", at {quantity(as_float(at), units.get('position', ''), 4)}" if isinstance(at, (int, float)) else ""
    return f"{_text(message.get('reason')).replace('_', ' ')} at {t:.3f} s{where}"


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)
