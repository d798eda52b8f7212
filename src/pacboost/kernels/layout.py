"""Numbered columns and places of the arrays that kernels and learners of trees share.

Arrays of integers pass through numba, CUDA and NumPy unchanged, and records would not; kernels read
these constants at compile time. kernels/cuda/tree.cuh repeats those that the GPU needs.
"""

LANE, BASE, BINS, DEFAULT, CATEGORY, MONOTONE = range(6)
"""Columns of ``features``, a line for each feature: its lane, its first code there, the number of
bins, the default code (-1 if it has a lane alone), whether it is categorical, and its slope."""
FEATURE_COLUMNS = 6

FEATURE, CUT, MISSING_LEFT, LEFT, RIGHT, MEMBER = range(6)
"""Columns of splits. ``best`` has the first three, ``splits`` five, ``nodes`` of a scored tree all.
A child is the number of a split, or ~leaf; MEMBER is a line of ``members`` or -1."""

CRITERION, PENALTY, LEAST_WEIGHT, LEAST_ROWS, SMOOTH, LEVEL_PENALTY, LEVEL_ROWS, CHANCE = range(8)
"""Places in ``rules``, the parameters of the search for splits."""
RULES = 8

LEAF, NEW, LEAVES, SEARCH, LEFT_COUNTED = range(5)
"""Places in ``plan``: the leaf to split or -1, the number of its right part, the number of leaves,
whether to search the parts, and whether the left part is the one that is counted."""

DRAWN, DEEPEST, ALL_ROWS, KEY, LISTED = range(5)
"""Places in ``limits``: the number of features drawn for a split, the maximum depth, whether all
rows take part, the random key, and the maximum number of rows of a leaf without histograms."""
