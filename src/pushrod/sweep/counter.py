"""Numbers by chance that have an address: (seed, stream, index) gives the same one wherever and however often it is asked for.

    z = seed * A + stream * B + index * G        then the finish of splitmix64, twice: each bit of the address moves every bit of the result

All arithmetic is modulo 2^64.
"""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Numbers = NDArray[np.float64]
G, A, B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1342543DE82EF95), np.uint64(0xDA942042E4DD58B5)


def mixed(z: Words) -> Words:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def words(seed: int, stream: int, index: Words) -> Words:
    """64 bits for each index."""
    key = mixed(np.array([seed], np.uint64) * A + np.array([stream], np.uint64) * B + G)
    return mixed(mixed(index * G + key) + key)


def uniforms(seed: int, stream: int, index: Words) -> Numbers:
    """Between 0 and 1, never either, in steps of 2^-52."""
    return ((words(seed, stream, index) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
