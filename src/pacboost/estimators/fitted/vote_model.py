"""VoteModel: what every fitted vote of rules shows, of classes and of numbers alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.inputs.rows import takes_rows
from pacboost.hypotheses.function import BlackBox
from pacboost.ledgers.counterexample import Counterexample
from pacboost.ledgers.ledger import Ledger
from pacboost.sources.explained_errors import explains_input

if TYPE_CHECKING:
    from pacboost.hypotheses.shapes import Shapes
    from pacboost.models.explain.importances import FeatureShares


class VoteModel(Estimator):
    """A fitted vote of rules: its rounds, its rules, and what features add to its scores."""

    _curves: dict[str, list[float]] | None = None
    """The metric after every round, by the names of validation sets."""
    _best_round: int | None = None
    """The round of the last fit that was best on validation rows, if there were some."""

    @property
    def validation_curves_(self) -> dict[str, list[float]]:
        """The metric after every round, by the names of the validation sets."""
        if self._curves is None:
            raise AttributeError("validation_curves_ is available after a fit with validation rows")
        return self._curves

    @property
    def n_iter_(self) -> int:
        """The number of rounds of the vote."""
        return len(self.ledger_)

    @property
    def best_iteration_(self) -> int:
        """The best number of rounds on validation rows, including those of a trial."""
        if self._best_round is None:
            raise AttributeError("best_iteration_ is available after a fit with validation rows")
        return self._best_round

    @property
    def ledger_(self) -> Ledger:
        """The measurements of every round."""
        return self._fitted("ledger_").ledger

    @property
    def counterexample_(self) -> Counterexample | None:
        """Weighted rows that break the promise of an edge; None if it is kept, or none was made."""
        return self._fitted("counterexample_").ledger.counterexample

    @property
    def votes_(self) -> NDArray[np.float64]:
        """The vote of every rule; 1 if the rule itself holds the values that it adds."""
        return self._fitted("votes_").vote.votes  # type: ignore[no-any-return]

    @property
    def estimators_(self) -> list[Any]:
        """The rules; for black boxes, the fitted models themselves."""
        rules = [(rule, rule.unvalued) for rule in self._fitted("estimators_").vote.hypotheses]
        return [plain.inner if isinstance(plain, BlackBox) else rule for rule, plain in rules]

    def rules(self) -> list[str]:
        """Return every rule in words, with its vote, in the order of rounds."""
        check_is_fitted(self)
        return self.model_.words()

    @explains_input
    def importances(self, by: str = "gain") -> FeatureShares:
        """Return each feature's importance, as shares that add up to 1.

        By "gain", the total gain of its splits, which is ``feature_importances_``; by "cover", the
        share of the weight of training rows that they divide, tree by tree; by "count", the number
        of splits. They print with the names of columns, and have ``to_frame``.
        """
        from pacboost.estimators.fitted.explaining import importances

        return importances(self._fitted("importances"), by)

    @explains_input
    def partial_dependence(self, features: object = None, *, top: int = 12) -> Shapes:
        """Return how the mean score changes with each feature, for votes of trees.

        At a split on another feature both ways are followed, each by its share of the training
        rows; so no rows are needed. Curves are deviations from the mean score, the ``intercept``.
        ``features`` names or numbers columns; by default the ``top`` most important ones.
        """
        from pacboost.estimators.fitted.explaining import dependence

        check_is_fitted(self)
        return dependence(self.model_, features, top)

    def shapes(self) -> Shapes:
        """Return the score as a constant plus a step function for each feature, and ``maps``.

        This is exact for stumps, and for trees that use one feature each, as with
        ``interactions=0``. With ``interactions=10``, ten pairs of features have a map besides. Over
        the training rows every line of a map has mean 0, so it shows what neither feature adds
        alone. Constant, curves and maps add up to ``decision_function``, or ``predict`` of a
        regressor.
        """
        check_is_fitted(self)
        return self.model_.shapes()

    @takes_rows
    def shap_values(self, X: object) -> Any:
        """Divide every row's score among the features, exactly, for votes of trees.

        Gives a ``shap.Explanation`` if the package shap is installed, else an object with the same
        attributes: ``values`` (rows, features), ``base_values`` (rows,) with the score of an
        unknown row, ``data`` and ``feature_names``; with more than two classes ``values`` (rows,
        features, classes) and ``base_values`` (rows, classes). Both add up to the scores:
        ``values.sum(axis=1) + base_values`` is ``decision_function(X)``, or ``predict(X)`` of a
        regressor (its logarithm, if the loss has a logarithmic link).
        """
        from pacboost.estimators.fitted.explaining import shap_values

        return shap_values(self, X)

    def shap_trees(self) -> dict[str, Any]:
        """Return the trees as the dictionary that ``shap.TreeExplainer`` takes as a model.

        ``shap.TreeExplainer(model.shap_trees())`` explains the score: half the log odds of the
        second of two classes, one score for each of more, the prediction of a regressor. Trees on
        numbers only: splits of categories by sets of levels have no such form.
        """
        from pacboost.models.explain.attribution import shap_trees

        check_is_fitted(self)
        return shap_trees(self.model_)
