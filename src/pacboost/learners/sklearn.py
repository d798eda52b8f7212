"""Any scikit-learn classifier as a weak learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from pacboost.hypotheses.function import Function
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.stump import StumpRule
from pacboost.learners.learner import Learner, Search, Weights
from pacboost.numerics.draw import draw
from pacboost.samples.sample import Sample, Signs


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

    def find(self, weights: Weights, signs: Signs, seed: int) -> Hypothesis:
        """Fit a fresh clone; every random_state in it gets its own seed."""
        generator = np.random.default_rng(seed)
        model = clone(self.estimator)
        states = [k for k in model.get_params(deep=True) if k.split("__")[-1] == "random_state"]
        seeds = generator.integers(2**31, size=len(states))
        model.set_params(**{k: int(s) for k, s in zip(sorted(states), seeds, strict=True)})
        rows, labels = self.sample.rows, signs
        weighted = has_fit_parameter(model, "sample_weight")
        if weighted and not weights.all():  # a draw left rows out: they must not be seen at all
            keep = weights > 0
            rows, labels, weights = rows[keep], signs[keep], weights[keep]
        elif not weighted:
            chosen = draw(weights, weights.size, generator)
            rows, labels = rows[chosen], signs[chosen]
        if (labels == labels[0]).all():  # a draw may hold one class only, which few can fit
            return StumpRule.constant(int(labels[0]))
        if weighted:
            model.fit(rows, labels, sample_weight=weights / weights.sum())
        else:
            model.fit(rows, labels)
        return Function(model.predict, type(model).__name__, model)
