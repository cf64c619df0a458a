"""Spaces from records, and actions to rows of inputs.

Real channels make one Box; a choice is Discrete, several are MultiDiscrete; both kinds together make a Dict of "real" and each choice by its path.
What is observed is one Box: a choice counts by its position.
"""

from typing import Any

import numpy as np
from gymnasium import Space, spaces
from numpy.typing import NDArray

from pushrod.core.errors import InputError
from pushrod.gym.task import Channel, Seen

Array = NDArray[Any]
REAL = "real"


def observation_space(seen: tuple[Seen, ...], dtype: Any) -> spaces.Box:
    return spaces.Box(np.array([s.lo for s in seen], dtype), np.array([s.hi for s in seen], dtype), dtype=dtype)


def action_space(channels: tuple[Channel, ...], dtype: Any) -> Space[Any]:
    real = [channel for channel in channels if not channel.names]
    choices = [channel for channel in channels if channel.names]
    box = spaces.Box(np.array([c.lo for c in real], dtype), np.array([c.hi for c in real], dtype), dtype=dtype)
    if not choices:
        return box
    if real:
        return spaces.Dict({REAL: box} | {c.path: spaces.Discrete(len(c.names)) for c in choices})
    return spaces.Discrete(len(choices[0].names)) if len(choices) == 1 else spaces.MultiDiscrete([len(c.names) for c in choices])


class Reader:
    """From batched actions to values [channel, environment], in the order of the channels."""

    def __init__(self, channels: tuple[Channel, ...], n: int) -> None:
        self.n = n
        self.channels = channels
        self.real = [j for j, channel in enumerate(channels) if not channel.names]
        self.choices = [j for j, channel in enumerate(channels) if channel.names]
        self.lo = np.array([[channel.lo] for channel in channels])
        self.hi = np.array([[channel.hi] for channel in channels])

    def read(self, actions: Any, heed: Array | None) -> tuple[Array, Array | None]:
        """The values, those of real channels within their bounds, and which environments asked for more (None: none did).

        Of environments that are not to be heeded anything is taken.
        """
        asked = self._columns(actions)
        values = np.minimum(np.maximum(asked, self.lo), self.hi)  # NaN stays
        within = values == asked
        if not self.choices and within.all():
            return values, None
        good = np.isfinite(asked)
        good[self.choices] &= within[self.choices] & (asked[self.choices] % 1.0 == 0.0)
        if heed is not None:
            good |= ~heed
        if not good.all():
            self._refuse(asked, good)
        clipped = ~within.all(axis=0) if heed is None else ~within.all(axis=0) & heed
        return values, clipped if clipped.any() else None

    def _columns(self, actions: Any) -> Array:
        if self.real and self.choices:
            if not isinstance(actions, dict) or actions.keys() != {REAL, *(self.channels[j].path for j in self.choices)}:
                raise InputError(
                    f"an action is a dict with the keys {REAL}, {', '.join(self.channels[j].path for j in self.choices)}; got {actions!r}"
                )
            asked = np.empty((len(self.channels), self.n))
            asked[self.real] = self._shaped(actions[REAL], len(self.real)).T
            for j in self.choices:
                asked[j] = self._shaped(actions[self.channels[j].path], 1)[:, 0]
            return asked
        return self._shaped(actions, len(self.channels)).T

    def _shaped(self, values: Any, width: int) -> Array:
        try:
            array = np.asarray(values, float)
        except (TypeError, ValueError):
            raise InputError(f"an action is numbers, got {values!r}") from None
        if array.shape == (self.n,) and width == 1:
            array = array[:, None]
        if array.shape != (self.n, width):
            raise InputError(f"actions have the shape {array.shape}; {self.n} environments with {width} numbers each are needed")
        return array

    def _refuse(self, asked: Array, good: Array) -> None:
        """Nothing sensible can be done with NaN, or with a choice that is none."""
        j, i = (int(x) for x in np.argwhere(~good)[0])
        channel = self.channels[j]
        allowed = f"a whole number from 0 to {len(channel.names) - 1}" if channel.names else f"a number from {channel.lo:g} to {channel.hi:g}"
        raise InputError(f"action of environment {i} for {channel.path!r} is {asked[j, i]:g}; allowed: {allowed}")
