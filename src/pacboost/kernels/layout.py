"""The arrays that kernels and learners of trees share, and their numbered columns and places.

src/native/tree/layout.h has the same structs and numbers, and kernels/cuda/tree.cuh those that the
GPU needs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pacboost.kernels.arrays import Bytes, Cells, Floats, Rows, Wholes, Words

LANE, BASE, BINS, DEFAULT, CATEGORY, MONOTONE = range(6)
"""Columns of ``features``, a line for each feature: its lane, its first code there, the number of
bins, the default code (-1 if it has a lane alone), whether it is categorical, and its slope."""
FEATURE_COLUMNS = 6
NO_PLACE = 255
"""The code of values that cannot share a lane."""

FEATURE, CUT, MISSING_LEFT, LEFT, RIGHT, MEMBER = range(6)
"""Columns of splits. ``best`` has the first three, ``splits`` five, ``nodes`` of a scored tree all.
A child is the number of a split, or ~leaf; MEMBER is a line of ``members`` or -1."""

CRITERION, PENALTY, LEAST_WEIGHT, LEAST_ROWS, SMOOTH, LEVEL_PENALTY, LEVEL_ROWS, CHANCE = range(8)
"""Places in ``rules``, the parameters of the search for splits."""
RULES = 8
NEWTON, Z, ERROR = range(3)
"""The criteria of splits."""
LOW = np.int64(0xFFFFFFFF)
"""The bits of a pair that hold the weight; src/native/tree/pair.h describes pairs."""

LEAF, NEW, LEAVES, SEARCH, LEFT_COUNTED = range(5)
"""Places in ``plan``: the leaf to split or -1, the number of its right part, the number of leaves,
whether to search the parts, and whether the left part is the one that is counted."""

DRAWN, DEEPEST, KEY, LISTED = range(4)
"""Places in ``limits``: the number of features drawn for a split, the maximum depth, the random
key, and the maximum number of rows of a leaf without histograms."""
MAX_LISTED_ROWS = 128
"""Leaves of up to this many rows have no histograms: most bins would be empty."""


class Codes(NamedTuple):
    """The rows of a sample (samples/blocks.py), and the orders of levels at the root."""

    words: Words
    features: Wholes
    lanes: int
    missing: int
    orders: Bytes
    evidence: Floats


class Leaves(NamedTuple):
    """The state of each leaf, one line for each."""

    starts: Wholes
    sizes: Wholes
    slots: Wholes
    best: Wholes
    members: Bytes
    gains: Floats
    hangs: Wholes
    """The parent split, and the column of the leaf's side there."""
    depths: Wholes


class Splits(NamedTuple):
    """The splits of the tree, one line for each."""

    columns: Wholes
    members: Bytes
    gains: Floats


class TeamFindings(NamedTuple):
    """The results of the members of a team, one line for each, which may be longer than needed."""

    lefts: Wholes
    worth: Floats
    best: Wholes
    members: Bytes
    sides: Bytes
    allowed: Bytes
    decks: Wholes


class TreeArrays(NamedTuple):
    """All that a tree is grown on and in; pairs are (lines, rows)."""

    codes: Codes
    chosen: Rows
    """The rows that the tree is grown on, ascending; none means all."""
    rows: Rows
    """The same, sorted by leaves in the end."""
    spare: Rows
    pairs: Wholes
    histogram: Wholes
    partial: Wholes
    rules: Floats
    leaves: Leaves
    splits: Splits
    sides: Bytes
    """(splits, codes): whether rows with a code in the split's lane go left."""
    findings: TeamFindings
    plan: Wholes
    limits: Wholes
    cells: Cells


class Interactions(NamedTuple):
    """Which features may interact, and the state of each leaf, one line for each.

    The features on the path from the root to a leaf must all be in one of the sets, or there may be
    at most ``max_features`` different ones.
    """

    sets: Bytes
    """(sets, features): the members of each set; without sets, ``max_features`` is the rule."""
    max_features: int
    share: float
    """The share of the features open to a leaf that are drawn for each split."""
    reach: Bytes
    """(leaves, sets): the sets that hold all features on the path to the leaf."""
    asked: Bytes
    """(leaves, features): the features on the path to the leaf."""
    open: Bytes
    """(leaves, features): the features that may split the leaf."""
