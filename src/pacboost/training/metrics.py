"""Metrics of validation rows, and the mean losses of regression.

Scores are (rows, outputs), as in the boosting loop. A function of the user is called with (signs,
scores) of shape (rows,) for two classes, (labels, scores) for more, (targets, predictions) in
regression. The losses of regression are functions of targets, scores, and weights (None if all are
equal); their scores are predictions or, with a log link (``poisson`` and ``gamma``), logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster
from pacboost.boosters.newton import LogLink, exponential
from pacboost.boosters.objective import CustomLoss
from pacboost.boosters.registry import LOSS_NAMES, LOSSES, loss_names
from pacboost.errors import ParameterError, errors_of_function
from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together
from pacboost.kernels.threads import sum_count, sum_size
from pacboost.numerics.checks import meant
from pacboost.numerics.exact import quantile_of, wrong_classes, wrong_margins
from pacboost.numerics.ranks import mean_ranks
from pacboost.numerics.same_bits import exp, log, log_sum_exp, mean, total
from pacboost.samples.sample import Sample


def mean_cost(
    kind: int, margins: NDArray[np.float64], base: NDArray[np.float64], unit: float = 1.0
) -> float:
    """Return the mean cost of margins (rows, outputs), of a kind such as ``native.LOGISTIC``.

    In regression, ``margins`` are residuals.
    """
    rows, outputs = margins.shape
    size = sum_size(outputs)
    sums = np.zeros(sum_count(rows, outputs))
    team = min(team_for(rows * outputs), max(1, sums.size))
    if kind == native.LOGISTIC and outputs == base.size == 1:
        together(native.log_costs, margins.reshape(-1), size, sums, at_most=team)
    else:
        weights = np.ones(1) if base.size == 1 else base
        together(native.potential, kind, margins, weights, size, sums, at_most=team)
    mass = total(base) if base.size > 1 else float(rows)
    return total(sums) / float(unit * mass * outputs)


Scores = NDArray[np.float64]
Measure = Callable[..., float]


def _refused(problem: str) -> ParameterError:
    return ParameterError(problem, parameter="eval_metric")


@dataclass(frozen=True)
class Metric:
    """A function of (sample, scores), and whether larger values are better."""

    name: str
    measure: Callable[[Sample, Scores], float]
    more_is_better: bool = False

    def __call__(self, sample: Sample, scores: Scores) -> float:
        return self.measure(sample, scores)


def error(sample: Sample, scores: Scores) -> float:
    """Return the share of rows (or pairs of row and label) on which the vote is wrong or tied."""
    if sample.labels is None:
        return float(np.mean(wrong_margins(sample.signs * scores)))
    return float(np.mean(wrong_classes(scores, sample.labels)))


def exponential_loss(sample: Sample, scores: Scores) -> float:
    """Return the mean of exp(-y F), AdaBoost's potential, over rows and outputs."""
    return mean(exp(-sample.signs * scores))


def steepness(potential: str) -> float:
    """Return s of softmax(sF), which turns the scores of many classes into probabilities."""
    # Scores of LogitBoost are log probabilities; those of other boosters are half of that.
    return 1.0 if potential == "logistic" else 2.0


def log_loss(sample: Sample, scores: Scores, steep: float = 1.0) -> float:
    """Return the log loss of probabilities 1/(1 + exp(-2F)), or softmax(sF) with many classes."""
    if sample.labels is None:
        return mean_cost(native.LOGISTIC, sample.signs * scores, np.ones(1))
    logits = steep * scores
    return mean(log_sum_exp(logits) - logits[np.arange(sample.labels.size), sample.labels])


def auc(sample: Sample, scores: Scores) -> float:
    """Return the probability that a positive row scores above a negative one; ties count half."""
    if scores.shape[1] > 1:
        raise _refused("auc is for two classes; take error or log_loss for more")
    above = sample.signs[:, 0] > 0
    positive = int(np.count_nonzero(above))
    negative = above.size - positive
    if positive == 0 or negative == 0:
        raise _refused("the validation rows hold one class only; auc needs both")
    # Mann and Whitney: the ranks of the positive rows count the pairs that are in order
    ranks = float(mean_ranks(scores[:, 0])[above].sum())
    return (ranks - positive * (positive + 1) / 2) / (positive * negative)


METRICS = {
    "error": Metric("error", error),
    "exponential_loss": Metric("exponential_loss", exponential_loss),
    "log_loss": Metric("log_loss", log_loss),
    "auc": Metric("auc", auc, more_is_better=True),
}


def metric(choice: str | Measure, potential: str = "logistic") -> Metric:
    """Return a metric by its name, or from a function of (signs, scores) that should be small.

    The booster's ``potential`` determines the probabilities of the log loss.
    """
    if callable(choice):
        return Metric(getattr(choice, "__name__", "metric"), _of_user(choice))
    if not isinstance(choice, str) or choice not in METRICS:
        raise _refused(
            f"eval_metric is {choice!r}{meant(choice, METRICS)}; it may be {', '.join(METRICS)}, "
            "or a function of (signs, scores) that gets smaller as the fit gets better"
        )
    if choice == "log_loss":
        return Metric(choice, partial(log_loss, steep=steepness(potential)))
    return METRICS[choice]


