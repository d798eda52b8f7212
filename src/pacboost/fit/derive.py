"""Which columns may be derived from others, and which of them trees use most."""

from __future__ import annotations

import numpy as np

from pacboost.fit.recipe import Recipe
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import (
    COLUMNS_TO_DERIVE_FROM,
    MAX_DERIVED,
    MIN_ROWS_TO_DERIVE,
    ROUNDS_OF_A_HEAT,
    ROWS_OF_A_SEARCH,
)
from pacboost.learners.tree import Tree
from pacboost.sources.derived import DerivedColumn, derivable
from pacboost.training.run.loop import Run


def is_possible(recipe: Recipe, run: Run) -> bool:
    """Check whether a trial may derive columns."""
    learner, table = recipe.learner, run.sample.table
    # a derived column is no single one, and need not rise where its columns do
    free = isinstance(learner, Tree) and not learner.monotone and learner.interactions is None
    plain = table.entries is None and not recipe.openings and recipe.pairs is None
    enough = table.n_rows >= MIN_ROWS_TO_DERIVE and recipe.rounds >= ROUNDS_OF_A_HEAT
    is_measured = run.watch is not None and run.sample.bins is not None
    return free and plain and enough and is_measured and not recipe.derived


def candidates(run: Run) -> tuple[DerivedColumn, ...]:
    """Return columns derived from the columns of numbers that were most useful."""
    bins = run.sample.bins
    assert bins is not None
    gains = run.vote().gains(run.sample.table.n_columns)
    gains[(bins.levels > 0) | (bins.sizes < 2)] = 0
    order = np.argsort(-gains, kind="stable")[:COLUMNS_TO_DERIVE_FROM]
    return derivable(sorted(j for j in order.tolist() if gains[j] > 0))


def searched(rows: LabelledRows) -> LabelledRows:
    """Return the rows of a search, evenly spread over those that count."""
    counting = rows.counting()
    size = min(counting.n_rows, ROWS_OF_A_SEARCH)
    return counting.take(np.linspace(0, counting.n_rows - 1, size).astype(np.intp))


def most_used(run: Run, derived: tuple[DerivedColumn, ...]) -> tuple[DerivedColumn, ...]:
    """Return the derived columns of a run that were most useful."""
    gains = run.vote().gains(run.sample.table.n_columns)[-len(derived) :]
    order = np.argsort(-gains, kind="stable")[:MAX_DERIVED]
    return tuple(derived[j] for j in order.tolist() if gains[j] > 0)
