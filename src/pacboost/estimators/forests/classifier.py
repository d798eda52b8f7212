"""Forests that name classes: shares of trees, the error out of bag, and certificates."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from pacboost.bounds import out_of_bag
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, NotCertified, OneClassWarning, ParameterError
from pacboost.estimators.bagging.bags import rows_to_count
from pacboost.estimators.fitting.looks import Looks, look_at, next_look
from pacboost.estimators.forests.base import ForestMixin
from pacboost.estimators.inputs import division
from pacboost.estimators.inputs.division import Apart, Division
from pacboost.estimators.inputs.examples import Examples, label_rows, numbers_of, read_examples
from pacboost.estimators.inputs.labels import read_weights
from pacboost.estimators.inputs.parameters import real_number
from pacboost.estimators.inputs.tables import open_table
from pacboost.hypotheses.digest import vote_digest
from pacboost.kernels.threads import using
from pacboost.numerics.checks import probability
from pacboost.samples.hidden_copies import refuse_hidden_copies
from pacboost.samples.sample import Sample
from pacboost.training.bags.bagging import TORN, Bagging
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.forest import Shares
from pacboost.training.bags.out_of_bag import OutOfBag, OutOfBagVotes
from pacboost.training.metrics import METRICS, Metric

WAYS = ("oob", *out_of_bag.WAYS, "holdout")
MOST_CLASSES = 2**16
NOT_ASKED = (
    "nothing was certified: fit with certify='oob' to certify by the rows outside the bags, or "
    "certify='holdout' to hold rows back"
)


class ForestClassifier(ForestMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A forest whose fit leaves a ``model_`` and ``classes_``."""

    class_weight: Any
    certify: str | None
    holdout: float
    delta: float
    classes_: NDArray[Any]
    out_of_bag_: OutOfBag
    oob_score_: float
    oob_decision_function_: NDArray[np.float64]
    _apart: Apart | None = None
    _looks: Looks | None = None
    _refusal = NOT_ASKED

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees; a row of weight w counts as w copies of it would.

        Ctrl-C keeps the trees grown so far, and is raised again. After any other failure the
        estimator is as it was before.
        """
        super().fit(X, y, sample_weight)
        if self.classes_.size == 1:
            warnings.warn(
                f"y holds one class only ({self.classes_.tolist()[0]!r}); the classifier is "
                "constant",
                OneClassWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Name the class with the largest share; of several, the first."""
        largest = self.predict_proba(X).argmax(axis=1)
        named: NDArray[Any] = self.classes_[largest]
        return named

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Average the shares of classes in the leaves that a row comes to.

        With a certificate out of bag every tree has one vote instead, and these are their shares.
        """
        table = self._open(X)
        with using(self._threads()):
            return self.model_.forest.shares(table)[:, : self.classes_.size]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the logarithms of the shares; that of 0 is minus infinity."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @property
    def certificate_(self) -> Certificate:
        """The bound that ``certify`` asked for; refuses in words where it does not hold."""
        if not hasattr(self, "model_"):
            raise AttributeError("certificate_ is there after fit; fit first")
        if self.model_.certificate is None:
            raise NotCertified(self._refusal)
        return self.model_.certificate

    def _divide(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Division:
        if self.certify not in (None, *WAYS):
            raise ParameterError(
                f"certify is {self.certify!r}; it may be {', '.join(map(repr, WAYS))} or None"
            )
        probability("delta", self.delta)
        divided = Division(X, y)
        if self._certifies_outside:
            refuse_hidden_copies(X)
        if self.certify == "holdout":
            if read_weights(sample_weight, division.number_of_rows(X)) is not None:
                self._refuse_weights()
            share = real_number("holdout", self.holdout)
            divided = division.divide(X, y, "holdout", share, seed + division.CERTIFY)
        self._apart = divided.apart
        return divided

    def _refuse_weights(self) -> None:
        raise ParameterError(
            f"certify is {self.certify!r} and rows have weights, by sample_weight or class_weight; "
            "the certificate counts rows, so give neither, or set certify=None"
        )

    def _watch_apart(self, *, goes_on: bool) -> None:
        apart = self._apart
        if apart is not None:
            now = look_at(self, (open_table(self, apart.X, reset=False), apart.y))
            self._looks = next_look(self._looks, now, goes_on=goes_on)

    def _read(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Examples:
        """Read the rows; where those outside the bags certify, the others give the levels."""
        if self._certifies_outside:
            number = division.number_of_rows(X)
            others = np.flatnonzero(~rows_to_count(number, seed))
            open_table(self, division.alone(X, others), reset=True)
        examples, self.classes_ = read_examples(
            self, X, y, sample_weight, self.class_weight, reset=not self._certifies_outside
        )
        if examples.labels is None and examples.signs.shape[1] > 1:
            raise DataError("y has several labels a row; fit one forest for each label")
        if self.classes_.size > MOST_CLASSES:
            raise DataError(
                f"y holds {self.classes_.size} classes; a forest takes up to {MOST_CLASSES}. Are "
                "these numbers to predict? Then take the regressor"
            )
        if examples.weights is not None and self.certify is not None:
            self._refuse_weights()
        return examples

    def _targets(self, examples: Examples) -> tuple[NDArray[Any], int]:
        only = self.classes_.size == 1
        return examples.classes() * (not only), max(2, self.classes_.size)

    @property
    def _asked(self) -> tuple[Any, ...]:
        return self.certify, self.holdout, self.delta

    @property
    def _certifies_outside(self) -> bool:
        return self.certify not in (None, "holdout")

    def _tell_outside(
        self, targets: NDArray[Any], bags: Bags, counted: NDArray[np.bool_] | None
    ) -> OutOfBagVotes | Shares:
        classes = max(2, self.classes_.size)
        if not self._certifies_outside:
            return Shares(targets, classes)
        rows = bags.rows if counted is None else int(np.count_nonzero(counted))
        way = out_of_bag.way_for(rows) if self.certify == "oob" else self.certify
        return OutOfBagVotes(
            targets, self.n_estimators, classes,
            outside=bags.chance_outside, pairs=way in ("tandem", "cantelli"), counted=counted,
        )  # fmt: skip

    def _keep_outside(self, outside: Any, examples: Examples, rows: int) -> None:
        if isinstance(outside, OutOfBagVotes):
            self.out_of_bag_ = outside.result()
            votes = outside.votes.astype(np.float64)
            counts = votes.sum(axis=1, keepdims=True)
            shares = np.divide(votes, counts, out=np.full(votes.shape, np.nan), where=counts > 0)
        else:
            shares = outside.mean()
        error, _ = outside.estimate()
        if error is not None:
            self.oob_score_ = 1 - error
        own = slice(None) if examples.numbers is None else examples.numbers
        self.oob_decision_function_ = np.full((rows, self.classes_.size), np.nan)
        self.oob_decision_function_[own] = shares[:, : self.classes_.size]

    def _keep(self, run: Bagging, examples: Examples, rows: int) -> None:
        super()._keep(run, examples, rows)
        self._refusal = NOT_ASKED
        if self.certify is not None:
            try:
                made = self._certified().of(vote_digest(self.model_.forest))
                self.model_ = replace(self.model_, certificate=made)
            except NotCertified as problem:
                self._refusal = str(problem)
        self._apart = None

    def _certified(self) -> Certificate:
        if self._apart is not None:
            shares = self.model_.forest.shares(self._open(self._apart.X))
            own, known = numbers_of(self._apart.y, self.classes_)
            rivals = shares >= shares[np.arange(own.size), own][:, None]
            look = 0 if self._looks is None else self._looks.number
            return self._apart.certificate((rivals.sum(axis=1) > 1) | ~known, self.delta, look)
        changed = TORN if self._torn else ""
        if self.n_estimators > self._planned:
            changed = (
                f"{self._planned} trees were planned, and warm_start has gone on to more after a "
                "look at them. Fit afresh with the largest number that may be wanted; fewer, if "
                "the error settles, cost little"
            )
        way = None if self.certify == "oob" else self.certify
        return out_of_bag.certificate(self.out_of_bag_, self.delta, way, changed=changed)

    def _labelled(self, X: Any, y: Any) -> tuple[Sample, Metric]:
        table = self._open(X)
        known = label_rows(table, y, self.classes_, "y")
        return Sample(table, known.signs, labels=known.labels), METRICS["error"]
