"""Estimators whose training rows also certify, so that copies of a row may have to count once."""

from __future__ import annotations

from numpy.typing import ArrayLike

from pacboost.estimators.inputs.estimator import RemembersRows
from pacboost.fit.division import Division, undivided
from pacboost.samples.same_example import Examples, check_copies
from pacboost.sources.table import Table


class CountsDistinctRows(RemembersRows):
    """An estimator that notes which of its training rows are one example."""

    _examples: Examples | None = None

    def _take_rows(self, table: Table, X: ArrayLike, y: ArrayLike, copies: str) -> Division:
        """Remember the rows; with ``copies="distinct"`` keep one of several equal ones."""
        check_copies(copies)
        self._remember(table)
        divided = undivided(X, y, copies, once=True)
        self._examples = divided.examples
        return divided
