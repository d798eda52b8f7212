"""Metrics of how well scores fit the labels, for validation rows and early stopping.

Scores are (rows, outputs), as the loop keeps them. A function that the user gives is called with
(signs, scores) of shape (rows,) for two classes, (labels, scores) for more, (targets, predictions)
in regression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pacboost.errors import ParameterError
from pacboost.kernels import measure
from pacboost.kernels import measure as row_costs
from pacboost.kernels.cuda.device import flat
from pacboost.kernels.runtime.team import team_for, together
from pacboost.kernels.runtime.threads import span_count, span_size
from pacboost.numerics.exact import wrong_classes, wrong_margins
from pacboost.numerics.same_bits import exp, log_sum_exp, mean, total
from pacboost.samples.sample import Sample

# The mean cost of margins, by a kernel: what potentials and metrics share.


def mean_cost(
    kind: int, margins: NDArray[np.float64], base: NDArray[np.float64], unit: float = 1.0
) -> float:
    """Return the mean cost of margins (rows, outputs), by a kernel of kernels/measure.py.

    In regression, residuals take the place of the margins.
    """
    rows, outputs = margins.shape
    size = span_size(outputs)
    sums = np.zeros(span_count(rows, outputs))
    team = min(team_for(rows * outputs), max(1, sums.size))
    if kind == measure.LOGISTIC and outputs == base.size == 1:
        together(measure.log_costs, flat(margins), size, sums, at_most=team)
    else:
        weights = np.ones(1) if base.size == 1 else base
        together(measure.potential, kind, margins, weights, size, sums, at_most=team)
    mass = total(base) if base.size > 1 else float(rows)
    return total(sums) / float(unit * mass * outputs)


Scores = NDArray[np.float64]
Measure = Callable[..., float]


@dataclass(frozen=True)
class Metric:
    """A function of (sample, scores), and whether larger values are better."""

    name: str
    measure: Callable[[Sample, Scores], float]
    more_is_better: bool = False

    def __call__(self, sample: Sample, scores: Scores) -> float:
        """Return the value of the metric."""
        return self.measure(sample, scores)


def error(sample: Sample, scores: Scores) -> float:
    """Return the share of rows (with several labels, of pairs) on which the vote is wrong or tied.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> sample = Sample(ArrayTable(np.zeros((3, 1))), np.array([[1], [-1], [1]], dtype=np.int8))
    >>> round(error(sample, np.array([[0.5], [-0.1], [0.0]])), 4)
    0.3333
    """
    if sample.labels is None:
        return float(np.mean(wrong_margins(sample.signs * scores)))
    return float(np.mean(wrong_classes(scores, sample.labels)))


def exponential_loss(sample: Sample, scores: Scores) -> float:
    """Return the mean of exp(-y F), AdaBoost's potential, over rows and outputs."""
    return mean(exp(-sample.signs * scores))


def steepness(potential: str) -> float:
    """Return s of softmax(sF), which turns the scores of many classes into probabilities.

    The scores of LogitBoost are log probabilities; those of the others are half of that, as
    all scores of two classes are.

    >>> steepness("exponential")
    2.0
    """
    return 1.0 if potential == "logistic" else 2.0


def log_loss(sample: Sample, scores: Scores, steep: float = 1.0) -> float:
    """Return the log loss of probabilities 1/(1 + exp(-2F)), or softmax(sF) with many classes."""
    if sample.labels is None:
        return mean_cost(row_costs.LOGISTIC, sample.signs * scores, np.ones(1))
    raised = steep * scores
    own = raised[np.arange(sample.labels.size), sample.labels]
    return mean(log_sum_exp(raised) - own)


def auc(sample: Sample, scores: Scores) -> float:
    """Return the probability that a positive row scores above a negative one; ties count half.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> sample = Sample(ArrayTable(np.zeros((3, 1))), np.array([[1], [1], [-1]], dtype=np.int8))
    >>> auc(sample, np.array([[2.0], [1.0], [1.0]]))
    0.75
    """
    if scores.shape[1] > 1:
        raise ParameterError("auc is for two classes; take error or log_loss for more")
    above = sample.signs[:, 0] > 0
    positive = int(np.count_nonzero(above))
    negative = above.size - positive
    if positive == 0 or negative == 0:
        raise ParameterError("the validation rows hold one class only; auc needs both")
    ranks = float(rankdata(scores[:, 0])[above].sum())
    return (ranks - positive * (positive + 1) / 2) / (positive * negative)


def square(sample: Sample, scores: Scores) -> float:
    """Return the mean of (target - score)², in regression."""
    return mean(np.square(_residuals(sample, scores)))


def absolute(sample: Sample, scores: Scores) -> float:
    """Return the mean of |target - score|, in regression."""
    return mean(np.abs(_residuals(sample, scores)))


def _residuals(sample: Sample, scores: Scores) -> Scores:
    if sample.targets is None:
        raise ParameterError("this metric is for regression: the rows have no targets")
    return sample.targets - scores[:, 0]


METRICS = {
    "error": Metric("error", error),
    "exponential_loss": Metric("exponential_loss", exponential_loss),
    "log_loss": Metric("log_loss", log_loss),
    "auc": Metric("auc", auc, more_is_better=True),
}


LOSSES = {"square": Metric("square", square), "absolute": Metric("absolute", absolute)}
"""The metrics of regression, by name."""


def metric(choice: str | Measure, potential: str = "logistic") -> Metric:
    """Return a metric by its name, or from a function of (signs, scores) that is to be small.

    The booster's ``potential`` decides which probabilities the log loss uses.
    """
    if callable(choice):
        return Metric(getattr(choice, "__name__", "metric"), _plain(choice))
    if not isinstance(choice, str) or choice not in METRICS:
        raise ParameterError(
            f"eval_metric is {choice!r}; it may be {', '.join(METRICS)}, or a function of "
            "(signs, scores) that gets smaller as the fit gets better"
        )
    if choice == "log_loss":
        return Metric(choice, partial(log_loss, steep=steepness(potential)))
    return METRICS[choice]


def _plain(function: Measure) -> Callable[[Sample, Scores], float]:
    """Return a user's function the arrays it expects."""

    def measure(sample: Sample, scores: Scores) -> float:
        if sample.labels is not None:
            return function(sample.labels, scores)
        if scores.shape[1] > 1:
            return function(sample.signs, scores)
        known = sample.signs if sample.targets is None else sample.targets[:, None]
        return function(known[:, 0], scores[:, 0])

    return measure
