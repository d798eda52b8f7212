"""Certificates about new examples, made while fitting: by held-out rows, or by a short vote."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.errors import ParameterError
from pacboost.estimators.boosting.fit import PreparedFit
from pacboost.estimators.fitted.abstaining import AbstainingMixin
from pacboost.estimators.fitted.quantised import Choice, QuantisedVotes
from pacboost.estimators.fitting.looks import Looks, look_at, next_look
from pacboost.estimators.inputs import division
from pacboost.estimators.inputs.division import Apart, Division
from pacboost.estimators.inputs.labels import read_weights
from pacboost.estimators.inputs.parameters import integer, real_number
from pacboost.estimators.inputs.tables import open_table
from pacboost.hypotheses.digest import vote_digest
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.learners.stump import count_rules
from pacboost.models.model import Model
from pacboost.numerics.checks import probability
from pacboost.samples.sketch import row_hashes
from pacboost.sources.categories import all_levels
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.table import Table

WAYS = (None, "holdout", "train")


class CertifyingMixin(AbstainingMixin):
    """What ``certify``, ``holdout`` and ``delta`` ask of an estimator that boosts."""

    certify: str | None
    holdout: float
    delta: float
    warm_start: bool
    model_: Model
    choices_: list[Choice]
    _quantised: QuantisedVotes
    _split_before: tuple[Any, ...] | None = None
    _looks: Looks | None = None

    if TYPE_CHECKING:  # what the classifier brings along

        def _judged(self, X: Any, y: Any) -> tuple[Scores, NDArray[np.bool_]]: ...

    def choose(self, number: int) -> Self:
        """With ``certify="train"``: deploy the vote ``choices_[number]`` and its certificate."""
        if not hasattr(self, "_quantised"):
            raise ParameterError("choose is there after a fit with certify='train'")
        if not 0 <= integer("number", number) < len(self.choices_):
            raise ParameterError(
                f"number is {number}; choices_ has the numbers 0 to {len(self.choices_) - 1}"
            )
        vote, certificate = self._quantised.deploy(number)
        self._deploy(vote, certificate)
        return self

    def _divide(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Division:
        """Take the rows that certify out of X and y, before anything is learned."""
        if self.certify not in WAYS:
            raise ParameterError(
                f"certify is {self.certify!r}; it may be 'holdout', 'train' or None"
            )
        probability("delta", self.delta)
        if self.certify is None:  # all rows are learned from: no later look is a further one
            self._split_before = self._looks = None
            return Division(X, y)
        if self.certify == "train" and self.warm_start:
            raise ParameterError("certify='train' rounds the votes, so warm_start cannot go on")
        if read_weights(sample_weight, division.number_of_rows(X)) is not None:
            self._refuse_weights()
        share = real_number("holdout", self.holdout)
        self._refuse_other_split(seed, division.number_of_rows(X))
        return division.divide(X, y, "holdout", share, seed + division.CERTIFY)

    def _refuse_weights(self) -> None:
        raise ParameterError(
            f"certify is {self.certify!r} and rows have weights, by sample_weight or class_weight; "
            "the certificate counts rows, so give neither, or set certify=None"
        )

    def _refuse_other_split(self, seed: int, rows: int) -> None:
        """Going on from earlier rounds, the rows held back have to be those of the earlier fit."""
        split_now = (self.certify, self.holdout, seed, rows)
        if self.warm_start and hasattr(self, "model_") and self._split_before != split_now:
            raise ParameterError(
                f"certify={self.certify!r} holds rows back that the earlier rounds must not have "
                "seen, and the last fit held back others or none. Fit with the same certify, "
                "holdout, rows and integer random_state, or set warm_start=False"
            )
        self._split_before = split_now

    def _watch_apart(self, apart: Apart, divided: Division, X_val: Any) -> Apart:
        """Number this look at the rows set apart; refuse validation rows that are among them."""
        rows = self._comparable(apart.X, X_val) if self.warm_start or X_val is not None else None
        parts = []
        if self.warm_start and rows is not None:
            parts = [(rows, apart.y), (self._comparable(divided.X, None), divided.y)]
        goes_on = self.warm_start and hasattr(self, "model_")
        self._looks = next_look(self._looks, look_at(self, *parts), goes_on=goes_on)
        if X_val is None or rows is None:
            return apart
        validation = self._comparable(X_val, apart.X)
        shared = np.isin(row_hashes(rows), row_hashes(validation))
        found = int(np.count_nonzero(shared))
        if found > division.MOST_SHARED * shared.size:
            raise ParameterError(
                f"{found} of the {shared.size} rows that certify='holdout' sets apart are among "
                "the rows of X_val, so they would have a part in the fit. Give validation rows "
                "that are not in X, or leave X_val out and set early_stopping=True, which takes "
                "them from the rows learned from"
            )
        return apart.beside(shared) if found else apart

    def _comparable(self, X: Any, other: Any) -> Table:
        """Open rows so that levels which the fit has not learned can still be told apart."""
        known: Levels = getattr(self, "levels_", NO_LEVELS)
        if not known:
            return open_table(self, X, reset=False)
        wide = copy(self)
        wide.levels_ = all_levels(known, X, other)  # type: ignore[attr-defined]
        return open_table(wide, X, reset=False)

    def _certify_new_examples(self, work: PreparedFit) -> None:
        """Put a certificate about new examples in the place of the one about training rows."""
        for name in ("_quantised", "choices_"):
            self.__dict__.pop(name, None)
        model, apart = self.model_, work.apart
        if apart is not None:
            self._certify_by(apart)
        elif work.prior is not None and len(model.ledger):  # an empty vote cannot be rounded
            base_rules = 0 if model.bins is None else count_rules(model.bins)
            self._quantised = QuantisedVotes(
                model.vote, work.trained, work.prior, base_rules, self.delta
            )
            self.choices_ = self._quantised.choices
            self.choose(0)

    def _certify_by(self, apart: Apart) -> None:
        """Count mistakes on the rows set apart, which are read as any new rows are."""
        scores, wrong = self._judged(apart.X, apart.y)
        look = 0 if self._looks is None else self._looks.number
        self._deploy(self.model_.vote, apart.certificate(wrong, self.delta, look))
        share = holdout.share_of_delta(self.delta, look)
        self._certify_own_answers(scores, apart.count(wrong)[0], share)

    def _deploy(self, vote: Vote, certificate: Certificate) -> None:
        """Put a vote and its certificate in place; bounds on the answers of another vote go."""
        ledger = replace(self.model_.ledger, vote_digest=vote_digest(vote))
        certificate = certificate.of(ledger.digest())
        self.model_ = replace(
            self.model_, vote=vote, ledger=ledger, certificate=certificate, answering=None
        )
