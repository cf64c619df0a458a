"""Where the samples of a study lie in the unit cube, by their number: any part can be had alone, and is the same whatever the parts are.

random   each number by itself
lhs      Latin hypercube: of each parameter one sample in each of n equal shares, in an order of its own
sobol    Sobol's sequence, scrambled (Owen): best with a power of two
grid     every level of each parameter with every level of the others (see `draw`): not of the cube
"""

import functools
import threading
import warnings
from typing import Any

import numpy as np

from pushrod.sweep.counter import Numbers, uniforms
from pushrod.sweep.permutation import permuted

DESIGNS = ("random", "lhs", "sobol", "grid")
BITS = 30  # of a number of Sobol's sequence
MOST_SOBOL = 1 << BITS


def places(design: str, seed: int, dimensions: int, runs: int, first: int, last: int) -> Numbers:
    """Samples first ... last-1 of `runs`: [dimension, sample], each between 0 and 1 and never either."""
    if design == "sobol":
        return _sobol(seed, dimensions, first, last)
    index = np.arange(first, last, dtype=np.uint64)
    made = np.empty((dimensions, last - first))
    for d in range(dimensions):
        u = uniforms(seed, 2 * d, index)
        # where u is so near to 1 that rounding would carry it into the next share, it stays in its own
        made[d] = u if design == "random" else np.minimum((permuted(index, runs, seed, 2 * d + 1) + u) / runs, 1.0 - 2.0**-53)
    return made


class _Sequence:
    """Sobol's sequence of one seed. It can only go forwards by itself, so that whoever goes back starts anew."""

    def __init__(self, seed: int, dimensions: int) -> None:
        self._seed, self._dimensions = seed, dimensions
        self._turn = threading.Lock()
        self._engine: Any = None

    def part(self, first: int, last: int) -> Numbers:
        from scipy.stats import qmc

        with self._turn, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a number that is no power of two the study tells itself
            if self._engine is None or self._engine.num_generated > first:
                self._engine = qmc.Sobol(self._dimensions, scramble=True, bits=BITS, rng=np.random.default_rng(self._seed))
            if first > self._engine.num_generated:
                self._engine.fast_forward(first - self._engine.num_generated)
            return np.asarray(self._engine.random(last - first)).T + 2.0 ** -(BITS + 1)


_sequence = functools.lru_cache(8)(_Sequence)


def _sobol(seed: int, dimensions: int, first: int, last: int) -> Numbers:
    return _sequence(seed, dimensions).part(first, last)
