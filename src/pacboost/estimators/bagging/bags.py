"""Bags of rows, and what makes a member of each, from the parameters of bagging."""

from __future__ import annotations

from contextlib import ExitStack, closing
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pacboost.errors import ParameterError
from pacboost.estimators.fitting.atomic import MAY_CHANGE
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.estimators.inputs.parameters import callables, progress_after, share_or_count, threads
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.numerics.checks import integer
from pacboost.parallel.cluster import joblib_cluster
from pacboost.samples.bins import fit_bins
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


# What must be unchanged when ``warm_start`` continues an earlier fit of bags.
#
# Members that learned from other rows may have seen those that certify now; and other parameters,
# chosen after a look at the error out of bag, would be a choice that no certificate has paid for.
# So rows and what is known of them are compared by digests, and parameters by their values.

FREE = (*MAY_CHANGE, "settle", "device")
"""Parameters that a fit may go on with changed; its bags keep their seed."""


def memory_of(
    estimator: Any, run: Bagging, examples: LabelledRows, targets: NDArray[Any]
) -> dict[str, Any]:
    """Return what a fit that goes on shares with this one, by the names that users know."""
    given = estimator.get_params(deep=False)
    if "estimator" in given:  # users may change a black box in place
        given["estimator"] = clone(given["estimator"], safe=False)
    answers = repr(np.asarray(getattr(estimator, "_choices", ())).tolist())
    return {
        **{name: value for name, value in given.items() if name not in FREE},
        "copies": estimator._equal_rows,
        "X": estimator._digest(run.maker.sample),
        "y": digest(targets, answers),
        "sample_weight": None if examples.weights is None else digest(examples.weights),
        "seed": run.bags.seed,
    }


def digest(*parts: NDArray[Any] | str) -> str:
    """Return a hash of arrays and words."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).data)
    return found.hexdigest()


def refuse_changes(now: dict[str, Any], before: dict[str, Any]) -> None:
    """Raise if rows or parameters differ from those of the last fit."""
    changed = [name for name, value in now.items() if not alike(value, before[name])]
    if changed:
        raise ParameterError(
            f"warm_start goes on with the same rows and parameters, but {', '.join(changed)} "
            "changed; after a look at what was learned that would void certificates. Go on with "
            "what was there before, or set warm_start=False to start afresh"
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
