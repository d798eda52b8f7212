"""How clearly a vote decides: margins of rows whose labels are known, round by round.

A margin is y·F/S, where S adds up the largest vote that each round could give; with more than two
classes, (own score - best other)/2S, or /S where every rule names one class. It is positive where
the vote is right, and 1 where all its rules are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.estimators.inputs.parameters import positive_integer
from pacboost.models.model import Model
from pacboost.samples.sample import Sample
from pacboost.training.run.records.margins import NAMING, largest, margins_of, norm, normalised

Doubles = NDArray[np.float64]
CURVES = 4
"""How many rounds pictures show if none are named."""


def naming(model: Model) -> bool:
    """Tell whether every rule of the vote names one class."""
    return model.ledger.multiclass in NAMING


def margins(model: Model, sample: Sample) -> Doubles:
    """Give the margin of every row, or of every label of every row."""
    scores = model.vote.scores(sample.table)
    return normalised(margins_of(sample, scores, naming=naming(model)), norm(model.vote))


def staged_margins(model: Model, sample: Sample) -> Iterator[Doubles]:
    """Give the margins after each round, by the votes of the rounds until then."""
    vote, total = model.vote, 0.0
    for rule, cast, scores in zip(
        vote.hypotheses, vote.votes, vote.staged(sample.table), strict=True
    ):
        total += largest(rule, cast)
        yield normalised(margins_of(sample, scores, naming=naming(model)), total)


def margins_after(model: Model, sample: Sample, rounds: Sequence[int] | None) -> dict[int, Doubles]:
    """Give the margins after some rounds; without any, after some ever further apart."""
    last = len(model.vote.votes)
    if last == 0:
        raise DataError("the vote is empty; there are no margins to draw")
    if rounds is None:
        rounds = np.geomspace(1, last, CURVES).round().astype(int).tolist()
    wanted = {positive_integer("a round", number) for number in rounds}
    if max(wanted, default=0) > last:
        raise ParameterError(
            f"rounds holds {max(wanted)}, but the vote has {last}; give 1 to {last}"
        )
    stages = enumerate(staged_margins(model, sample), start=1)
    return {number: own.ravel() for number, own in stages if number in wanted}
