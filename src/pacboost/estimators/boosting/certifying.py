"""Certificates about new examples that a fit makes: by held-out rows, or by quantised votes."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout, occam
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import NotCertified, ParameterError, TooFewRowsWarning, warn
from pacboost.estimators.fitted.explaining import wrong_rows
from pacboost.estimators.fitting.memory import Memory, digest, parameters
from pacboost.estimators.inputs import division
from pacboost.estimators.inputs.division import Apart, Division, counted, refuse_weights
from pacboost.estimators.inputs.labels import read_weights
from pacboost.estimators.inputs.tables import open_table
from pacboost.fit.rows import LabelledRows
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote, vote_digest
from pacboost.models import calibration
from pacboost.models.answers import confidence
from pacboost.models.model import Model
from pacboost.questions import certify
from pacboost.samples.equal_rows import Examples
from pacboost.samples.overlap import HashCounts
from pacboost.samples.row_hashes import row_hashes
from pacboost.sources.categories import all_levels
from pacboost.sources.levels import NO_LEVELS, Levels
from pacboost.sources.table import Table

# Quantised votes: ``certify="train"`` rounds votes of stumps to few bits and pays for those.


@dataclass(frozen=True)
class QuantisedVote:
    """A quantised vote that may be deployed: its bound, and an estimate of its error."""

    bits: int
    scale: float
    rules: int
    mistakes: int
    bound: float
    estimate: float
    """The error on the rows that defined the bins, whose labels were not used: an estimate."""


class QuantisedVotes:
    """All quantisations of a trained vote that were tried, each with its bound."""

    def __init__(
        self,
        vote: Vote,
        trained: LabelledRows,
        apart: LabelledRows,
        base_rules: int,
        delta: float,
        examples: Examples | None = None,
    ) -> None:
        self._rules, self._merged = merged(vote)
        if not self._rules:
            raise NotCertified("the vote is empty: there is nothing to certify")
        self._rows = trained.n_rows
        self._base_rules = base_rules
        self._delta = delta
        self._examples = examples
        pairs = occam.search(
            self._merged,
            lambda whole: wrong_rows(self.vote(whole), trained),
            self._rows,
            base_rules,
            delta,
        )
        self.choices = [
            QuantisedVote(*pair, wrong_rows(self._of(pair.bits, pair.scale), apart) / apart.n_rows)
            for pair in pairs
        ]

    def deploy(self, number: int) -> tuple[Vote, Certificate]:
        """Return a vote and its certificate."""
        choice = self.choices[number]
        certificate = occam.certificate(
            choice.mistakes, self._rows, self._base_rules, choice.rules, choice.bits, self._delta
        )
        return self._of(choice.bits, choice.scale), counted(certificate, self._examples)

    def vote(self, whole: NDArray[np.int64]) -> Vote:
        """Return the vote with these whole-number weights, without the rules that got none."""
        used = np.flatnonzero(whole)
        rules = [self._rules[k] if whole[k] > 0 else self._rules[k].negated() for k in used]
        return Vote(rules, np.abs(whole[used]).astype(np.float64))

    def _of(self, bits: int, scale: float) -> Vote:
        return self.vote(occam.quantise(self._merged, bits, scale))


def merged(vote: Vote) -> tuple[list[StumpRule], NDArray[np.float64]]:
    """Add up the votes of equal rules; a rule and its opposite are one, with opposite votes."""
    sums: dict[StumpRule, float] = {}
    for rule, weight in zip(vote.hypotheses, vote.votes, strict=True):
        if not isinstance(rule, StumpRule):
            raise NotCertified("certify='train' counts stumps; this vote holds other rules")
        unsigned, sign = (rule, 1.0) if rule.above > 0 else (rule.negated(), -1.0)
        if unsigned.is_constant:  # the same rule whichever feature it was found on
            unsigned = StumpRule.constant(-1)
        sums[unsigned] = sums.get(unsigned, 0.0) + sign * float(weight)
    kept = {rule: weight for rule, weight in sums.items() if weight != 0}
    return list(kept), np.array(list(kept.values()))


def divide(estimator: Any, X: Any, y: Any, sample_weight: Any, seed: int) -> Division:
    """Hold out the rows that certify, before anything is learned."""
    way = estimator.certify
    if way is None:  # all rows are learned from, so no evaluation was spent
        estimator._memory = None
    if way == "train" and estimator.warm_start:
        raise ParameterError("certify='train' rounds the votes, so warm_start cannot go on")
    if way == "train" and read_weights(sample_weight, division.number_of_rows(X)) is not None:
        refuse_weights(way)
    return division.held_out(
        estimator, X, y, seed, ("holdout", "train"),
        sample_weight=sample_weight, once=way == "train",  # rows that certify count once
    )  # fmt: skip


def watch_apart(estimator: Any, apart: Apart, divided: Division, X_val: Any) -> Apart:
    """Number this evaluation on the held-out rows; refuse validation rows that are among them."""
    memory = Memory({}, looks=0)
    if estimator.warm_start:
        tables = estimator._comparable(apart.X, X_val), estimator._comparable(divided.X, None)
        rows, labels = (
            digest(*map(row_hashes, tables)),
            repr([apart.y.tolist(), divided.y.tolist()]),
        )
        memory = Memory({**parameters(estimator), "X": rows, "y": digest(labels)}, looks=1)
        if hasattr(estimator, "model_"):
            memory = memory.going_on_from(estimator._memory)
    estimator._memory = memory
    return apart if X_val is None else without_shared(estimator, apart, X_val)


def without_shared(estimator: Any, apart: Apart, X_val: Any) -> Apart:
    """Leave rows out of those that certify if they are validation rows; refuse more than a few.

    Where equal rows are draws, validation rows may equal others by chance, and stay.
    """
    rows = estimator._comparable(apart.X, X_val)
    validation = estimator._comparable(X_val, apart.X)
    hashes, others = row_hashes(rows), row_hashes(validation)
    shared = np.isin(hashes, others, kind="sort")
    found = int(np.count_nonzero(shared))
    if not found:
        return apart
    copied = apart.examples.copied or Examples.of([rows, validation], estimator._equal_rows).copied
    seen = HashCounts.of(others).overlap(HashCounts.of(hashes))
    if not copied and not seen.suspicious:
        return replace(apart, examples=replace(apart.examples, repeated=True))
    if not copied or found > division.MOST_SHARED * shared.size:
        raise ParameterError(
            f"{found} of the {shared.size} rows that certify='holdout' sets apart are among "
            "the rows of X_val or eval_set, so they would have a part in the fit. Give validation "
            "rows that are not in X, or leave them out and set early_stopping=True, which takes "
            "them from the rows learned from"
        )
    return apart.without(shared)


def comparable(estimator: Any, X: Any, other: Any) -> Table:
    """Open rows to compare them, with levels that the fit has not learned kept distinct."""
    known: Levels = getattr(estimator, "levels_", NO_LEVELS)
    if not known:
        return open_table(estimator, X, reset=False)
    wide = copy(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    wide.levels_ = all_levels(known, None if names is None else names.tolist(), X, other)
    return open_table(wide, X, reset=False)


def certify_by(estimator: Any, apart: Apart) -> Model:
    """Certify by the mistakes on held-out rows, which are read as new rows are."""
    scores, wrong = estimator._judged(apart.X, apart.y)
    look = estimator._memory.looks
    model: Model = estimator.model_
    model = deployed(model, model.vote, apart.certificate(wrong, estimator.delta, look))
    decided, chances = estimator._decide(scores), model.probabilities(scores)
    sure = confidence(decided, chances, estimator.classes_)
    share = holdout.share_of_delta(estimator.delta, look)
    found = certify.answering(sure, wrong, share, None, None)
    counted = HeldOut.of(apart.y, decided, model.classes, chances)
    return replace(model, answering=found, held_out=counted)


def deployed(model: Model, vote: Vote, certificate: Certificate) -> Model:
    """Return model with another vote and certificate; what is known of old answers is dropped."""
    ledger = replace(model.ledger, vote_digest=vote_digest(vote))
    certificate = certificate.of(ledger.digest())
    return replace(
        model,
        vote=vote,
        ledger=ledger,
        certificate=certificate,
        answering=None,
        held_out=None,
        coverage=None,
    )


# Which curve calibrates probabilities, by the number of rows that there are for it.


def curve_for(method: str, rows: int) -> str:
    """Return the method of calibration; "isotonic" needs more rows than the others."""
    needed = calibration.ROWS_FOR_ISOTONIC
    if method != "isotonic" or rows >= needed:
        return method
    warn(
        f"calibrate='isotonic' needs {needed:,} held-out rows, and there are {rows:,}; 'sigmoid' "
        "is used instead. Give more rows, a larger validation_fraction, or calibrate='sigmoid'",
        TooFewRowsWarning,
    )
    return "sigmoid"
