"""The automatic values of parameters of boosted trees, and the trial that chooses the rounds.

Every parameter that is not set has the value of ``Settings``, whatever the others are. A trial
comes first: most of the rows are boosted on, and the rest are measured after each round. They say
how many rounds are best and how steep the probabilities should be; then all rows are boosted on,
unless the rest are a small share of them. What was tried: docs/decisions/0016, 0027 and 0028.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pacboost.estimators.fitting import parameters
from pacboost.estimators.fitting.parameters import ramp
from pacboost.estimators.inputs.examples import LabelledRows, split_by_class
from pacboost.hypotheses.vote import Vote
from pacboost.models import calibration
from pacboost.models.calibration import TEMPERATURE

FEWEST, FEW = 40, 80
"""Up to the first number of rows nothing is sampled and nothing tried, from the second on all is as
it is for small tables."""
HELD, MOST_HELD = 0.2, 10_000
"""The share of the rows of a trial that is measured, and how many at most."""
LEAST, LONGEST = 20, 100
"""The fewest rounds that a trial may choose, and what the most times the learning rate is: noisy
labels want few, clear ones many."""
ROWS_PER_LEAF = 20
"""The smallest leaf has one row for so many rows of the table, up to 5 or 20."""
FEW_CLASSES, SMALL, LARGE = 3, 16, 127
"""With more classes, trees have the first number of leaves; a trial may find that 16 for each class
are better, up to the second number, which many rows need."""
FAST = 100
"""The rounds of quality="fast", which has no trial."""
COLUMNS_TRIED = 5
"""A split of a tree for numbers looks at so many columns at least: few have to be seen together."""


@dataclass(frozen=True)
class Settings:
    """The automatic values for a number of rows, by the names of the parameters.

    >>> Settings.of(1_000, 2)  # doctest: +NORMALIZE_WHITESPACE
    Settings(n_estimators=300, learning_rate=0.05, subsample=0.8, max_leaves=16, max_features=0.5,
             min_leaf_rows=5, l2=3.0, tried=0.2, trusted=1.0, least=20, most=2000, larger=0)
    >>> Settings.of(30_000, 2)  # doctest: +NORMALIZE_WHITESPACE
    Settings(n_estimators=300, learning_rate=0.1, subsample=0.8, max_leaves=31, max_features=0.5,
             min_leaf_rows=5, l2=3.0, tried=0.2, trusted=1.0, least=20, most=1000, larger=0)
    """

    n_estimators: int
    learning_rate: float
    subsample: float
    max_leaves: int
    max_features: float
    min_leaf_rows: int
    l2: float
    tried: float
    """The share of the rows that a trial measures; 0 for no trial."""
    trusted: float
    """How far the slope moves from what scores mean without calibration to what the trial finds."""
    least: int
    most: int
    """The fewest and the most rounds that a trial may choose."""
    larger: int = 0
    """The leaves of larger trees, which a trial may prefer."""

    @classmethod
    def of(
        cls, rows: int, classes: int, *, logistic: bool = True, quality: str = "auto"
    ) -> Settings:
        """Return the values, which change in proportion to the rows between few and many.

        Boosters of another loss than the logistic have trees of all rows, and no trial.
        """
        large, many_classes = ramp(rows), classes > FEW_CLASSES
        few = max(1, rows // ROWS_PER_LEAF)
        most_leaves = min(LARGE, SMALL * classes) if many_classes else 31
        few_rounds_rate = round(0.1 + 0.1 * large, 4)
        plain = large if quality == "fast" else 0.0  # few trees of many rows are best whole
        if not logistic:
            rounds = round(100 + 80 * large) if many_classes else 180
            rate, features = few_rounds_rate, 0.5 if many_classes else 1.0
            made = cls(rounds, rate, 1.0, most_leaves, features, 20, 1.0, 0.0, 0.0, rounds, rounds)
            return made._fast(rate) if quality == "fast" else made
        enough = ramp(rows, FEWEST, FEW)
        if many_classes:
            rounds, rate, leaf, l2, features = 333, 0.06, 20, 1.0, 0.5
            leaves = round(SMALL + (most_leaves - SMALL) * large)
        else:
            rounds, rate, leaf, l2 = 300, 0.05, round(5 + 15 * plain), round(3 - 2 * plain, 4)
            leaves, features = leaves_of(rows), 0.5 + 0.5 * plain
        rate = round(rate + (0.1 - rate) * large, 4)
        least, most = (round(rounds + (end - rounds) * enough) for end in (LEAST, LONGEST / rate))
        made = cls(
            rounds,
            rate,
            round(1 - 0.2 * enough * (1 - plain), 4),
            leaves if quality != "fast" else most_leaves,
            round(1 - (1 - features) * enough, 4),
            min(leaf, few),
            l2,
            HELD if enough else 0.0,
            enough,
            least,
            most,
            larger=most_leaves if many_classes else 0,
        )
        if quality == "fast":
            return made._fast(few_rounds_rate)
        steps = parameters.SMALLER_STEPS if quality == "best" else 1
        return replace(
            made, n_estimators=steps * rounds, learning_rate=rate / steps,
            least=steps * least, most=steps * most,
        )  # fmt: skip

    def _fast(self, rate: float = 0.1) -> Settings:
        """Return the values of quality="fast".

        >>> fast = Settings.of(1_000, 2, quality="fast")
        >>> fast.n_estimators, fast.learning_rate, fast.tried
        (100, 0.1, 0.0)
        """
        return replace(
            self, n_estimators=FAST, learning_rate=rate, tried=0.0, trusted=0.0, least=FAST,
            most=FAST,
        )  # fmt: skip

    def of_glass(self, pairs: int, quality: str, *, stops: bool = True) -> Settings:
        """Return the values of trees of single columns and chosen pairs: small ones, and many.

        If no rows say when to stop, the rounds stay as they are.
        """
        small = replace(self, max_leaves=6 if pairs else 4, max_features=0.25, larger=0)
        if quality == "fast" or not stops:
            return small
        steps = parameters.SMALLER_STEPS if quality == "best" else 1
        return replace(small, learning_rate=0.1 / steps, most=steps * 2000)

    @classmethod
    def for_numbers(
        cls, rows: int, columns: int, *, trees: bool = True, leaf: int = 3, quality: str = "auto"
    ) -> Settings:
        """Return the values of trees that predict numbers; other learners have no trial.

        ``leaf`` is the least number of rows in a leaf of small tables.

        >>> Settings.for_numbers(1_000, 8)  # doctest: +NORMALIZE_WHITESPACE
        Settings(n_estimators=300, learning_rate=0.05, subsample=0.7, max_leaves=16,
                 max_features=0.625, min_leaf_rows=3, l2=3.0, tried=0.2, trusted=0.0, least=1,
                 most=2000, larger=0)
        """
        large = ramp(rows)
        if not trees:
            rounds = round(100 + 200 * large)
            made = cls(100, 0.1, 1.0, 31, 1.0, 20, 0.0, 0.0, 0.0, 1, rounds)
            return made._fast() if quality == "fast" else made
        few = ramp(rows, FEWEST, FEW) * (1 - large)
        features = max(0.5, min(1.0, COLUMNS_TRIED / columns))
        steps = parameters.SMALLER_STEPS if quality == "best" else 1
        made = cls(
            n_estimators=steps * round(300 - 200 * large),
            learning_rate=round(0.05 + 0.05 * large, 4) / steps,
            subsample=round(1 - 0.3 * few, 4),
            max_leaves=leaves_of(rows),
            max_features=round(1 - (1 - features) * few, 4),
            min_leaf_rows=min(round(leaf + (20 - leaf) * large), max(1, rows // ROWS_PER_LEAF)),
            l2=round(3 * few, 4),
            tried=round(HELD * few, 4),
            trusted=0.0,
            least=1,
            most=steps * 2000,
        )
        return made._fast() if quality == "fast" else made


def leaves_of(rows: int) -> int:
    """Return how many leaves a tree has that so many rows can bear.

    >>> [leaves_of(rows) for rows in (100, 1_000, 5_000)]
    [8, 16, 31]
    """
    return round(min(31, max(8, sqrt(rows) / 2)))


def rows_of_a_trial(
    examples: LabelledRows, seed: int, watching: NDArray[np.bool_] | None = None
) -> tuple[LabelledRows, LabelledRows] | None:
    """Draw the rows that are boosted on, and those that are measured; None if a class is rare.

    ``watching`` says which are measured, where that is not left to chance.
    """
    if watching is None:
        held_share = min(HELD, MOST_HELD / examples.n_rows)
        parts = split_by_class(examples, "the share of a trial", held_share, seed)
    else:
        parts = examples.divided(watching)
    learned, held = parts
    return parts if can_measure(held, learned) else None


def can_measure(held: LabelledRows, examples: LabelledRows) -> bool:
    """Check whether held-back rows can say how steep probabilities are: ten, of every class."""
    classes = [np.unique(part.classes()).size for part in (held, examples)]
    return classes[0] == classes[1] and held.n_rows >= calibration.FEWEST_ROWS


def steepness(held: LabelledRows, trusted: float, vote: Vote) -> float:
    """Find how steep the probabilities of rows that were not boosted on should be.

    A trial on a part of the rows fits them more closely than the fit that follows fits all, so the
    slope moves by a part of the way. With more than three classes scores are too steep by more than
    that, and half of the rows are enough to be trusted.
    """
    scores = vote.scores(held.table)
    slope = calibration.fit(TEMPERATURE, scores, held.classes(), held.weights).slope
    assert slope is not None
    usual = 2.0 if scores.ndim == 1 else 1.0
    return usual + trusted * (slope - usual)
