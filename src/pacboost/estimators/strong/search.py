"""The search for an error of epsilon: boost, and evaluate the certifying rows at most twice.

The certifying rows are looked at once, after the last round, with the whole of delta. Only if
watching rows say on the way that epsilon is probably reached already, there are two looks, each
with half of delta: one then, and, should it fail, one at the end. Whether there are one or two is
settled without the certifying rows, so by Boole's inequality both claims hold together with
probability at least 1 - delta, and the smaller may be kept (docs/proofs/strong.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.boosting.fit import MORE_ROUNDS, REFITTED
from pacboost.estimators.inputs import division
from pacboost.estimators.inputs.examples import class_weights
from pacboost.estimators.inputs.labels import read_weights, weight_of_a_row
from pacboost.estimators.strong import rows as roles
from pacboost.estimators.strong.candidates import Choice, WatchedRounds
from pacboost.estimators.strong.rows import LOOKS, Parts, Reading, Rows
from pacboost.ledgers.validation import ValidationCurve
from pacboost.models import calibration
from pacboost.models.calibration import FEWEST_ROWS, TEMPERATURE
from pacboost.models.model import Model
from pacboost.numerics.same_bits import mean
from pacboost.questions.verdict import FitMeasurements
from pacboost.samples.copies import numbered, places_of_rows
from pacboost.samples.equal_rows import Examples

LAST = 20
"""The reported edge is the mean over so many of the last rounds."""
IMPROVED = 0.1
"""By so much log loss, of one row's worth, the watching rows have to fare better in the end."""
TIMES = 3
"""Few watching rows may ask for an end too early, but not by more than so many times."""
WORTH_IT = 0.02
"""Watching rows are learned from in the end if they are at least such a share of all."""

JOINED = "groups with equal rows hold copies of one example, and are one group"

Take = Callable[[Rows], Any]


@dataclass(frozen=True)
class Promise:
    """What was asked for: an error of at most epsilon (None: as small as can be), but for delta."""

    epsilon: float | None
    delta: float
    examples: Examples | None = None
    """Which rows are one example."""
    groups: Rows | None = None
    again: NDArray[np.bool_] | None = None
    """Where rows are in the order of time: which are copies of earlier ones."""
    weighted: bool = False
    """Whether rows are learned from with weights; mistakes are counted without them."""

    def assumed(self, *of_copies: str) -> tuple[str, ...]:
        """What is assumed of equal rows, if there are some; the words if they are copies."""
        if self.examples is None:
            return ()
        return of_copies if self.examples.copied else self.examples.assumptions

    @property
    def may_look_early(self) -> bool:
        """Rows alone can be looked at twice; groups and rows in time are looked at once."""
        return self.epsilon is not None and self.groups is None and self.again is None


class Outcome(NamedTuple):
    """A classifier with its certificate and what was measured."""

    estimator: Any
    certificate: Certificate | None
    evidence: FitMeasurements

    @property
    def value(self) -> float:
        """What is certified."""
        return 1.0 if self.certificate is None else self.certificate.value


def weights_of(
    sample_weight: Any, class_weight: Any, labels: NDArray[Any], parts: Parts
) -> tuple[NDArray[np.float64] | None, float]:
    """Return the weights of the rows that may be learned from, and 0 to those that certify.

    Balanced weights follow from how often classes occur, so certifying rows are left out. Also
    give the share of the heaviest row in which the regularisation counts.
    """
    rows, known = len(labels), parts.known
    read_weights(sample_weight, rows)  # raises where they are no weights
    given = 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    raw = np.broadcast_to(given, rows)[known]
    if class_weight is not None:
        raw = raw * class_weights(class_weight, labels[known])
    found = read_weights(raw, known.size)
    if found is None:
        return None, 1.0
    weights = np.zeros(rows)
    weights[known] = found
    return weights, weight_of_a_row(raw) / float(raw.max())


