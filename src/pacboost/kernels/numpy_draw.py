"""NumPy's random permutations for many rounds at once, number for number.

Creating a generator for each round takes NumPy longer than drawing from it. So ``SeedSequence``,
PCG64 (O'Neill 2014, XSL RR 128/64) and ``Generator.permutation`` are kernels here. A single round
gets the same rows from NumPy: see training/run/rounds.py.
"""

from __future__ import annotations

import numpy as np

from pacboost.kernels.runtime import Rows, Wholes, Words
from pacboost.kernels.runtime.jit import kernel, on_stack, part_of_kernels
from pacboost.kernels.split import LOW

SHIFT, BITS = np.uint32(16), np.uint64(32)
FIRST_IN, FACTOR_IN = np.uint32(0x43B0D7E5), np.uint32(0x931E8875)
FIRST_OUT, FACTOR_OUT = np.uint32(0x8B51F9DD), np.uint32(0x58F38DED)
LEFT_FACTOR, RIGHT_FACTOR = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
HIGH_FACTOR, LOW_FACTOR = np.uint64(2549297995355413924), np.uint64(4865540595714422341)
POOL = 4
KEY_BITS = 20  # a seed shifted by these is a key, for the leaves of a tree


@part_of_kernels
def mix_in(pool: Rows, place: int, word: np.uint32, constant: np.uint32) -> np.uint32:
    """Mix a word into a place of the pool; return the next constant."""
    value = np.uint32(word ^ constant)
    constant = np.uint32(constant * FACTOR_IN)
    value = np.uint32(value * constant)
    value ^= value >> SHIFT
    if place >= 0:
        mixed = np.uint32(np.uint32(pool[place] * LEFT_FACTOR) - np.uint32(value * RIGHT_FACTOR))
        pool[place] = mixed ^ (mixed >> SHIFT)
    else:
        pool[~place] = value
    return constant


@part_of_kernels
def seed_words(entropy: Rows, pool: Rows, out: Rows) -> None:
    """Write the result of ``SeedSequence(entropy).generate_state``."""
    constant = FIRST_IN
    for k in range(POOL):
        word = entropy[k] if k < entropy.size else np.uint32(0)
        constant = mix_in(pool, ~k, word, constant)
    for source in range(POOL):
        for k in range(POOL):
            if k != source:
                constant = mix_in(pool, k, pool[source], constant)
    for source in range(POOL, entropy.size):
        for k in range(POOL):
            constant = mix_in(pool, k, entropy[source], constant)
    constant = FIRST_OUT
    for k in range(out.size):
        value = np.uint32(pool[k % POOL] ^ constant)
        constant = np.uint32(constant * FACTOR_OUT)
        value = np.uint32(value * constant)
        out[k] = value ^ (value >> SHIFT)


@part_of_kernels
def multiply_high(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the upper 64 of the 128 bits of a product."""
    low = np.uint64(0xFFFFFFFF)
    middle = (a >> BITS) * (b & low) + (((a & low) * (b & low)) >> BITS)
    other = (a & low) * (b >> BITS) + (middle & low)
    return (a >> BITS) * (b >> BITS) + (middle >> BITS) + (other >> BITS)


@part_of_kernels
def advance(state: Words) -> None:
    """Advance the generator: ``state`` holds two words of its number, and two of the increment."""
    high, low = state[0], state[1]
    product = low * LOW_FACTOR
    high = multiply_high(low, LOW_FACTOR) + high * LOW_FACTOR + low * HIGH_FACTOR
    state[1] = product + state[3]
    state[0] = high + state[2] + np.uint64(state[1] < product)


@part_of_kernels
def start(words: Rows, state: Words) -> None:
    """Initialize the state of ``PCG64`` from eight words of a seed."""
    one = np.uint64(1)
    high = np.uint64(words[0]) | (np.uint64(words[1]) << BITS)
    low = np.uint64(words[2]) | (np.uint64(words[3]) << BITS)
    increment_high = np.uint64(words[4]) | (np.uint64(words[5]) << BITS)
    increment_low = np.uint64(words[6]) | (np.uint64(words[7]) << BITS)
    state[2], state[3] = (
        (increment_high << one) | (increment_low >> np.uint64(63)),
        (increment_low << one) | one,
    )
    state[0] = state[1] = np.uint64(0)
    advance(state)
    state[1] += low
    state[0] += high + np.uint64(state[1] < low)
    advance(state)


@part_of_kernels
def permute(state: Words, deck: Rows) -> None:
    """Shuffle 0, 1, … as ``Generator.permutation`` does; 64 bits serve two draws."""
    for i in range(deck.size):
        deck[i] = i
    spare, has_spare = np.uint64(0), False
    mask = np.uint64(0)
    while np.int64(mask) < deck.size - 1:
        mask = (mask << np.uint64(1)) | np.uint64(1)
    for i in range(deck.size - 1, 0, -1):
        while np.int64(mask >> np.uint64(1)) >= i:
            mask >>= np.uint64(1)
        while True:
            drawn = spare
            if not has_spare:
                advance(state)
                bits, turn = state[0] ^ state[1], state[0] >> np.uint64(58)
                drawn = (bits >> turn) | (bits << ((np.uint64(64) - turn) & np.uint64(63)))
                spare = drawn >> BITS
            has_spare = not has_spare
            j = np.int64(drawn & np.uint64(LOW) & mask)
            if j <= i:
                break
        deck[i], deck[j] = deck[j], deck[i]


@kernel
def divide_rows(entropy: Rows, keys: Wholes, chosen: Rows, aside: Rows) -> None:
    """Draw for some rounds: a key for features, the rows to grow a tree on, and the others.

    ``entropy`` ends with the number of the first round and a 0. Without chosen rows, all are used.
    """
    pool, words = on_stack((POOL,), np.uint32), on_stack((8,), np.uint32)
    state, seed = on_stack((4,), np.uint64), on_stack((1,), np.uint32)
    rows = chosen.shape[1] + aside.shape[1]
    deck, drawn = np.empty(rows, np.uint32), np.empty(rows, np.bool_)
    for t in range(keys.size):
        seed_words(entropy, pool, seed)
        entropy[entropy.size - 2] += np.uint32(1)
        keys[t] = np.int64(seed[0]) << KEY_BITS
        if rows == 0:
            continue
        seed_words(seed, pool, words)
        start(words, state)
        permute(state, deck)
        for i in range(rows):
            drawn[i] = False
        for k in range(chosen.shape[1]):
            drawn[deck[k]] = True
        a = b = 0
        for i in range(rows):
            if drawn[i]:
                chosen[t, a] = i
                a += 1
            else:
                aside[t, b] = i
                b += 1
