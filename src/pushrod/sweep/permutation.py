"""A permutation of 0 ... n-1 that needs no list: where index i goes is computed from i, n and a key.

Steps that are each a bijection of w bits (2^w >= n): xor with a key, times an odd number, xor with the upper half. What lands beyond n - 1 goes
through them again until it does not (cycle walking), which is a bijection of 0 ... n-1.
"""

import numpy as np

from pushrod.sweep.counter import Words, words

ROUNDS = 6


def permuted(index: Words, n: int, seed: int, stream: int) -> Words:
    """The places of these indices, all of them below n."""
    if n < 2:
        return index.copy()
    width = int(n - 1).bit_length()
    mask, half = np.uint64((1 << width) - 1), np.uint64((width + 1) // 2)
    keys = words(seed, stream, np.arange(2 * ROUNDS, dtype=np.uint64))
    place = index.copy()
    left = np.arange(len(place))
    while len(left):
        x = place[left]
        for r in range(ROUNDS):
            x = ((x ^ keys[2 * r]) * (keys[2 * r + 1] | np.uint64(1))) & mask
            x ^= x >> half
        place[left] = x
        left = left[x >= np.uint64(n)]
    return place
