"""Which columns may be derived from others, and which of them trees use most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pacboost.fit.ask import Ask, FitRows
from pacboost.fit.recipe import Candidate, Recipe
from pacboost.fit.rows import LabelledRows
from pacboost.fit.settings import (
    COLUMNS_TO_DERIVE_FROM,
    MAX_DERIVED,
    MIN_ROWS_TO_DERIVE,
    ROUNDS_OF_A_HEAT,
    ROWS_OF_A_SEARCH,
)
from pacboost.learners.tree import Tree
from pacboost.sources.derived import DerivedColumn, DerivedTable, derivable
from pacboost.sources.level_means import LearningRows, LevelMeans, level_means
from pacboost.sources.table import Table
from pacboost.training.run.loop import Run


def is_possible(recipe: Recipe, run: Run) -> bool:
    """Check whether a trial may derive columns."""
    is_measured = run.watch is not None and run.sample.bins is not None
    enough = recipe.rounds >= ROUNDS_OF_A_HEAT
    new = all(isinstance(column, LevelMeans) for column in recipe.derived)
    return (
        is_measured
        and enough
        and new
        and not recipe.openings
        and _is_free(recipe, run.sample.table)
    )


def _is_free(recipe: Recipe, table: Table) -> bool:
    # a derived column is no single one, and need not rise where its columns do
    learner = recipe.learner
    free = isinstance(learner, Tree) and not learner.monotone and learner.interactions is None
    return (
        free
        and table.n_rows >= MIN_ROWS_TO_DERIVE
        and table.entries is None
        and recipe.interactions is None
    )


def known_before(rows: FitRows, first: Candidate, ask: Ask) -> tuple[FitRows, Candidate]:
    """Return rows and candidate with the derived columns that no trial has to find.

    These are means of the levels of categories that have too many, and what an earlier fit has.
    """
    learn, earlier = rows.learn, () if ask.earlier is None else ask.earlier.model.schema.derived
    one_number = learn.labels is None and learn.signs.shape[1] == 1 and rows.schema.text is None
    others = tuple(column for column in earlier if not isinstance(column, LevelMeans))
    if not (ask.derive and one_number and _is_free(first.recipe, learn.table)):
        return rows, first.having(derived=others)
    targets = (learn.signs[:, 0] > 0) * 1.0 if learn.targets is None else learn.targets
    columns, means = [], {}
    for column in sorted(rows.schema.levels.columns):
        result = level_means(learn.table, column, targets, learn.weights, ask.seed)
        if result is not None:
            columns.append(result[0])
            means[column] = result[1]
    if columns:
        learn = replace(learn, table=LearningRows(learn.table, means))
    return replace(rows, learn=learn), first.having(derived=(*columns, *others))


def candidates(run: Run) -> tuple[DerivedColumn, ...]:
    """Return columns derived from the columns of numbers that were most useful."""
    bins = run.sample.bins
    assert bins is not None
    table = run.sample.table
    means = table.derived if isinstance(table, DerivedTable) else ()
    gains = run.vote().gains(table.n_columns)
    gains[(bins.levels > 0) | (bins.sizes < 2)] = 0
    gains = gains[: table.n_columns - len(means)]
    order = np.argsort(-gains, kind="stable")[:COLUMNS_TO_DERIVE_FROM]
    pairs = derivable(sorted(j for j in order.tolist() if gains[j] > 0))
    return (*means, *pairs) if pairs else ()


def searched(rows: LabelledRows) -> LabelledRows:
    """Return the rows of a search, evenly spread over those that count."""
    counting = rows.counting()
    size = min(counting.n_rows, ROWS_OF_A_SEARCH)
    return counting.take(np.linspace(0, counting.n_rows - 1, size).astype(np.intp))


def most_used(run: Run, derived: tuple[DerivedColumn, ...]) -> tuple[DerivedColumn, ...]:
    """Return the derived columns of a run that were most useful."""
    gains = run.vote().gains(run.sample.table.n_columns)[-len(derived) :]
    means = [column for column in derived if isinstance(column, LevelMeans)]
    gains[: len(means)] = 0
    order = np.argsort(-gains, kind="stable")[:MAX_DERIVED]
    pairs = [derived[j] for j in order.tolist() if gains[j] > 0]
    return (*means, *pairs) if pairs else ()
