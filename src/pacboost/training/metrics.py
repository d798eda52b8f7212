"""Metrics of validation rows.

Scores are (rows, outputs), as in the boosting loop. A function of the user is called with (signs,
scores) of shape (rows,) for two classes, (labels, scores) for more, (targets, predictions) in
regression, where the losses have metrics of their names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.booster import Booster
from pacboost.boosters.link import Link
from pacboost.boosters.log_link import exponential
from pacboost.boosters.loss import Loss
from pacboost.boosters.losses.square import Square
from pacboost.boosters.registry import LOSS_NAMES, LOSSES, loss_names
from pacboost.errors import ParameterError, errors_of_function
from pacboost.kernels.costs import mean_cost
from pacboost.kernels.native import native
from pacboost.numerics.checks import meant
from pacboost.numerics.exact import wrong_classes, wrong_margins
from pacboost.numerics.ranks import mean_ranks
from pacboost.numerics.same_bits import exp, log_sum_exp, mean
from pacboost.samples.sample import Sample

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


def metric_of(choice: str | Measure, booster: Booster[Any]) -> Metric:
    """Return a metric of regression by its name, or from a function of (targets, predictions).

    With a log link, the scores of the booster are logarithms of predictions.
    """
    logs = booster.link == Link.LOG
    if callable(choice):
        of_user = metric(choice)
        return Metric(of_user.name, lambda rows, scores: of_user(rows, _predictions(scores, logs)))
    name = LOSS_NAMES.get(choice, choice) if isinstance(choice, str) else ""
    loss: Loss[Any]
    if isinstance(booster, Loss) and name in ("loss", booster.name):
        loss = booster
    elif name in LOSSES:
        loss = _other_loss(LOSSES[name], logs=logs)
    else:
        raise _refused(
            f"eval_metric is {choice!r}; it may be loss, {', '.join(loss_names())}, or a function "
            "of (targets, predictions) that gets smaller as the fit gets better"
        )
    if isinstance(loss, Square) and not logs:
        return SQUARE
    of_logs = logs and loss.link != Link.LOG
    return regression_metric(
        loss.name, lambda targets, scores: loss.value(targets, _predictions(scores, of_logs))
    )


def _other_loss(kind: type[Loss[Any]], *, logs: bool) -> Loss[Any]:
    """Return a loss that the booster does not lower, to measure its predictions."""
    if kind.link == Link.LOG and not logs:
        raise _refused(
            f"eval_metric is {kind.name!r}, which needs predictions above 0; set loss='poisson' or "
            "loss='gamma', whose predictions are"
        )
    if None in kind.parameters.values():
        raise _refused(
            f"eval_metric is {kind.name!r}, which belongs to loss={kind.name!r}; set that, or give "
            "a function of (targets, predictions)"
        )
    return kind()


def regression_metric(name: str, measure: Callable[[Scores, Scores], float]) -> Metric:
    """Return the metric of a function of (targets, scores)."""

    def of_rows(rows: Sample, scores: Scores) -> float:
        if rows.targets is None:
            raise _refused("this metric is for regression: the rows have no targets")
        return measure(rows.targets, scores[:, 0])

    return Metric(name, of_rows)


SQUARE = regression_metric("square", Square().value)
"""The mean squared error of predictions, which batches of rounds can measure."""


def _predictions(scores: Scores, logs: bool) -> Scores:
    return exponential(scores.reshape(-1)).reshape(scores.shape) if logs else scores
