"""Which booster and which learner: chosen from the data, delegated to the estimators there are.

What the rows are decides on the kind of learner, and how many there are on its settings; rows that
watch say how many rounds are best.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from pacboost.estimators.boosting.automatic import FEWEST, LEAST, Settings
from pacboost.estimators.boosting.boost import FEW_CLASSES, BoostClassifier
from pacboost.estimators.boosting.text import TextBoostClassifier
from pacboost.estimators.fitting.stopping import many

MOST_ROUNDS = 1000
"""Nothing is boosted longer; rows that watch mostly end it far earlier."""
PATIENCE, PATIENCE_OF_LISTS = 30, 50
"""Rounds without improvement on watching rows after which more can't help; at a rate below 0.1, in
proportion more of them."""
ROWS_PER_LEAF = 20
"""Leaves hold a twentieth of the rows at least, where that is fewer than usual."""


@dataclass(frozen=True)
class Candidate:
    """One way to learn: in words, and as a function that makes the estimator."""

    words: str
    make: Any


@dataclass(frozen=True)
class Choice:
    """The candidate to boost, why, and for how many rounds."""

    candidate: Candidate
    why: str
    rounds: int
    """The maximum number of rounds."""
    least: int
    """Of few rows, few can watch, and log loss rises before the error does: boost so long."""
    patience: int
    of_texts: bool = False


def choose(
    *,
    texts: str | None,
    rows: int,
    classes: int,
    several_labels: bool,
    rounds: int | None,
    weighted: bool,
    common: dict[str, Any],
) -> Choice:
    """Choose by what the rows are, how many there are, and how many labels they have.

    ``texts`` says what are texts, if something is.

    >>> asked = {"texts": None, "rounds": None, "weighted": False, "common": {}}
    >>> chosen = choose(rows=999, classes=2, several_labels=False, **asked)
    >>> chosen.candidate.words, chosen.candidate.make().subsample
    ('trees by LogitBoost', 0.8)
    """
    booster = "adaboost" if several_labels else "logit"
    called = "AdaBoost.MH" if several_labels else "LogitBoost"
    many_classes = classes > FEW_CLASSES
    if texts:
        lists = partial(TextBoostClassifier, booster=booster, **common)
        candidate = Candidate(f"lists of words by {called}", lists)
        return Choice(candidate, texts, rounds or MOST_ROUNDS, 0, PATIENCE_OF_LISTS, of_texts=True)
    make = partial(BoostClassifier, booster, "tree", **common)
    sampled = not (several_labels or weighted or rounds or rows < FEWEST)
    settings = Settings.of(rows, many_classes=many_classes)
    patience, least = PATIENCE, (1 - many(rows)) * (100 if many_classes else 180)
    if sampled:
        make = partial(make, shrinkage=settings.rate, subsample=settings.subsample)
        make = partial(make, l2=settings.l2, **settings.of_trees)
        patience = round(max(1.0, 0.1 / settings.rate) * PATIENCE)
        least = (1 - many(rows)) * settings.rounds * (1 if many_classes else LEAST)
    elif rows < ROWS_PER_LEAF**2:  # or few rows could never be told apart
        make = partial(make, min_leaf_rows=max(1, rows // ROWS_PER_LEAF))
    why = "rows have several labels" if several_labels else "the rows are a table"
    most = rounds or MOST_ROUNDS
    candidate = Candidate(f"trees by {called}", make)
    return Choice(candidate, why, most, min(most, round(least)), patience)
