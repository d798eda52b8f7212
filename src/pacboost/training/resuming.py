"""Going on from the rounds of an earlier run: where its rows stand, and whether they are these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from pacboost.boosters.base.filtering_booster import FilteringBooster
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.ledgers.ledger import Ledger
from pacboost.samples.sample import Sample

Floats = NDArray[np.float64]


def refuse_other_means(booster: str, learner: str, ledger: Ledger) -> None:
    """Raise unless the earlier rounds were made by the same booster and learner."""
    if (booster, learner) != (ledger.booster, ledger.learner):
        raise ParameterError(
            f"the earlier rounds are of {ledger.booster} with {ledger.learner}, these would be "
            f"of {booster} with {learner}; one record cannot hold both. Start afresh with "
            "warm_start=False"
        )


def followed(
    booster: FilteringBooster[Any],
    sample: Sample,
    rules: Sequence[Hypothesis],
    memories: Sequence[Sequence[float]],
    *,
    cells: bool,
) -> Floats:
    """Take every row along its path once more; ``cells``: values have the vote in them."""
    path = booster.start(sample.signs.shape)
    for rule, memory in zip(rules, memories, strict=True):
        said = rule.values[rule.cells(sample)]
        agree = said * sample.signs / (booster.rate if cells else 1.0)
        path = booster.follow(path, agree, memory)
    return path


def refuse_other_rows(
    ledger: Ledger,
    sample: Sample,
    margins: Floats,
    first_weights: NDArray[np.int64],
    training_error: float | None,
    mean_potential: float,
    start_potential: float,
    *,
    by_weight: bool,
) -> None:
    """Raise unless the mean potential = ∏ Z_t on these rows, up to the rounding of weights.

    The equation is all that the bound rests on, so it decides whether old rounds still count.
    Where votes are so large that rounding would excuse anything, the number of rows and the
    training error, which is exact, have to be the recorded ones too.
    """
    entries = ledger.rounds
    same = ledger.rows == sample.n_rows
    if training_error is not None:
        same = same and training_error == entries[-1].training_error
    expected = math.fsum(math.log(e.normaliser) for e in entries)
    if ledger.potential == "exponential":
        first = np.broadcast_to(first_weights[:, None], margins.shape)
        found = float(logsumexp(-margins, b=first / first.sum()))
        allowed = 1e-9 + sum(
            4 * margins.size / e.weight * math.exp(e.vote) / e.normaliser for e in entries
        )
    elif by_weight:  # the mean weight never changes
        found, expected, allowed = math.log(mean_potential), 0.0, 1e-9
    elif sample.targets is not None:  # the record holds the mean loss itself
        found, expected = mean_potential, entries[-1].training_error
        allowed = 1e-9 * expected
    else:
        found, allowed = math.log(mean_potential / start_potential), 1e-9
    if not same or abs(found - expected) > allowed:
        raise ParameterError(
            "the earlier rounds were not trained on these rows, labels and weights, so their "
            "record does not hold here. Go on with the same data (and an integer random_state "
            "if rows are held back), or start afresh with warm_start=False"
        )
