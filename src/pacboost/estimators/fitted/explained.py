"""Explanations that votes of classifiers and of regressors share: shares of features, and plots."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from pacboost.estimators.fitted import explaining
from pacboost.estimators.fitted.base import VoteBase
from pacboost.hypotheses.shapes import Shapes, shapes
from pacboost.kernels.threads import using
from pacboost.models.explain import permutation
from pacboost.models.explain.shap_form import in_shap_form, shap_trees
from pacboost.sources.table import Table


class ExplainedVote(VoteBase):
    """A vote whose scores can be divided among the features."""

    def shapes(self) -> Shapes:
        """Give the score as a constant plus one step function for each feature.

        That is what it is for stumps, and for trees that ask for one feature each, as with
        ``interaction_constraints="no_interactions"``.
        """
        check_is_fitted(self)
        return shapes(self.model_.vote, self.model_.say())

    def shap_values(self, X: Any) -> Any:
        """Divide every row's score among the features, exactly, for votes of trees.

        Gives a ``shap.Explanation`` if the package shap is installed, else an object with the same
        attributes: ``values`` (rows, features), ``base_values`` (rows,) with the score of an
        unknown row, ``data`` and ``feature_names``; with more than two classes ``values`` (rows,
        features, classes) and ``base_values`` (rows, classes). Both add up to the scores:
        ``values.sum(axis=1) + base_values`` is ``decision_function(X)``, or ``predict(X)`` of a
        regressor (its logarithm, if the loss has a logarithmic link).
        """
        table = self._open(X)
        with using(self.n_jobs):
            shares, expected = explaining.shap_values(self.model_, table)
            return in_shap_form(self.model_, table, shares, expected)

    def shap_trees(self) -> dict[str, Any]:
        """Give the trees as the dictionary that ``shap.TreeExplainer`` takes as a model.

        ``shap.TreeExplainer(model.shap_trees())`` explains the score: half the log odds of the
        second of two classes, one score for each of more, the prediction of a regressor. Trees on
        numbers only: splits of categories by sets of levels have no such form.
        """
        check_is_fitted(self)
        return shap_trees(self.model_)

    def plot_shapes(self, ax: Any = None, top: int = 12, *, for_class: Any = None) -> Any:
        """Draw what each feature adds to the score, for votes that have ``shapes``.

        With more than two classes all are drawn, unless ``for_class`` names one.
        """
        check_is_fitted(self)
        return explaining.plot_shapes(self.model_, ax, top, for_class)

    def partial_dependence(self, features: Any = None, *, top: int = 12) -> Shapes:
        """Give how the mean score changes with each feature, for votes of trees.

        Where a tree asks for another feature, both ways are followed, each by its share of the
        training rows; so no rows are needed. Curves are deviations from the mean score, which is
        the ``intercept``. ``features`` names columns or numbers them; without it, the ``top`` most
        important ones are taken.
        """
        check_is_fitted(self)
        return explaining.partial_dependence(self.model_, features, top)

    def plot_partial_dependence(
        self, features: Any = None, ax: Any = None, top: int = 12, *, for_class: Any = None
    ) -> Any:
        """Draw ``partial_dependence``, one panel for each feature; give the axes.

        With more than two classes all are drawn, unless ``for_class`` names one.
        """
        found = self.partial_dependence(features, top=top)
        most = max(top, len(found.features))
        return explaining.draw_shapes(self.model_, found, ax, most, for_class)

    def plot_importances(
        self, importances: permutation.Importances | None = None, ax: Any = None, top: int = 20
    ) -> Any:
        """Draw ``feature_importances_``, or what ``permutation_importances`` gave."""
        check_is_fitted(self)
        return explaining.plot_importances(self.model_, importances, ax, top)

    def _one_row(self, x: Any) -> Table:
        """Read the values of one row, in whatever form they come."""
        check_is_fitted(self)
        table = self._open(explaining.as_one_row(self.model_, x, type(self).__name__))
        explaining.refuse_other_than_one(table)
        return table
