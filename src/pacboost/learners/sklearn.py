"""Any scikit-learn classifier as a weak learner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from pacboost.hypotheses.function import ClassFunction, Function
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.numerics.draw import draw
from pacboost.samples.sample import Sample


@dataclass(frozen=True)
class SklearnLearner(Learner):
    """Fit a clone with sample weights where it takes them, on a weighted draw of rows elsewhere."""

    estimator: Any

    def on(self, sample: Sample) -> SklearnSearch:
        """Hand it the raw rows."""
        return SklearnSearch(sample, self.estimator)


@dataclass(frozen=True)
class SklearnSearch(Search):
    """The classifier at work on one sample."""

    sample: Sample
    estimator: Any

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        """Fit a fresh clone; every random_state in it gets its own seed."""
        generator = np.random.default_rng(seed)
        model = clone(self.estimator)
        states = [k for k in model.get_params(deep=True) if k.split("__")[-1] == "random_state"]
        seeds = generator.integers(2**31, size=len(states))
        model.set_params(**{k: int(s) for k, s in zip(sorted(states), seeds, strict=True)})
        rows, labels = self.sample.rows, answers
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
            return self._naming(lambda rows: np.full(len(rows), only), f"always class {only}", None)
        if weighted:
            model.fit(rows, labels, sample_weight=weights / weights.sum())
        else:
            model.fit(rows, labels)
        if self.sample.labels is not None:
            return self._naming(model.predict, type(model).__name__, model)
        return Function(model.predict, type(model).__name__, model)

    def _naming(self, function: Callable[[Any], Any], words: str, model: Any) -> ClassFunction:
        return ClassFunction(function, self.sample.signs.shape[1], words, model)
