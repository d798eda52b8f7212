"""What a round of LogitBoost with trees does between its kernels, as kernels.

On small samples Python would take longer for it than the kernels for their work, and with many
threads a good part of the time on larger ones. So a team runs many rounds in turn (``take_turns``
of kernels/runtime/board.py), and Python reads afterwards what they have found. For two classes and
trees without constraints, on rows of equal weight or of which no cost is measured;
training/run/rounds.py does and says the same for all others, step by step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacboost.kernels.grow import LEFT, RIGHT
from pacboost.kernels.runtime import Bytes, Cells, Floats, Numbers, Rows, Signs, Wholes, Words
from pacboost.kernels.runtime.board import own_share
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.jit import (
    kernel,
    on_stack,
    part_of_kernels,
    team_kernel,
)
from pacboost.kernels.split import (
    BASE,
    BINS,
    CATEGORY,
    CHANCE,
    CUT,
    DEFAULT,
    FEATURE,
    LANE,
    LEVEL_PENALTY,
    LOW,
    MISSING_LEFT,
    PENALTY,
)
from pacboost.kernels.update import pairs_of_one

# The arrays that rounds of LogitBoost in compiled code work on: see kernels/quick_rounds.py.


LEAVES, KEY = 2, 3  # places in ``plan`` and in ``limits``: see kernels/grow_team.py

# what ``course`` holds: whether to go on; the number of the round, from 0 on, and how many are
# wanted; how many rounds validation rows have seen, which was best, after how many without progress
# to stop (-1: never) and how many to do at least; whether a tree had no edge
GOES_ON, ROUND, WANTED, SEEN, BEST_ROUND, PATIENCE, LEAST, NO_EDGE = range(8)
# what ``settings`` holds: the largest sum of pairs; what is added to the weight of a leaf; half of
# the rate; the most that a leaf's mean may be; the unit of values; the least edge; the best value
# on validation rows so far
MAX_SUM, L2, HALF_RATE, MOST_STEP, UNIT, LEAST_EDGE, BEST = range(7)
# columns of ``Records.wholes`` and of ``Records.floats``
N_LEAVES, WEIGHT, PULL, WRONG = range(4)
EDGE, HELD_COST = range(2)


class TreeWork(NamedTuple):
    """The arrays in which a tree is grown (learners/growing.py says what they hold)."""

    rows: Rows
    pairs: Wholes
    rules: Floats
    starts: Wholes
    sizes: Wholes
    slots: Wholes
    depths: Wholes
    made: Wholes
    members: Bytes
    gains: Floats
    plan: Wholes
    limits: Wholes
    features: Wholes
    words: Words
    missing: int


class DrawnRows(NamedTuple):
    """What is drawn for each round: a key for features, rows to grow on (none: all), and others."""

    keys: Wholes
    chosen: Rows
    aside: Rows


class Records(NamedTuple):
    """What each round has found, a line or a table for each."""

    made: Numbers
    """(rounds, columns, splits)."""
    members: Bytes
    """(rounds, splits, codes), where there are categories."""
    gains: Floats
    values: Floats
    cover: Floats
    wholes: Wholes
    floats: Floats
    squares: Floats
    """(rounds, spans of rows), as the costs are."""
    costs: Floats


class RoundSums(NamedTuple):
    """What kernels add up in a round; ``now`` holds the sums of weights and of absolute pulls."""

    now: Wholes
    parts: Wholes
    squares: Floats
    totals: Wholes
    wrong: Wholes
    cost: Floats
    held_cost: Floats


@team_kernel(allocates=False)
def begin(
    member: Member,
    course: Wholes,
    settings: Floats,
    drawn: DrawnRows,
    weights: Wholes,
    pulls: Wholes,
    tree: TreeWork,
    sums: RoundSums,
) -> None:
    """Pair pulls and weights, and prepare the tree of a round."""
    weight_scale = settings[MAX_SUM] / float(max(np.int64(1), sums.now[0]))
    pull_scale = settings[MAX_SUM] / float(max(np.int64(1), sums.now[1]))
    a, b = own_share(weights.size, member)
    pairs_of_one(weights[a:b], pulls[a:b], False, pull_scale, weight_scale, tree.pairs[a:b])
    if member.number > 0:
        return
    own = drawn.chosen[course[ROUND]]
    for k in range(own.size):
        tree.rows[k] = own[k]
    tree.limits[KEY] = drawn.keys[course[ROUND]]
    tree.rules[PENALTY] = settings[L2] * weight_scale
    tree.starts[0], tree.slots[0], tree.depths[0] = 0, 0, 0
    tree.sizes[0] = tree.rows.size
    for k in range(sums.parts.shape[0]):
        for leaf in range(sums.parts.shape[2]):
            sums.parts[k, 0, leaf] = sums.parts[k, 1, leaf] = 0


@team_kernel(allocates=False)
def weigh_levels(member: Member, penalty: float, tree: TreeWork) -> None:
    """Set what categories gain by chance: see ``_gain_by_chance`` of learners/growing.py."""
    if member.number > 0:
        return
    squares = weight = np.int64(0)
    for k in range(tree.pairs.size):
        pull = tree.pairs[k] >> 32
        squares += pull * pull
        weight += tree.pairs[k] & LOW
    tree.rules[CHANCE] = float(squares) / max(float(weight), 1.0)
    tree.rules[LEVEL_PENALTY] = penalty * tree.rules[CHANCE]


@kernel
def goes_left(b: np.int64, feature: Wholes, split: Wholes, members: Bytes, missing: int) -> bool:
    """Return the side of a row by its code: see ``sides`` of kernels/routing.py."""
    if feature[CATEGORY]:
        return bool(members[b] != 0)
    return bool(split[MISSING_LEFT] != 0 if b == missing else b <= split[CUT])


@team_kernel(allocates=False)
def settle(member: Member, course: Wholes, drawn: DrawnRows, tree: TreeWork, cells: Cells) -> None:
    """Walk the rows that were not chosen to their leaves."""
    aside = drawn.aside[course[ROUND]]
    first, last = own_share(aside.size, member)
    for k in range(first, last):
        row, at = aside[k], np.int64(-1 if tree.plan[LEAVES] == 1 else 0)
        while at >= 0:
            split = tree.made[at]
            feature = tree.features[split[FEATURE]]
            shift = np.uint64(8 * (feature[LANE] & 7))
            b = np.int64((tree.words[feature[LANE] >> 3, row] >> shift) & np.uint64(255))
            default = feature[DEFAULT]
            if default >= 0:  # other features' codes mean that this one has its default
                b -= feature[BASE]
                if b < 0 or b >= feature[BINS] - 1:
                    b = default
                elif b >= default:
                    b += 1
            left = goes_left(b, feature, split, tree.members[at], tree.missing)
            at = split[LEFT] if left else split[RIGHT]
        cells[row] = ~at


@team_kernel(allocates=False)
def give_values(
    member: Member,
    course: Wholes,
    settings: Floats,
    tree: TreeWork,
    sums: RoundSums,
    values: Floats,
    records: Records,
) -> None:
    """Set each leaf to the Newton step for its rows, and write the tree down.

    If that has no edge, the values are 0, so that nothing moves, and the round is not counted.
    """
    if member.number > 0:
        return
    t, leaves = course[ROUND], tree.plan[LEAVES]
    edge, some = np.int64(0), False
    cover, splits = records.cover[t], leaves - 1
    for leaf in range(leaves):
        pull = weight = np.int64(0)
        for k in range(member.team):
            pull += sums.parts[k, 0, leaf]
            weight += sums.parts[k, 1, leaf]
        below, mean = float(weight) + settings[L2], 0.0
        if below > 0:
            mean = float(pull) / below
        mean = min(max(mean, -settings[MOST_STEP]), settings[MOST_STEP])
        value = np.rint(settings[HALF_RATE] * mean / settings[UNIT]) * settings[UNIT]
        values[leaf] = records.values[t, leaf] = value
        cover[splits + leaf] = float(weight)
        edge += pull if value > 0 else -pull if value < 0 else 0
        some = some or value != 0
    for split in range(splits - 1, -1, -1):
        for column in range(5):
            records.made[t, column, split] = tree.made[split, column]
        records.gains[t, split] = tree.gains[split]
        for code in range(256 if records.members.shape[1] > 0 else 0):
            records.members[t, split, code] = tree.members[split, code]
        a, b = tree.made[split, LEFT], tree.made[split, RIGHT]
        cover[split] = cover[a if a >= 0 else splits + ~a] + cover[b if b >= 0 else splits + ~b]
    total = max(np.int64(1), sums.now[1])
    records.floats[t, EDGE] = float(edge) / float(total)
    for k in range(sums.squares.size):
        records.squares[t, k] = sums.squares[k]
    records.wholes[t, N_LEAVES] = leaves
    records.wholes[t, WEIGHT], records.wholes[t, PULL] = sums.now[0], sums.now[1]
    if not (some and records.floats[t, EDGE] > settings[LEAST_EDGE]):
        course[NO_EDGE] = 1
        for leaf in range(leaves):
            values[leaf] = 0.0


@team_kernel(allocates=False)
def validate(
    member: Member,
    codes: Bytes,
    signs: Signs,
    tree: TreeWork,
    values: Floats,
    scores: Floats,
    margins: Floats,
) -> None:
    """Add the tree to the scores of validation rows, whose codes are (features, rows)."""
    first, last = own_share(scores.size, member)
    for row in range(first, last):
        at = np.int64(-1 if tree.plan[LEAVES] == 1 else 0)
        while at >= 0:
            split = tree.made[at]
            code = np.int64(codes[split[FEATURE], row])
            feature = tree.features[split[FEATURE]]
            left = goes_left(code, feature, split, tree.members[at], tree.missing)
            at = split[LEFT] if left else split[RIGHT]
        scores[row] += values[~at]
        margins[row] = signs[row] * scores[row]


@team_kernel(allocates=False)
def finish(
    member: Member, course: Wholes, settings: Floats, sums: RoundSums, held: int, records: Records
) -> None:
    """Write down what was measured after the step, and say whether to go on.

    ``held`` is the number of validation rows.
    """
    if member.number > 0:
        return
    if course[NO_EDGE]:
        course[GOES_ON] = 0
        return
    t, wrong = course[ROUND], np.int64(0)
    sums.now[0] = sums.now[1] = 0
    for k in range(member.team):
        sums.now[0] += sums.totals[k, 0]
        sums.now[1] += sums.totals[k, 1]
        wrong += sums.wrong[k, 0]
    records.wholes[t, WRONG] = wrong
    for k in range(sums.cost.size):
        records.costs[t, k] = sums.cost[k]
    course[ROUND] += 1
    if held > 0:
        value = records.floats[t, HELD_COST] = sums.held_cost[0] / float(held)
        course[SEEN] += 1
        if value < settings[BEST]:
            settings[BEST], course[BEST_ROUND] = value, course[SEEN]
        without = course[SEEN] - course[BEST_ROUND]
        enough = 0 <= course[PATIENCE] <= without and course[SEEN] >= course[LEAST]
        if enough or not np.isfinite(value):
            course[GOES_ON] = 0
    if course[ROUND] == course[WANTED]:
        course[GOES_ON] = 0


# NumPy's random permutations for many rounds at once, number for number.
#
# To make a generator for each round takes NumPy longer than to draw. So ``SeedSequence``, PCG64
# (O'Neill 2014, XSL RR 128/64) and ``Generator.permutation`` are written here as kernels. One round
# alone gets the same rows from NumPy itself: training/run/rounds.py.

SHIFT, BITS = np.uint32(16), np.uint64(32)
FIRST_IN, FACTOR_IN = np.uint32(0x43B0D7E5), np.uint32(0x931E8875)
FIRST_OUT, FACTOR_OUT = np.uint32(0x8B51F9DD), np.uint32(0x58F38DED)
LEFT_FACTOR, RIGHT_FACTOR = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
HIGH_FACTOR, LOW_FACTOR = np.uint64(2549297995355413924), np.uint64(4865540595714422341)
POOL = 4
KEYS = 20  # bits by which a seed is shifted to give a key, for the leaves of a tree


@part_of_kernels
def mix_in(pool: Rows, place: int, word: np.uint32, constant: np.uint32) -> np.uint32:
    """Mix a word into a place of the pool; give the next constant."""
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
    """Write what ``SeedSequence(entropy).generate_state`` gives."""
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
    """Multiply and add: ``state`` holds two words of the number, and two of what is added."""
    high, low = state[0], state[1]
    product = low * LOW_FACTOR
    high = multiply_high(low, LOW_FACTOR) + high * LOW_FACTOR + low * HIGH_FACTOR
    state[1] = product + state[3]
    state[0] = high + state[2] + np.uint64(state[1] < product)


@part_of_kernels
def start(words: Rows, state: Words) -> None:
    """Begin as ``PCG64`` does, with eight words of a seed."""
    one = np.uint64(1)
    high = np.uint64(words[0]) | (np.uint64(words[1]) << BITS)
    low = np.uint64(words[2]) | (np.uint64(words[3]) << BITS)
    more = np.uint64(words[4]) | (np.uint64(words[5]) << BITS)
    less = np.uint64(words[6]) | (np.uint64(words[7]) << BITS)
    state[2], state[3] = (more << one) | (less >> np.uint64(63)), (less << one) | one
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
    spare, held = np.uint64(0), False
    mask = np.uint64(0)
    while np.int64(mask) < deck.size - 1:
        mask = (mask << np.uint64(1)) | np.uint64(1)
    for i in range(deck.size - 1, 0, -1):
        while np.int64(mask >> np.uint64(1)) >= i:
            mask >>= np.uint64(1)
        while True:
            drawn = spare
            if not held:
                advance(state)
                bits, turn = state[0] ^ state[1], state[0] >> np.uint64(58)
                drawn = (bits >> turn) | (bits << ((np.uint64(64) - turn) & np.uint64(63)))
                spare = drawn >> BITS
            held = not held
            j = np.int64(drawn & np.uint64(LOW) & mask)
            if j <= i:
                break
        deck[i], deck[j] = deck[j], deck[i]


@kernel
def divide_rows(entropy: Rows, keys: Wholes, chosen: Rows, aside: Rows) -> None:
    """Draw for some rounds: a key for features, the rows to grow a tree on, and the others.

    ``entropy`` ends with the number of the first round and a 0. Where no rows are wanted, all are.
    """
    pool, words = on_stack((POOL,), np.uint32), on_stack((8,), np.uint32)
    state, own = on_stack((4,), np.uint64), on_stack((1,), np.uint32)
    rows = chosen.shape[1] + aside.shape[1]
    deck, drawn = np.empty(rows, np.uint32), np.empty(rows, np.bool_)
    for t in range(keys.size):
        seed_words(entropy, pool, own)
        entropy[entropy.size - 2] += np.uint32(1)
        keys[t] = np.int64(own[0]) << KEYS
        if rows == 0:
            continue
        seed_words(own, pool, words)
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
