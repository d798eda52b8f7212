"""Which booster and which learner: chosen from the data, delegated to the estimators there are.

What the rows are decides on the kind of learner. Where it is cheap to try, trees of two sizes are
boosted, and the rows that watch say which of them learn better. The second size is tried on a share
of the rows that shrinks as their number grows, so that neither time nor accuracy jumps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from pacboost.estimators.boosting.boost import FEW_CLASSES, BoostClassifier
from pacboost.estimators.boosting.text import TextBoostClassifier
from pacboost.estimators.fitting.stopping import many

MOST_ROUNDS, MOST_ROUNDS_OF_MANY = 1000, 600
"""Nothing is boosted longer, and nothing with many classes, whose trees are large; rows that watch
mostly end it far earlier."""
PATIENCE, PATIENCE_OF_LISTS = 30, 50
"""Rounds without improvement on watching rows after which more can't help."""
SMALL_TREE = 8
FEWEST_TO_TRY = 1000
"""A candidate is not tried on fewer rows than so many, unless there are no more."""
ROWS_PER_LEAF = 20
"""Leaves hold a twentieth of the rows at least, where that is fewer than so many."""


@dataclass(frozen=True)
class Candidate:
    """One way to learn: in words, and as a function that makes the estimator."""

    words: str
    make: Any
    share: float = 1.0
    """The share of the rows to learn from that it is tried on."""
    seed: int = 0
    """Of the draw of these rows."""


@dataclass(frozen=True)
class Choice:
    """The candidates to try, why, and for how many rounds."""

    candidates: tuple[Candidate, ...]
    why: str
    rounds: int
    """The maximum number of rounds."""
    least: int
    """Of few rows, few can watch, and log loss rises before the error does: boost so long."""
    patience: int


def choose(
    *,
    texts: str | None,
    rows: int,
    classes: int,
    several_labels: bool,
    rounds: int | None,
    common: dict[str, Any],
) -> Choice:
    """Choose by what the rows are, how many there are, and how many labels they have.

    ``texts`` says what are texts, if something is.

    >>> chosen = choose(
    ...     texts=None, rows=999, classes=2, several_labels=False, rounds=None, common={}
    ... )
    >>> [candidate.words for candidate in chosen.candidates]
    ['trees by LogitBoost', 'trees of at most 8 leaves by LogitBoost']
    """
    booster = "adaboost" if several_labels else "logit"
    called = "AdaBoost.MH" if several_labels else "LogitBoost"
    many_classes, share = classes > FEW_CLASSES, 1 - many(rows)
    if texts:
        lists = partial(TextBoostClassifier, booster=booster, **common)
        candidate = Candidate(f"lists of words by {called}", lists)
        return Choice((candidate,), texts, rounds or MOST_ROUNDS, 0, PATIENCE_OF_LISTS)
    make = partial(BoostClassifier, booster, "tree", **common)
    if rows < ROWS_PER_LEAF**2:  # or few rows could never be told apart
        make = partial(make, min_leaf_rows=max(1, rows // ROWS_PER_LEAF))
    trees = [Candidate(f"trees by {called}", make)]
    if not (share * rows < min(rows, FEWEST_TO_TRY) or many_classes or several_labels):
        smaller = f"trees of at most {SMALL_TREE} leaves by {called}"
        small = partial(make, max_leaves=SMALL_TREE)
        trees.append(Candidate(smaller, small, share, common.get("random_state", 0)))
    why = "rows have several labels" if several_labels else "the rows are a table"
    most = rounds or (MOST_ROUNDS_OF_MANY if many_classes else MOST_ROUNDS)
    least = min(most, round((1 - many(rows)) * (100 if many_classes else 180)))
    return Choice(tuple(trees), why, most, least, PATIENCE)
