"""One environment of a machine."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from pushrod.core.errors import InputError
from pushrod.gym.episodes import STREAMS, Episodes
from pushrod.gym.space import Reader, action_space, observation_space
from pushrod.gym.task import Task
from pushrod.gym.verdict import bounded, judged

Array = NDArray[Any]
ONE = np.zeros(1, np.int64)


class MachineEnv(gymnasium.Env[Array, Any]):
    """A task as a gymnasium.Env. The same seed gives the same episodes, bit for bit."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self, task: Task) -> None:
        self.task = task
        self.observation_space = observation_space(task.observe, np.dtype(task.dtype))
        self.action_space = action_space(task.act, np.dtype(task.dtype))
        self._episodes = Episodes(task, 1, threads=1)
        self._reader = Reader(task.act, 1)
        self._over = True

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is None and self._episodes.episode[0] < 0:
            seed = int(self.np_random.integers(STREAMS))
        self._episodes.begin(ONE, None if seed is None else np.array([seed % STREAMS]))
        self._over = False
        return bounded(self._episodes.observation(), self.task.observe)[0], {"sample": int(self._episodes.sample[0])} if self.task.pool.size else {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        if self._over:
            raise InputError("there is no episode under way: call reset() first")
        batched = {key: np.asarray(value)[None] for key, value in action.items()} if isinstance(action, dict) else np.asarray(action)[None]
        values, clipped = self._reader.read(batched, None)
        self._episodes.act(values, None)
        found = judged(self._episodes)
        terminated, truncated = bool(found.terminated[0]), bool(found.truncated[0])
        self._over = terminated or truncated
        info = ({"clipped": True} if clipped is not None else {}) | ({"diverged": True} if found.diverged is not None and found.diverged[0] else {})
        return found.observation[0], float(found.reward[0]), terminated, truncated, info
