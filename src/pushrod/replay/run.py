"""`replay(log)`: a run once more, by its kind.

rollout    the recorded inputs through the world, part by part: equal to the last bit, or the first difference
stepped    the scenario through the runtime on a stepped clock: what the world was told, what it gave and every answer, to the last bit
live       the recorded inputs through the world; and the recorded commands through the model, which shows how far the model is from what was measured
With `settings` nothing is judged: what would have been otherwise is measured, signal by signal.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.core import check
from pushrod.core.errors import InputError
from pushrod.core.names import count
from pushrod.log.reader import read
from pushrod.log.table import Table
from pushrod.replay.answer import AnswerDifference
from pushrod.replay.breaking import changes_of
from pushrod.replay.commands import has_commands
from pushrod.replay.difference import Deviation, Difference, deviation
from pushrod.replay.model import against_model
from pushrod.replay.rebuilding import Rebuilt, check_drivers, other_versions, rebuild
from pushrod.replay.stepped import replay_stepped
from pushrod.replay.world import NOTHING, Recorded, recorded, replay_world
from pushrod.sim.room import carry

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Replay:
    """What a replay came to. `data` are the outputs again [tick, output], up to the first difference."""

    table: Table
    rebuilt: Rebuilt
    log: Recorded
    at: int
    data: Array
    difference: Difference | None = None
    answers: int = 0
    answer: AnswerDifference | None = None
    settings: tuple[str, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    measured: tuple[Deviation, ...] = ()  # of a live run: how far the model, given the recorded commands, is from what was measured
    versions: dict[str, tuple[str, str]] | None = None
    notes: tuple[str, ...] = ()
    messages: int = 0  # compared, beside the answers to commands

    @property
    def identical(self) -> bool:
        """Every bit is as it was. Of what-if replays nothing is said."""
        return self.difference is None and self.answer is None

    @property
    def ticks(self) -> int:
        """Compared."""
        return max(0, len(self.data) - self.at)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a replay: `found` is what it had come to."""

    def __init__(self, found: Replay) -> None:
        self.found = found
        super().__init__()


def replay(
    log: str | Path | Table,
    *,
    at: float = 0.0,
    speed: float | None = None,
    settings: Iterable[str] = (),
    machine: str | Path | None = None,
    trust: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Replay:
    """`at` [s], by the log's own time: what is before is run, not judged; `speed`: as fast as so many times the wall clock, not as fast as it can.

    `settings`: texts "path=value", what if these parameters were otherwise from `at` on. `machine`: the machine file, where it needs code of its own.
    `trust`: load the code that this machine file names; none that the log names is loaded.
    """
    table = log if isinstance(log, Table) else read(log)
    settings = tuple(settings)
    if speed is not None and not (math.isfinite(speed) and speed > 0.0):
        raise InputError(f"speed = {speed!r}: a number above 0 is needed, 1 for as fast as it was")
    was = rebuild(table, machine, trust=trust)
    rows = recorded(table, was) if table.of("/in") or was.kind != "live" else NOTHING
    start = _tick(at, was, rows, table)
    notes = [*was.notes, *([f"the log is torn: {table.torn}; what is there of it is replayed"] if table.torn else [])]
    missed = rows.missed(was.dt) if was.kind == "live" else 0
    notes += (
        [f"{count(missed, 'tick')} of {was.dt:g} s missed while it ran, in which the world stood still; times are those of the log"] if missed else []
    )
    changed = rebuild(table, machine, settings, trust=trust) if settings else None
    through, broken = was.kind == "stepped", []
    if through and changed is not None and start > 0:
        notes.append("the recorded inputs go into the changed world as they were; without --at the commands go through the runtime again")
    if through and not (changed is not None and start > 0) and speed is None:
        found = replay_stepped(changed or was, rows, table, start, progress, judge=changed is None)
        data, difference, answers, answer, more, messages = found
        notes += more
    else:
        world, other = _in_one_world(was, changed)
        broken = changes_of(table, world) if was.kind == "live" and rows.ticks else []
        notes += [f"{count(len(broken), 'change')} of world parameters on the way"] if broken else []
        data, difference = replay_world(world, rows, start, speed, other, progress, broken)
        answers, answer, messages = 0, None, 0
    deviations = deviations_of(rows, data, start) if changed is not None and len(data) > start else ()
    measured: tuple[Deviation, ...] = ()
    stopped = difference is None and len(data) < rows.ticks
    if not stopped and was.kind == "live" and changed is None and was.machine.robot is not None and has_commands(table):
        check_drivers(was, table.file)
        try:
            measured, more_notes = against_model(table, was, progress, broken)
            notes += more_notes
        except KeyboardInterrupt:
            stopped = True
            notes.append("the model was not laid beside what was measured")
    told = other_versions(table)
    made = Replay(table, was, rows, start, data, difference, answers, answer, settings, deviations, measured, told, tuple(notes), messages)
    if stopped:
        raise Interrupted(made)
    return made


def _tick(at: float, rebuilt: Rebuilt, rows: Recorded, table: Table) -> int:
    """By the log's own time."""
    if not rows.ticks and at != 0.0:
        raise InputError(f"at = {at:g} s: {table.file} has no ticks of a world (/in, /out) to begin at; leave it out")
    k = rows.tick_at(at, rebuilt.dt) if math.isfinite(at) and at >= 0.0 else -1
    if not 0 <= k <= max(0, rows.ticks - 1):
        raise InputError(
            f"at = {at:g} s: {table.file} has {count(rows.ticks, 'tick')} of {rebuilt.dt:g} s, by its own time from {rows.begin[0]:g} to "
            f"{rows.end[-1]:g} s; the last one begins at {rows.begin[-1]:g} s, and nothing is left to replay behind that"
        )
    return k


def _in_one_world(was: Rebuilt, changed: Rebuilt | None) -> tuple[Rebuilt, Rebuilt | None]:
    """Both with the same room for delays, so that the state of the one is a state of the other."""
    if changed is None or changed.world is was.world:
        return was, changed
    for world in (changed.world, was.world):
        pair = [replace(one, world=world, params=carry(world.Params, one.params), state=_state(world, one)) for one in (was, changed)]
        if not any(any(check.problems(one.params, "", one.dt)) for one in pair):
            return pair[0], pair[1]
    raise InputError("with these settings the machine has another state than it had: leave --at out")


def _state(world: Any, one: Rebuilt) -> Any:
    """Before the first tick all delay lines are as they are when made."""
    fresh, known = world.State(), one.state
    if type(known) is world.State:
        return known
    return fresh._replace(**{name: getattr(known, name) for name in fresh._fields if type(getattr(known, name)) is type(getattr(fresh, name))})


def deviations_of(log: Recorded, data: Array, start: int) -> tuple[Deviation, ...]:
    """Of every signal that is otherwise, the largest share of its range first."""
    t = log.end[start : len(data)]
    found = []
    for j, (name, values) in enumerate(log.outputs.items()):
        d = deviation(name, log.units.get(name, ""), t, values[start : len(data)], data[start:, j])
        if d.most > 0.0:
            size = float(np.ptp(values[start:])) or abs(float(values[start])) or 1.0
            found.append((d.most / size, d))
    return tuple(d for _, d in sorted(found, key=lambda pair: -pair[0]))
