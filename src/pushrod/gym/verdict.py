"""What an action led to: observation, reward, and whether the episode is over."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.gym.episodes import Episodes

Array = NDArray[Any]


class Verdict(NamedTuple):
    observation: Array  # [environment, signal]
    reward: Array
    terminated: Array
    truncated: Array
    diverged: Array | None  # where numbers are not finite any more, if anywhere


def judged(episodes: Episodes) -> Verdict:
    """A machine whose numbers are not finite any more has ended; what is seen of it is made finite, and it is paid nothing for that step."""
    task = episodes.task
    observation = episodes.observation()
    reward = episodes.reward()
    terminated = np.zeros(episodes.n, bool) if task.ended is None else episodes.judged(task.ended, "ended", bool)
    diverged = None
    finite = np.isfinite(observation).all(axis=1) & np.isfinite(reward)
    if not finite.all():
        diverged = ~finite
        observation, reward = np.nan_to_num(observation), np.where(finite, reward, 0.0)
        terminated = terminated | diverged
    return Verdict(observation, reward, terminated, (episodes.steps >= task.steps) & ~terminated, diverged)
