"""What a fit is asked for: the parameters of an estimator, as values.

Classifiers, regressors and classifiers of texts differ in their ``Ask``, not in their path.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.fit.division import Apart, Certifying
from pacboost.fit.recipe import Candidate
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import ramp
from pacboost.models.model import Model
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.numerics.checks import real_number

AUTO, REFIT = "auto", "refit"
EvalMetric = str | Callable[..., float]
ClassWeight = str | Mapping[Any, float] | None


@dataclass(frozen=True)
class Stopping:
    """How a run is measured on validation rows, and when it stops."""

    eval_metric: EvalMetric
    patience: int | None
    """Rounds without progress after which a run stops; None for never."""
    needs_rows: bool = True
    """Whether validation rows without any weight are an error; else they are not measured."""


@dataclass(frozen=True, eq=False)
class FitRows:
    """The rows of a fit by their roles, read by one schema."""

    schema: Schema
    learn: LabelledRows
    """Rows that may be learned from; a trial or early stopping may hold some of them back."""
    classes: NDArray[Any]
    """The labels in order; none for numbers."""
    validate: LabelledRows | None = None
    """Further rows, which validate."""
    calibrate: LabelledRows | None = None
    # Unread, since reading needs levels and classes: they are read in the end, as new rows are.
    certify: Apart | None = None
    """Rows that nothing has looked at: mistakes are counted on them in the end."""
    measured: tuple[tuple[str, LabelledRows], ...] = ()
    """Further validation rows by name, which are only measured."""

    @property
    def has_several_labels(self) -> bool:
        """Whether a row may have several labels."""
        return self.learn.signs.shape[1] > 1 and self.learn.labels is None


class Chooser(ABC):
    """Chooses booster, learner and rounds from the parameters and the rows."""

    @abstractmethod
    def candidate(self, rows: FitRows, ask: Ask) -> Candidate:
        """Return what is boosted; values that are not set come from fit/settings.py."""


@dataclass(frozen=True)
class RunRecord:
    """What a fit must have in common with the previous one to continue its run."""

    parameters: dict[str, str]
    seed: int
    rows: str = ""
    """A digest of the rows that the model does not identify, and of what was chosen by rows."""
    vote: str = ""
    """The digest of the vote that the run left: a vote that was changed since is not continued."""
    looks: int | None = None
    """How often held-out rows were looked at: None without any, 0 if that took all of delta."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """The model of the previous fit, and its record."""

    model: Model
    record: RunRecord


@dataclass(frozen=True, eq=False)
class ValidationSet:
    """Validation rows that the user gave, unread."""

    name: str
    X: Any
    y: ArrayLike


@dataclass(frozen=True, eq=False)
class Ask:
    """The parameters of a fit."""

    chooser: Chooser
    columns: ColumnOptions
    seed: int
    stopping: Stopping
    certifying: Certifying = field(default_factory=Certifying)
    max_bins: int = 255
    quality: str = "auto"
    early_stopping: bool | int | str = False
    validation_fraction: float = 0.1
    validation_sets: tuple[ValidationSet, ...] = ()
    """The first one validates; the others are only measured."""
    validates: NDArray[np.bool_] | None = None
    """Which of the rows validate, where a caller knows groups or time."""
    class_weight: ClassWeight = None
    calibrate: str | None = None
    """The curve that is fitted to rows held back for it, AUTO for the slope that a trial finds."""
    predicts_numbers: bool = False
    is_measurable: bool = True
    """Whether "auto" can measure progress; a loss that only the user knows has no metric."""
    derive: bool = False
    """Whether a trial may add columns that are derived from others."""
    sets_rounds: bool = False
    """Whether the number of rounds was set, so that nothing but early stopping changes it."""
    warm_start: bool = False
    earlier: Earlier | None = None
    device: str = "cpu"
    n_jobs: int | None = None

    @property
    def is_auto(self) -> bool:
        """Check whether the number of rows decides if some are held back to stop early."""
        return isinstance(self.early_stopping, str) and self.early_stopping == AUTO

    def stops(self, rows: int, few_share: float) -> bool:
        """Check whether rows are held back to stop early, unless validation rows are given.

        ``few_share`` is the share that "auto" holds back if there are few rows.
        """
        if self.is_auto:
            return self.is_measurable and spared_share(rows, 1.0, few_share) > 0
        return bool(self.early_stopping)

    def held_share(self, rows: int, few_share: float) -> float:
        """Return the share of rows that is held back to stop early."""
        share = float(real_number("validation_fraction", self.validation_fraction))
        return spared_share(rows, share, few_share) if self.is_auto and 0 < share < 1 else share


def spared_share(rows: int, share: float, few_share: float) -> float:
    """Return the share that early_stopping="auto" holds back; it grows with the rows to ``share``.

    >>> [spared_share(rows, 0.1, 0.0) for rows in (1_000, 25_000, 30_000)]
    [0.0, 0.05, 0.1]
    """
    # stopping early by a tenth of few rows has 1.05 times the error of fixed rounds
    # (docs/decisions/0007), so that "auto" begins to stop at 20,000 rows
    return share * ramp(rows) + few_share
