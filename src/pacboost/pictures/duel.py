"""Two classifiers on many data sets: a scatter of their errors, and the sign test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import binomtest

from pacboost.errors import DataError
from pacboost.reports.canvas import figure, tidy

NEAR = 0.05
"""Points nearer to the diagonal than this share of an axis are drawn without their names."""


def duel(
    errors: Mapping[str, tuple[float, float]],
    first: str = "first",
    second: str = "second",
    ax: Any = None,
) -> Any:
    """Draw the error of one classifier against that of another, a point for each data set.

    ``errors`` has both by the name of the set. Points below the diagonal are sets on which the
    second is better. The title gives the sign test: the probability of so uneven a count if both
    were better equally often; sets with equal errors are left out.

    >>> duel({"a": (0.1, 0.2), "b": (0.3, 0.1)}, "trees", "stumps").get_xlabel()
    'error of trees'
    """
    if not errors:
        raise DataError("errors is empty; give the two errors of some data sets")
    pairs = np.array(list(errors.values()), dtype=np.float64)
    if pairs.shape != (len(errors), 2) or not ((pairs >= 0) & (pairs <= 1)).all():
        raise DataError("errors holds something other than two errors, 0 to 1, for each data set")
    axes = figure((5, 5)).subplots() if ax is None else ax
    end = 1.1 * float(pairs.max()) or 1.0
    axes.plot([0, end], [0, end], color="grey", lw=0.8)
    axes.scatter(pairs[:, 0], pairs[:, 1], s=24, zorder=2)
    for name, (x, y) in zip(errors, pairs, strict=True):
        if abs(x - y) < NEAR * end:
            continue  # names would cover each other along the diagonal
        axes.annotate(name, (x, y), (4, 2), textcoords="offset points", fontsize="xx-small")
    wins, losses, chance = sign_test(errors)
    words = f"{second} better on {wins}, {first} on {losses} of {len(errors)} sets\n"
    axes.set_title(f"{words}sign test: p = {chance:.3g}", fontsize="medium")
    axes.set(
        xlim=(0, end), ylim=(0, end), aspect="equal",
        xlabel=f"error of {first}", ylabel=f"error of {second}",
    )  # fmt: skip
    return tidy(axes)


def sign_test(errors: Mapping[str, tuple[float, float]]) -> tuple[int, int, float]:
    """Count on how many sets the second is better and worse; give the two-sided p-value.

    >>> sign_test({"a": (0.3, 0.1), "b": (0.3, 0.2), "c": (0.2, 0.1), "d": (0.2, 0.2)})
    (3, 0, 0.25)
    """
    wins = sum(second < first for first, second in errors.values())
    losses = sum(second > first for first, second in errors.values())
    if wins + losses == 0:
        return 0, 0, 1.0
    return wins, losses, float(binomtest(wins, wins + losses).pvalue)
