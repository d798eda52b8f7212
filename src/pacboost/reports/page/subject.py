"""The contents of a page: a model, and its predictions for labelled rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.registry import BOOSTERS, LOSSES
from pacboost.errors import NotCertified
from pacboost.hypotheses.decision import votes_within
from pacboost.learners.registry import LEARNERS
from pacboost.ledgers.ledger import Ledger
from pacboost.models.model import Model
from pacboost.models.training_claim import training_certificate
from pacboost.numerics.same_bits import mean_of
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.table import Table

if TYPE_CHECKING:
    from pacboost.bounds.answering import Answering
    from pacboost.bounds.certificate import Certificate
    from pacboost.bounds.decision import ThresholdDecision
    from pacboost.bounds.family import Family
    from pacboost.bounds.held_out import HeldOut

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


@dataclass(frozen=True, eq=False)
class Subject:
    """A model with its certificates and importances."""

    model: Model
    kind: str
    certificates: tuple[Certificate, ...]
    refusal: str
    """Why there is no certificate for new examples; empty if there is one."""
    importances: NDArray[np.float64]
    table: Table | None = None
    """The rows of the report, for the curves of a forest."""
    held_out: HeldOut | None = None
    decision: ThresholdDecision | None = None
    answering: Answering | None = None
    certified: tuple[Certificate | Family, ...] = ()
    """Other certificates, by further rows."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes; empty for regressors."""
        return tuple(self.model.label_names)

    @property
    def beside(self) -> Certificate | None:
        """The certificate of answers, prediction sets or intervals, if any."""
        if self.answering is not None and self.answering.chosen is not None:
            return self.answering.certificate
        coverage = self.model.coverage
        return None if coverage is None else coverage.certificates[0]


def subject_of(model: Model, refusal: str = "", table: Table | None = None) -> Subject:
    """Describe a vote or a forest; ``table`` has the rows of the report, if any."""
    certificates = [] if model.certificate is None else [model.certificate]
    ledger, votes = model.ledger, [model.vote]
    if model.forest:
        refusal = refusal or "no rows were held out, and none outside the bags were used"
    else:
        try:
            refusal, trained = "", training_certificate(model)
            if model.certificate is None or model.certificate.bound != trained.bound:
                certificates.append(trained)
        except NotCertified as problem:
            refusal = str(problem)
        if ledger.potential == "none":
            votes = [vote for rule in model.vote.hypotheses for vote in votes_within(rule)]
    learner_class = LEARNERS.get(ledger.learner)
    learner = (learner_class and learner_class.plural) or ledger.learner
    named = BOOSTERS.get(ledger.booster) or LOSSES.get(ledger.booster)
    title = (named and named.title) or ledger.booster.replace("_", " ").capitalize()
    kind = KINDS.get(ledger.booster, title)
    try:
        shares = [replace(model, vote=vote).importances() for vote in votes]
    except (AttributeError, TypeError, ValueError):  # black boxes may have no importances
        shares = []
    return Subject(
        model=model, kind=f"{kind} over {learner}" if learner else kind,
        certificates=tuple(certificates), refusal=refusal,
        importances=(mean_of(shares) if shares else np.zeros(model.n_features)), table=table,
        held_out=model.held_out, answering=model.answering,
    )  # fmt: skip


def uncertified(ledger: Ledger) -> tuple[str, str, str]:
    """Return the introduction of a classifier without certificates, and the next call."""
    fitted = f"Fitted on {ledger.rows:,} rows. " if ledger.rows else ""
    return fitted, "Nothing is certified yet", "pacboost.certify(model, X_new, y_new)"


def mixed(model: Model) -> bool:
    """Return whether the model reads texts together with numbers and categories."""
    return isinstance(model.text, MixedFeatures)


Doubles = NDArray[np.float64]
Wholes = NDArray[np.int64]
Cells = tuple[tuple[str, str], ...]

TRAINED = "Many of these rows are training rows: their results are too optimistic for new rows."


@dataclass(frozen=True)
class Shown:
    """One row with its label and its prediction."""

    row: int
    label: str
    predicted: str
    margin: float
    """The margin, or the error of a regressor."""
    cells: Cells
    """Its most important columns and their values, or its text under an empty name."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Labelled rows and the predictions of a classifier."""

    labels: Wholes
    """The class number of each row; with several labels, 0 and 1 of shape (rows, labels)."""
    predictions: Wholes
    """The predictions, in the same form."""
    wrong: NDArray[np.bool_]
    probabilities: Doubles
    """(rows, classes)."""
    margins: Mapping[int, Doubles]
    """Margins of rows by round; the last round is always included."""
    shown: tuple[Shown, ...]
    """The hardest rows first."""
    has_training_rows: bool = False
    """Whether more of them are training rows than expected by chance."""
    stages: str = "round"
    """The unit of the keys of ``margins``."""

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def error(self) -> float:
        """The share of wrong predictions, ties included."""
        return float(self.wrong.mean())

    @property
    def several(self) -> bool:
        """Whether a row may have several labels."""
        return self.labels.ndim == 2

    @property
    def commonest(self) -> tuple[int, float]:
        """The most common class, and the error of always predicting it."""
        counts = np.bincount(self.labels)
        return int(counts.argmax()), float(1 - counts.max() / self.rows)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Labelled rows and the predictions of a regressor."""

    labels: Doubles
    predictions: Doubles
    shown: tuple[Shown, ...] = field(default_factory=tuple)
    has_training_rows: bool = False

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.labels.size


Rows = Evidence | Numbers | None
