"""The world of a log through the recorded inputs again: part by part, compared as it goes, and paced where somebody wants to watch."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import LogError
from pushrod.core.names import count
from pushrod.core.record import numbers
from pushrod.log.table import Table
from pushrod.replay.breaking import Change, earlier
from pushrod.replay.difference import BEFORE, Difference, first_difference
from pushrod.replay.rebuilding import Rebuilt

Array = NDArray[np.float64]
PARTS = 20  # in which a run is compared
PACE = 0.1  # [s] of the wall clock between two parts of a run that is paced


@dataclass(frozen=True)
class Recorded:
    """/in and /out of a log, by channel: one row for each tick that is whole in both.

    `begin` and `end` are when each tick began and ended by the log's own time [s]: a live run misses ticks, so they are no multiples of dt.
    """

    ticks: int
    inputs: dict[str, Array]
    outputs: dict[str, Array]
    units: dict[str, str]
    begin: Array
    end: Array

    def first(self, n: int) -> "Recorded":
        """The first n ticks."""
        inputs, outputs = ({name: values[:n] for name, values in some.items()} for some in (self.inputs, self.outputs))
        return Recorded(n, inputs, outputs, self.units, self.begin[:n], self.end[:n])

    def missed(self, dt: float) -> int:
        """Ticks that there was time for and that were not done; less than one is only a late tick."""
        behind = float(self.end[-1] - self.begin[0]) / dt - self.ticks if self.ticks else 0.0
        return round(behind) if behind > 1.0 else 0

    def tick_at(self, t: float, dt: float) -> int:
        """The tick that begins at a time [s], or half a tick before it at most, else the next one; `ticks` where none is left."""
        k = int(np.searchsorted(self.begin, t))
        if k > 0 and (before := t - float(self.begin[k - 1])) <= 0.5 * dt and (k == self.ticks or before < float(self.begin[k]) - t):
            return k - 1
        return k

    def table(self) -> Array:
        """[tick, output], in the order of the names."""
        return np.column_stack(list(self.outputs.values())) if self.outputs else np.zeros((self.ticks, 0))


def recorded(table: Table, rebuilt: Rebuilt) -> Recorded:
    """LogError where the log is not one of this world."""
    told = {name.removeprefix("in."): c.values for name, c in table.of("/in").items()}
    given = {c.name: c.values for c in table.of("/out").values()}
    units = {c.name: c.unit for c in (*table.of("/in").values(), *table.of("/out").values())}
    world = rebuilt.world
    if not told or not given:
        raise LogError(f"{table.file}: what the world was told and what it gave (/in, /out) is not in it, so there is nothing to compare")
    for topic, found, kind in (("/in", told, world.In), ("/out", given, world.Out)):
        wanted = [leaf.path or "y" for leaf in numbers(kind)]
        missing, strange = [name for name in wanted if name not in found], [name for name in found if name not in wanted]
        if missing or strange:
            lists = {"not in the log": missing, "only there": strange}
            what = "; ".join(f"{where}: {', '.join(names)}" for where, names in lists.items() if names)
            raise LogError(f"{table.file}: {topic} is not that of the world {world.name} as it is now: {what}")
    lengths = {len(values) for values in (*told.values(), *given.values())}
    n = min(lengths)
    if max(lengths) - n > (2 if table.torn else 1):  # a tick begins when the one before it ends: a cut between the two takes the ends of both
        raise LogError(f"{table.file}: /in and /out differ by {count(max(lengths) - n, 'tick')}: messages are missing, so nothing can be compared")
    order_in = {leaf.path or "y": told[leaf.path or "y"][:n] for leaf in numbers(world.In)}
    order_out = {leaf.path or "y": given[leaf.path or "y"][:n] for leaf in numbers(world.Out)}
    begin, end = (next(iter(table.of(topic).values())).t[:n] for topic in ("/in", "/out"))
    return Recorded(n, order_in, order_out, units, begin, end)


NOTHING = Recorded(0, {}, {}, {}, np.zeros(0), np.zeros(0))  # of a log without a world


def replay_world(
    rebuilt: Rebuilt,
    log: Recorded,
    at: int = 0,
    speed: float | None = None,
    changed: Rebuilt | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    changes: Sequence[Change] = (),
) -> tuple[Array, Difference | None]:
    """Outputs of every tick [tick, output], and the first difference from tick `at` on, behind which nothing more is run.

    Stopped by Ctrl-C, it is what there is until then.
    `changed`: the world from tick `at` on, if it is to be another one; then nothing is judged and all is run. `changes`: what was broken on the way.
    """
    rows: list[Array] = []
    found: Difference | None = None
    names, was = list(log.outputs), log.table()
    progress(0, log.ticks)
    parts = _parts(rebuilt, log, at, speed, changed, changes)
    while (part := _next(parts, bool(rows))) is not None:
        k, data = part
        rows.append(data)
        end = k + len(data)
        if changed is None and end > at:
            start = max(k, at)
            found = first_difference(names, log.units, was[start:end], data[start - k :], log.end[start:end], start)
        progress(end if speed is None or end > at else 0, log.ticks)  # what is not paced says nothing of the time that is left
        if found is not None:  # once more, with what was before it in view
            start, whole = max(at, found.k - BEFORE), np.concatenate(rows)
            found = first_difference(names, log.units, was[start:end], whole[start:end], log.end[start:end], start)
            break
    if found is not None and (other := earlier(list(changes), found.k)) is not None:
        return replay_world(rebuilt, log, at, speed, changed, progress, other)
    return np.concatenate(rows) if rows else np.zeros((0, len(names))), found


def _next(parts: Iterator[tuple[int, Array]], begun: bool) -> tuple[int, Array] | None:
    try:
        return next(parts, None)
    except KeyboardInterrupt:
        if not begun:
            raise
        return None


def _parts(
    rebuilt: Rebuilt, log: Recorded, at: int, speed: float | None, changed: Rebuilt | None, changes: Sequence[Change]
) -> Iterator[tuple[int, Array]]:
    from pushrod.compiled.rollout import rollout

    state: Any = rebuilt.state
    k, due = 0, None
    breaks = {change.k for change in changes if 0 < change.k < log.ticks}
    for end in sorted({*_ends(log.ticks, at, speed, rebuilt.dt), *breaks}):
        if k >= at and k > 0 and speed is not None:  # the first part is short, and compiles: time counts from its end on
            due = _wait(due, (end - k) * rebuilt.dt / speed)
        broken = next((change.params for change in reversed(changes) if change.k <= k), rebuilt.params)
        params = changed.params if changed is not None and k >= at else broken
        part = {name: values[k:end] for name, values in log.inputs.items()}
        run = rollout(rebuilt.world, params, part, steps=end - k, dt=rebuilt.dt, state=state, k0=k, seed=rebuilt.seed, instance=rebuilt.instance)
        yield k, run.data[:, :, 0]
        state, k = run.state_rows, end


def _ends(ticks: int, at: int, speed: float | None, dt: float) -> list[int]:
    """Where parts end: at `at`, the first one short, so that whoever waits sees the compiler apart from the run."""
    every = max(1, round(PACE * speed / dt)) if speed is not None else max(1, -(-ticks // PARTS))
    return sorted({1, at, ticks, *range(at, ticks, every), *range(0, at, max(1, ticks // PARTS))} - {0}) if ticks else []


def _wait(due: float | None, seconds: float) -> float:
    """Until a part is over that begins now, or when the one before it was to end; when it is to end itself."""
    begin = time.monotonic() if due is None else due
    time.sleep(max(0.0, begin + seconds - time.monotonic()))
    return begin + seconds
