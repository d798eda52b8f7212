"""Classifier: a fitted vote of rules that predicts classes, and shows its rounds and reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import NotCertified
from pacboost.estimators.fitted.estimator import Estimator, offered_if
from pacboost.estimators.fitted.predicting import accuracy, answered
from pacboost.estimators.inputs.rows import takes_rows
from pacboost.hypotheses.function import BlackBox
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.ledgers.ledger import Ledger
from pacboost.models.model import Model
from pacboost.samples.sample import Sample
from pacboost.sources.explained_errors import explains_input

if TYPE_CHECKING:
    from pacboost.bounds.certificate import Certificate
    from pacboost.hypotheses.shapes import Shapes
    from pacboost.models.explain.explanation import Explanation
    from pacboost.models.explain.importances import FeatureShares, Importances

Doubles = NDArray[np.float64]
MistakesAndPredictions = tuple[NDArray[np.bool_], NDArray[Any]]


class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """A classifier that is a vote of rules, and shows its rounds, reasons and margins."""

    _records_rounds: ClassVar[bool] = True
    """Whether rules are those of rounds; where they are members, each has one vote."""
    classes_: NDArray[Any]
    _refusal = ""
    """Why nothing is certified, not even the error on training rows; empty if that is."""

    @property
    def several_labels_(self) -> bool:
        """Whether a row may have several labels."""
        return hasattr(self, "model_") and self.model_.ledger.several_labels

    @takes_rows
    def predict(self, X: object) -> NDArray[Any]:
        """Return the class with the largest score for each row; a tie goes to the first class.

        If rows may have several labels, return 1 for each predicted label, else 0.
        """
        return answered(self, X, Model.decide)

    @takes_rows
    def predict_proba(self, X: object) -> Doubles:
        """Return the probability of each class; ``calibrate`` calibrates it."""
        return answered(self, X, Model.probabilities)

    @offered_if("_records_rounds")
    @takes_rows
    def predict_log_proba(self, X: object) -> Doubles:
        """Return the logarithms of the probabilities, finite even if a probability is 0."""
        return answered(self, X, Model.log_probabilities)

    @takes_rows
    def decision_function(self, X: object) -> Scores:
        """Return the score F(x): for two classes, above 0 for the second, else one per class."""
        return answered(self, X, lambda _, scores: scores)

    @takes_rows
    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the accuracy, the share of rows that are right."""
        return accuracy(self, X, y, sample_weight)

    @takes_rows
    def mistakes(self, X: object, y: object) -> NDArray[np.bool_]:
        """Return which rows the vote gets wrong; ties and unknown labels count as wrong."""
        return self._judged(X, y)[1]

    @offered_if("_records_rounds")
    @takes_rows
    def margins(self, X: object, y: object) -> Doubles:
        """Return the margin of every row, or of each of its labels, from -1 to 1."""
        from pacboost.estimators.fitted.judging import margins

        return margins(self, self._labelled(X, y))

    @offered_if("_records_rounds")
    @takes_rows
    def staged_decision_function(self, X: object) -> Iterator[Scores]:
        """Return the score after each round."""
        for scores in self.model_.vote.staged(self._open(X)):
            yield scores.copy()

    @offered_if("_records_rounds")
    @takes_rows
    def staged_predict(self, X: object) -> Iterator[NDArray[Any]]:
        """Return the predictions after each round."""
        for scores in self.staged_decision_function(X):
            yield self.model_.decide(scores)

    @offered_if("_records_rounds")
    @takes_rows
    def staged_predict_proba(self, X: object) -> Iterator[Doubles]:
        """Return the probabilities after each round."""
        for scores in self.staged_decision_function(X):
            yield self.model_.probabilities(scores)

    @property
    def certificate_(self) -> Certificate:
        """The certificate: of the training error, or with ``certify`` of the error on new rows."""
        model = self._fitted("certificate_")
        if model.certificate is not None:
            return model.certificate
        if self._refusal:
            raise NotCertified(self._refusal)
        from pacboost.models.training_claim import training_certificate

        return training_certificate(model)

    @property
    def sentence_(self) -> str:
        """The certificate in a sentence, or what to call to get one."""
        from pacboost.estimators.fitted.judging import sentence_of

        model = self._fitted("sentence_")
        return sentence_of(model.certificate, model.ledger, model.held_out, model.label_names)

    @property
    def validation_curves_(self) -> dict[str, list[float]]:
        """The metric after every round, by the names of the validation sets."""
        return curves_of(self._curves)

    @property
    def n_iter_(self) -> int:
        """The number of rounds of the vote."""
        return len(self.ledger_)

    @property
    def best_iteration_(self) -> int:
        """The best number of rounds on validation rows, including those of a trial."""
        return best_round_of(self)

    @property
    def ledger_(self) -> Ledger:
        """The measurements of every round."""
        return self._fitted("ledger_").ledger

    @property
    def votes_(self) -> Doubles:
        """The vote of every rule; 1 if the rule itself holds the values that it adds."""
        return self._fitted("votes_").vote.votes  # type: ignore[no-any-return]

    @property
    def estimators_(self) -> list[Any]:
        """The rules; for black boxes, the fitted classifiers."""
        return rules_of(self._fitted("estimators_").vote)

    def rules(self) -> list[str]:
        """Return every rule in words, with its vote, in the order of rounds."""
        check_is_fitted(self)
        return self.model_.words()

    @offered_if("_records_rounds")
    @takes_rows
    def explain(
        self, x: object, top: int = 10, *, for_class: object = None, by: str = "column"
    ) -> Explanation:
        """Return what each of the ``top`` columns adds to the score of one row, and the rest.

        ``x`` is a sequence of values, a mapping from column names, or a table of one row. For trees
        these are SHAP values. With ``by="rule"``, and for rules without contributions by column,
        the contributions are those of rules; rules with the same condition are combined. With more
        than two classes contributions are to the score of ``for_class``, or of the class with the
        largest; with two, to the score of the second class, or of the first if that is named.
        """
        from pacboost.estimators.fitted.explaining import as_one_row, explain_row

        return explain_row(self, as_one_row(self, x), top, for_class=for_class, by=by)

    @explains_input
    def importances(self, by: str = "gain") -> FeatureShares:
        """Return each feature's importance, as shares that add up to 1.

        By "gain", the total gain of its splits, which is ``feature_importances_``; by "cover", the
        share of the weight of training rows that they divide, tree by tree; by "count", the number
        of splits. They print with the names of columns, and have ``to_frame``.
        """
        from pacboost.estimators.fitted.explaining import importances

        return importances(self._fitted("importances"), by)

    @offered_if("_records_rounds")
    @takes_rows
    def permutation_importances(
        self,
        X: object,
        y: object,
        repeats: int = 5,
        random_state: object = None,
        metric: Any = "error",
    ) -> Importances:
        """Measure by how much the vote gets worse, in ``metric``, when a column is shuffled.

        ``metric`` may be anything that ``eval_metric`` may be. A column that no rule uses has
        exactly 0.
        """
        from pacboost.estimators.fitted.explaining import shuffled
        from pacboost.training import metrics

        measure = metrics.metric(metric, self.model_.ledger.potential)
        return shuffled(self, self._labelled(X, y), measure, repeats, random_state)

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

    def _judged(self, X: object, y: object) -> tuple[Scores, NDArray[np.bool_]]:
        from pacboost.estimators.fitted.judging import judged

        return judged(self, X, y)

    def _mistakes_and_predictions(self, X: object, y: object) -> MistakesAndPredictions:
        """Return which rows are wrong, and the predictions, by scoring rows once."""
        scores, wrong = self._judged(X, y)
        return wrong, self.model_.decide(scores)

    def _labelled(self, X: object, y: object) -> Sample:
        from pacboost.estimators.fitted.judging import labelled

        return labelled(self, X, y)


def rules_of(vote: Vote) -> list[Any]:
    """Return the rules of a vote; for black boxes, the fitted models themselves."""
    rules = [(rule, rule.unvalued) for rule in vote.hypotheses]
    return [plain.inner if isinstance(plain, BlackBox) else rule for rule, plain in rules]


def best_round_of(estimator: Estimator) -> int:
    """Return the best round on validation rows; raise if there were none."""
    if estimator._best_round is None:
        raise AttributeError("best_iteration_ is available after a fit with validation rows")
    return estimator._best_round


def curves_of(curves: dict[str, list[float]] | None) -> dict[str, list[float]]:
    """Return validation curves; raise if there were no validation rows."""
    if curves is None:
        raise AttributeError("validation_curves_ is available after a fit with validation rows")
    return curves
