"""How far the model is from what was measured: the recorded commands of a live run through the simulated machine, laid beside its log.

A command is seen at the tick that was next when it came. Compared are the joints as their drivers reported them, and, where the machine was itself
simulated, the achieved signals of its tracked pairs.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pushrod.log.table import Table
from pushrod.replay.breaking import Change
from pushrod.replay.commands import Again, again, sent, switches
from pushrod.replay.difference import Deviation, deviation
from pushrod.replay.rebuilding import Rebuilt
from pushrod.sim.response import delay

Array = NDArray[np.float64]


def against_model(
    table: Table, rebuilt: Rebuilt, progress: Callable[[int, int], None], broken: Sequence[Change] = ()
) -> tuple[tuple[Deviation, ...], list[str]]:
    """The deviations of the model, and notes. `broken`: what was broken on the way breaks in the model too."""
    clock = _Clock(table, rebuilt.dt)
    commands, notes = sent(table, clock.tick)
    obeyed = [one for one in commands if one.by_watchdog or one.row.get("result") != "refused"]
    run = again(rebuilt, obeyed, switches(table, clock.tick), clock.ticks, progress, broken)
    notes += ["what was broken on the way is broken in the model too"] if broken else []
    return tuple(_deviations(table, rebuilt, run, clock)), notes


class _Clock:
    """From the times of a log [s] to those of a stepped run, in which every tick takes dt: by the recorded ticks, or else by dt alone."""

    def __init__(self, table: Table, dt: float) -> None:
        self.dt = dt
        out = next(iter(table.of("/out").values()), None)
        first, last = table.span
        self.ends: Array = out.t if out is not None else np.arange(first + dt, last + dt, dt)
        self.ticks = max(1, len(self.ends))

    def tick(self, t: float) -> int:
        return int(np.searchsorted(self.ends, t))

    def stepped(self, t: Array) -> Array:
        return np.asarray(np.interp(t, self.ends, (np.arange(len(self.ends)) + 1.0) * self.dt), dtype=np.float64)


def _deviations(table: Table, rebuilt: Rebuilt, run: Again, clock: _Clock) -> Iterator[Deviation]:
    for name, channel in table.of("/joint_states").items():
        path = name.removeprefix("joint_states.")
        if path in run.joints and len(run.joints[path][0]) > 1 and len(channel) > 1:
            t, values = run.joints[path]
            when = clock.stepped(channel.t)
            yield _with_delay(path, channel.unit, channel.t, when, channel.values, np.interp(when, t, values))
    achieved = dict.fromkeys(pair.achieved for pair in rebuilt.machine.track)
    for name in achieved:
        if name in run.outputs and name in table and table[name].source == "/out":
            n = min(len(table[name]), len(run.outputs[name]))
            ends = np.asarray((np.arange(n) + 1.0) * rebuilt.dt, dtype=np.float64)
            yield _with_delay(name, table[name].unit, table[name].t[:n], ends, table[name].values[:n], run.outputs[name][:n])


def _with_delay(name: str, unit: str, logged: Array, t: Array, measured: Array, model: Array) -> Deviation:
    """`delay`: by how much what was measured comes after the model, below 0 where it comes before it.

    `logged` are the times of the log, which are told, and `t` those of the stepped run, which have no gaps where ticks were missed.
    """
    found = deviation(name, unit, logged, measured, model)
    if len(t) < 8 or not np.all(np.isfinite(measured)) or not np.all(np.isfinite(model)):
        return found
    dt = float(t[-1] - t[0]) / (len(t) - 1)
    if dt <= 0.0:
        return found
    even = np.linspace(t[0], t[-1], len(t))
    a, b = np.interp(even, t, model), np.interp(even, t, measured)
    after, before = _shift(a, b, dt), _shift(b, a, dt)
    if after is None and before is None:
        return found
    return found._replace(delay=after if before is None or (after is not None and after >= before) else -before)


def _shift(first: Array, second: Array, dt: float) -> float | None:
    """How much the second comes after the first; 0 where they lie on each other."""
    if np.array_equal(first, second):
        return 0.0
    late = delay(first, second, dt)
    return None if late is None else max(0.0, late - 0.5 * dt)  # both are held alike: the half tick of a request is none here
