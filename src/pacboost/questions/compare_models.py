"""Which of two fitted classifiers is better? An exact paired test, and the difference of risks."""

from __future__ import annotations

from typing import Any

from pacboost.bounds.exact_tests import Difference
from pacboost.errors import ParameterError
from pacboost.numerics.checks import positive_whole, probability
from pacboost.questions.mistakes import mistakes
from pacboost.questions.new_rows import NewRows
from pacboost.sources.explained_errors import explains_input


@explains_input
def compare_models(
    one: Any,
    other: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.05,
    models: int = 2,
    names: tuple[str, str] = ("the first", "the second"),
    copies: str = "auto",
) -> Difference:
    """Compare two fitted classifiers by rows that neither of them has seen.

    ``p_value`` of the result is that of the exact sign test on the rows on which they differ;
    ``interval`` encloses the risk of the first less that of the second, except with probability
    delta; ``sentence`` says it in words. Who tries more than these two ``models`` on the rows, and
    reports any two of them, lets all pairs share delta. Equal rows count as in ``certify``.

    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.arange(400.0)[:, None]
    >>> y = X[:, 0] > 250
    >>> tree, guess = (m.fit(X[::2], y[::2]) for m in (DecisionTreeClassifier(), DummyClassifier()))
    >>> found = compare_models(guess, tree, X[1::2], y[1::2])
    >>> found.only_one_wrong, found.only_other_wrong, found.significant
    (74, 0, True)
    """
    probability("delta", delta)
    if positive_whole("models", models) < 2:
        raise ParameterError(
            "models is 1; it counts all that are tried on these rows, so 2 or more"
        )
    wrong = [mistakes(model, X, y) for model in (one, other)]
    rows = NewRows.of([one, other], X, y, copies)
    first, second = (own[rows.kept] for own in wrong)
    b, c = int((first & ~second).sum()), int((second & ~first).sum())
    pairs = models * (models - 1) // 2
    return Difference(*names, b, c, first.size, delta, pairs, assumptions=rows.assumptions)
