"""The search for an error of epsilon: boost, and evaluate the certifying rows at most twice.

The certifying rows are looked at once, after the last round, with the whole of delta. Only if
watching rows show on the way that epsilon is probably reached already, there are two looks with
half of delta each: one then, and, should it fail, one at the end. Since certifying rows do not
decide this, both claims hold together with probability at least 1 - delta, and the smaller may be
kept (docs/proofs/strong.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import ParameterError
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.boosting import FitData, boost
from pacboost.estimators.boosting.text import TextBoostClassifier
from pacboost.estimators.inputs.parameters import checked_parameters
from pacboost.estimators.strong.reading import Reading, ordered
from pacboost.fit import taking
from pacboost.fit.examples import class_weights
from pacboost.fit.noticing import compared, counted
from pacboost.fit.role_sizes import LOOKS
from pacboost.fit.roles import Roles, RolesAsk, Rows, divide
from pacboost.fit.settings import ROWS_PER_LEAF
from pacboost.fit.targets import read_weights
from pacboost.ledgers.ledger import Round
from pacboost.models import calibration
from pacboost.models.calibration import MIN_ROWS, TEMPERATURE
from pacboost.numerics.exact import wrong_classes, wrong_margins
from pacboost.numerics.same_bits import mean, total
from pacboost.questions.verdict import FitMeasurements
from pacboost.samples.groups import numbered
from pacboost.samples.same_example import Examples

UNSURE = 0.2
"""How often the true error may exceed what the watching rows are taken to say."""
MIN_SECONDS = 0.001  # enough for one round, which a fit always does
PATIENCE = 30
"""Rounds without fewer mistakes on watching rows after which no look is expected any more."""
LAST = 20
"""The reported edge is the mean over so many of the last rounds."""

Take = Callable[[Rows], Any]


@dataclass(frozen=True)
class Choice:
    """A way to learn: its description, a function that makes the estimator, and the reason."""

    words: str
    make: Callable[..., Any]
    why: str
    rounds: int | None
    """The maximum number of rounds that was asked for."""
    of_texts: bool


def choose(
    *,
    texts: str | None,
    rows: int,
    several_labels: bool,
    rounds: int | None,
    quality: str = "auto",
    common: dict[str, Any],
) -> Choice:
    """Choose a way to learn by the kind of rows and labels.

    ``texts`` names the texts, if any.

    >>> choose(texts=None, rows=999, several_labels=False, rounds=None, common={}).words
    'trees by LogitBoost'
    """
    called = "AdaBoost.MH" if several_labels else "LogitBoost"
    common = common if rounds is None else {**common, "n_estimators": rounds}
    if texts:
        lists = partial(TextBoostClassifier, **common)
        return Choice(f"lists of words by {called}", lists, texts, rounds, True)
    common = {**common, "quality": quality}
    if several_labels:  # few rows could never be told apart
        common = {**common, "min_leaf_rows": max(1, min(20, rows // ROWS_PER_LEAF))}
    why = "rows have several labels" if several_labels else "the rows are a table"
    return Choice(f"trees by {called}", partial(BoostClassifier, **common), why, rounds, False)


@dataclass(frozen=True)
class Promise:
    """The request: an error of at most epsilon (None: as small as possible), with confidence."""

    epsilon: float | None
    delta: float
    weighted: bool = False
    """Whether rows are learned from with weights; mistakes are counted without them."""


class SearchOutcome(NamedTuple):
    """A classifier with its certificate and measurements."""

    estimator: Any
    certificate: Certificate | None
    evidence: FitMeasurements

    @property
    def value(self) -> float:
        """The certified error."""
        return 1.0 if self.certificate is None else self.certificate.value


def weights_of(
    sample_weight: Any, class_weight: Any, labels: NDArray[Any], roles: Roles
) -> NDArray[np.float64] | None:
    """Return the weights of the training rows, and 0 for those that certify.

    Balanced weights follow from how often classes occur, so certifying rows are left out.
    """
    rows, known = len(labels), roles.known
    read_weights(sample_weight, rows)  # raises where they are no weights
    given = 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    raw = np.broadcast_to(given, rows)[known]
    if class_weight is not None:
        raw = raw * class_weights(class_weight, labels[known])
    if read_weights(raw, known.size) is None:
        return None
    weights = np.zeros(rows)
    weights[known] = raw
    return weights


def set_apart(
    given: Reading,
    labels: NDArray[Any],
    ask: RolesAsk,
    copies: str,
) -> tuple[Roles, Promise, str]:
    """Divide the rows; also return why no rows certify, if so."""
    promise, rows, wished = Promise(ask.epsilon, ask.delta), len(labels), ask.chooses_threshold
    if wished and (given.groups is not None or given.time is not None):
        raise ParameterError(
            "recall and precision need independent rows; leave out either these or groups and time",
            parameter="recall",
        )
    if given.groups is not None and given.time is not None:
        raise ParameterError(
            "groups and time were both given; give one of them", parameter="groups"
        )
    if copies == "distinct" and (given.groups is not None or given.time is not None):
        raise ParameterError(
            "copies was given with groups or time, which already say how rows are divided; "
            "leave copies out",
            parameter="copies",
        )
    few = f"{rows} rows are too few to set any apart"
    if given.groups is not None:
        groups = numbered(np.asarray(given.groups), rows)
        few = f"{int(groups.max()) + 1} groups are too few to set any apart"
        return divide(Examples(rows, None), replace(ask, groups=groups)), promise, few
    if given.time is not None:
        times = ordered(np.asarray(given.time), rows)
        return divide(Examples(rows, None), replace(ask, times=times)), promise, few
    examples = Examples.from_rows(given.X, rows, copies)
    if examples.distinct:
        few = f"{examples.count} distinct rows are too few to set any apart"
    roles = divide(examples, ask)
    if roles.certify.size and not examples.distinct:
        take = partial(taking.taken, given.X)
        examples = compared(examples, take(roles.known), take(roles.certify))
        roles = replace(roles, examples=examples)
    return roles, promise, few


class EpsilonSearch:
    """Fits the candidate on parts of the rows; ``run`` gives estimator and certificate."""

    def __init__(
        self,
        choice: Choice,
        take: Take,
        labels: NDArray[Any],
        roles: Roles,
        promise: Promise,
        weights: NDArray[np.float64] | None = None,
        seconds: float | None = None,
    ) -> None:
        self._choice, self._take, self._labels = choice, take, labels
        self._roles, self._promise, self._weights = roles, promise, weights
        self._ends = math.inf if seconds is None else monotonic() + seconds

    @property
    def _may_look_early(self) -> bool:
        """Independent rows may be looked at twice; groups and rows in time only once."""
        return self._promise.epsilon is not None and self._roles.examples is not None

    def run(self) -> SearchOutcome:
        """Boost until epsilon is certified or more rounds can't help."""
        roles, promise = self._roles, self._promise
        scout = self._scout() if self._may_look_early and roles.certify.size else None
        first = None if scout is None else self._outcome(scout, LOOKS)
        if first is not None and first.value <= (promise.epsilon or 0):
            return first
        depend = roles.groups is not None or roles.in_time
        validate = roles.validate if roles.validate.size and depend else None
        fitted = self._fit(self._choice.make(), roles.known, validate=validate)
        last = self._outcome(fitted, 1 if first is None else LOOKS)
        return first if first is not None and first.value < last.value else last

    def _scout(self) -> Any:
        """Boost until the watching rows suggest a look at the certifying ones; else return None."""
        watch, labels, promise = self._roles.validate, self._labels, self._promise
        if self._weights is not None:
            watch = watch[self._weights[watch] > 0]
        if labels.ndim == 1:
            watch = watch[np.isin(labels[watch], np.unique(labels[self._roles.learn]))]
        if not watch.size:
            return None
        reached = f"the certificate reached {promise.epsilon:g}"

        def worth_a_look(entry: Round) -> bool:
            assert entry.validation is not None
            assert promise.epsilon is not None
            certifying = self._roles.certify.size
            return (
                likely(entry.validation, watch.size, certifying, promise.delta) <= promise.epsilon
            )

        estimator = self._choice.make(
            early_stopping=PATIENCE, eval_metric=rows_wrong, callbacks=[worth_a_look]
        )
        self._fit(estimator, self._roles.learn, 0.5, X_val=self._take(watch), y_val=labels[watch])
        model = estimator.model_
        if not worth_a_look(model.ledger.rounds[-1]):
            return None
        if not self._choice.of_texts and labels.ndim == 1 and watch.size >= MIN_ROWS:
            scores = estimator.decision_function(self._take(watch))
            numbers = np.searchsorted(model.classes, labels[watch])
            weights = None if self._weights is None else self._weights[watch]
            model = replace(
                model, calibration=calibration.fit(TEMPERATURE, scores, numbers, weights)
            )
        estimator.model_ = replace(model, ledger=replace(model.ledger, stopped=reached))
        return estimator

    def _outcome(self, estimator: Any, looks: int) -> SearchOutcome:
        """Count mistakes on the certifying rows, if any, and measure their causes."""
        rows, rounds = self._roles.certify, estimator.ledger_.rounds
        own = rounds[-1].training_error if rounds else 1.0
        evidence = FitMeasurements(len(rounds), own, weighted=self._promise.weighted)
        if not rows.size:
            return SearchOutcome(estimator, None, evidence)
        X, labels = self._take(rows), self._labels[rows]
        scores, wrong = estimator._judged(X, labels)
        decided = estimator.model_.decide(scores)
        probabilities = estimator.model_.probabilities(scores)
        counted = HeldOut.of(labels, decided, estimator.classes_, probabilities, wrong)
        estimator.model_ = replace(estimator.model_, held_out=counted)
        certificate = self._certificate(wrong, looks)
        if self._promise.weighted:
            certificate = certificate.counted_without_weights()
        if self._promise.epsilon is not None and certificate.value > self._promise.epsilon:
            # where the time was up, more rounds would have been done
            most = self._choice.rounds if monotonic() < self._ends else len(rounds)
            evidence = replace(evidence, **_measured(estimator, X, labels, most))
        return SearchOutcome(estimator, certificate, evidence)

    def _fit(
        self, estimator: Any, rows: Rows, share_of_time: float = 1.0, *,
        validate: Rows | None = None, **more: Any,
    ) -> Any:  # fmt: skip
        """Fit to rows; those in ``validate``, if given, are held back."""
        if self._ends < math.inf:
            estimator.time_limit = max(MIN_SECONDS, share_of_time * (self._ends - monotonic()))
        weights = None if self._weights is None else self._weights[rows]
        X, labels = self._take(rows), self._labels[rows]
        if validate is None:
            estimator.fit(X, labels, weights, **more)
        else:
            with checked_parameters(estimator):
                boost(estimator, FitData(X, labels, weights, validates=np.isin(rows, validate)))
        ledger = estimator.ledger_  # rows are named by their numbers among all, not in this fit
        hard = [replace(entry, row=int(rows[entry.row])) for entry in ledger.hard]
        estimator.model_ = replace(estimator.model_, ledger=replace(ledger, hard=hard))
        return estimator

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


