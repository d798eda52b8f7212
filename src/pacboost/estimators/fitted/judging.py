"""Fitted votes against known labels: which rows are wrong, and how clearly the vote decides.

Ties count as mistakes, and so do labels that are no class. A margin is y·F/S, where S adds up the
largest vote that each round could give; with more than two classes, (own score - best other)/2S, or
/S where every rule names one class. It is positive where the vote is right, and 1 where all its
rules are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds import estimates
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import DataError, ParameterError
from pacboost.fit.examples import label_rows, mistaken
from pacboost.fit.rows import LabelledRows
from pacboost.fit.targets import read_labels, read_targets
from pacboost.hypotheses.vote import Scores
from pacboost.kernels.threads import using
from pacboost.ledgers.ledger import Ledger
from pacboost.models.model import Model
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.exact import wrong_answers
from pacboost.reports.page.subject import uncertified
from pacboost.samples.sample import Sample
from pacboost.sources.table import Table
from pacboost.training.run.margins import NAMING, largest, margins_of, norm, normalised

if TYPE_CHECKING:
    from pacboost.estimators.fitted.classifier import Classifier
    from pacboost.estimators.fitted.estimator import Estimator


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


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Labelled rows; their labels need not be classes of the fit."""

    table: Table
    labels: NDArray[Any]
    signs: LabelledRows | None
    """The labels as signs, if a row may have several."""

    @classmethod
    def read(cls, model: Model, table: Table, y: object) -> JudgedRows:
        """Read the labels of rows."""
        several = model.ledger.several_labels
        labels = read_labels(y, table.n_rows, several=several)
        if not several:
            return cls(table, labels, None)
        return cls(table, labels, label_rows(table, labels, model.classes, "y", several=True))

    def wrong(self, model: Model, scores: Scores) -> NDArray[np.bool_]:
        """Return which rows the scores get wrong."""
        if self.signs is not None:
            return mistaken(scores, self.signs)
        return wrong_answers(model.decide(scores), self.labels, scores)


def judged(estimator: Classifier, X: object, y: object) -> tuple[Scores, NDArray[np.bool_]]:
    """Return the scores of rows, and which rows are wrong."""
    model = estimator.model_
    rows = JudgedRows.read(model, estimator._open(X), y)
    with using(estimator.n_jobs):
        scores = model.vote.scores(rows.table)
    return scores, rows.wrong(model, scores)


def staged_errors(estimator: Classifier, X: object, y: object) -> list[float]:
    """Return the share of rows that the vote gets wrong after each round."""
    refuse_half(X, y)
    model = estimator.model_
    rows = JudgedRows.read(model, estimator._open(X), y)
    with using(estimator.n_jobs):
        return [float(rows.wrong(model, scores).mean()) for scores in model.vote.staged(rows.table)]


def vote_of(model: Any, X: object) -> tuple[Any, Any]:
    """Return the estimator that holds the vote, and the rows as it reads them."""
    check_is_fitted(model)
    while "estimator_" in vars(model):
        model = model.estimator_
    return model, X


def refuse_half(X: object, y: object) -> None:
    """Raise if only one of rows and labels was given."""
    if (X is None) != (y is None):
        given, absent = ("X", "y") if y is None else ("y", "X")
        raise DataError(
            f"{given} was given without {absent}; give both, rows and their labels, or neither"
        )


def staged_margins(model: Model, sample: Sample) -> Iterator[Doubles]:
    """Return the margins after each round, under the votes of the rounds so far."""
    vote, total, naming = model.vote, 0.0, model.ledger.multiclass in NAMING
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
        rounds = np.geomspace(1, last, CURVES).round().astype(int).tolist()
    wanted = {positive_whole("a round", number) for number in rounds}
    if max(wanted, default=0) > last:
        raise ParameterError(
            f"rounds holds {max(wanted)}, but the vote has {last}; give 1 to {last}",
            parameter="rounds",
        )
    stages = enumerate(staged_margins(model, sample), start=1)
    return {number: margins.ravel() for number, margins in stages if number in wanted}


def labelled(estimator: Estimator, X: object, y: object) -> Sample:
    """Read rows with labels, all of which are classes of the fit."""
    table, several = estimator._open(X), estimator.several_labels_
    known = label_rows(table, y, estimator.classes_, "y", several=several)
    return Sample(table, known.signs, labels=known.labels)


def with_targets(estimator: Estimator, X: object, y: object) -> Sample:
    """Read rows with numbers."""
    table = estimator._open(X)
    signs = np.ones((table.n_rows, 1), dtype=np.int8)  # not looked at
    return Sample(table, signs, targets=read_targets(y, table.n_rows))


def margins(estimator: Classifier, sample: Sample) -> Doubles:
    """Return the margin of every row, or of every label of it."""
    model = estimator.model_
    with using(estimator.n_jobs):
        scores = model.vote.scores(sample.table)
    naming = model.ledger.multiclass in NAMING
    return normalised(margins_of(sample, scores, naming=naming), norm(model.vote))
