"""Fitted votes against known labels: which rows are wrong, and how clearly the vote decides.

Ties count as mistakes, and so do labels that are no class. A margin is y·F/S, where S adds up the
largest vote that each round could give; with more than two classes, (own score - best other)/2S, or
/S where every rule names one class. It is positive where the vote is right, and 1 where all its
rules are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pacboost.boosters.multiclass import method_of
from pacboost.bounds import estimates
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.fitted.predicting import Predictor
from pacboost.fit.examples import label_rows
from pacboost.fit.judging import JudgedRows
from pacboost.fit.targets import read_targets
from pacboost.hypotheses.vote import Scores
from pacboost.kernels.threads import using
from pacboost.ledgers.ledger import Ledger
from pacboost.models.model import Model
from pacboost.numerics.checks import positive_whole
from pacboost.reports.page.subject import uncertified
from pacboost.samples.sample import Sample
from pacboost.training.run.margins import largest, margins_of, norm, normalised


def sentence_of(
    certificate: Certificate | None, ledger: Ledger, held_out: HeldOut | None = None,
    names: Sequence[str] = (),
) -> str:  # fmt: skip
    """Return the sentence of ``pacboost certify``, or what to call if there is no certificate."""
    if certificate is None or certificate.delta == 0:
        fitted, nothing, call = uncertified(ledger)
        return f"{fitted}{nothing}: {call}"
    return estimates.in_words(certificate, held_out, names)


Doubles = NDArray[np.float64]
CURVES = 4
"""How many rounds pictures show if none are named."""


class ClassPredictor(Predictor, Protocol):
    """An estimator that answers with classes, or with labels of which a row may have several."""

    classes_: NDArray[Any]
    several_labels_: bool


def judged(estimator: Predictor, X: object, y: object) -> tuple[Scores, NDArray[np.bool_]]:
    """Return the scores of rows, and which rows are wrong."""
    model = estimator.model_
    rows = JudgedRows.read(model, estimator._open(X), y)
    with using(estimator.n_jobs):
        scores = model.vote.scores(rows.table)
    return scores, rows.wrong(model, scores)


def staged_errors(estimator: Predictor, X: object, y: object) -> list[float]:
    """Return the share of rows that the vote gets wrong after each round."""
    refuse_half(X, y)
    model = estimator.model_
    rows = JudgedRows.read(model, estimator._open(X), y)
    with using(estimator.n_jobs):
        return [float(rows.wrong(model, scores).mean()) for scores in model.vote.staged(rows.table)]


def vote_of(model: BaseEstimator) -> Any:
    """Return the estimator that holds the vote: that inside a chosen threshold, if there is one."""
    check_is_fitted(model)
    while "estimator_" in vars(model):
        model = model.estimator_
    return model


def refuse_half(X: object, y: object) -> None:
    """Raise if only one of rows and labels was given."""
    if (X is None) != (y is None):
        given, absent = ("X", "y") if y is None else ("y", "X")
        raise DataError(
            f"{given} was given without {absent}; give both, rows and their labels, or neither"
        )


def staged_margins(model: Model, sample: Sample) -> Iterator[Doubles]:
    """Return the margins after each round, under the votes of the rounds so far."""
    vote, total = model.vote, 0.0
    naming = method_of(model.ledger.multiclass).names_class
    for rule, cast, scores in zip(
        vote.hypotheses, vote.votes, vote.staged(sample.table), strict=True
    ):
        total += largest(rule, cast)
        yield normalised(margins_of(sample, scores, naming=naming), total)


def margins_after(model: Model, sample: Sample, rounds: Sequence[int] | None) -> dict[int, Doubles]:
    """Return the margins after the given rounds, by default after ever more distant ones."""
    last = len(model.vote.votes)
    if last == 0:
        raise DataError("the vote is empty; there are no margins to draw")
    if rounds is None:
        # most of the change is in the first rounds
        rounds = np.geomspace(1, last, CURVES).round().astype(int).tolist()
    wanted = {positive_whole("a round", number) for number in rounds}
    if max(wanted, default=0) > last:
        raise ParameterError(
            f"rounds holds {max(wanted)}, but the vote has {last}; give 1 to {last}",
            parameter="rounds",
        )
    stages = enumerate(staged_margins(model, sample), start=1)
    return {number: margins.ravel() for number, margins in stages if number in wanted}


def labelled(estimator: ClassPredictor, X: object, y: object) -> Sample:
    """Read rows with labels, all of which are classes of the fit."""
    table, several = estimator._open(X), estimator.several_labels_
    known = label_rows(table, y, estimator.classes_, "y", several=several)
    return Sample(table, known.signs, labels=known.labels)


def with_targets(estimator: Predictor, X: object, y: object) -> Sample:
    """Read rows with numbers."""
    table = estimator._open(X)
    signs = np.ones((table.n_rows, 1), dtype=np.int8)  # not looked at
    return Sample(table, signs, targets=read_targets(y, table.n_rows))


def margins(estimator: Predictor, sample: Sample) -> Doubles:
    """Return the margin of every row, or of every label of it."""
    model = estimator.model_
    with using(estimator.n_jobs):
        scores = model.vote.scores(sample.table)
    naming = method_of(model.ledger.multiclass).names_class
    return normalised(margins_of(sample, scores, naming=naming), norm(model.vote))