def _measured(estimator: Any, X: Any, labels: NDArray[Any], rounds: int | None) -> dict[str, Any]:
    """Measure why the error is large, on rows that were not learned from.

    What a round adds to the scores is h. Under the weights |r| that the vote before it gave, its
    edge is Σ r·h / Σ |r|·|h| (r is label minus probability): when it has vanished, more rounds of
    this learner do not help.
    """
    model = estimator.model_
    known = labels if labels.ndim > 1 else labels[:, None] == model.classes
    edges, losses, before, chances = [], [], None, None
    for scores in estimator.staged_decision_function(X):
        if before is not None and chances is not None:
            added = scores - before
            pulled = (known - chances) * (added if added.ndim > 1 else added[:, None] * (-1, 1))
            whole = total(np.abs(pulled))
            edges.append(total(pulled) / whole if whole else 0.0)
        before, chances = scores, model.probabilities(scores)
        losses.append(-total(np.where(known, model.log_probabilities(scores), 0.0)))
    if chances is None:
        return {}
    doubt = np.minimum(chances, 1 - chances) if labels.ndim > 1 else 1 - chances.max(axis=1)
    return {
        "watching": len(labels),
        "edge": mean(np.array(edges[-LAST:])) if edges else 0.0,
        "expected_error": mean(doubt),
        "improving": rounds is not None and int(np.argmin(losses)) + 1 == len(losses) >= rounds,
    }
