"""Bags of rows, and what makes a member of each, from the parameters of bagging."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.estimators.inputs.parameters import callables, progress_after, share_or_count, threads
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.numerics.checks import integer
from pacboost.parallel.cluster import joblib_cluster
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.table import SomeRows, Table
from pacboost.training.bags.bagging import Bagging
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.forest import TreeLimits, TreeMaker
from pacboost.training.bags.members import BoxMaker, CodesMaker, Maker, RowsMaker

MOST_BINS = 255
"""Trees with pure leaves are grown on codes of one byte."""
ROWS_FOR_BINS = 256
"""From fewer rows the bins would be coarse."""


def draws(asked: Any, table: Table, seed: int) -> Bags:
    """Read how many rows and features are drawn for a bag."""
    rows = _part("max_samples", asked.max_samples, table.n_rows, repeats=asked.bootstrap)
    columns, repeats = table.n_columns, bool(asked.bootstrap_features)
    kept = _part("max_features", asked.max_features, columns, repeats=repeats)
    return Bags(table.n_rows, rows, columns, kept, seed, bool(asked.bootstrap), repeats)


def choose_maker(
    asked: Any,
    learner: Learner | None,
    sample: Sample,
    targets: NDArray[Any],
    classes: int,
    bags: Bags,
) -> tuple[Maker, NDArray[np.bool_] | None]:
    """Choose how members are made, and which rows may be counted out of bag, if not all."""
    most_bins = integer("max_bins", asked.max_bins)
    some_features = bags.kept < bags.columns or bags.features_replaced
    if learner is None and some_features:
        learner = SklearnLearner(asked._default())
    if isinstance(learner, SklearnLearner):
        return BoxMaker(learner.estimator, sample, targets, classes), None
    if learner is not None and (some_features or not learner.codes):
        return RowsMaker(learner, most_bins, sample, targets, classes), None
    if learner is None and most_bins > MOST_BINS:
        raise ParameterError(f"max_bins is {most_bins}; for trees it may be 2 to {MOST_BINS}")
    bins, counted = binned(asked, sample.table, bags.seed, most_bins)
    coded = replace(sample, bins=bins)
    if learner is None:
        return TreeMaker(
            coded, targets, classes, TreeLimits(bags.columns), hard=True, drawn=bags.drawn
        ), counted
    return CodesMaker(learner, coded, targets, classes), counted


def binned(
    asked: Any, table: Table, seed: int, most: int, weights: NDArray[np.float64] | None = None
) -> tuple[Bins, NDArray[np.bool_] | None]:
    """Bin the features; also give the rows that may be counted out of bag, if not all.

    Bins of all rows have looked at rows outside the bags. So where those shall certify, some rows
    give the bins and are not counted: a tenth, or a third where that is less than 256.
    """
    if not asked._certifies_outside:
        return fit_bins(table, most, weights), None
    counted = rows_to_count(table.n_rows, seed)
    return fit_bins(SomeRows(table, np.flatnonzero(~counted)), most), counted


def rows_to_count(rows: int, seed: int) -> NDArray[np.bool_]:
    """Choose the rows that may certify out of bag; the others give the bins."""
    generator = np.random.default_rng((seed, 2**32))  # no bag has this number
    size = max(1, rows // 10, min(rows // 3, ROWS_FOR_BINS))
    counted = np.ones(rows, dtype=np.bool_)
    counted[generator.permutation(rows)[:size]] = False
    return counted


def refuse_no_bags(bags: Bags) -> None:
    """Raise if predictions out of bag are wanted, and every bag holds all rows."""
    if bags.hold_all:
        raise ParameterError(
            "oob_score, settle and certify='oob' ask members about rows outside their bags, and "
            f"every bag holds all rows (n_samples={bags.rows}); set bootstrap=True or max_samples "
            "below 1, or oob_score=False, settle=None and certify=None"
        )


def make_members(asked: Any, run: Bagging, most: int) -> None:
    """Fit members until there are ``most``, the error has settled, or a callback stops the run."""
    with ExitStack() as stack:
        watchers = callables("callbacks", asked.callbacks)
        after = progress_after(asked.verbose)
        watched = bool(watchers) or after == 0  # the error costs time that nobody asked for
        if after is not None:
            from pacboost.reports.progress import MembersBar

            watchers.append(stack.enter_context(MembersBar(most, after=after)))
        cluster = joblib_cluster()
        steps = run.run(most, threads(asked.n_jobs), watched=watched, cluster=cluster)
        for made in stack.enter_context(closing(steps)):
            wishes = [watcher(made) for watcher in watchers]
            if any(wishes):
                run.stopped = "a callback stopped it"


def _part(name: str, value: Any, whole: int, *, repeats: bool) -> int:
    count = share_or_count(name, value, whole, round)
    if count > whole and not repeats:
        raise ParameterError(
            f"{name} is {count}, but there are {whole} to draw from, and none is drawn twice; give "
            "fewer, or draw with replacement"
        )
    return count
