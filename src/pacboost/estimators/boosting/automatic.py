"""The settings of BoostClassifier where none is given: by the number of rows, and by a trial.

Up to 20,000 rows each tree is grown on a part of the rows, and each split looks at a part of the
features. With few rows a trial comes first: most of the rows are boosted on, and the rest are
measured after each round. They say how many rounds are best and how steep the probabilities should
be; then all rows are boosted on. Larger tables need that less, so the trial is done with a share of
the rows that goes to none. What was tried: docs/decisions/0016-samples-and-a-trial.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pacboost.estimators.boosting.fit import PreparedFit, Recipe
from pacboost.estimators.fitting.parameters import many, named
from pacboost.estimators.inputs.division import TRIED
from pacboost.estimators.inputs.examples import LabelledRows, split_by_class
from pacboost.models import calibration
from pacboost.models.calibration import TEMPERATURE, Calibration

FEWEST = 100
"""With fewer rows nothing is sampled and nothing tried."""
ALL_TRIED, NONE_TRIED = 5_000, 12_500
"""A trial has all rows up to the first number, and none from the second on."""
HELD = 0.2
"""The share of the rows of a trial that is measured."""
LEAST = 0.5
"""A trial leaves at least such a share of the rounds: few rows may ask for an end too early. With
more than three classes it leaves them all."""
MOST = 2
"""A trial may have so many times the rounds, as long as the log loss of its rows goes down."""
GIVEN = (
    "n_estimators", "learning_rate", "subsample", "max_leaves",
    "max_depth", "min_leaf_rows", "max_features", "l2",
)  # fmt: skip
"""Whoever sets one of these has settings of their own, which nothing here changes."""
UNCHANGED = {"early_stopping": "auto", "eval_metric": "log_loss", "warm_start": False}


def is_automatic(estimator: Any, examples: LabelledRows) -> bool:
    """Check whether nothing is set that the number of rows or a trial could choose.

    Rows with weights are not sampled: a row of weight 2 has to count as two equal rows do.
    """
    given = any(getattr(estimator, name) is not None for name in GIVEN)
    choices = named(estimator.booster) == ("logit", {}) and named(estimator.learner) == ("tree", {})
    changed = any(getattr(estimator, name) != usual for name, usual in UNCHANGED.items())
    enough = examples.n_rows >= FEWEST and examples.weights is None
    return choices and enough and not given and not changed and not estimator.several_labels_


def tried(rows: int) -> float:
    """Return the share of the rows that a trial has: 1 for few, 0 for many.

    >>> [tried(rows) for rows in (99, 100, 5_000, 8_750, 12_500, 10**6)]
    [0.0, 1.0, 1.0, 0.5, 0.0, 0.0]
    """
    if rows < FEWEST:
        return 0.0
    return min(1.0, max(0.0, (NONE_TRIED - rows) / (NONE_TRIED - ALL_TRIED)))


@dataclass(frozen=True)
class Settings:
    """What is set by the number of rows."""

    rounds: int
    rate: float
    subsample: float
    max_features: float
    min_leaf_rows: int
    l2: float

    @property
    def of_trees(self) -> dict[str, float]:
        """What the learner of trees is given."""
        return {"max_features": self.max_features, "min_leaf_rows": self.min_leaf_rows}

    @classmethod
    def of(cls, rows: int, *, many_classes: bool) -> Settings:
        """Choose by the number of rows; from 30,000 on all rows and features are used.

        >>> Settings.of(1_000, many_classes=False)
        Settings(rounds=300, rate=0.05, subsample=0.8, max_features=0.5, min_leaf_rows=5, l2=3.0)
        >>> Settings.of(30_000, many_classes=False)
        Settings(rounds=180, rate=0.2, subsample=1.0, max_features=1.0, min_leaf_rows=20, l2=1.0)
        """
        large, some = many(rows), tried(rows)
        if many_classes:
            rate = round(0.06 + 0.14 * large, 4)
            return cls(round(300 + 33 * some - 120 * large), rate, 1.0, 0.5, 20, 1.0)
        rate = 0.1 - 0.05 * some
        return cls(
            round(180 + 120 * some),
            round(rate + (0.2 - rate) * large, 4),
            round(0.8 + 0.2 * large, 4),
            round(0.5 + 0.5 * large, 4),
            round(5 + 15 * large),
            round(3 - 2 * large, 4),
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """The rows that are boosted on in a trial, those that are measured, and its recipe."""

    learned: LabelledRows
    held: LabelledRows
    recipe: Recipe
    trusted: float
    """How far the slope moves from what scores mean without calibration to what the trial finds."""

    @classmethod
    def of(
        cls, examples: LabelledRows, recipe: Recipe, seed: int, *, all_rounds: bool
    ) -> Trial | None:
        """Draw the rows of a trial; None with too many rows, or too few of a class."""
        share = tried(examples.n_rows)
        if share == 0:
            return None
        some = examples
        if share < 1:
            _, some = split_by_class(examples, "the share of a trial", share, seed + TRIED)
        learned, held = split_by_class(some, "the share of a trial", HELD, seed)
        classes = np.unique(examples.classes()).size
        if any(np.unique(part.classes()).size < classes for part in (learned, held)):
            return None
        least = most = 1.0
        trusted = min(1.0, 2 * share)
        if not all_rounds:
            least, most = 1 - (1 - LEAST) * share, 1 + (MOST - 1) * share
            trusted = share
        rounds, fewest = round(most * recipe.rounds), round(least * recipe.rounds)
        return cls(learned, held, replace(recipe, rounds=rounds, least=fewest), trusted)

    def temperature(self, scout: PreparedFit) -> Calibration:
        """Find how steep the probabilities of rows that were not boosted on should be.

        A trial on a part of the rows fits them more closely than the fit that follows fits all, so
        the slope moves by a part of the way. With more than three classes scores are too steep by
        more than that, and half of the rows are enough to be trusted.
        """
        scores = scout.run.vote().scores(self.held.table)
        found = calibration.fit(TEMPERATURE, scores, self.held.classes()).slope
        assert found is not None
        usual = 2.0 if scores.ndim == 1 else 1.0
        return Calibration(TEMPERATURE, (), usual + self.trusted * (found - usual))
