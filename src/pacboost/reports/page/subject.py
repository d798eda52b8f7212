"""The subject of a page: what is known about a model of any kind, in one form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.registry import BOOSTERS, LOSSES
from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverage import IntervalRule, SetRule
from pacboost.bounds.decision import ThresholdDecision
from pacboost.bounds.family import Family
from pacboost.bounds.held_out import HeldOut
from pacboost.bounds.training import training_error
from pacboost.errors import NotCertified
from pacboost.hypotheses.majority import votes_within
from pacboost.ledgers.ledger import Ledger
from pacboost.models.model import Model
from pacboost.numerics.same_bits import mean_of
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.table import Table

KINDS = {
    "three_way": "Boosting by three oracles",
    "three_learners": "Majority of three learners",
    "majority_of": "Majority of boosters",
    "subsampled": "Subsampled boosting",
    "bagged": "Bagged boosting",
    "random_forest": "Random forest",
    "extra_trees": "Extremely randomised trees",
}
"""Titles of models that are not one booster; boosters have titles in their classes."""
LEARNERS = {"Stump": "stumps", "Tree": "trees", "Words": "word lists"}


@dataclass(frozen=True, eq=False)
class Subject:
    """What is known about a model without any rows."""

    model: Model
    kind: str
    certificates: tuple[Certificate, ...]
    refusal: str
    """Why there is no certificate about new examples, if there is none."""
    importances: NDArray[np.float64]
    table: Table | None = None
    """Rows that were given, for the curves of a forest."""
    held_out: HeldOut | None = None
    """What was counted on the certifying rows besides mistakes, if rows were held out."""
    decision: ThresholdDecision | None = None
    """A threshold that was chosen with a guarantee."""
    answering: Answering | None = None
    certified: tuple[Certificate | Family, ...] = ()
    """What else was certified by further rows."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Empty for numbers."""
        return tuple(self.model.label_names)

    @property
    def names(self) -> tuple[str, ...]:
        """What columns are called."""
        return self.model.column_names

    @property
    def ledger(self) -> Ledger:
        """What the loop measured."""
        return self.model.ledger

    @property
    def coverage(self) -> SetRule | IntervalRule | None:
        """Prediction sets or intervals that were calibrated."""
        return self.model.coverage

    @property
    def beside(self) -> Certificate | None:
        """What is certified of answers, or of sets or intervals, if nothing else is."""
        if self.answering is not None and self.answering.chosen is not None:
            return self.answering.certificate
        return None if self.coverage is None else self.coverage.certificates[0]

    @property
    def text(self) -> bool:
        """Whether it reads texts."""
        return self.model.text is not None


def subject_of(model: Model, refusal: str = "", table: Table | None = None) -> Subject:
    """Describe a vote or a forest; ``table`` holds the rows that were given, if some were."""
    certificates = [] if model.certificate is None else [model.certificate]
    ledger, votes = model.ledger, [model.vote]
    if model.forest:
        refusal = refusal or "no rows were held out, and none outside the bags were used"
    else:
        try:
            refusal, trained = "", training_error(ledger)
            if model.certificate is None or model.certificate.bound != trained.bound:
                certificates.append(trained)
        except NotCertified as problem:
            refusal = str(problem)
        if ledger.potential == "none":
            votes = [vote for rule in model.vote.hypotheses for vote in votes_within(rule)]
    learner = LEARNERS.get(ledger.learner, ledger.learner)
    named = BOOSTERS.get(ledger.booster) or LOSSES.get(ledger.booster)
    title = (named and named.title) or ledger.booster.replace("_", " ").capitalize()
    kind = KINDS.get(ledger.booster, title)
    try:
        shares = [replace(model, vote=vote).importances() for vote in votes]
    except (AttributeError, TypeError, ValueError):  # black boxes may know of no importances
        shares = []
    return Subject(
        model=model,
        kind=f"{kind} over {learner}" if learner else kind,
        certificates=tuple(certificates),
        refusal=refusal,
        importances=(mean_of(shares) if shares else np.zeros(model.n_features)),
        table=table,
        held_out=model.held_out,
        answering=model.answering,
    )


def mixed(model: Model) -> bool:
    """Whether texts stand beside numbers and categories, which are asked for as words are."""
    return isinstance(model.text, MixedFeatures)


# Predictions for labelled rows: estimators compute them, the page draws them.

Doubles = NDArray[np.float64]
Wholes = NDArray[np.int64]
Cells = tuple[tuple[str, str], ...]

TRAINED = (
    "Many of these rows are training rows: what they show is too optimistic, and says little "
    "about new rows."
)
"""Said wherever numbers come from rows that the model was trained on."""


@dataclass(frozen=True)
class Shown:
    """One row that is shown in words."""

    row: int
    label: str
    said: str
    margin: float
    """For regressors, the error."""
    cells: Cells
    """Its most important columns and their values, or its text under an empty name."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Labelled rows and the predictions of a classifier."""

    own: Wholes
    """The number of the class of each row; with several labels (rows, labels) of 0 and 1."""
    said: Wholes
    """The predictions, in the same form."""
    wrong: NDArray[np.bool_]
    probabilities: Doubles
    """(rows, classes)."""
    margins: Mapping[int, Doubles]
    """After some rounds, of all or some rows; after the last one at least."""
    shown: tuple[Shown, ...]
    """The hardest first."""
    seen: bool = False
    """Whether more of them are training rows than chance explains."""
    stages: str = "round"
    """What margins are counted by."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.own)

    @property
    def error(self) -> float:
        """The share that is wrong, ties counted."""
        return float(self.wrong.mean())

    @property
    def several(self) -> bool:
        """Whether a row may have several labels."""
        return self.own.ndim == 2

    @property
    def commonest(self) -> tuple[int, float]:
        """The most common class, and the error of always predicting it."""
        counts = np.bincount(self.own)
        return int(counts.argmax()), float(1 - counts.max() / self.rows)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Labelled rows and the predictions of a regressor."""

    own: Doubles
    said: Doubles
    shown: tuple[Shown, ...] = field(default_factory=tuple)
    seen: bool = False

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.own.size


Rows = Evidence | Numbers | None
