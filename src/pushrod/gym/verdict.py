"""What an action led to: observation, reward, and whether the episode is over.

A machine whose numbers are not finite in float32 any more, the numbers that agents compute with, has diverged: its episode is terminated, with the
reward

    r = n w        n   steps of the episode that are left, this one included
                   w   lowest reward of the episode so far, that of its start included; -1 where none is below 0

as if the worst had been earned until the end: an agent gains nothing by breaking a simulation.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushrod.gym.episodes import LARGEST, Episodes
from pushrod.gym.task import Seen

Array = NDArray[Any]


class Verdict(NamedTuple):
    observation: Array  # [environment, signal]
    reward: Array
    terminated: Array
    truncated: Array
    diverged: Array | None  # where numbers are not finite any more, if anywhere


def judged(episodes: Episodes) -> Verdict:
    """Return the outcome of the last action. Environments whose episode has only begun have neither earned a reward nor diverged."""
    task = episodes.task
    observation = episodes.observation()
    reward = episodes.reward()
    terminated = np.zeros(episodes.n, bool) if task.ended is None else episodes.judged(task.ended, "ended", bool)
    diverged = None
    acted = episodes.steps > 0
    finite = is_finite(observation) & (np.abs(reward) <= LARGEST)
    if not finite.all():
        diverged = ~finite & acted
        left = task.steps - episodes.steps + 1
        worst = np.where(episodes.lowest < 0.0, episodes.lowest, -1.0)
        reward = np.where(finite, reward, np.maximum(left * worst, -LARGEST))
        observation = bounded(observation, task.observe)
        terminated = terminated | diverged
    np.minimum(episodes.lowest, reward, out=episodes.lowest, where=acted)
    return Verdict(observation, reward, terminated, (episodes.steps >= task.steps) & ~terminated, diverged)


def is_finite(observation: Array) -> Array:
    """Return the environments whose observation is finite in float32."""
    return np.asarray((np.abs(observation) <= LARGEST).all(axis=1))


def bounded(observation: Array, seen: tuple[Seen, ...]) -> Array:
    """Return the observation with every number finite in float32; where one is not, its environment's within the bounds of their signals."""
    wrong = ~is_finite(observation)
    if not wrong.any():
        return observation
    lo, hi = np.array([s.lo for s in seen]), np.array([s.hi for s in seen])
    some = np.nan_to_num(observation[wrong].astype(np.float64), nan=0.0, posinf=LARGEST, neginf=-LARGEST)
    observation[wrong] = np.clip(np.clip(some, lo, hi), -LARGEST, LARGEST)
    return observation
