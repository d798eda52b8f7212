"""Pictures of fitted models, with matplotlib.

Every function takes a fitted model, draws on ``ax`` or on a new figure, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import DataError, ParameterError
from pacboost.estimators.fitted.explaining import margins_after, refuse_half, staged_errors, vote_of
from pacboost.hypotheses.shapes import Shapes
from pacboost.kernels.runtime.threads import using
from pacboost.models.explain.explanation import class_number
from pacboost.models.explain.importances import Importances
from pacboost.reports import plots as draw

__all__ = [
    "equaliser", "hardest", "importances", "margins", "partial_dependence", "rounds", "shapes",
]  # fmt: skip


def rounds(model: Any, X: Any = None, y: Any = None, ax: Any = None) -> Any:
    """Draw the training error after each round, with its bound; for regressors, the mean loss.

    Parameters
    ----------
    model : fitted booster
    X, y : array-like, default=None
        Rows and their labels or targets, best test rows; their error or loss is also drawn.
    ax : matplotlib axes, default=None
    """
    refuse_half(X, y)
    model, X = vote_of(model, X)
    ledger = model.model_.ledger
    if not is_regressor(model):
        test = None if X is None else staged_errors(model, X, y)
        return draw.rounds(ledger, ax, test)
    test = None
    if X is not None:
        sample, measure = model._with_targets(X, y), model._measure("loss")
        with using(model.n_jobs):
            staged = model.model_.vote.staged(sample.table)
            test = [measure(sample, scores[:, None]) for scores in staged]
    return draw.rounds(ledger, ax, test, loss=True)


def importances(
    model: Any, importances: Importances | None = None, ax: Any = None, top: int = 20
) -> Any:
    """Draw feature importances.

    Parameters
    ----------
    model : fitted model
    importances : Importances, default=None
        The result of ``permutation_importances``; None means ``feature_importances_``.
    ax : matplotlib axes, default=None
    top : int, default=20
        The maximum number of features.
    """
    check_is_fitted(model)
    if importances is None:
        names = model.model_.column_names
        return draw.importances(names, model.feature_importances_, ax, top)
    label = f"{importances.metric.replace('_', ' ')}: worse by, when shuffled"
    means, spread = importances.mean, importances.std
    return draw.importances(importances.names, means, ax, top, spread=spread, label=label)


def shapes(model: Any, ax: Any = None, top: int = 12, *, for_class: Any = None) -> Any:
    """Draw the effect of each feature on the score, for votes that have ``shapes``.

    Parameters
    ----------
    model : fitted model
    ax : matplotlib axes or array of axes, default=None
    top : int, default=12
        The maximum number of features.
    for_class : label, default=None
        The class to draw, if there are more than two; None means all.
    """
    check_is_fitted(model)
    return _steps(model, model.shapes(), ax, top, for_class)


def partial_dependence(
    model: Any,
    X: Any = None,
    features: Any = None,
    ax: Any = None,
    top: int = 12,
    *,
    for_class: Any = None,
) -> Any:
    """Draw ``partial_dependence``, one panel for each feature.

    Parameters
    ----------
    model : fitted model
    X : array-like, default=None
        Rows to average over, for forests.
    features : sequence of int or str, default=None
    ax : matplotlib axes or array of axes, default=None
    top : int, default=12
        The maximum number of features.
    for_class : label, default=None
        The class to draw, if there are more than two; None means all.
    """
    rows = {} if X is None else {"X": X}
    steps = model.partial_dependence(features, top=top, **rows)
    return _steps(model, steps, ax, max(top, len(steps.features)), for_class)


def margins(model: Any, X: Any, y: Any, rounds: Sequence[int] | None = None, ax: Any = None) -> Any:
    """Draw the distribution of the margins of rows after some rounds.

    With several labels every pair of row and label has a margin.

    Parameters
    ----------
    model : fitted booster
    X, y : array-like
        Rows and their labels.
    rounds : sequence of int, default=None
    ax : matplotlib axes, default=None
    """
    return draw.margins(_margins(model, X, y, rounds), ax)


def equaliser(
    model: Any, X: Any, y: Any, rounds: Sequence[int] | None = None, ax: Any = None
) -> Any:
    """Draw, for each row, the weighted share of rules that get it wrong, after some rounds.

    Boosting makes these shares more equal: a row that many rules get wrong gains weight in the next
    rounds (Breiman 1999). Two classes only.

    Parameters
    ----------
    model : fitted booster of two classes
    X, y : array-like
        Rows and their labels.
    rounds : sequence of int, default=None
    ax : matplotlib axes, default=None
    """
    check_is_fitted(model)
    if model.model_.vote.outputs > 1:
        raise DataError("the model has more than two classes; use plots.margins")
    return draw.equaliser(_margins(model, X, y, rounds), ax)


def hardest(model: Any, k: int = 20, ax: Any = None) -> Any:
    """Draw the k training rows with the smallest margins: outliers and wrong labels.

    Parameters
    ----------
    model : fitted booster
    k : int, default=20
    ax : matplotlib axes, default=None
    """
    check_is_fitted(model)
    return draw.hardest(model.model_.ledger.hardest(k), ax)


def _margins(model: Any, X: Any, y: Any, rounds: Sequence[int] | None) -> dict[int, Any]:
    model, X = vote_of(model, X)
    sample = model._labelled(X, y)
    with using(model.n_jobs):
        return margins_after(model.model_, sample, rounds)


def _steps(model: Any, steps: Shapes, ax: Any, top: int, for_class: Any) -> Any:
    """Draw step functions of features, for one class if ``for_class`` is set."""
    number = class_number(model.model_.classes.tolist(), for_class)
    if number is not None and len(steps.answers) == 1:
        raise ParameterError(
            f"for_class is {for_class!r}, but two classes have one score, that of "
            f"{steps.answers[0]!r}; omit for_class"
        )
    return draw.shapes(steps if number is None else steps.of(number), ax, top)
