"""What every fitted classifier by vote can do: predict, explain, abstain, report and certify."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.training import training_error
from pacboost.estimators.fitted import explaining, mistakes
from pacboost.estimators.fitted.base import VoteBase
from pacboost.estimators.fitted.mistakes import judging
from pacboost.estimators.inputs.examples import label_rows
from pacboost.estimators.inputs.parameters import positive_integer
from pacboost.hypotheses.vote import Scores
from pacboost.kernels.cuda.device import in_host_memory, labels_at
from pacboost.kernels.runtime.threads import using
from pacboost.models.answers import confidence
from pacboost.models.explain import explanation, permutation
from pacboost.models.model import Model
from pacboost.samples.sample import Sample

Doubles = NDArray[np.float64]


class VoteClassifier(ClassifierMixin, VoteBase):  # type: ignore[misc]
    """A classifier whose fit leaves a vote, in ``model_``, and ``classes_``."""

    classes_: NDArray[Any]
    _several_labels = False

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class each row is voted into; a tie goes to the first class.

        With several labels a row, give 1 for each label it is voted to have, else 0.
        """
        return self._answered(X, lambda _, scores: self._decide(scores))

    def decision_function(self, X: Any) -> Scores:
        """Return score F(x): for two classes above 0 means the second, else one score a class."""
        return self._answered(X, lambda _, scores: scores)

    def predict_proba(self, X: Any) -> Doubles:
        """Return the probability of each class, from the scores or from ``calibrate``."""
        return self._answered(X, Model.probabilities)

    def predict_log_proba(self, X: Any) -> Doubles:
        """Return the logarithm of the probabilities, without taking it of 0."""
        return self._answered(X, Model.log_probabilities)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, the share of rows that are right."""
        from sklearn.metrics import accuracy_score

        labels, predicted, weights = map(in_host_memory, (y, self.predict(X), sample_weight))
        return float(accuracy_score(labels, predicted, sample_weight=weights))

    def staged_decision_function(self, X: Any) -> Iterator[Scores]:
        """Return the score after each round."""
        for scores in self.model_.vote.staged(self._open(X)):
            yield scores.copy()

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Return the predictions after each round."""
        for scores in self.staged_decision_function(X):
            yield self._decide(scores)

    def staged_predict_proba(self, X: Any) -> Iterator[Doubles]:
        """Return the probabilities after each round."""
        for scores in self.staged_decision_function(X):
            yield self.model_.probabilities(scores)

    def mistakes(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Return which rows the vote gets wrong; ties count as wrong, and so do unknown labels."""
        return self._judged(X, y)[1]

    @property
    def several_labels_(self) -> bool:
        """Whether a row may have several labels."""
        return bool(self._several_labels)

    @property
    def certificate_(self) -> Certificate:
        """What is certified: the training error, or with ``certify`` the error on new examples."""
        model = self._fitted("certificate_")
        return training_error(model.ledger) if model.certificate is None else model.certificate

    def explain(self, x: Any, top: int = 10, *, for_class: Any = None) -> explanation.Explanation:
        """Return which rules voted on one row, and how: the ``top`` contributions, and the rest.

        ``x`` is a sequence of values, a mapping from column names, or a table of one row. Rules
        that say the same of the row are put together. With more than two classes contributions
        are to the score of ``for_class``, or of the class with the largest; with two, to the score
        of the second class, or of the first if that is named.
        """
        top = positive_integer("top", top)
        table = self._one_row(x)
        with using(self.n_jobs):
            decided = self._decide(self.model_.vote.scores(table)).tolist()[0]
            return explanation.explain(self.model_, table, decided, top, for_class)

    def permutation_importances(
        self, X: Any, y: Any, repeats: int = 5, random_state: Any = None, metric: Any = "error"
    ) -> permutation.Importances:
        """Measure by how much the vote gets worse, in ``metric``, when a column is shuffled.

        ``metric`` may be what ``eval_metric`` may be. A column that no rule asks for has exactly 0.
        """
        sample = self._labelled(X, y)
        with using(self.n_jobs):
            return explaining.permutation_importances(
                self.model_, sample, repeats, random_state, metric
            )

    def margins(self, X: Any, y: Any) -> Doubles:
        """Return the margin of every row, from -1 to 1; of every label, if a row has several."""
        sample = self._labelled(X, y)
        with using(self.n_jobs):
            return mistakes.margins(self.model_, sample)

    def _confidence(self, decided: NDArray[Any], scores: Scores) -> Doubles:
        return confidence(decided, self.model_.probabilities(scores), self.classes_)

    def _decide(self, scores: Scores) -> NDArray[Any]:
        if self.several_labels_:
            return (scores.reshape(len(scores), -1) > 0).astype(np.int64)
        second = (scores > 0) & (self.classes_.size == 2)
        places = scores.argmax(axis=1) if scores.ndim == 2 else second.astype(np.intp)
        return labels_at(self.classes_, places)  # type: ignore[no-any-return]

    def _judged(self, X: Any, y: Any) -> tuple[Scores, NDArray[np.bool_]]:
        """Return the scores of rows, and which of them are wrong."""
        table, wrong = judging(self, X, y)
        with using(self.n_jobs):
            scores = self.model_.vote.scores(table)
        return scores, wrong(scores)

    def _labelled(self, X: Any, y: Any) -> Sample:
        """Read rows with labels that are among the classes."""
        table = self._open(X)
        known = label_rows(table, y, self.classes_, "y", several=self.several_labels_)
        return Sample(table, known.signs, labels=known.labels)
