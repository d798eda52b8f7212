"""Which labelings of a few points can a class of rules give? If all, it shatters the points.

The VC dimension of a class is the largest number of points that it shatters. The learner is asked
for a rule for every labeling, so a labeling that is found is certain; one that is missed is certain
only for learners that always find a rule without mistakes where there is one, such as stumps.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.hypotheses.hypothesis import Rule
from pacboost.learners.choose import as_learner
from pacboost.learners.rectangle import Rectangle
from pacboost.learners.stump import Stump
from pacboost.questions.two_classes import table_of
from pacboost.samples.bins import MOST_BINS, fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.lazy import collected

MOST_POINTS = 14


@dataclass(frozen=True, eq=False)
class Shattering:
    """The labelings of some points that rules give."""

    points: int
    found: NDArray[np.int8]
    """Labelings that some rule gives, one a line."""
    missed: NDArray[np.int8]
    """Labelings for which no rule was found."""
    certified: bool
    """Whether no rule gives the missed ones: the learner finds one where there is one."""

    @property
    def shattered(self) -> bool:
        """Whether every labeling was found; then the VC dimension is at least the points."""
        return len(self.missed) == 0

    def __bool__(self) -> bool:
        return self.shattered

    def __str__(self) -> str:
        total = 2**self.points
        if self.shattered:
            return (
                f"All {total} labelings of the {self.points} points are given by some rule: the "
                f"points are shattered, and the VC dimension is at least {self.points}."
            )
        signs = "".join("+" if sign > 0 else "-" for sign in self.missed[0])
        surely = "no rule gives" if self.certified else "no rule was found for"
        return (
            f"{len(self.found)} of {total} labelings of the {self.points} points are given by some "
            f"rule; {surely} {signs}."
        )


def shatters(learner: Any, X: Any) -> Shattering:
    """Ask for a rule for every labeling of up to 14 points.

    >>> print(shatters("stump", [[0.0], [1.0]]))
    All 4 labelings of the 2 points are given by some rule: the points are shattered, and the VC \
dimension is at least 2.
    >>> print(shatters("stump", [[0.0], [1.0], [2.0]]))
    6 of 8 labelings of the 3 points are given by some rule; no rule gives -+-.
    """
    weak = as_learner(learner, "learner")
    table = table_of(collected(X))
    if table.n_rows > MOST_POINTS:
        raise DataError(
            f"X has {table.n_rows} points, which have 2^{table.n_rows} labelings; give up to "
            f"{MOST_POINTS}"
        )
    bins = fit_bins(table, MOST_BINS) if weak.codes else None
    weights = np.ones(table.n_rows, dtype=np.int64)
    found: list[NDArray[np.int8]] = []
    missed: list[NDArray[np.int8]] = []
    for signs in product((-1, 1), repeat=table.n_rows):
        labels = np.array(signs, dtype=np.int8)
        sample = Sample(table, labels[:, None], bins=bins)
        rule = weak.on(sample).find(weights, labels, 0)
        if not isinstance(rule, Rule):
            raise ParameterError(
                f"the learner {weak.name} finds rules that do not answer -1 or +1; give stumps, "
                "the tightest box, a scikit-learn classifier or a function"
            )
        given = rule.agreement(sample).min() > 0
        (found if given else missed).append(labels)
    shape = (-1, table.n_rows)
    return Shattering(
        table.n_rows,
        np.array(found, dtype=np.int8).reshape(shape),
        np.array(missed, dtype=np.int8).reshape(shape),
        isinstance(weak, Stump | Rectangle),
    )
