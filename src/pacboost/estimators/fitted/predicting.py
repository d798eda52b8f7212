"""The path of a prediction: rows are read, the vote scores them, and scores become answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pacboost.kernels.device import predict_on_gpu, using_gpu
from pacboost.kernels.threads import using
from pacboost.models.answers import asked
from pacboost.models.model import Model
from pacboost.numerics.memory import as_cupy, lies_on_gpu, of_the_library_of
from pacboost.sources.explained_errors import checked_by_scikit_learn
from pacboost.sources.rows import Rows
from pacboost.sources.table import Table
from pacboost.sources.targets import refuse_mixed_labels

Answer = TypeVar("Answer")


class Predictor(Protocol):
    """An estimator that answers for rows by its model."""

    n_jobs: int | None
    device: str
    model_: Model

    def _features(self, X: object) -> object:
        """Return the columns of X that are features."""

    def _open(self, X: object) -> Table:
        """Read rows by the schema of the fit."""


def read_rows(estimator: Predictor, X: object) -> Table:
    """Read rows by the schema of the fit, on the GPU if they are scored there."""
    _check_fitted(estimator)
    rows = Rows.of(estimator._features(X))
    with using(estimator.n_jobs), using_gpu(_on_gpu(estimator, rows)):
        return estimator.model_.schema.read_rows(rows)


def answered(estimator: Predictor, X: object, answer: Callable[[Model, Any], Answer]) -> Answer:
    """Return the answers for rows from their scores, as an array of the library of the rows.

    ``answer`` is a method of ``Model``, such as ``Model.decide``.
    """
    _check_fitted(estimator)
    rows, model = Rows.of(estimator._features(X)), estimator.model_
    gpu = _on_gpu(estimator, rows)
    with using(estimator.n_jobs), using_gpu(gpu):
        table = model.schema.read_rows(rows)
        if gpu and lies_on_gpu(X) and not model.schema.derived:
            # CuPy in, CuPy out: neither rows nor answers are copied to the CPU
            scores = model.vote.scores_like(table, as_cupy(X))
        else:
            scores = model.vote.scores(table)
    answers = answer(model, scores)
    # only answers that were computed on a GPU may belong to another library
    return of_the_library_of(X, answers) if gpu else answers


def _check_fitted(estimator: Predictor) -> None:
    # scikit-learn's check asks for the tags of the estimator, a fifth of the time that a row takes
    if "model_" not in vars(estimator):
        check_is_fitted(estimator)


def _on_gpu(estimator: Predictor, rows: Rows) -> bool:
    """Check whether rows are scored on the GPU."""
    # no kernel scores forests on a GPU
    if estimator.device == "cpu" or estimator.model_.forest:
        return False
    return predict_on_gpu(estimator.device, rows.given)


def accuracy(estimator: BaseEstimator, X: object, y: object, sample_weight: object = None) -> float:
    """Return the share of rows that are right."""
    from sklearn.metrics import accuracy_score

    # not ClassifierMixin.score, which cannot take answers of a GPU
    answers = asked(estimator, X)
    with checked_by_scikit_learn():
        refuse_mixed_labels(np.asarray(y))
        return float(accuracy_score(y, answers, sample_weight=sample_weight))


def r_squared(
    estimator: BaseEstimator, X: object, y: object, sample_weight: object = None
) -> float:
    """Return R², the share of the variance that predictions explain."""
    from sklearn.metrics import r2_score

    answers = asked(estimator, X)
    with checked_by_scikit_learn():
        return float(r2_score(y, answers, sample_weight=sample_weight))