def set_apart(
    given: Reading,
    labels: NDArray[Any],
    epsilon: float | None,
    delta: float,
    seed: int,
    copies: str,
    *,
    wished: bool,
) -> tuple[Parts, Promise, str]:
    """Divide the rows; also say why none certify, if none do."""
    asked, rows = (epsilon, delta), len(labels)
    if wished and (given.groups is not None or given.time is not None):
        raise ParameterError(
            "recall and precision need independent rows; leave groups and time out, or fit "
            "without a wish"
        )
    if given.groups is not None and given.time is not None:
        raise ParameterError("groups and time were both given; rows are one or the other")
    groups = None if given.groups is None else numbered(np.asarray(given.groups), rows)
    few = f"{rows} rows are too few to set any apart"
    some, X = np.arange(rows), given.X
    if groups is not None:  # equal rows of one group are no concern
        place = places_of_rows(X).astype(np.int64)
        some = np.sort(np.unique(place * (groups.max() + 1) + groups, return_index=True)[1])
        X = division.taken(X, some)
    try:
        examples = Examples.of(X, copies, labels[some])
    except NotCertified as problem:
        return roles.all_known(rows, seed), Promise(*asked), str(problem).removesuffix(".")
    if groups is not None:
        groups = roles.joined(groups, some, examples)
        few = f"{int(groups.max()) + 1} groups are too few to set any apart"
        return roles.by_groups(groups, *asked, seed), Promise(*asked, examples, groups), few
    if given.time is not None:
        times = roles.ordered(np.asarray(given.time), rows)
        again = np.zeros(rows, dtype=np.bool_)
        if examples.number is not None:  # which rows are copies of earlier ones
            order = np.argsort(times, kind="stable")
            again[:] = True
            again[order[np.unique(examples.number[order], return_index=True)[1]]] = False
        return roles.by_time(times, *asked), Promise(*asked, examples, again=again), few
    parts = roles.by_chance(examples.count, *asked, seed, threshold=wished)
    if examples.copied:
        few = f"{examples.count} distinct rows are too few to set any apart"
    return roles.rows_of(parts, examples), Promise(*asked, examples), few


