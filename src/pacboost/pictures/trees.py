"""The error out of bag against the number of trees."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from pacboost.errors import ParameterError
from pacboost.estimators.forests.forests import RandomForestClassifier
from pacboost.numerics.checks import positive_whole
from pacboost.reports.canvas import figure, tidy

TREES = (10, 20, 40, 80, 160, 320)


def out_of_bag(
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    trees: Sequence[int] = TREES,
    seed: int = 0,
    ax: Any = None,
) -> Any:
    """Draw the out-of-bag error of random forests, and their error on test rows if there are some.

    >>> from sklearn.datasets import load_iris
    >>> out_of_bag(*load_iris(return_X_y=True), trees=(10, 20)).get_xlabel()
    'trees'
    """
    numbers = sorted(positive_whole("trees", count) for count in trees)
    if not numbers:
        raise ParameterError("trees is empty; name some numbers of trees")
    if (X_test is None) != (y_test is None):
        raise ParameterError("X_test and y_test come together; give both or neither")
    outside, test = [], []
    for count in numbers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # few trees leave some rows without votes
            forest = RandomForestClassifier(count, oob_score=True, random_state=seed).fit(X, y)
        outside.append(1 - forest.oob_score_)
        if X_test is not None:
            test.append(1 - forest.score(X_test, y_test))
    axes = figure().subplots() if ax is None else ax
    axes.plot(numbers, outside, "o-", label="out of bag")
    if test:
        axes.plot(numbers, test, "^-", label="test rows")
    axes.set(xlabel="trees", ylabel="error", xscale="log")
    return tidy(axes, legend=True)
