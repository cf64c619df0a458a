"""Episodes of many environments, without any interface: which begin, what is done, what is seen of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushrod.compiled.layout import layout
from pushrod.compiled.steppers import Steppers
from pushrod.core.errors import InputError
from pushrod.core.record import numbers
from pushrod.gym.reward import Judge, Terms
from pushrod.gym.task import Task
from pushrod.sim.tracked import signals_of

Array = NDArray[Any]
STREAMS = 2**31  # seeds of noise
LARGEST = float(np.finfo(np.float32).max)


class Episodes:
    """n environments, each with a seed of its own and a count of its episodes: these two decide its noise and its sample."""

    def __init__(self, task: Task, n: int, threads: int | None = None) -> None:
        self.task = task
        self.n = n
        names = dict.fromkeys(s.name for s in (*task.observe, *task.also))
        outputs = tuple(
            leaf.path for leaf in numbers(task.world.Out) if leaf.path in names
        )  # in the world's order: what is compiled serves any other
        self.world = Steppers(
            task.world,
            task.params,
            n=n,
            dt=task.scenario.dt,
            ticks=task.ticks,
            held=not task.signals,
            outputs=outputs,
            vary=tuple(task.pool.params),
            metrics=task.reward.measures if isinstance(task.reward, Terms) else (),
            dtype=task.dtype,
            threads=threads,
        )
        self.seed = np.zeros(n, np.int64)
        self.episode = np.full(n, -1, np.int64)
        self.sample = np.zeros(n, np.int64)
        self.steps = np.zeros(n, np.int64)
        self.lowest = np.zeros(n)  # reward of the episode so far, its start included; at most 0
        self._place = {name: j for j, name in enumerate(outputs)}
        self._channel = {f"in.{leaf.path}": row for row, leaf in enumerate(numbers(task.world.In))}
        self._driven = {self._channel[f"in.{path}"]: values for path, values in task.signals.items()}
        self._inputs_now = {name: self.world.u[-1, self._channel[name]].copy() for name in names if name.startswith("in.")}
        self._acted = np.array([channel.row for channel in task.act])
        self._rest = self.world.u[0, self._acted, :1].copy()
        self._start = task.state.astype(task.dtype)[:, None]
        self._state = layout(task.world.State).rows
        self._order = [(name, self._place.get(name)) for name in (s.name for s in task.observe)]
        self._copied = all(place == j for j, (_, place) in enumerate(self._order))

    def begin(self, which: Array, seed: Array | None = None) -> None:
        """A new episode for these: the first of a seed, or the next one."""
        if seed is not None:
            self.seed[which] = seed
            self.episode[which] = -1
        self.episode[which] += 1
        self.sample[which] = self.task.pool.take(self.seed[which], self.episode[which])
        params = {path: values[self.sample[which]] for path, values in self.task.pool.params.items()}
        start = self._start
        if self.task.pool.states:
            start = np.repeat(start, len(which), axis=1)
            for path, values in self.task.pool.states.items():
                start[self._state[path]] = values[self.sample[which]]
        self.world.begin(which, start, params, self.seed[which], self.episode[which])
        self.steps[which] = 0
        self.world.u[:, self._acted[:, None], which] = self._rest
        self._drive(which, 1)
        self.world.look(which)
        self._now(which)
        start = self.reward()[which]
        self.lowest[which] = np.where(np.abs(start) <= LARGEST, np.minimum(start, 0.0), 0.0)

    def act(self, values: Array, which: Array | None) -> None:
        """One action of all, or of some: values [channel, environment]. One compiled call."""
        self.world.u[:, self._acted] = values
        self._drive(which, self.task.ticks)
        self.world.advance(which)
        if which is None:
            self.steps += 1
        else:
            self.steps[which] += 1
        self._now(which)

    def _drive(self, which: Array | None, ticks: int) -> None:
        """What the scenario says for the ticks to come."""
        k = self.world.k if which is None else self.world.k[which]
        everybody = slice(None) if which is None else which
        for row, values in self._driven.items():
            for j in range(min(ticks, len(self.world.u))):
                self.world.u[j, row, everybody] = values[k + j]

    def _now(self, which: Array | None) -> None:
        """The inputs as they stand: what the scenario asks for from here on, and what was done last."""
        everybody = slice(None) if which is None else which
        for name, now in self._inputs_now.items():
            row = self._channel[name]
            k = self.world.k[everybody]
            now[everybody] = self._driven[row][k] if row in self._driven else self.world.u[-1, row, everybody]

    def signals(self) -> dict[str, Array]:
        """All that is looked at, by name; views that the next action overwrites."""
        return {name: self.world.y[j] for name, j in self._place.items()} | self._inputs_now

    def observation(self) -> Array:
        """[environment, signal], a copy."""
        if self._copied:
            return self.world.y[: len(self._order)].T.copy()
        return np.stack([self._inputs_now[name] if j is None else self.world.y[j] for name, j in self._order], axis=1)

    def reward(self) -> Array:
        """Of the last action."""
        paid = self.task.reward
        return paid.total(self.world.m) if isinstance(paid, Terms) else self.judged(paid, "reward", float)

    def judged(self, judge: Judge, what: str, kind: Any) -> Array:
        """What a reward or an end says: one value for each environment."""
        try:
            found = np.array(judge(self.signals()), kind)
        except KeyError as e:
            if e.args[0] not in signals_of(self.task.world):
                raise
            raise InputError(f"{what} looks at {e.args[0]!r}, which is not observed: add it to also=(...)") from None
        if found.shape != (self.n,):
            if found.shape != ():
                raise InputError(f"{what} gave an array of shape {found.shape}; one value for each of {self.n} environments is needed")
            found = np.full(self.n, found)
        return found
