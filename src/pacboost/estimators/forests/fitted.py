"""What every fitted forest can do: leaves, proximities, importances, a file, a report."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import DataError
from pacboost.estimators.bagging.base import Bagged
from pacboost.estimators.fitted import explaining, reporting
from pacboost.estimators.inputs.parameters import draw_seed, positive_integer, threads
from pacboost.estimators.inputs.tables import open_table
from pacboost.hypotheses import shapes
from pacboost.hypotheses.forest import Forest
from pacboost.hypotheses.shapes import Shapes
from pacboost.kernels.runtime.threads import using
from pacboost.models.explain import permutation
from pacboost.models.model import ForestModel
from pacboost.numerics.same_bits import total as sum_of
from pacboost.samples.sample import Sample
from pacboost.sources.table import Table
from pacboost.training.metrics import Metric

ROWS_BESIDE_ONE_ANOTHER = 20_000
"""The table of proximities of so many rows takes 3.2 GB."""
AT_ONCE = 2**20
"""Numbers of that table that are copied at once while leaves are counted."""


class FittedForest(Bagged):
    """An estimator whose fit leaves a ``model_`` with a forest."""

    model_: ForestModel
    _sets: NDArray[np.int64] | None = None
    """The sets of labels that trees vote for, where a row may have several."""

    save, report = reporting.save, reporting.report

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of every row in every tree, (rows, trees)."""
        table = self._open(X)
        with using(threads(self.n_jobs)):
            return self.model_.forest.leaves(table)

    def proximity(self, X: Any) -> NDArray[np.float64]:
        """Return for every two rows the share of trees in which they fall into the same leaf."""
        rows = self._open(X).n_rows
        if rows > ROWS_BESIDE_ONE_ANOTHER:
            raise DataError(
                f"X has {rows} rows; a table of proximities has a number for every two of them. "
                f"Give at most {ROWS_BESIDE_ONE_ANOTHER}, or compare the leaves that apply(X) gives"
            )
        leaves, together = self.apply(X), np.zeros((rows, rows))
        for numbers in leaves.T:
            order = np.argsort(numbers, kind="stable")
            for group in np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1):
                at_once = max(1, AT_ONCE // group.size)  # a group may hold all rows
                for start in range(0, group.size, at_once):
                    together[np.ix_(group[start : start + at_once], group)] += 1
        together /= leaves.shape[1]
        np.fill_diagonal(together, 1.0)
        return together

    def permutation_importances(
        self, X: Any, y: Any, repeats: int = 5, random_state: Any = None
    ) -> permutation.Importances:
        """Measure by how much the forest gets worse when a column is shuffled."""
        check_is_fitted(self)
        repeats = positive_integer("repeats", repeats)
        sample, metric = self._labelled(X, y)
        seed = draw_seed(random_state)
        with using(threads(self.n_jobs)):
            asked: Any = _Asked(self.model_.forest)
            return permutation.permutation_importances(
                asked, sample, metric, repeats, seed, self.model_.column_names
            )

    def partial_dependence(self, features: Any = None, *, top: int = 12, X: Any = None) -> Shapes:
        """Return how the mean prediction changes with each feature, as step functions.

        One feature after the other is set to a value in all rows: up to 60 rows of ``X``, or,
        without it, rows in which features are drawn independently, evenly over their bins. Curves
        are deviations from the mean prediction (the share of the second class of two, of each class
        of several), which is the ``intercept``. ``features`` names columns or numbers them; without
        it, the ``top`` most important ones are taken.
        """
        check_is_fitted(self)
        table, model = None if X is None else self._open(X), self.model_
        if model.labels:
            raise DataError(
                "rows have several labels, and trees vote for sets of them; curves are drawn of "
                "forests for one label. Fit one forest for each label"
            )
        if features is None:
            order = np.argsort(-model.forest.importances, kind="stable")
            numbers = order[: positive_integer("top", top)].tolist()
        else:
            numbers = explaining.numbers_of(features, model)
        with using(threads(self.n_jobs)):
            return shapes.forest_partial_dependence(model.forest, model.say(), numbers, table)

    @abstractmethod
    def _labelled(self, X: Any, y: Any) -> tuple[Sample, Metric]:
        """Return rows with labels or targets, and the metric for predictions."""

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's share of the gain of splits, averaged over trees."""
        if not hasattr(self, "model_"):
            raise AttributeError("feature_importances_ is there after fit; fit first")
        won = self.model_.forest.importances
        total = sum_of(won)
        return won / total if total > 0 else won.copy()

    def _open(self, X: Any) -> Table:
        check_is_fitted(self)
        return open_table(self, X, reset=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class _Asked:
    """A forest in the role of a vote: scores above 0 for the second class, or one a class."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self.hypotheses = [forest]

    def scores(self, table: Table) -> NDArray[np.float64]:
        forest = self._forest
        if forest.classes == 0:
            return forest.numbers(table)
        shares = forest.shares(table)
        return shares if forest.many else shares[:, 1] - shares[:, 0]
