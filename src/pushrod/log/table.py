"""A recording as channels of numbers over time, whatever kind of file it was in.

    table = pushrod.log.read("run.mcap")
    steer = table["steer_ach"]             steer.t [s], steer.values, steer.unit, steer.about
    for t, message in table.messages("/events"): ...

Names are what a person would type: "<topic>.<path of the number>" without the leading slash. In a log of Pushrod's own, what the world gave (/out)
has no topic in front, and what it was told is in.<channel>, as in scenarios and summaries.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.names import find

Array = NDArray[np.float64]
Message = tuple[float, dict[str, Any]]
Told = Callable[[int, int], object]  # how much of a recording has been read, of how much [B]
CUT = "pushrod cut"  # metadata of a log whose writing was stopped: it goes over that of the run


@dataclass(frozen=True)
class Channel:
    """One number over time. `t` [s] never falls; values may be nan or inf. `unit` is "" where nobody said it, `source` the topic it is of."""

    name: str
    unit: str
    about: str
    t: Array
    values: Array
    source: str = ""

    def __len__(self) -> int:
        return len(self.t)

    @property
    def rate(self) -> float | None:
        """Values a second, by the middle one of all gaps; None where there are fewer than two times."""
        gaps = np.diff(self.t)
        gap = float(np.median(gaps[gaps > 0.0])) if np.any(gaps > 0.0) else 0.0
        return 1.0 / gap if gap > 0.0 else None


@dataclass(frozen=True)
class TopicInfo:
    """A topic of the file, whether or not it holds numbers. `read` is False where nobody here knows its encoding."""

    name: str
    schema: str = ""
    encoding: str = ""
    messages: int = 0
    read: bool = True


@dataclass(frozen=True)
class Attached:
    """A file that is part of the recording. It is data: nothing in it is ever executed."""

    name: str
    media_type: str
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True)
class Table:
    """All there is in a file. `torn` says what is missing or damaged, "" where nothing is; `notes`, what was read otherwise than it stands there.

    `start` is what t = 0 is, in ns since 1970; 0 where the file counts from its own start.
    """

    file: Path
    format: str
    channels: Mapping[str, Channel]
    metadata: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    attachments: Mapping[str, Attached] = field(default_factory=dict)
    topics: Mapping[str, TopicInfo] = field(default_factory=dict)
    torn: str = ""
    notes: tuple[str, ...] = ()
    start: int = 0
    ask: Callable[[str], Iterator[Message]] = lambda topic: iter(())

    def __getitem__(self, name: str) -> Channel:
        """UnknownNameError says which names are near."""
        return find(self.channels, name, "channel")

    def __contains__(self, name: str) -> bool:
        return name in self.channels

    @property
    def about(self) -> Mapping[str, str]:
        """What a log of Pushrod's own says of its run: machine, scenario, seed, versions; empty for other files."""
        return {**self.metadata.get("pushrod", {}), **self.metadata.get(CUT, {})}

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last time [s] of all channels; (0, 0) where there are none."""
        ends = [(c.t[0], c.t[-1]) for c in self.channels.values() if len(c)]
        return (float(min(a for a, _ in ends)), float(max(b for _, b in ends))) if ends else (0.0, 0.0)

    def of(self, topic: str) -> dict[str, Channel]:
        """The channels of one topic, by name."""
        return {name: channel for name, channel in self.channels.items() if channel.source == topic}

    def messages(self, topic: str) -> Iterator[Message]:
        """(t, message) of a topic, in the order of the file, which is read again for it. UnknownNameError where there is no such topic."""
        find(self.topics, topic, "topic")
        return self.ask(topic)

    def messages_if_any(self, topic: str) -> list[Message]:
        """Of a topic that may not be there, in a file that anybody may have written."""
        return [(t, message) for t, message in self.ask(topic) if isinstance(message, dict)] if topic in self.topics else []
