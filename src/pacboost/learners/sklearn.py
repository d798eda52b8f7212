"""Any scikit-learn classifier as a weak learner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from pacboost.hypotheses.function import ClassFunction, Function
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.numerics.exact import draw
from pacboost.samples.sample import Sample
from pacboost.sources.table import Values


@dataclass(frozen=True)
class SklearnLearner(Learner):
    """Fit a clone with sample weights where it takes them, on a weighted draw of rows elsewhere."""

    estimator: Any
    shape: tuple[int, ...] = ()
    """The shape of a row, where it is an array of several dimensions."""

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        """Whether the classifier says that it takes sparse rows."""
        try:
            return bool(get_tags(self.estimator).input_tags.sparse)
        except (AttributeError, TypeError):  # it fits and predicts, and is no estimator otherwise
            return False

    def on(self, sample: Sample) -> SklearnSearch:
        """Hand it the raw rows; sparse ones as they came, if it takes them."""
        sparse = self.sparse and sample.table.entries is not None
        return SklearnSearch(sample, self.estimator, sparse, self.shape)


@dataclass(frozen=True)
class SklearnSearch(Search):
    """The classifier at work on one sample."""

    sample: Sample
    estimator: Any
    sparse: bool = False
    shape: tuple[int, ...] = ()

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        """Fit a fresh clone; every random_state in it gets its own seed."""
        generator = np.random.default_rng(seed)
        model = _seeded(self.estimator, generator)
        rows = self.sample.sparse_rows if self.sparse else shaped(self.sample.rows, self.shape)
        labels = answers
        weighted = has_fit_parameter(model, "sample_weight")
        if weighted and not weights.all():  # a draw left rows out: they must not be seen at all
            keep = weights > 0
            rows, labels, weights = rows[keep], answers[keep], weights[keep]
        elif not weighted:
            chosen = draw(weights, weights.size, generator)
            rows, labels = rows[chosen], answers[chosen]
        if (labels == labels[0]).all():  # a draw may hold one class only, which few can fit
            only = int(labels[0])
            if self.sample.labels is None:
                return StumpRule.constant(only)
            return self._naming(partial(_constant, only), f"always class {only}", None)
        if weighted:
            model.fit(rows, labels, sample_weight=weights / weights.sum())
        else:
            model.fit(rows, labels)
        predict = partial(_predict, model, self.shape) if self.shape else model.predict
        if self.sample.labels is not None:
            return self._naming(predict, type(model).__name__, model)
        return Function(predict, type(model).__name__, model, sparse=self.sparse)

    def _naming(self, function: Callable[[Any], Any], words: str, model: Any) -> ClassFunction:
        outputs = self.sample.signs.shape[1]
        return ClassFunction(function, outputs, words, model, sparse=self.sparse)


def shaped(rows: Any, shape: tuple[int, ...]) -> Any:
    """Return flat rows the shape that they came in.

    >>> shaped(np.zeros((5, 6)), (2, 3)).shape, shaped(np.zeros((5, 6)), ()).shape
    ((5, 2, 3), (5, 6))
    """
    return rows.reshape(len(rows), *shape) if shape else rows


def _seeded(estimator: Any, generator: np.random.Generator) -> Any:
    """Return a clone in which every random_state has a seed of its own."""
    model = clone(estimator)
    states = [k for k in model.get_params(deep=True) if k.split("__")[-1] == "random_state"]
    seeds = generator.integers(2**31, size=len(states))
    return model.set_params(**{k: int(s) for k, s in zip(sorted(states), seeds, strict=True)})


def _predict(model: Any, shape: tuple[int, ...], rows: Any) -> Any:
    return model.predict(shaped(rows, shape))


def _constant(only: int, rows: Any) -> Any:
    return np.full(rows.shape[0], only)


# Fit any scikit-learn estimator on a bag: rows that count several times.


def fit_bag(
    estimator: Any, rows: Values, targets: NDArray[Any], counts: NDArray[np.int64], seed: int
) -> Any:
    """Fit a clone to rows of which each is in the bag ``counts`` times, once or more.

    How often goes to it as sample_weight where it takes one, so that no row is copied; elsewhere
    rows are repeated. Every random_state in it gets a seed of its own.

    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X, y = np.array([[0.0], [1.0]]), np.array([0.0, 1.0])
    >>> nearest = fit_bag(KNeighborsRegressor(3), X, y, np.array([2, 1]), seed=0)
    >>> nearest.predict([[0.0]]).round(3).tolist()
    [0.333]
    """
    model = _seeded(estimator, np.random.default_rng(seed))
    if (counts == 1).all():
        return model.fit(rows, targets)
    if has_fit_parameter(model, "sample_weight"):
        return model.fit(rows, targets, sample_weight=counts.astype(np.float64))
    return model.fit(np.repeat(rows, counts, axis=0), np.repeat(targets, counts))
