"""Votes and averages of bagged members: how predictions are combined, counted and certified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from pacboost.bounds import out_of_bag
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.estimators.bagging.outside import NOT_ASKED, OutOfBagAnswers
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.fit.division import Apart, Division
from pacboost.fit.examples import read_examples, read_numbers
from pacboost.fit.noticing import counted
from pacboost.fit.rows import LabelledRows
from pacboost.models.schema import Schema
from pacboost.numerics.exact import tied, wrong_answers
from pacboost.samples.same_example import Examples
from pacboost.training.bags.bagging import TORN
from pacboost.training.bags.bags import Averages, Bags, OutOfBagVotes

Outside = OutOfBagVotes | Averages
Counted = NDArray[np.bool_] | None
"""Which rows may be counted out of bag; None for all of them."""


@dataclass(frozen=True, eq=False)
class NumberAnswers:
    """Members predict numbers; a fit certifies nothing, since numbers are never simply wrong."""

    estimator: Estimator

    certifies_outside = False

    def read(self, division: Division, sample_weight: object, seed: int) -> LabelledRows:
        """Read the rows with their targets."""
        estimator = self.estimator
        estimator._schema, table = Schema.learn(division.X, estimator._column_options())
        return read_numbers(table, division.y, sample_weight)

    def targets(self, rows: LabelledRows) -> tuple[NDArray[Any], int]:
        """Return the numbers to predict."""
        assert rows.targets is not None
        return rows.targets, 0

    def ask_outside(
        self, targets: NDArray[Any], classes: int, bags: Bags, counted: Counted
    ) -> Outside:
        """Average the out-of-bag predictions."""
        return Averages(targets)

    def summarised(self, outside: Outside) -> OutOfBagAnswers:
        """Return the averages and their R²."""
        assert isinstance(outside, Averages)
        predicted, has_answer = outside.mean(), outside.counts > 0
        # the variance that R² divides by is 0 for one row
        if np.count_nonzero(has_answer) < 2:
            return OutOfBagAnswers(predicted)
        score = r2_score(outside.truth[has_answer], predicted[has_answer])
        return OutOfBagAnswers(predicted, float(score))


@dataclass(frozen=True, eq=False)
class Classes:
    """Members vote for classes."""

    estimator: Estimator

    @property
    def certifies_outside(self) -> bool:
        """True if rows outside the bags certify; then nothing else uses them."""
        return self.estimator.certify not in (None, "holdout")

    def read(self, division: Division, sample_weight: object, seed: int) -> LabelledRows:
        """Read the rows with their labels, and set ``classes_``."""
        estimator = self.estimator
        estimator._schema, table = Schema.learn(division.X, estimator._column_options())
        rows, estimator.classes_ = read_examples(table, division.y, sample_weight)
        if rows.labels is None and rows.signs.shape[1] > 1:
            raise DataError("y has several labels a row; bag one classifier for each label")
        self.refuse_weights(rows)
        return rows

    def refuse_weights(self, rows: LabelledRows) -> None:
        """Raise if out-of-bag rows certify and have weights, which the theorem does not allow."""
        if rows.weights is not None and self.certifies_outside:
            raise ParameterError(
                f"certify is {self.estimator.certify!r}, which counts training rows, and these "
                "have weights; fit without weights, or set certify='holdout', which counts other "
                "rows without weights, or certify=None",
                parameter="certify",
            )

    @property
    def choices(self) -> NDArray[Any]:
        """The classes, or sets of labels, that members vote for."""
        return self.estimator.classes_  # type: ignore[no-any-return]

    def votes(self, X: object) -> NDArray[Any]:
        """Return the votes for every choice, or their shares."""
        return self.estimator.votes(X)  # type: ignore[no-any-return]

    def targets(self, rows: LabelledRows) -> tuple[NDArray[Any], int]:
        """Return the number of each row's class or set of labels."""
        choices = len(self.choices)
        # with one class all signs are +1, which stands for the second of two
        return np.minimum(rows.classes(), choices - 1), choices

    def ask_outside(
        self, targets: NDArray[Any], classes: int, bags: Bags, counted: Counted
    ) -> Outside:
        """Count votes out of bag, and joint mistakes of pairs if the bound needs them."""
        estimator = self.estimator
        rows = bags.rows if counted is None else int(np.count_nonzero(counted))
        # chosen by the number of rows alone: each bound has delta by itself, so that the smallest
        # of three after a look would have three times its delta (docs/proofs/out_of_bag.md)
        way = out_of_bag.way_for(rows) if estimator.certify == "oob" else estimator.certify
        return OutOfBagVotes(
            targets, estimator.n_estimators, classes,
            outside=bags.chance_outside, pairs=way in ("tandem", "cantelli"), counted=counted,
        )  # fmt: skip

    def summarised(self, outside: Outside) -> OutOfBagAnswers:
        """Return the shares of the votes, the accuracy, and the counts."""
        if isinstance(outside, OutOfBagVotes):
            counts, shares = outside.result(), shares_of(outside.votes)
        else:
            counts, shares = None, outside.mean()
        error, _ = outside.estimate()
        shares = shares[:, : len(self.choices)]
        return OutOfBagAnswers(shares, None if error is None else 1 - error, counts)

    def certify(self, apart: Apart | None, examples: Examples | None) -> None:
        """Certify the vote if requested, and store the reason if that is impossible."""
        estimator = self.estimator
        estimator._certificate, estimator._refusal = None, NOT_ASKED
        if estimator.certify is not None:
            try:
                estimator._certificate = self._certificate(apart, examples)
            except NotCertified as problem:
                # the fit is good all the same: who asks for the certificate is told
                estimator._refusal = str(problem)

    def _certificate(self, apart: Apart | None, examples: Examples | None) -> Certificate:
        """Certify by held-out rows, or by the rows outside each bag.

        A row with several labels is wrong if any of them is.
        """
        estimator = self.estimator
        if apart is not None:
            votes, labels = self.votes(apart.X), apart.y
            answers = decided(votes, self.choices)
            if labels.ndim == 2:
                wrong = (answers != labels).any(axis=1) | tied(votes)
            else:
                wrong = wrong_answers(answers, labels, votes)
            return apart.certificate(wrong, estimator.delta, estimator._record.looks or 0)
        certificate = out_of_bag.certificate(
            estimator.out_of_bag_,
            estimator.delta,
            None if estimator.certify == "oob" else estimator.certify,
            changed=TORN if estimator._torn else "",
        )
        return counted(certificate, examples)


Answers = Classes | NumberAnswers


def decided(votes: NDArray[Any], choices: NDArray[Any]) -> NDArray[Any]:
    """Return the choice with the most votes; a tie goes to the first one."""
    # trees in a file of one class may name a second
    answers: NDArray[Any] = choices[votes[:, : len(choices)].argmax(axis=1)]
    return answers


def shares_of(votes: NDArray[Any]) -> NDArray[np.float64]:
    """Turn votes into shares; rows without a vote have NaN.

    >>> shares_of(np.array([[3, 1], [0, 0]])).tolist()
    [[0.75, 0.25], [nan, nan]]
    """
    total = votes.sum(axis=1, keepdims=True)
    without_votes = np.full(votes.shape, np.nan)
    return np.asarray(np.divide(votes, total, out=without_votes, where=total > 0))
