"""Where the samples of a study lie in the unit cube, by their number: any part can be had alone, and is the same whatever the parts are.

random     each number by itself
lhs        Latin hypercubes: of each parameter one sample in each of m equal shares, in an order of its own
sobol      Sobol's sequences, scrambled (a random matrix and a digital shift): best with a power of two
saltelli   rows for total indices, over Sobol's sequences (see `saltelli`)
grid       every level of each parameter with every level of the others (see `draw`): not of the cube

A design that spreads n samples evenly does not show by itself how far its results are off. It is therefore made of R replicates, each a whole design
of about n / R samples and independent of the others: what replicates differ by gives the error of their mean. Sample i belongs to replicate i mod R.
"""

import functools
import threading
import warnings
from typing import Any

import numpy as np

from pushrod.sweep.counter import Numbers, Words, uniforms
from pushrod.sweep.permutation import permuted

DESIGNS = ("random", "lhs", "sobol", "saltelli", "grid")
EVEN = ("lhs", "sobol", "saltelli")  # designs whose samples are independent only between replicates
LEAST = 64  # samples that are worth replicates: fewer are one design, and no errors are found from them
BITS = 30  # of a number of Sobol's sequence
MOST_SOBOL = 1 << BITS
REPLICATE = 1 << 32  # streams of a replicate


def replicates(n: int) -> int:
    """Return how many independent replicates a design of n samples has: enough to find errors by, and each as large as possible."""
    return 1 if n < LEAST else 16 if n < 512 else 32


def places(design: str, seed: int, dimensions: int, runs: int, first: int, last: int) -> Numbers:
    """Return samples first ... last-1 of `runs`: [dimension, sample], each between 0 and 1 and never either."""
    index = np.arange(first, last, dtype=np.uint64)
    if design == "random":
        return np.stack([uniforms(seed, 2 * d, index) for d in range(dimensions)])
    R = replicates(runs)
    made = np.empty((dimensions, last - first))
    for r in range(min(R, runs)):
        j, end = -((r - first) // R), -((r - last) // R)  # samples of this replicate, by their number in it
        if j == end:
            continue
        mine = slice(r + j * R - first, None, R)
        if design == "lhs":
            made[:, mine] = _latin(seed, index[mine], r, j, -((r - runs) // R), dimensions)
        else:
            made[:, mine] = _sequence(seed, r, dimensions).part(j, end)
    return made


def _latin(seed: int, index: Words, r: int, j: int, m: int, dimensions: int) -> Numbers:
    """Return samples j ... of hypercube r, which has m. `index`: their numbers in the study."""
    own = np.arange(j, j + len(index), dtype=np.uint64)
    made = np.empty((dimensions, len(index)))
    for d in range(dimensions):
        share = permuted(own, m, seed, r * REPLICATE + 2 * d + 1)
        # where u is so near to 1 that rounding would carry it into the next share, it stays in its own
        made[d] = np.minimum((share + uniforms(seed, 2 * d, index)) / m, 1.0 - 2.0**-53)
    return made


class _Sequence:
    """Sobol's sequence of one seed and replicate. It can only go forwards by itself, so that whoever goes back starts anew."""

    def __init__(self, seed: int, replicate: int, dimensions: int) -> None:
        self._seed, self._dimensions = (seed, replicate), dimensions
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


_sequence = functools.lru_cache(64)(_Sequence)
