"""Bags of rows, and what makes a member of each, from the parameters of bagging."""

from __future__ import annotations

from contextlib import ExitStack, closing
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pacboost.errors import ParameterError
from pacboost.estimators.inputs.parameters import (
    callables,
    integer,
    positive_integer,
    progress_after,
    share_or_count,
    threads,
)
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.parallel.cluster import joblib_cluster
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.table import SomeRows, Table
from pacboost.training.bags.bagging import Bagging
from pacboost.training.bags.bags import Bags, Settling
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
    """Choose how members are made; also give the rows that may be counted out of bag, if not all.

    Bins of all rows have looked at rows outside the bags. So where those shall certify, some rows
    give the bins and are not counted: a tenth, or a third where that is less than 256.
    """
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
    counted, table = None, sample.table
    if asked._certifies_outside:
        counted = rows_to_count(bags.rows, bags.seed)
        table = SomeRows(table, np.flatnonzero(~counted))
    coded = replace(sample, bins=fit_bins(table, most_bins))
    if learner is None:
        return TreeMaker(
            coded, targets, classes, TreeLimits(bags.columns), hard=True, drawn=bags.drawn
        ), counted
    return CodesMaker(learner, coded, targets, classes), counted


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


def settling(asked: Any) -> Settling | None:
    """Read the parameter ``settle``: when to stop because the error no longer changes."""
    return None if asked.settle is None else Settling(positive_integer("settle", asked.settle))


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
    """Read a share or a number of the rows or features."""
    count = share_or_count(name, value, whole, round)
    if count > whole and not repeats:
        raise ParameterError(
            f"{name} is {count}, but there are {whole} to draw from, and none is drawn twice; give "
            "fewer, or draw with replacement"
        )
    return count


# What must be unchanged when ``warm_start`` continues an earlier fit of bags.
#
# Members that learned from other rows may have seen those that certify now, so the rows and what is
# known of them are compared by a digest; learners are compared by their parameters.


@dataclass(frozen=True, eq=False)
class BagsBefore:
    """The learner, and digests of the rows that members learn from; held-out rows are not in it."""

    learner: Learner | None
    certify: str | None
    rows: str
    targets: str

    @classmethod
    def of(
        cls,
        learner: Learner | None,
        certify: str | None,
        table: Table,
        targets: NDArray[Any],
        classes: list[Any],
    ) -> BagsBefore:
        """Copy the learner as it is now, because users may change a black box in place."""
        if isinstance(learner, SklearnLearner):
            learner = SklearnLearner(clone(learner.estimator, safe=False))
        known = blake2b(np.ascontiguousarray(targets).data, digest_size=16)
        known.update(repr(classes).encode())
        return cls(learner, certify, _digest(table), known.hexdigest())

    def refuse_others(self, before: BagsBefore) -> None:
        """Raise if learner, certificate or rows differ from those of the last fit."""
        changed = ""
        if not alike(self.learner, before.learner):
            changed = "the same learner, but estimator"
        elif self.certify != before.certify:
            changed = "the same certificate, but certify"
        elif self.targets != before.targets:
            changed = "the same rows, but y"
        elif self.rows != before.rows:
            changed = "the same rows, but X"
        if changed:
            raise ParameterError(
                f"warm_start goes on with {changed} has changed; set warm_start=False to start "
                "afresh"
            )


def alike(one: Any, other: Any) -> bool:
    """Compare learners by class and parameters, but not by seeds, which each bag sets anew.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> alike(DecisionTreeClassifier(max_depth=2), DecisionTreeClassifier(max_depth=2))
    True
    >>> alike(DecisionTreeClassifier(max_depth=2), DecisionTreeClassifier(max_depth=3))
    False
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    parts = _parts(one), _parts(other)
    if parts[0] is None or parts[1] is None:
        return bool(one == other)
    return parts[0].keys() == parts[1].keys() and all(
        alike(part, parts[1][name]) for name, part in parts[0].items()
    )


def _parts(thing: Any) -> dict[Any, Any] | None:
    """Return the parts by which objects of a class are compared; None if ``==`` compares them."""
    if hasattr(thing, "get_params"):
        own: dict[str, Any] = thing.get_params(deep=False)
        return {name: part for name, part in own.items() if name != "random_state"}
    if is_dataclass(thing):  # as all learners are
        return {field.name: getattr(thing, field.name) for field in fields(thing)}
    if isinstance(thing, dict):
        return thing
    if "__eq__" in {name for kind in type(thing).__mro__[:-1] for name in vars(kind)}:
        return None
    if deepcopy(thing) is thing:  # as functions are: they are equal if they are the same
        return None
    return dict(enumerate(thing.__reduce_ex__(4)[:3]))  # what a copy is made from


def _digest(table: Table) -> str:
    """Hash a table column by column, so that it does not matter how wide its blocks are."""
    found = blake2b(repr((table.n_rows, table.n_columns, table.levels)).encode(), digest_size=16)
    for _, block in table.blocks():
        found.update(np.ascontiguousarray(block.T, dtype=np.float64).data)
    return found.hexdigest()
