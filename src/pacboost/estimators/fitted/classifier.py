"""Classifier: a fitted vote of rules that predicts classes, and shows its rounds and reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from pacboost.errors import NotCertified
from pacboost.estimators.fitted.estimator import offered_if
from pacboost.estimators.fitted.predicting import accuracy, answered
from pacboost.estimators.fitted.vote_model import VoteModel
from pacboost.estimators.inputs.rows import takes_rows
from pacboost.hypotheses.vote import Scores
from pacboost.models.model import Model

if TYPE_CHECKING:
    from pacboost.bounds.certificate import Certificate
    from pacboost.models.explain.explanation import Explanation
    from pacboost.models.explain.importances import Importances

Doubles = NDArray[np.float64]
MistakesAndPredictions = tuple[NDArray[np.bool_], NDArray[Any]]


class Classifier(ClassifierMixin, VoteModel):  # type: ignore[misc]
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
        return answered(self, X, self._decide)

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
        return self._mistakes_and_predictions(X, y)[0]

    @offered_if("_records_rounds")
    @takes_rows
    def margins(self, X: object, y: object) -> Doubles:
        """Return the margin of every row, or of each of its labels, from -1 to 1."""
        # imported where it is called, here and below: explanations, judging and reports are 4,700
        # lines that a prediction does not need (docs/decisions/0034)
        from pacboost.estimators.fitted.judging import labelled, margins

        return margins(self, labelled(self, X, y))

    @offered_if("_records_rounds")
    @takes_rows
    def staged_decision_function(self, X: object) -> Iterator[Scores]:
        """Return the score after each round."""
        for scores in self.model_.vote.staged(self._open(X)):
            # every stage adds to the same array
            yield scores.copy()

    @offered_if("_records_rounds")
    @takes_rows
    def staged_predict(self, X: object) -> Iterator[NDArray[Any]]:
        """Return the predictions after each round."""
        for scores in self.staged_decision_function(X):
            yield self._decide(self.model_, scores)

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
        # where no theorem holds there is none, and the next line says why
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
        from pacboost.estimators.fitted.judging import labelled
        from pacboost.training import metrics

        measure = metrics.metric(metric, self.model_.ledger.potential)
        return shuffled(self, labelled(self, X, y), measure, repeats, random_state)

    def _decide(self, model: Model, scores: Scores) -> NDArray[Any]:
        """Return the class of each row by its scores."""
        return model.decide(scores)

    def _mistakes_and_predictions(self, X: object, y: object) -> MistakesAndPredictions:
        """Return which rows are wrong, and the predictions, by scoring rows once."""
        from pacboost.estimators.fitted.judging import judged

        scores, wrong = judged(self, X, y)
        return wrong, self.model_.decide(scores)
