"""The search for an error of epsilon: boost, and evaluate the certifying rows at most twice.

The certifying rows are looked at once, after the last round, with the whole of delta. Only if
watching rows show on the way that epsilon is probably reached already, there are two looks with
half of delta each: one then, and, should it fail, one at the end. Since certifying rows do not
decide this, both claims hold together with probability at least 1 - delta, and the smaller may be
kept (docs/proofs/strong.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.estimators.boosting.watching import RoundsWatcher
from pacboost.estimators.parameters.values import Values
from pacboost.estimators.strong.dividing import Promise
from pacboost.estimators.strong.evidence import measured
from pacboost.estimators.strong.labelled import LabelledData
from pacboost.estimators.strong.ways import Way
from pacboost.fit.ask import ValidationSet
from pacboost.fit.fit import Fitted, fit
from pacboost.fit.judging import JudgedRows
from pacboost.fit.noticing import counted
from pacboost.fit.role_sizes import LOOKS
from pacboost.fit.roles import Roles, Rows
from pacboost.ledgers.counterexample import ROWS_NAMED
from pacboost.ledgers.ledger import Round
from pacboost.models import calibration
from pacboost.models.calibration import MIN_ROWS, TEMPERATURE
from pacboost.models.model import Model
from pacboost.numerics.exact import wrong_classes, wrong_margins
from pacboost.questions.verdict import FitMeasurements, LostEdge
from pacboost.training.run.stop_reason import Stop

UNSURE = 0.2
"""How often the true error may exceed what the watching rows are taken to say."""
MIN_SECONDS = 0.001  # enough for one round, which a fit always does
PATIENCE = 30
"""Rounds without fewer mistakes on watching rows after which no look is expected any more."""


@dataclass(frozen=True, eq=False)
class CertifiedFit:
    """A fitted model, who has followed its rounds, and what it certifies and measures."""

    fitted: Fitted
    watcher: RoundsWatcher
    model: Model
    certificate: Certificate | None = None
    evidence: FitMeasurements | None = None

    @property
    def value(self) -> float:
        """The certified error."""
        return 1.0 if self.certificate is None else self.certificate.value


class EpsilonSearch:
    """Fits the candidate on parts of the rows; ``run`` gives the one with the best certificate."""

    def __init__(
        self, way: Way, data: LabelledData, roles: Roles, promise: Promise, seed: int,
        seconds: float | None = None,
    ) -> None:  # fmt: skip
        self._way, self._data, self._roles, self._promise = way, data, roles, promise
        self._seed = seed
        self._ends = math.inf if seconds is None else monotonic() + seconds

    @property
    def _may_look_early(self) -> bool:
        """Independent rows may be looked at twice; groups and rows in time only once."""
        return self._promise.epsilon is not None and self._roles.examples is not None

    def run(self) -> CertifiedFit:
        """Boost until epsilon is certified or more rounds can't help."""
        roles, promise = self._roles, self._promise
        scout = self._scout() if self._may_look_early and roles.certify.size else None
        first = None if scout is None else self._judged(scout, LOOKS)
        if first is not None and first.value <= (promise.epsilon or 0):
            return first
        # rows drawn one by one from dependent rows would be known from their neighbours
        depend = roles.groups is not None or roles.in_time
        validates = np.isin(roles.known, roles.validate) if roles.validate.size and depend else None
        fitted = self._fit(roles.known, self._way.asked, validates=validates)
        last = self._judged(fitted, 1 if first is None else LOOKS)
        return first if first is not None and first.value < last.value else last

    def _scout(self) -> CertifiedFit | None:
        """Boost until the watching rows suggest a look at the certifying ones; else return None."""
        data, promise = self._data, self._promise
        watch, labels = self._roles.validate, data.labels
        if data.weights is not None:
            watch = watch[data.weights[watch] > 0]
        if labels.ndim == 1:
            watch = watch[np.isin(labels[watch], np.unique(labels[self._roles.learn]))]
        if not watch.size:
            return None

        def worth_a_look(entry: Round) -> bool:
            assert entry.validation is not None
            assert promise.epsilon is not None
            certifying = self._roles.certify.size
            expected = likely(entry.validation, watch.size, certifying, promise.delta)
            return expected <= promise.epsilon

        asked = Values.of(vars(self._way.asked) | {
            "early_stopping": PATIENCE, "eval_metric": rows_wrong, "callbacks": [worth_a_look],
        })  # fmt: skip
        watching = ValidationSet("validation_0", data.take(watch), labels[watch])
        scout = self._fit(self._roles.learn, asked, watching=watching, share_of_time=0.5)
        model = scout.model
        if not worth_a_look(model.ledger.rounds[-1]):
            return None
        if labels.ndim == 1 and watch.size >= MIN_ROWS:
            scores = model.vote.scores(model.schema.read(data.take(watch)))
            numbers = np.searchsorted(model.classes, labels[watch])
            slope = calibration.fit(TEMPERATURE, scores, numbers, data.weights_of(watch))
            model = replace(model, calibration=slope)
        reached = f"the certificate reached {promise.epsilon:g}"
        return replace(scout, model=replace(model, ledger=replace(model.ledger, stopped=reached)))

    def _judged(self, candidate: CertifiedFit, looks: int) -> CertifiedFit:
        """Count mistakes on the certifying rows, if any, and measure their causes."""
        rows, promise, model = self._roles.certify, self._promise, candidate.model
        rounds = model.ledger.rounds
        own = rounds[-1].training_error if rounds else 1.0
        evidence = FitMeasurements(
            len(rounds), own, weighted=promise.weighted, lost=self._lost_edge(candidate),
            counterexample=model.ledger.counterexample,
        )  # fmt: skip
        if not rows.size:
            return replace(candidate, evidence=evidence)
        labels = self._data.labels[rows]
        judged = JudgedRows.read(model, model.schema.read(self._data.take(rows)), labels)
        scores = model.vote.scores(judged.table)
        wrong = judged.wrong(model, scores)
        probabilities = model.probabilities(scores)
        decided = model.decide(scores)
        held_out = HeldOut.of(labels, decided, model.classes, probabilities, wrong)
        model = replace(model, held_out=held_out)
        certificate = self._certificate(wrong, looks)
        if promise.weighted:
            certificate = certificate.counted_without_weights()
        if promise.epsilon is not None and certificate.value > promise.epsilon:
            # where the time was up, more rounds would have been done
            most = self._way.asked.n_estimators if monotonic() < self._ends else len(rounds)
            evidence = replace(evidence, **measured(model, judged.table, labels, most))
        return replace(candidate, model=model, certificate=certificate, evidence=evidence)

    def _lost_edge(self, candidate: CertifiedFit) -> LostEdge | None:
        """Return the round in which a learner of the user found no rule, and the heaviest rows."""
        leader, ledger = candidate.watcher.leader, candidate.model.ledger
        reason = None if leader is None else leader.run.stopped
        if not self._way.is_own or reason is None or reason.kind is not Stop.NO_EDGE:
            return None
        return LostEdge(len(ledger) + 1, tuple(entry.row for entry in ledger.hard[:ROWS_NAMED]))

    def _fit(
        self, rows: Rows, asked: Values, *, watching: ValidationSet | None = None,
        validates: NDArray[np.bool_] | None = None, share_of_time: float = 1.0,
    ) -> CertifiedFit:  # fmt: skip
        """Fit to rows; those that validate, if given, are held back."""
        if self._ends < math.inf:
            left = max(MIN_SECONDS, share_of_time * (self._ends - monotonic()))
            asked = Values.of(vars(asked) | {"time_limit": left})
        sets = () if watching is None else (watching,)
        ask = replace(self._way.ask(self._seed, asked), validation_sets=sets, validates=validates)
        watcher, data = RoundsWatcher(asked), self._data
        fitted = fit(data.take(rows), data.labels[rows], data.weights_of(rows), ask, watcher)
        if fitted.interrupt is not None:
            raise fitted.interrupt
        # rows are named by their numbers among all rows, not among those of this fit
        ledger = fitted.model.ledger
        hard = [replace(entry, row=int(rows[entry.row])) for entry in ledger.hard]
        counter = ledger.counterexample
        counter = None if counter is None else counter.among(rows)
        ledger = replace(ledger, hard=hard, counterexample=counter)
        return CertifiedFit(fitted, watcher, replace(fitted.model, ledger=ledger))

    def _certificate(self, wrong: NDArray[np.bool_], looks: int) -> Certificate:
        rows, promise = self._roles.certify, self._promise
        groups = self._roles.groups
        if groups is not None:
            place = np.unique(groups[rows], return_inverse=True)[1]
            shares = np.bincount(place, weights=wrong) / np.bincount(place)
            return holdout.groups_certificate(shares.tolist(), promise.delta)
        mistakes = int(np.count_nonzero(wrong))
        if self._roles.in_time:
            return holdout.ordered_certificate(mistakes, rows.size, promise.delta)
        certificate = holdout.certificate(mistakes, rows.size, promise.delta, looks)
        return counted(certificate, self._roles.examples)


def rows_wrong(known: NDArray[Any], scores: NDArray[np.float64]) -> float:
    """Return the share of rows with a mistake, from signs or from class numbers."""
    if known.shape != scores.shape:
        return float(np.mean(wrong_classes(scores, known)))
    wrong = wrong_margins(known * scores)
    return float(np.mean(wrong if wrong.ndim == 1 else wrong.any(axis=1)))


def likely(error: float, watching: int, certifying: int, delta: float) -> float:
    """Predict what the certifying rows will certify, from the error on watching rows alone.

    >>> likely(0.02, 100, 300, 0.05) <= 0.1 < likely(0.1, 100, 300, 0.05)
    True
    """
    rate = holdout.clopper_pearson(round(error * watching), watching, UNSURE)
    mistakes = min(certifying, round(rate * certifying))
    return holdout.clopper_pearson(mistakes, certifying, delta, LOOKS)
