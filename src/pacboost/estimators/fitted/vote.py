"""What every fitted classifier by vote can do: predict, explain, abstain, report and certify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.training import training_error
from pacboost.errors import DataError
from pacboost.estimators.decisions import abstaining, calibrated
from pacboost.estimators.fitted import compressing, explaining, mistakes
from pacboost.estimators.fitted.base import VoteBase
from pacboost.estimators.fitted.mistakes import judging, rank, staged_errors
from pacboost.estimators.inputs.examples import label_rows
from pacboost.estimators.inputs.parameters import positive_integer
from pacboost.hypotheses.vote import Scores
from pacboost.kernels.cuda.device import in_host_memory, labels_at
from pacboost.kernels.runtime.threads import using
from pacboost.models.answers import AnswerList, Ranking, answers, confidence
from pacboost.models.explain import explanation, permutation
from pacboost.models.model import Model
from pacboost.numerics.same_bits import total
from pacboost.questions import selective
from pacboost.reports import plots
from pacboost.samples.sample import Sample

Doubles = NDArray[np.float64]


class VoteClassifier(ClassifierMixin, VoteBase):  # type: ignore[misc]
    """A classifier whose fit leaves a vote, in ``model_``, and ``classes_``."""

    classes_: NDArray[Any]
    kept_rows_: NDArray[np.intp]
    target_error: float | None = None
    abstain_below: float | None = None

    certify_sets, predict_set = calibrated.certify_sets, calibrated.predict_set
    sets_ = property(calibrated.kept_sets)

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

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Return the accuracy after each round."""
        for predicted in self.staged_predict(X):
            right = predicted == np.asarray(y)
            right = right.all(axis=1) if right.ndim == 2 else right
            weights = np.ones(right.size) if sample_weight is None else np.asarray(sample_weight)
            yield total(right * weights) / total(weights)

    def mistakes(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Return which rows the vote gets wrong; ties count as wrong, and so do unknown labels."""
        return self._judged(X, y)[1]

    @property
    def several_labels_(self) -> bool:
        """Whether a row may have several labels."""
        return bool(getattr(self, "_several_labels", False))

    @property
    def certificate_(self) -> Certificate:
        """What is certified: the training error, or with ``certify`` the error on new examples."""
        model = self._fitted("certificate_")
        return training_error(model.ledger) if model.certificate is None else model.certificate

    @property
    def estimator_weights_(self) -> Doubles:
        """Twice the votes, as scikit-learn counts them."""
        return 2 * self._fitted("estimator_weights_").vote.votes

    @property
    def estimator_errors_(self) -> Doubles:
        """The weighted error of every rule in its round."""
        return np.array([e.error for e in self._fitted("estimator_errors_").ledger.rounds])

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

    def plot_rounds(self, X: Any = None, y: Any = None, ax: Any = None) -> Any:
        """Draw the training error after each round, with its bound; give the axes.

        With rows and their labels, best those that the fit has not seen, draw the error on them,
        too. Without ``ax`` there is a new figure, which notebooks show.
        """
        check_is_fitted(self)
        test = None if X is None and y is None else staged_errors(self, X, y)
        return plots.rounds(self.model_.ledger, ax, test)

    def margins(self, X: Any, y: Any) -> Doubles:
        """Return the margin of every row, from -1 to 1; of every label, if a row has several."""
        sample = self._labelled(X, y)
        with using(self.n_jobs):
            return mistakes.margins(self.model_, sample)

    def staged_margins(self, X: Any, y: Any) -> Iterator[Doubles]:
        """Return the margins after each round, by the votes of the rounds until then."""
        yield from mistakes.staged_margins(self.model_, self._labelled(X, y))

    def plot_margins(
        self, X: Any, y: Any, rounds: Sequence[int] | None = None, ax: Any = None
    ) -> Any:
        """Draw how the margins of rows are distributed after some rounds.

        With several labels every pair of row and label has a margin.
        """
        return plots.margins(self._margins_after(X, y, rounds), ax)

    def plot_equaliser(
        self, X: Any, y: Any, rounds: Sequence[int] | None = None, ax: Any = None
    ) -> Any:
        """Draw, for each row, the weighted share of rules that get it wrong, after some rounds.

        Boosting evens these shares out: a row that is wrong more often than others gains weight,
        and the next rules are found for it (Breiman 1999). Two classes only.
        """
        if self._fitted("plot_equaliser").vote.outputs > 1:
            raise DataError("the equaliser is for two classes; plot_margins draws more")
        return plots.equaliser(self._margins_after(X, y, rounds), ax)

    def plot_hardest(self, k: int = 20, ax: Any = None) -> Any:
        """Draw the k rows of fit that the vote finds hardest: outliers and wrong labels."""
        check_is_fitted(self)
        return plots.hardest(self.model_.ledger.hardest(k), ax)

    def ranking(self, X: Any, y: Any) -> Ranking:
        """Measure by the labels of rows how well they are ranked: Hamming loss, one-error and more.

        With one label a row the one-error is the error, ties counted as wrong.
        """
        sample = self._labelled(X, y)
        with using(self.n_jobs):
            scores = self.model_.vote.scores(sample.table)
        return rank(scores, self._decide(scores), sample.signs, self.classes_)

    def compress(self, X: Any, y: Any, delta: float = 0.05) -> Self:
        """Return the vote again, from few of its training rows, with the bound that follows.

        The copy has the thresholds moved to values of rows, ``kept_rows_`` names these rows, and
        ``certificate_`` bounds its error on new examples. Its votes are whole numbers: of all
        roundings that were tried, those with the smallest bound. Give all rows that the fit and
        every choice before it have looked at. Copies of rows are refused.
        """
        small = copy(self)
        sample = self._labelled(X, y)
        small.model_, small.kept_rows_ = compressing.compress(self.model_, sample, delta)
        return small

    @property
    def answering_(self) -> Answering:
        """How wrong the answers may be, for every threshold of the confidence.

        It is there after a fit with ``certify="holdout"``, or after ``certify_answers``.
        """
        return abstaining.certified_answers(self._fitted("answering_"))

    def certify_answers(
        self,
        X: Any,
        y: Any,
        *,
        target_error: float | None = None,
        abstain_below: float | None = None,
        delta: float = 0.05,
        models: int = 1,
        copies: str = "auto",
    ) -> Answering:
        """Certify the answers by fresh rows, and keep what was found for ``answer``.

        The parameters are those of ``pacboost.certify_answers``.
        """
        found = selective.certify_answers(
            self, X, y, target_error=target_error, abstain_below=abstain_below,
            delta=delta, models=models, copies=copies,
        )  # fmt: skip
        self.model_ = replace(self.model_, answering=found)
        return found

    def answer(
        self,
        X: Any,
        *,
        target_error: float | None = None,
        abstain_below: float | None = None,
        otherwise: Any = None,
    ) -> AnswerList:
        """Return a label with its confidence where it is large enough, else ``otherwise``.

        The threshold is ``abstain_below`` or the one found for ``target_error``, given here or
        before. The confidence is the probability of the label that ``predict`` gives. The answers
        are a list; its ``to_frame()`` is a data frame.
        """
        least = abstaining.threshold(
            self._fitted("answer"), target_error, abstain_below, self.abstain_below
        )
        scores = self._scores(X)
        decided = self._decide(scores)
        return answers(decided, self._confidence(decided, scores), least, otherwise)

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

    def _margins_after(self, X: Any, y: Any, rounds: Sequence[int] | None) -> dict[int, Doubles]:
        sample = self._labelled(X, y)
        with using(self.n_jobs):
            return mistakes.margins_after(self.model_, sample, rounds)
