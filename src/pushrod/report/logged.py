"""One log, looked at: signals on one time axis, the pairs of request and achieved, what the run was made of."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pushrod.log.table import Channel, Message, Table
from pushrod.report import said
from pushrod.report.role import by_joint, by_name
from pushrod.report.said import Said
from pushrod.report.standing import OF_WORLD, standing
from pushrod.report.verdict import Verdict, read_verdict
from pushrod.sim.run import asked
from pushrod.sim.tracked import Tracked

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Logged:
    """`channels` are those that hold anything. `columns` are those of the world, tick by tick, at the times `t`.

    `renamed`: what is in both by the machine's name for it, too, and its name in the log.
    """

    table: Table
    channels: Mapping[str, Channel]
    t: Array
    columns: Mapping[str, Array]
    dt: float
    span: tuple[float, float]
    said: Said
    pairs: tuple[Tracked, ...]
    verdict: Verdict | None
    notes: tuple[str, ...]
    renamed: Mapping[str, str]

    @property
    def duration(self) -> float:
        return self.span[1] - self.span[0]

    @property
    def about(self) -> Mapping[str, str]:
        return self.table.about

    @property
    def name(self) -> str:
        """What ran, in a few words."""
        machine = self.about.get("machine") or self.about.get("robot") or self.table.file.stem
        scenario = self.about.get("scenario")
        return f"{machine}, {scenario}" if scenario else machine

    @property
    def listed(self) -> dict[str, Channel]:
        """The channels by the names of the log, each once."""
        return {name: channel for name, channel in self.channels.items() if name not in self.renamed}

    def unit(self, name: str) -> str:
        return self.channels[name].unit

    def at(self, name: str, t: Array) -> Array:
        """A channel at other times: what it was last told before each; its first value before that."""
        return held(self.channels[name], t)

    def pair(self, pair: Tracked) -> tuple[Array, Array, Array]:
        """Time, request and achieved of a pair: tick by tick where both are of the world, else at the times of what was achieved."""
        if pair.request in self.columns and pair.achieved in self.columns:
            return self.t, self.columns[pair.request], self.columns[pair.achieved]
        achieved = self.channels[pair.achieved]
        return achieved.t, self.at(pair.request, achieved.t), achieved.values

    def messages(self, topic: str) -> list[Message]:
        return self.table.messages_if_any(topic)


def look(table: Table) -> Logged:
    channels = {name: channel for name, channel in table.channels.items() if len(channel)}
    begin, end = table.span
    begin = min(begin, 0.0) if table.about else begin  # a run counts from 0
    world = [channel for source in OF_WORLD if table.about for channel in _every_tick(channels, source)]
    n = min((len(channel) for channel in world), default=0)
    t = next((channel.t[:n] for channel in world if channel.source == "/out"), np.zeros(0))
    columns = {channel.name: channel.values[:n] for channel in world}
    told = said.read(table)
    renamed = standing(told, channels) if n else {}
    for name, there in renamed.items():
        channel = channels[name] = replace(channels[there], name=name)
        columns[name] = held(channel, t)
    track = tuple(pair for pair in told.track if {pair.request, pair.achieved, *pair.saturated, *(name for name, _ in pair.when)} <= columns.keys())
    pairs = asked(track, columns) if n else ()
    if not told.track:
        pairs = tuple(Tracked(request, achieved) for request, achieved in (*by_name(channels), *by_joint(channels)))
    notes = [*told.notes, *table.notes]
    if pair := next((pair for pair in pairs if pair.request in renamed), None):
        notes.append(f"what nodes of the robot told is shown by the names of the machine: {pair.request} is {renamed[pair.request]}, and so on")
    verdict = read_verdict(table, notes)
    return Logged(table, channels, t, columns, _dt(table, channels, pairs), (begin, end), told, pairs, verdict, tuple(notes), renamed)


def held(channel: Channel, t: Array) -> Array:
    """What it was last told before each time; its first value before that."""
    return channel.values[np.maximum(np.searchsorted(channel.t, t, side="right") - 1, 0)]


def _every_tick(channels: Mapping[str, Channel], source: str) -> list[Channel]:
    """The channels of a topic that are in all of its messages: one that is in some only belongs to no tick by its place."""
    found = [channel for channel in channels.values() if channel.source == source]
    most = max((len(channel) for channel in found), default=0)
    return [channel for channel in found if len(channel) == most]


def _dt(table: Table, channels: Mapping[str, Channel], pairs: tuple[Tracked, ...]) -> float:
    """The tick [s]: as the log says, else the middle gap of the first pair or channel."""
    try:
        said = float(table.about["dt"])
        if 0.0 < said < np.inf:
            return said
    except (KeyError, ValueError):
        pass
    names = [pair.achieved for pair in pairs] + list(channels)
    rates = (channels[name].rate for name in names)
    return next((1.0 / rate for rate in rates if rate), 0.0)
