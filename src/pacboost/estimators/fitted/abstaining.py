"""Answering only where confident, with a bound on the error among the answered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.answering import Answering
from pacboost.bounds.thresholds import check_threshold
from pacboost.errors import NotCertified, ParameterError
from pacboost.hypotheses.vote import Scores
from pacboost.models.answers import Answer, answers, confidence
from pacboost.models.model import Model
from pacboost.numerics.checks import probability
from pacboost.questions import selective


class AbstainingMixin:
    """What a fitted vote does about rows that it is not sure of."""

    model_: Model
    classes_: NDArray[Any]
    delta: float
    target_error: float | None = None
    abstain_below: float | None = None

    if TYPE_CHECKING:  # what the classifier brings along

        def _scores(self, X: Any) -> Scores: ...

        def _decide(self, scores: Scores) -> NDArray[Any]: ...

        def _fitted(self, name: str) -> Model: ...

    @property
    def answering_(self) -> Answering:
        """How wrong the answers may be, for every threshold of the confidence.

        It is there after a fit with ``certify="holdout"``, or after ``certify_answers``.
        """
        known = self._fitted("answering_").answering
        if known is None:
            raise NotCertified(
                "no held-out rows have told how wrong confident answers are; fit with "
                "certify='holdout', or call certify_answers with fresh rows and their labels"
            )
        return known

    def certify_answers(
        self,
        X: Any,
        y: Any,
        *,
        target_error: float | None = None,
        abstain_below: float | None = None,
        delta: float = 0.05,
        copies: str = "auto",
    ) -> Answering:
        """Certify the answers by fresh rows, and keep what was found for ``answer``.

        The parameters are those of ``pacboost.certify_answers``.
        """
        found = selective.certify_answers(
            self, X, y, target_error=target_error, abstain_below=abstain_below,
            delta=delta, copies=copies,
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
    ) -> list[Answer]:
        """Give a label with its confidence where it is large enough, else ``otherwise``.

        The threshold is ``abstain_below`` or the one found for ``target_error``, said here or
        before. The confidence is the probability of what ``predict`` says.
        """
        selective.check_wish(target_error, abstain_below)
        threshold = self._threshold(target_error, abstain_below)
        scores = self._scores(X)
        decided = self._decide(scores)
        return answers(decided, self._confidence(decided, scores), threshold, otherwise)

    def _threshold(self, target_error: float | None, abstain_below: float | None) -> float:
        if abstain_below is not None:
            return check_threshold("abstain_below", abstain_below)
        if target_error is not None:
            return self.answering_.within(target_error).point.threshold
        known = self._fitted("answer").answering
        if known is not None and (known.chosen is not None or known.target_error is not None):
            return known.point.threshold
        if self.abstain_below is not None:
            return check_threshold("abstain_below", self.abstain_below)
        raise ParameterError(
            "answer has to know when to answer: give target_error, the error you allow among the "
            "answered, or abstain_below, the least confidence"
        )

    def _confidence(self, decided: NDArray[Any], scores: Scores) -> NDArray[np.float64]:
        return confidence(decided, self.model_.probabilities(scores), self.classes_)

    def _refuse_wish(self, certify: str | None) -> None:
        """Say before the work that what is wanted of the answers cannot be had."""
        selective.check_wish(self.target_error, self.abstain_below)
        if self.target_error is not None and certify != "holdout":
            raise ParameterError(
                f"target_error is {self.target_error!r}, and no rows are held out to find the "
                "threshold by; set certify='holdout', or call certify_answers after fit"
            )
        if self.target_error is not None:
            probability("target_error", self.target_error)
        if self.abstain_below is not None:
            check_threshold("abstain_below", self.abstain_below)

    def _certify_own_answers(self, scores: Scores, wrong: NDArray[np.bool_], delta: float) -> None:
        """Certify the answers by rows that fit held out."""
        sure = self._confidence(self._decide(scores), scores)
        found = selective.answering(sure, wrong, delta, self.target_error, self.abstain_below)
        self.model_ = replace(self.model_, answering=found)
