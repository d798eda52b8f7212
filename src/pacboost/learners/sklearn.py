"""Use any scikit-learn classifier or regressor as a weak learner, or fit one to a bag of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from pacboost.hypotheses.function import ClassFunction, Function, Ranges
from pacboost.hypotheses.hypothesis import Cells, Hypothesis, Valued
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.learner import Learner, Search, Weights, raised_by
from pacboost.numerics.exact import draw
from pacboost.samples.sample import Request, Sample
from pacboost.sources.given import some_rows
from pacboost.sources.rows import Rows
from pacboost.sources.values import Values


@dataclass(frozen=True)
class SklearnLearner(Learner):
    """Fit a clone with sample weights, or on a weighted draw of rows if it takes no weights."""

    name: ClassVar[str] = "scikit-learn"

    reads_given: ClassVar[bool] = True

    estimator: Any

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        """Whether the classifier says that it takes sparse rows."""
        try:
            return bool(get_tags(self.estimator).input_tags.sparse)
        except (AttributeError, TypeError):  # it only has fit and predict
            return False

    def on(self, sample: Sample) -> SklearnSearch:
        """Start on the raw rows; sparse ones stay sparse if the estimator takes them."""
        sparse = self.sparse and sample.table.entries is not None
        return SklearnSearch(sample, self.estimator, sparse)


@dataclass(frozen=True)
class SklearnSearch(Search):
    """The classifier at work on one sample."""

    sample: Sample
    estimator: Any
    sparse: bool = False

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        """Fit a fresh clone; every random_state in it gets its own seed."""
        model, rows, labels, fit_arguments = self._set_up(weights, answers, seed)
        if (labels == labels[0]).all():  # few estimators can fit a single class
            only_label = int(labels[0])
            if self.sample.labels is None:
                return StumpRule.constant(only_label)
            return self._naming(partial(_constant, only_label), f"always class {only_label}", None)
        with raised_by(f"the weak learner {type(model).__name__}", labels.size):
            model.fit(rows, labels, **fit_arguments)
        if self.sample.labels is not None:
            return self._naming(model.predict, type(model).__name__, model)
        return Function(model.predict, type(model).__name__, model, sparse=self.sparse)

    def _set_up(
        self, weights: Weights, answers: NDArray[Any], seed: int
    ) -> tuple[Any, Any, NDArray[Any], dict[str, Any]]:
        generator = np.random.default_rng(seed)
        model = _seeded(self.estimator, generator)
        rows = self.sample.sparse_rows if self.sparse else self.sample.rows
        if not has_fit_parameter(model, "sample_weight"):
            chosen = draw(weights, weights.size, generator)
            return model, some_rows(rows, chosen), answers[chosen], {}
        if not weights.all():  # rows left out of a draw must not be passed at all
            keep = weights > 0
            rows, answers, weights = some_rows(rows, keep), answers[keep], weights[keep]
        return model, rows, answers, {"sample_weight": weights / weights.sum()}

    def _naming(self, function: Callable[[Any], Any], words: str, model: Any) -> ClassFunction:
        outputs = self.sample.signs.shape[1]
        return ClassFunction(function, outputs, words, model, sparse=self.sparse)


@dataclass(frozen=True)
class RegressorLearner(SklearnLearner):
    """Fit a regressor to the requested changes; rows with predictions in one range share a cell.

    Ranges hold about equally many rows, unless there are few different predictions: the leaves of
    a small tree stay separate.
    """

    max_leaves: int = 31
    min_leaf_rows: int = 5

    def on(self, sample: Sample) -> RegressorSearch:
        search = super().on(sample)
        return RegressorSearch(sample, self.estimator, search.sparse, self)


@dataclass(frozen=True)
class RegressorSearch(SklearnSearch):
    """The regressor at work on one sample."""

    learner: RegressorLearner = RegressorLearner(None)

    def partition(
        self, request: Request, seed: int, chosen: NDArray[np.intp] | None
    ) -> tuple[Hypothesis, Cells]:
        """Fit a fresh clone to the pulls of the rows."""
        weights, goals = request.weights[:, 0].copy(), request.pulls[:, 0].astype(np.float64)
        if not request.signed:
            goals = np.divide(goals, weights, out=np.zeros(goals.size), where=weights > 0)
        if chosen is not None:
            weights[np.setdiff1d(np.arange(weights.size), chosen)] = 0
        model, rows, goals, fit_arguments = self._set_up(weights, goals, seed)
        model.fit(rows, goals, **fit_arguments)
        cuts = self._cuts(np.sort(np.asarray(model.predict(rows)).ravel().astype(np.float32)))
        rule = Ranges(model.predict, cuts, type(model).__name__, model, self.sparse)
        return Valued.empty(rule, 1), rule.cells(self.sample)

    def constant(self) -> Hypothesis:
        always = Ranges(partial(_constant, 0), np.empty(0), "always", sparse=self.sparse)
        return Valued.empty(always, 1)

    def _cuts(self, predicted: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the cuts between ranges, which lie between predictions that differ as float32."""
        distinct, rows = np.unique(predicted), predicted.size
        between: NDArray[np.float64] = (distinct[:-1].astype(np.float64) + distinct[1:]) / 2
        if distinct.size <= self.learner.max_leaves:
            return between
        ranges = max(2, min(self.learner.max_leaves, int(rows // self.learner.min_leaf_rows)))
        highest = predicted[np.arange(1, ranges) * rows // ranges - 1]
        places = np.unique(np.searchsorted(distinct, highest))
        return between[places[places < between.size]]


def _seeded(estimator: Any, generator: np.random.Generator) -> Any:
    """Return a clone in which each random_state has a different seed."""
    model = clone(estimator)
    states = [k for k in model.get_params(deep=True) if k.split("__")[-1] == "random_state"]
    seeds = generator.integers(2**31, size=len(states))
    return model.set_params(**{k: int(s) for k, s in zip(sorted(states), seeds, strict=True)})


def _constant(answer: int, rows: Any) -> Any:
    return np.full(Rows.of(rows).count, answer)


def fit_bag(
    estimator: Any, rows: Values, targets: NDArray[Any], counts: NDArray[np.int64], seed: int
) -> Any:
    """Fit a clone to a bag that holds each row ``counts`` times, once or more.

    If it takes sample_weight, it gets the counts, so that no row is copied; otherwise rows are
    repeated. Each random_state in it gets a different seed."""
    model = _seeded(estimator, np.random.default_rng(seed))
    if (counts == 1).all():
        return model.fit(rows, targets)
    if has_fit_parameter(model, "sample_weight"):
        return model.fit(rows, targets, sample_weight=counts.astype(np.float64))
    return model.fit(np.repeat(rows, counts, axis=0), np.repeat(targets, counts))
