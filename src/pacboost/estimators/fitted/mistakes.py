"""Which rows a vote gets wrong, and how well it ranks labels.

Ties count as mistakes, and so do labels that are no class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import DataError, ParameterError
from pacboost.estimators.inputs.examples import LabelledRows, label_rows
from pacboost.estimators.inputs.labels import read_labels
from pacboost.estimators.inputs.parameters import positive_integer
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.kernels.runtime.threads import using
from pacboost.models.model import Model
from pacboost.numerics.exact import wrong_answers, wrong_classes, wrong_margins
from pacboost.samples.sample import Sample
from pacboost.sources.table import Table
from pacboost.training.run.margins import NAMING, largest, margins_of, norm, normalised


def wrong_rows(vote: Vote, examples: LabelledRows) -> int:
    """Count the mistakes of a vote, ties included."""
    return int(np.count_nonzero(mistaken(vote.scores(examples.table), examples)))


def mistaken(scores: Scores, examples: LabelledRows) -> NDArray[np.bool_]:
    """Return which rows the vote gets wrong, ties included; of several labels, if any is wrong."""
    rows = examples.n_rows
    scores = scores.reshape(rows, -1)
    if examples.labels is None:
        return np.asarray(wrong_margins(scores * examples.signs).any(axis=1))
    return wrong_classes(scores, examples.labels)


def judging(estimator: Any, X: Any, y: Any) -> tuple[Table, Callable[[Scores], NDArray[np.bool_]]]:
    """Read rows with labels; give them, and a function of their scores that marks mistakes."""
    table = estimator._open(X)
    several = estimator.several_labels_
    labels = read_labels(y, table.n_rows, several=several)
    if several:
        known = label_rows(table, labels, estimator.classes_, "y", several=True)
        return table, lambda scores: mistaken(scores, known)
    return table, lambda scores: wrong_answers(estimator._decide(scores), labels, scores)


def staged_errors(estimator: Any, X: Any, y: Any) -> list[float]:
    """Return the share of rows that the vote gets wrong after each round."""
    refuse_half(X, y)
    table, wrong = judging(estimator, X, y)
    with using(estimator.n_jobs):
        return [float(wrong(scores).mean()) for scores in estimator.model_.vote.staged(table)]


def vote_of(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the estimator that holds the vote, and the rows as it reads them."""
    check_is_fitted(model)
    while "estimator_" in vars(model):
        X = model._open(X) if X is not None and hasattr(model, "_open") else X
        model = model.estimator_
    return model, X


def refuse_half(X: Any, y: Any) -> None:
    """Raise if only one of rows and labels was given."""
    if (X is None) != (y is None):
        given, absent = ("X", "y") if y is None else ("y", "X")
        raise DataError(
            f"{given} was given without {absent}; give both, rows and their labels, or neither"
        )


# How clearly a vote decides: margins of rows whose labels are known, round by round.
#
# A margin is y·F/S, where S adds up the largest vote that each round could give; with more than two
# classes, (own score - best other)/2S, or /S where every rule names one class. It is positive where
# the vote is right, and 1 where all its rules are.

Doubles = NDArray[np.float64]
CURVES = 4
"""How many rounds pictures show if none are named."""


def naming(model: Model) -> bool:
    """Check whether every rule of the vote names one class."""
    return model.ledger.multiclass in NAMING


def margins(model: Model, sample: Sample) -> Doubles:
    """Return the margin of every row, or of every label of every row."""
    scores = model.vote.scores(sample.table)
    return normalised(margins_of(sample, scores, naming=naming(model)), norm(model.vote))


def staged_margins(model: Model, sample: Sample) -> Iterator[Doubles]:
    """Return the margins after each round, by the votes of the rounds until then."""
    vote, total = model.vote, 0.0
    for rule, cast, scores in zip(
        vote.hypotheses, vote.votes, vote.staged(sample.table), strict=True
    ):
        total += largest(rule, cast)
        yield normalised(margins_of(sample, scores, naming=naming(model)), total)


def margins_after(model: Model, sample: Sample, rounds: Sequence[int] | None) -> dict[int, Doubles]:
    """Return the margins after some rounds; without any, after some ever further apart."""
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
