"""Is the process with the motors alive? Judged by its progress, with the guard's own clock.

    no heartbeat for longer than limit                                       dead: stopped, starved, or some call holds the interpreter lock
    the event loop has not turned for longer than limit                      dead: blocked
    a loop has been in one call for longer than max(limit, 2 period)         dead: stuck
    a loop has not been called for longer than limit + period                dead: its thread is gone, or starved

`period` is the loop's own, so that a slow one may be slow. Its ticks are odd while a loop is inside a call. A driver that blocks counts as a
loop while it is in a call, with half of what such a call may take for its period. Pure functions over plain data.
"""

from collections.abc import Mapping
from typing import NamedTuple

SAFE, STOPPING, ARMED = 0, 1, 2  # how closely to look: not at all; for heartbeats, while it is being disarmed; for progress too
ALLOWED = "s are allowed"  # by which a verdict on time is told from others
TURNS = 0.0  # the period of what is never inside a call


class Source(NamedTuple):
    """Something that makes progress: how often it has ticked, and since when [s] the guard has seen it so."""

    key: int
    name: str
    period: float
    ticks: int
    since: float


class Watch(NamedTuple):
    limit: float
    level: int = SAFE
    beat: float = 0.0  # when the last heartbeat came
    sources: tuple[Source, ...] = ()


def looked_at(watch: Watch, level: int, now: float) -> Watch:
    """From here on looked at like this; what was before does not count."""
    return Watch(watch.limit, level, now, tuple(source._replace(since=now) for source in watch.sources))


def beat(watch: Watch, names: Mapping[int, tuple[str, float]], counts: Mapping[int, int], now: float) -> Watch:
    """A heartbeat has come. It counts all that is to make progress, by a key that `names` has name and period of; what it leaves out is over."""
    old = {source.key: source for source in watch.sources}
    sources = []
    for key, count in counts.items():
        before = old.get(key)
        sources.append(before if before is not None and before.ticks == count else Source(key, *names[key], count, now))
    return Watch(watch.limit, watch.level, now, tuple(sources))


def allowed(source: Source, limit: float) -> float:
    """For how long [s] its ticks may stay the same."""
    return max(limit, 2.0 * source.period) if source.ticks % 2 else limit + source.period


def verdict(watch: Watch, now: float) -> str:
    """Why it is dead; "" where it is not."""
    if watch.level == SAFE:
        return ""
    if now - watch.beat > watch.limit:
        why = "it was stopped, the computer is too busy, or one call holds the interpreter lock (GIL)"
        return f"no heartbeat for {now - watch.beat:.3f} s, {watch.limit:g} {ALLOWED}: {why}"
    if watch.level == STOPPING:
        return ""
    for source in watch.sources:
        silence, most = now - source.since, allowed(source, watch.limit)
        if silence > most:
            how = "has not turned" if source.period == TURNS else "is stuck in one call" if source.ticks % 2 else "has not been called"
            return f"{source.name} {how} for {silence:.3f} s, {most:g} {ALLOWED}"
    return ""


def patience(watch: Watch, now: float) -> float | None:
    """After how long [s] to look again if nothing comes; None: only when something does."""
    if watch.level == SAFE:
        return None
    ends = [watch.beat + watch.limit]
    if watch.level == ARMED:
        ends += [source.since + allowed(source, watch.limit) for source in watch.sources]
    return max(0.0, min(ends) - now) + 1e-3  # a millisecond over, so that it is past then
