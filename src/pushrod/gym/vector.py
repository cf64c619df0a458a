"""Many environments of a machine that move in one compiled call."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from pushrod.core.errors import InputError
from pushrod.gym.episodes import STREAMS, Episodes
from pushrod.gym.space import Reader, action_space, observation_space
from pushrod.gym.task import Task
from pushrod.gym.verdict import bounded, judged

Array = NDArray[Any]


class MachineVectorEnv(VectorEnv[Array, Any, Array]):
    """A task as a gymnasium.vector.VectorEnv. Environment i does what a single one does when seeded with seed + i, bit for bit."""

    def __init__(self, task: Task, num_envs: int, autoreset_mode: Any = AutoresetMode.NEXT_STEP, threads: int | None = None) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise InputError(f"num_envs = {num_envs!r}; a whole number from 1 on is needed")
        self.task = task
        self.num_envs = num_envs
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        dtype = np.dtype(task.dtype)
        self.single_observation_space = observation_space(task.observe, dtype)
        self.single_action_space = action_space(task.act, dtype)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._episodes = Episodes(task, num_envs, threads)
        self._reader = Reader(task.act, num_envs)
        self._all = np.arange(num_envs)
        self._over = np.zeros(num_envs, bool)
        self._any_over = False

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """All begin anew, or those of options["reset_mask"]. One seed is that of the first, and the others follow; a list has one for each."""
        mask = self._mask(options)
        which = np.flatnonzero(mask)
        if isinstance(seed, int):
            super().reset(seed=seed)
        self._episodes.begin(which, self._seeds(seed, which))
        self._over[which] = False
        self._any_over = bool(self._over.any())
        return bounded(self._episodes.observation(), self.task.observe), self._info(mask)

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if (self._episodes.episode < 0).any():
            raise InputError("there is no episode under way: call reset() first")
        again = self._over if self._any_over else None
        if again is not None and self.autoreset_mode == AutoresetMode.DISABLED:
            raise InputError(f"the episode of environment {int(np.argmax(again))} is over: begin it anew with reset(options={{'reset_mask': ...}})")
        heed = None if again is None else ~again
        values, clipped = self._reader.read(actions, heed)
        self._episodes.act(values, None if heed is None else np.flatnonzero(heed))
        if again is not None:
            self._episodes.begin(np.flatnonzero(again))
        observation, reward, terminated, truncated, diverged = judged(self._episodes)
        if heed is not None:
            reward, terminated, truncated = np.where(heed, reward, 0.0), terminated & heed, truncated & heed
        infos = {} if again is None else self._info(again)
        _add(infos, "clipped", clipped)
        _add(infos, "diverged", diverged)
        over = terminated | truncated
        self._any_over = bool(over.any())
        self._over = over
        if self._any_over and self.autoreset_mode == AutoresetMode.SAME_STEP:
            observation = self._same_step(observation, over, infos)
        return observation, reward, terminated, truncated, infos

    def _same_step(self, observation: Array, over: Array, infos: dict[str, Any]) -> Array:
        """What was seen last goes into the infos, and what is given is the beginning of the next episode."""
        final = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(over):
            final[i] = observation[i].copy()
        last: dict[str, Any] = {}
        for key in [key for key in infos if not key.startswith("_")]:
            happened = infos.pop(key)
            del infos[f"_{key}"]
            _add(last, key, happened & over)
            _add(infos, key, happened & ~over)
        self._episodes.begin(np.flatnonzero(over))
        infos |= {"final_obs": final, "_final_obs": over.copy(), "final_info": last, "_final_info": over.copy(), **self._info(over)}
        self._over, self._any_over = np.zeros(self.num_envs, bool), False
        return np.where(over[:, None], bounded(self._episodes.observation(), self.task.observe), observation)

    def _seeds(self, seed: Any, which: Array) -> Array | None:
        """Seeds for those that begin; None where each goes on with its own."""
        if seed is None:
            if (self._episodes.episode[which] >= 0).all():
                return None
            return np.array(self.np_random.integers(STREAMS, size=self.num_envs))[which]
        if isinstance(seed, int):
            return ((seed % STREAMS + self._all) % STREAMS)[which]
        if len(seed) != self.num_envs:
            raise InputError(f"{len(seed)} seeds were given for {self.num_envs} environments")
        drawn = self.np_random.integers(STREAMS, size=self.num_envs)
        return np.array([int(drawn[i]) if one is None else int(one) % STREAMS for i, one in enumerate(seed)])[which]

    def _mask(self, options: dict[str, Any] | None) -> Array:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return np.ones(self.num_envs, bool)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise InputError(f"options['reset_mask'] must be an array of {self.num_envs} flags (bool), at least one of them true; got {mask!r}")
        return mask

    def _info(self, mask: Array) -> dict[str, Any]:
        """Which sample those take that have begun."""
        return {"sample": self._episodes.sample.copy(), "_sample": mask.copy()} if self.task.pool.size else {}

    def close_extras(self, **kwargs: Any) -> None:
        self._episodes.world.close()


def _mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise InputError(f"autoreset_mode = {mode!r}; one of {', '.join(m.value for m in AutoresetMode)} is needed") from None


def _add(infos: dict[str, Any], key: str, mask: Array | None) -> None:
    """A flag that only those have to whom it happened."""
    if mask is not None and mask.any():
        infos |= {key: mask, f"_{key}": mask.copy()}
