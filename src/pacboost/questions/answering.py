"""How wrong are the confident answers? Bounds for every threshold of the confidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pacboost.bounds.answering import Answering, at_thresholds, by_ranks
from pacboost.bounds.wording import HAVE_TIMES, SHARE_LEARNED
from pacboost.errors import NotCertified, ParameterError
from pacboost.models.answers import asked, confidence
from pacboost.numerics.checks import positive_whole
from pacboost.questions.mistakes import mistakes
from pacboost.questions.new_rows import NewRows
from pacboost.sources.explained_errors import explains_input


@explains_input
def certify_answers(
    model: Any,
    X: Any,
    y: Any,
    *,
    target_error: float | None = None,
    abstain_below: float | None = None,
    delta: float = 0.05,
    models: int = 1,
    copies: str = "draws",
) -> Answering:
    """Bound the error among the rows that are answered, for every threshold of the confidence.

    Parameters
    ----------
    model : any fitted classifier with ``predict`` and ``predict_proba``
        Its confidence is the probability it gives to the class it predicts.
    X, y : rows and labels that had no part in fitting or choosing the model
    target_error : float, default=None
        Choose the smallest threshold whose certified error is at most this. It has to be fixed
        before the rows are looked at: it is then tested threshold by threshold, at three quarters
        of delta, and bounds for all thresholds share the rest.
    abstain_below : float, default=None
        A threshold fixed beforehand: the only one, so its bound is the best there is for it.
        Without it there are 20, at which a twentieth, two twentieths, … of the rows are answered.
    delta : float, default=0.05
        The probability with which the errors may fail, all of them together; so may the shares.
    models : int, default=1
        How many models are tried on these rows and may be kept; they share delta.
    copies : "draws" or "distinct", default="draws"
        What equal rows are, as in ``certify``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(2000, 1))
    >>> y = X[:, 0] + np.random.default_rng(1).normal(size=2000) > 0
    >>> model = LogisticRegression().fit(X[:500], y[:500])
    >>> answering = certify_answers(model, X[500:], y[500:], target_error=0.1)
    >>> round(answering.error, 4), answering.point.answered, answering.point.mistakes
    (0.0949, 300, 13)
    """
    if target_error is not None and abstain_below is not None:
        raise ParameterError(
            "target_error and abstain_below were both given; give one of them: the first chooses "
            "the threshold, the second sets it"
        )
    positive_whole("models", models)
    if not hasattr(model, "predict_proba"):
        raise NotCertified(
            f"{type(model).__name__} has no predict_proba, so nothing says how confident it is"
        )
    wrong = mistakes(model, X, y)
    rows = NewRows.select([model], X, y, copies)
    decided, chances = asked(model, X), asked(model, X, "predict_proba")
    sure = confidence(decided, chances, np.asarray(model.classes_))
    counted_rows = rows.kept
    sure, wrong = np.asarray(sure)[counted_rows], wrong[counted_rows]
    table = answering(sure, wrong, delta, target_error, abstain_below, models)
    noticed = {**rows.details, SHARE_LEARNED: rows.share_learned}
    details = {name: noticed.get(name, 0.0) for name in (HAVE_TIMES, SHARE_LEARNED)}
    return replace(
        table,
        rows_checked=rows.checked,
        assumptions=rows.assumptions,
        details={name: value for name, value in details.items() if value},
    )


def answering(
    sure: ArrayLike,
    wrong: ArrayLike,
    delta: float,
    target_error: float | None,
    abstain_below: float | None,
    models: int = 1,
) -> Answering:
    """Bound the error among answered rows, from confidences and mistakes on held-out rows."""
    if abstain_below is not None:
        return replace(at_thresholds(sure, wrong, delta, [abstain_below]), models=models).at(0)
    # Confidences of boosted votes crowd near 1, so that a grid between 0 and 1 would miss them:
    # thresholds stand at ranks of the rows, whose bounds hold all the same
    # (docs/proofs/selective.md).
    table = replace(by_ranks(sure, wrong, delta, target=target_error), models=models)
    return table if target_error is None else table.within(target_error)
