"""What a batch of rounds is done on and in: the structs of src/native/rounds/rounds.h.

``native.boost_trees`` takes them as tuples; fields are in the same order there.
"""

from __future__ import annotations

from typing import NamedTuple

from pacboost.kernels.arrays import Bytes, Floats, Numbers, Signs, Wholes


class RoundRows(NamedTuple):
    """The rows, and what changes from round to round: scores (margins of classes) and pulls."""

    signs: Signs
    """Of two classes; empty for squared errors."""
    targets: Floats
    """Of squared errors; empty for classes."""
    base: Floats
    base_of_costs: Floats
    first_weights: Wholes
    scores: Floats
    weights: Wholes
    pulls: Wholes


class RoundSettings(NamedTuple):
    """What all rounds of a batch share."""

    max_sum: int
    l2: float
    max_step: float
    unit: float
    min_edge: float
    max_target: float
    level_penalty: float
    """Below 0 if there are no categories."""
    rows_per_sum: int
    is_measured: bool


class RoundInputs(NamedTuple):
    """The key and the learning rate of each round."""

    keys: Wholes
    rates: Floats


class Progress(NamedTuple):
    """Where a run stands: finished rounds of the batch, sums of weights and of absolute pulls."""

    rounds: int
    weight: int
    pull: int
    scale: float
    """The factor from residuals to pulls, 1 for classes."""
    largest: float
    """The largest residual, infinite for classes."""


class Records(NamedTuple):
    """The results of each round, a line or a table for each."""

    splits: Numbers
    """(rounds, columns, splits)."""
    members: Bytes
    """(rounds, splits, codes), if there are categories."""
    gains: Floats
    values: Floats
    cover: Floats
    leaves: Wholes
    weights: Wholes
    pulls: Wholes
    wrong: Wholes
    edges: Floats
    validation_costs: Floats
    squares: Floats
    """(rounds, spans of rows), like the costs."""
    costs: Floats


class ValidationRows(NamedTuple):
    """Validation rows, and the progress of a run on them."""

    codes: Bytes
    signs: Signs
    targets: Floats
    """Empty for classes."""
    scores: Floats
    """Updated after every round."""
    rounds: int
    best_round: int
    patience: int
    """-1: never stop."""
    least: int
    best: float
