"""Forests that predict numbers: means over trees, and the error out of bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified
from pacboost.estimators.fitted.decisions import calibrated
from pacboost.estimators.forests.base import ForestBase
from pacboost.estimators.inputs.examples import LabelledRows, read_numbers
from pacboost.estimators.inputs.labels import read_targets
from pacboost.estimators.inputs.parameters import threads
from pacboost.kernels.threads import using
from pacboost.samples.sample import Sample
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.out_of_bag import Averages
from pacboost.training.metrics import LOSSES, Metric


@dataclass(eq=False, repr=False, kw_only=True)
class ForestRegressor(RegressorMixin, ForestBase):  # type: ignore[misc]
    """A forest whose fit leaves a ``model_`` that predicts numbers."""

    max_features: Any = 1.0

    certify_intervals = calibrated.certify_intervals
    predict_interval = calibrated.predict_interval
    intervals_ = property(calibrated.kept_intervals)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Average what the trees predict."""
        table = self._open(X)
        with using(threads(self.n_jobs)):
            return self.model_.forest.numbers(table)

    def spread(self, X: Any) -> NDArray[np.float64]:
        """Give the standard deviation of what the trees predict, for every row."""
        table = self._open(X)
        with using(threads(self.n_jobs)):
            return self.model_.forest.spread(table)

    @property
    def certificate_(self) -> Certificate:
        """Raises NotCertified: the theorems bound classification errors only."""
        raise NotCertified(
            "the certificates of a fit bound how often a vote of classes errs; numbers are never "
            "simply right or wrong. certify_intervals certifies intervals by new rows; oob_score_ "
            "is an estimate"
        )

    def _read(self, X: Any, y: Any, sample_weight: Any, seed: int) -> LabelledRows:
        return read_numbers(self, X, y, sample_weight)

    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        assert examples.targets is not None
        return examples.targets, 0

    def _ask_outside(
        self, targets: NDArray[Any], bags: Bags, counted: NDArray[np.bool_] | None
    ) -> Averages:
        return Averages(targets)

    def _keep_outside(self, outside: Any, examples: LabelledRows, rows: int) -> None:
        predicted, seen = outside.mean(), outside.counts > 0
        own = slice(None) if examples.numbers is None else examples.numbers
        self.oob_prediction_ = np.full(rows, np.nan)
        self.oob_prediction_[own] = predicted
        if np.count_nonzero(seen) > 1:
            self.oob_score_ = float(r2_score(outside.truth[seen], predicted[seen]))

    def _labelled(self, X: Any, y: Any) -> tuple[Sample, Metric]:
        table = self._open(X)
        targets = read_targets(y, table.n_rows)
        signs = np.ones((table.n_rows, 1), dtype=np.int8)  # not looked at
        return Sample(table, signs, targets=targets), LOSSES["square"]
