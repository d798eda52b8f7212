"""Why AdaBoost generalises: the test error goes on falling while the margins grow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
from pacboost.estimators.fitted.vote import VoteClassifier
from pacboost.numerics.checks import positive_whole
from pacboost.reports import plots
from pacboost.reports.canvas import figure


def generalises(
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    model: Any = "stump",
    rounds: Sequence[int] = (5, 100, 1000),
) -> NDArray[Any]:
    """Draw training and test error by round, beside the margins of training rows after some.

    ``model`` is a weak learner, which AdaBoost boosts for as many rounds as the last of ``rounds``,
    or a fitted classifier by vote. Gives the two axes.

    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> axes = generalises(X[:300], y[:300], X[300:], y[300:], rounds=(1, 5))
    >>> [place.get_xlabel() for place in axes]
    ['round', 'margin']
    """
    wanted = sorted({positive_whole("a round", number) for number in rounds})
    if not wanted:
        raise DataError("rounds is empty; name the rounds after which margins are drawn")
    if not isinstance(model, VoteClassifier):
        model = AdaBoostClassifier(model, n_estimators=wanted[-1]).fit(X, y)
    done = len(model.votes_)
    shown = [number for number in wanted if number <= done] or [done]
    axes: NDArray[Any] = figure((9, 3.8)).subplots(1, 2)
    model.plot_rounds(X_test, y_test, ax=axes[0])
    # The bound falls below any error that can be drawn; the errors are what is compared here.
    measured = [
        place.get_ydata() for place in axes[0].get_lines() if "bound" not in place.get_label()
    ]
    axes[0].set(yscale="linear", ylim=(0, 1.15 * max(float(np.max(line)) for line in measured)))
    if len(model.ledger_) > 50:
        axes[0].set_xscale("log")
    plots.margins(model._margins_after(X, y, shown), axes[1])
    return axes