def _of_user(function: Measure) -> Callable[[Sample, Scores], float]:
    """Wrap a function of the user, to call it with the arrays that it expects."""

    def measure(sample: Sample, scores: Scores) -> float:
        arrays: tuple[NDArray[Any], Scores]
        if sample.labels is not None:
            arrays = sample.labels, scores
        elif scores.shape[1] > 1:
            arrays = sample.signs, scores
        else:
            labels = sample.signs[:, 0] if sample.targets is None else sample.targets
            arrays = labels, scores[:, 0]
        with errors_of_function("eval_metric"):
            return float(function(*arrays))

    return measure


Weights = NDArray[Any] | None


def square(targets: Scores, scores: Scores, weights: Weights = None) -> float:
    """Return the mean of (target - score)²."""
    return _mean(np.square(targets - scores), weights)


def absolute(targets: Scores, scores: Scores, weights: Weights = None) -> float:
    """Return the mean of |target - score|."""
    return _mean(np.abs(targets - scores), weights)


def huber(
    targets: Scores, scores: Scores, weights: NDArray[np.int64] | None = None, alpha: float = 0.9
) -> float:
    """Return the mean of Huber's loss, cut at the quantile ``alpha`` of the absolute residuals.

    It gets smaller when no absolute residual grows. Weights are whole numbers."""
    sizes = np.abs(targets - scores)
    cut = quantile_of(sizes, weights, alpha)
    costs = np.where(sizes <= cut, 0.5 * np.square(sizes), cut * (sizes - 0.5 * cut))
    return _mean(costs, weights)


def quantile(
    targets: Scores, scores: Scores, weights: Weights = None, quantile: float = 0.5
) -> float:
    """Return the mean pinball loss."""
    residuals = targets - scores
    return _mean(np.maximum(quantile * residuals, (quantile - 1.0) * residuals), weights)


def poisson(targets: Scores, scores: Scores, weights: Weights = None) -> float:
    """Return the mean Poisson deviance 2(y·ln(y/μ) - y + μ), for logarithms of μ as scores."""
    constant = targets * log(np.where(targets > 0, targets, 1.0)) - targets
    costs = constant - targets * scores + exponential(scores)
    return _mean(2.0 * np.maximum(costs, 0.0), weights)


def gamma(targets: Scores, scores: Scores, weights: Weights = None) -> float:
    """Return the mean gamma deviance 2(ln(μ/y) + y/μ - 1), for logarithms of μ as scores."""
    costs = scores - log(targets) + targets * exponential(scores, -1.0) - 1.0
    return _mean(2.0 * np.maximum(costs, 0.0), weights)


def metric_of(choice: str | Measure, booster: Booster[Any]) -> Metric:
    """Return a metric of regression by its name, or from a function of (targets, predictions).

    With a log link, the scores of the booster are logarithms of predictions.
    """
    logs = isinstance(booster, LogLink)
    if callable(choice):
        of_user = metric(choice)
        return Metric(of_user.name, lambda rows, scores: of_user(rows, _predictions(scores, logs)))
    name = LOSS_NAMES.get(choice, choice) if isinstance(choice, str) else ""
    name = booster.name if name == "loss" else name
    if name == CustomLoss.name:
        return Metric(name, _unknown)
    if name not in LOSSES:
        raise _refused(
            f"eval_metric is {choice!r}; it may be loss, {', '.join(loss_names())}, or a function "
            "of (targets, predictions) that gets smaller as the fit gets better"
        )
    if name in DEVIANCES:
        if not logs:
            raise _refused(
                f"eval_metric is {name!r}, which needs predictions above 0; set loss='poisson' or "
                "loss='gamma', whose predictions are"
            )
        return regression_metric(name, DEVIANCES[name])
    if name == "quantile" and booster.name != "quantile":
        raise _refused(
            "eval_metric is 'quantile', which belongs to loss='quantile'; set that, or give a "
            "function of (targets, predictions)"
        )
    measure = MEANS[name]
    if name in ("huber", "quantile") and booster.name == name:
        setting = "alpha" if name == "huber" else "quantile"
        measure = partial(measure, **{setting: getattr(booster, setting)})
    if name == "square" and not logs:
        return SQUARE
    return regression_metric(
        name, lambda targets, scores: measure(targets, _predictions(scores, logs))
    )


def regression_metric(name: str, measure: Callable[[Scores, Scores], float]) -> Metric:
    """Return the metric of a function of (targets, scores)."""

    def of_rows(rows: Sample, scores: Scores) -> float:
        if rows.targets is None:
            raise _refused("this metric is for regression: the rows have no targets")
        return measure(rows.targets, scores[:, 0])

    return Metric(name, of_rows)


SQUARE = regression_metric("square", square)
"""The mean squared error of predictions, which batches of rounds can measure."""


def _unknown(rows: Sample, scores: Scores) -> float:
    """Raise for a loss that is known by its gradient only."""
    raise ParameterError(
        "loss is a function that returns slopes, but validation rows need a loss; set "
        "eval_metric to a name such as 'absolute_error' or to a function of (targets, "
        "predictions), or fit without validation rows (early_stopping=False)",
        parameter="loss",
    )


def _predictions(scores: Scores, logs: bool) -> Scores:
    return exponential(scores.reshape(-1)).reshape(scores.shape) if logs else scores


MEANS: dict[str, Callable[..., float]] = {
    "square": square, "absolute": absolute, "huber": huber, "quantile": quantile,
}  # fmt: skip
DEVIANCES: dict[str, Callable[..., float]] = {"poisson": poisson, "gamma": gamma}


def _mean(costs: Scores, weights: Weights) -> float:
    if weights is None:
        return mean(costs)
    return total(weights * costs) / total(weights)
