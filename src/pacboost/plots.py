"""Pictures of fitted models, with matplotlib where it is installed.

Every function takes a fitted model first and gives the axes drawn on. With ``ax`` it draws there;
without, on a new figure, which notebooks show.
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
    """Draw the training error after each round, with its bound; of a regression, the mean loss.

    With rows and their labels or targets, best those that the fit has not seen, draw the error or
    the loss on them, too.
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
    """Draw ``feature_importances_``, or what ``permutation_importances`` gave."""
    check_is_fitted(model)
    if importances is None:
        names = model.model_.column_names
        return draw.importances(names, model.feature_importances_, ax, top)
    label = f"{importances.metric.replace('_', ' ')}: worse by, when shuffled"
    means, spread = importances.mean, importances.std
    return draw.importances(importances.names, means, ax, top, spread=spread, label=label)


def shapes(model: Any, ax: Any = None, top: int = 12, *, for_class: Any = None) -> Any:
    """Draw what each feature adds to the score, for votes that have ``shapes``.

    With more than two classes all are drawn, unless ``for_class`` names one.
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
    """Draw ``partial_dependence``, one panel for each feature; of forests, also by rows ``X``.

    With more than two classes all are drawn, unless ``for_class`` names one.
    """
    rows = {} if X is None else {"X": X}
    steps = model.partial_dependence(features, top=top, **rows)
    return _steps(model, steps, ax, max(top, len(steps.features)), for_class)


def margins(model: Any, X: Any, y: Any, rounds: Sequence[int] | None = None, ax: Any = None) -> Any:
    """Draw how the margins of rows are distributed after some rounds.

    With several labels every pair of row and label has a margin.
    """
    return draw.margins(_margins(model, X, y, rounds), ax)


def equaliser(
    model: Any, X: Any, y: Any, rounds: Sequence[int] | None = None, ax: Any = None
) -> Any:
    """Draw, for each row, the weighted share of rules that get it wrong, after some rounds.

    Boosting evens these shares out: a row that is wrong more often than others gains weight, and
    the next rules are found for it (Breiman 1999). Two classes only.
    """
    check_is_fitted(model)
    if model.model_.vote.outputs > 1:
        raise DataError("the equaliser is for two classes; plots.margins draws more")
    return draw.equaliser(_margins(model, X, y, rounds), ax)


def hardest(model: Any, k: int = 20, ax: Any = None) -> Any:
    """Draw the k rows of fit that the vote finds hardest: outliers and wrong labels."""
    check_is_fitted(model)
    return draw.hardest(model.model_.ledger.hardest(k), ax)


def _margins(model: Any, X: Any, y: Any, rounds: Sequence[int] | None) -> dict[int, Any]:
    model, X = vote_of(model, X)
    sample = model._labelled(X, y)
    with using(model.n_jobs):
        return margins_after(model.model_, sample, rounds)


def _steps(model: Any, steps: Shapes, ax: Any, top: int, for_class: Any) -> Any:
    """Draw step functions of features, of one class if it is named."""
    number = class_number(model.model_.classes.tolist(), for_class)
    if number is not None and len(steps.answers) == 1:
        raise ParameterError(
            f"for_class is {for_class!r}, but two classes have one score, which speaks for "
            f"{steps.answers[0]!r}; leave for_class out"
        )
    return draw.shapes(steps if number is None else steps.of(number), ax, top)