class EpsilonSearch:
    """Fits the candidate on parts of the rows; ``run`` gives estimator and certificate."""

    def __init__(
        self,
        choice: Choice,
        take: Take,
        labels: NDArray[Any],
        parts: Parts,
        promise: Promise,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self._choice, self._take, self._labels = choice, take, labels
        self._parts, self._promise, self._weights = parts, promise, weights
        watch = parts.watch if weights is None else parts.watch[weights[parts.watch] > 0]
        if labels.ndim == 1:
            watch = watch[np.isin(labels[watch], np.unique(labels[parts.learn]))]
        self._watch = watch
        self._early = promise.may_look_early and parts.certify.size > 0

    def run(self) -> Outcome:
        """Boost until epsilon is certified or more rounds can't help."""
        if not self._watch.size:
            least = self._choice.least
            rounds = {"n_estimators": least} if least else {}
            estimator = self._choice.make(early_stopping=False, **rounds)
            estimator = self._fit(estimator, self._parts.known, None)
            return self._outcome(estimator, self._look(estimator, 1), None)
        first: Outcome | None = None
        scout, watched = self._scout()
        if watched.enough:
            estimator = copy(scout)  # which goes on boosting if this does not suffice
            said = f"the certificate reached {self._promise.epsilon:g}"
            estimator.model_ = self._calibrated(_stopped(estimator.model_, said), scout)
            first = self._outcome(estimator, self._look(estimator, LOOKS), watched)
            if first.value <= (self._promise.epsilon or 0):
                return first
            watched.start_again()
            scout.set_params(callbacks=None, warm_start=True)
            self._fit(scout, self._parts.learn, self._watch)
            scout.set_params(warm_start=False)
        estimator = self._finish(scout, watched)
        certificate = self._look(estimator, 1 if first is None else LOOKS)
        last = self._outcome(estimator, certificate, watched)
        if first is not None and first.value < last.value:
            return first
        return last

    def _scout(self) -> tuple[Any, WatchedRounds]:
        """Boost while the watching rows improve, or until they suggest a look; also give these."""
        epsilon = self._promise.epsilon if self._early else None
        watched = WatchedRounds(
            epsilon,
            self._parts.certify.size,
            self._promise.delta,
            LOOKS,
            None if self._weights is None else self._weights[self._watch],
        )
        estimator = self._choice.make(
            n_estimators=self._choice.rounds,
            early_stopping=self._choice.early_stopping,
            eval_metric=watched,
            callbacks=[watched.worth_a_look] if self._early else None,
        )
        estimator._tolerance = self._tolerance
        if not self._early:  # so that it can say how steep the final rounds are
            estimator._least_rounds = self._choice.least
        return self._fit(estimator, self._parts.learn, self._watch), watched

    @property
    def _tolerance(self) -> float:
        """Return by how much the log loss of the watching rows has to fall to count as progress."""
        return IMPROVED / self._watch.size

    def _calibrated(self, model: Model, scout: Any) -> Model:
        """Let the watching rows say how steep probabilities should be, if rows have one label.

        Scores grow from round to round, so they are measured after as many rounds as the model has.
        """
        rows = self._watch
        if self._choice.of_texts or self._labels.ndim > 1 or rows.size < FEWEST_ROWS:
            return model
        rounds = min(len(model.ledger), len(scout.ledger_))
        staged = scout.staged_decision_function(self._take(rows))
        scores = next(islice(staged, rounds - 1, rounds))
        numbers = np.searchsorted(model.classes, self._labels[rows])
        weights = None if self._weights is None else self._weights[rows]
        return replace(model, calibration=calibration.fit(TEMPERATURE, scores, numbers, weights))

    def _finish(self, scout: Any, watched: WatchedRounds) -> Any:
        """Learn from the watching rows, too: they have said how many rounds are best."""
        parts, choice = self._parts, self._choice
        if self._watch.size < WORTH_IT * parts.learn.size:
            scout.model_ = self._calibrated(scout.model_, scout)
            return scout
        best = len(scout.ledger_)
        if scout._least_rounds:  # of which all are kept
            best = watched.best_round(self._tolerance)
        least = min(choice.least, TIMES * best)
        rounds = min(choice.rounds, max(1, least, math.ceil(MORE_ROUNDS * best)))
        estimator = choice.make(early_stopping=False, n_estimators=rounds)
        self._fit(estimator, parts.known, None)
        said = scout.ledger_.stopped.partition(";")[0] + REFITTED.format(best)
        curve = ValidationCurve.of(watched.rows, watched.errors)
        model = replace(_stopped(estimator.model_, said), validation=curve)
        estimator.model_ = self._calibrated(model, scout)
        return estimator

    def _outcome(
        self, estimator: Any, certificate: Certificate | None, watched: WatchedRounds | None
    ) -> Outcome:
        rounds = estimator.ledger_.rounds
        own = rounds[-1].training_error if rounds else 1.0
        evidence = FitMeasurements(len(rounds), own, weighted=self._promise.weighted)
        if watched is not None and watched.losses:
            best = int(np.argmin(watched.losses))
            evidence = replace(
                evidence,
                watching=watched.rows,
                edge=mean(np.array(watched.edges[-LAST:])),
                expected_error=watched.expected[best],
                improving=best + 1 == len(watched.losses) >= self._choice.rounds,
            )
        return Outcome(estimator, certificate, evidence)

    def _fit(self, estimator: Any, rows: Rows, watch: Rows | None) -> Any:
        more: dict[str, Any] = {}
        if watch is not None:
            more = {"X_val": self._take(watch), "y_val": self._labels[watch]}
        if self._weights is not None:
            more["sample_weight"] = self._weights[rows]
        estimator.fit(self._take(rows), self._labels[rows], **more)
        ledger = estimator.ledger_  # rows are named by their numbers among all, not in this fit
        hard = [replace(entry, row=int(rows[entry.row])) for entry in ledger.hard]
        estimator.model_ = replace(estimator.model_, ledger=replace(ledger, hard=hard))
        return estimator

    def _look(self, estimator: Any, looks: int) -> Certificate | None:
        """Count mistakes on the certifying rows, if there are any."""
        rows = self._parts.certify
        if not rows.size:
            return None
        scores, wrong = estimator._judged(self._take(rows), self._labels[rows])
        labels, decided = self._labels[rows], estimator._decide(scores)
        probabilities = estimator.model_.probabilities(scores)
        counted = HeldOut.of(labels, decided, estimator.classes_, probabilities)
        estimator.model_ = replace(estimator.model_, held_out=counted)
        found = self._certificate(wrong, looks)
        return found.counted_without_weights() if self._promise.weighted else found

    def _certificate(self, wrong: NDArray[np.bool_], looks: int) -> Certificate:
        """Certify by the mistakes on the certifying rows."""
        rows, promise = self._parts.certify, self._promise
        if promise.groups is not None:
            place = np.unique(promise.groups[rows], return_inverse=True)[1]
            shares = np.bincount(place, weights=wrong) / np.bincount(place)
            found = holdout.groups_certificate(shares.tolist(), promise.delta)
            return found.assuming(*promise.assumed(JOINED))
        if promise.again is not None:
            again = promise.again[rows]
            mistakes, copies = (int(np.count_nonzero(own)) for own in (wrong | again, again))
            found = holdout.ordered_certificate(mistakes, rows.size, promise.delta)
            words = f"; {copies:,} are copies of earlier rows, and count as mistakes"
            return (found.adding(words) if copies else found).assuming(*promise.assumed())
        found = holdout.certificate(int(np.count_nonzero(wrong)), rows.size, promise.delta, looks)
        return division.counted(found, promise.examples)


def _stopped(model: Model, why: str) -> Model:
    return replace(model, ledger=replace(model.ledger, stopped=why))
