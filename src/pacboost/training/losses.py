"""The mean losses of regression: of targets, scores, and weights (None if all are equal).

Scores are predictions, or with a log link (``poisson`` and ``gamma``) their logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster
from pacboost.boosters.newton import LogLink, exponential
from pacboost.boosters.objective import CustomLoss
from pacboost.boosters.registry import LOSS_NAMES, LOSSES, loss_names
from pacboost.errors import ParameterError
from pacboost.numerics.quantiles import quantile_of
from pacboost.numerics.same_bits import log, mean, total
from pacboost.samples.sample import Sample
from pacboost.training.metrics import Measure, Metric, Scores, metric

Floats = NDArray[np.float64]
Weights = NDArray[Any] | None


def square(targets: Floats, scores: Floats, weights: Weights = None) -> float:
    """Return the mean of (target - score)²."""
    return _mean(np.square(targets - scores), weights)


def absolute(targets: Floats, scores: Floats, weights: Weights = None) -> float:
    """Return the mean of |target - score|."""
    return _mean(np.abs(targets - scores), weights)


def huber(
    targets: Floats, scores: Floats, weights: NDArray[np.int64] | None = None, alpha: float = 0.9
) -> float:
    """Return the mean of Huber's loss, cut at the quantile ``alpha`` of the absolute residuals.

    It gets smaller when no absolute residual grows. Weights are whole numbers.

    >>> huber(np.array([1.0, -2.0, 90.0]), np.zeros(3), alpha=0.6)     # 1/2 + 2²/2 + 2(90 - 1)
    60.166666666666664
    """
    sizes = np.abs(targets - scores)
    cut = quantile_of(sizes, weights, alpha)
    costs = np.where(sizes <= cut, 0.5 * np.square(sizes), cut * (sizes - 0.5 * cut))
    return _mean(costs, weights)


def quantile(
    targets: Floats, scores: Floats, weights: Weights = None, quantile: float = 0.5
) -> float:
    """Return the mean pinball loss.

    >>> quantile(np.array([1.0, 3.0]), np.array([2.0, 2.0]), quantile=0.75)     # (0.25 + 0.75)/2
    0.5
    """
    residuals = targets - scores
    return _mean(np.maximum(quantile * residuals, (quantile - 1.0) * residuals), weights)


def poisson(targets: Floats, scores: Floats, weights: Weights = None) -> float:
    """Return the mean Poisson deviance 2(y·ln(y/μ) - y + μ), for logarithms of μ as scores.

    >>> poisson(np.array([2.0]), np.log([2.0])), poisson(np.array([0.0]), np.array([0.0]))
    (0.0, 2.0)
    """
    own = targets * log(np.where(targets > 0, targets, 1.0)) - targets
    costs = own - targets * scores + exponential(scores)
    return _mean(2.0 * np.maximum(costs, 0.0), weights)


def gamma(targets: Floats, scores: Floats, weights: Weights = None) -> float:
    """Return the mean gamma deviance 2(ln(μ/y) + y/μ - 1), for logarithms of μ as scores.

    >>> gamma(np.array([2.0]), np.log([2.0]))
    0.0
    """
    costs = scores - log(targets) + targets * exponential(scores, -1.0) - 1.0
    return _mean(2.0 * np.maximum(costs, 0.0), weights)


def metric_of(choice: str | Measure, booster: Booster[Any]) -> Metric:
    """Return a metric of regression by its name, or from a function of (targets, predictions).

    With a log link, the scores of the booster are logarithms of predictions.
    """
    logs = isinstance(booster, LogLink)
    if callable(choice):
        known = metric(choice)
        return Metric(known.name, lambda rows, scores: known(rows, _predictions(scores, logs)))
    name = LOSS_NAMES.get(choice, choice) if isinstance(choice, str) else ""
    name = booster.name if name == "loss" else name
    if name == CustomLoss.name:
        return Metric(name, _unknown)
    if name not in LOSSES:
        raise ParameterError(
            f"eval_metric is {choice!r}; it may be loss, {', '.join(loss_names())}, or a function "
            "of (targets, predictions) that gets smaller as the fit gets better"
        )
    if name in DEVIANCES:
        return _deviance(name, logs)
    if name == "quantile" and booster.name != "quantile":
        raise ParameterError(
            "eval_metric is 'quantile', which belongs to loss='quantile'; set that, or give a "
            "function of (targets, predictions)"
        )
    measure = MEANS[name]
    if name in ("huber", "quantile") and booster.name == name:
        setting = "alpha" if name == "huber" else "quantile"
        measure = partial(measure, **{setting: getattr(booster, setting)})
    return _measured(name, lambda targets, scores: measure(targets, _predictions(scores, logs)))


def _unknown(rows: Sample, scores: Scores) -> float:
    """Refuse to measure a loss of which only the slopes are known."""
    raise ParameterError(
        "loss is a function, which gives slopes but no loss to measure validation rows by; set "
        "eval_metric to a name such as 'absolute_error' or to a function of (targets, "
        "predictions), or fit without validation rows (early_stopping=False)"
    )


def _deviance(name: str, logs: bool) -> Metric:
    if not logs:
        raise ParameterError(
            f"eval_metric is {name!r}, which needs predictions above 0; set loss='poisson' or "
            "loss='gamma', whose predictions are"
        )
    return _measured(name, DEVIANCES[name])


def _measured(name: str, measure: Callable[[Floats, Floats], float]) -> Metric:
    """Make a metric of a function of (targets, scores)."""

    def of_rows(rows: Sample, scores: Scores) -> float:
        if rows.targets is None:
            raise ParameterError("this metric is for regression: the rows have no targets")
        return measure(rows.targets, scores[:, 0])

    return Metric(name, of_rows)


def _predictions(scores: Floats, logs: bool) -> Floats:
    return exponential(scores.reshape(-1)).reshape(scores.shape) if logs else scores


MEANS: dict[str, Callable[..., float]] = {
    "square": square, "absolute": absolute, "huber": huber, "quantile": quantile,
}  # fmt: skip
DEVIANCES: dict[str, Callable[..., float]] = {"poisson": poisson, "gamma": gamma}


def _mean(costs: Floats, weights: Weights) -> float:
    if weights is None:
        return mean(costs)
    return total(weights * costs) / total(weights)
