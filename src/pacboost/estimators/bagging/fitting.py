"""Fit bagged estimators and forests: divide rows, draw bags, make members and keep them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack, closing
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import out_of_bag
from pacboost.errors import ParameterError
from pacboost.estimators.bagging.answers import Answers, Classes, Counted
from pacboost.estimators.fitted.estimator import Estimator
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.continuing import begin_record, written_parameters
from pacboost.estimators.inputs.parameters import callables, progress_after
from pacboost.fit.continuing import digest, refuse, refuse_fewer
from pacboost.fit.division import Certifying, Division, held_out
from pacboost.fit.rows import LabelledRows
from pacboost.fit.targets import warn_of_one_class
from pacboost.kernels.threads import using
from pacboost.models.schema import Schema
from pacboost.numerics.checks import positive_whole
from pacboost.parallel.cluster import joblib_cluster
from pacboost.parallel.cores import thread_count
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.row_hashes import row_hashes
from pacboost.samples.same_example import check_copies
from pacboost.samples.sample import Sample
from pacboost.sources.explained_errors import named_among
from pacboost.sources.rows import Rows
from pacboost.sources.table import SomeRows, Table
from pacboost.training.bags.bagging import TORN, Bagging, Made
from pacboost.training.bags.bags import Bags, Settling
from pacboost.training.bags.members import Maker
from pacboost.training.run.stop_reason import Stop, StopReason, sentence_of

Callback = Callable[[Made], bool | None]

WAYS = ("oob", *out_of_bag.WAYS, "holdout")
MAX_BINS_OF_TREES = 255  # trees with pure leaves are grown on codes of one byte
MIN_ROWS_FOR_BINS = 256  # fewer rows would give coarse bins


@dataclass(frozen=True, eq=False)
class MemberKind(ABC):
    """The way to make members from bags, and the attributes that keep them."""

    estimator: Estimator
    answers: Answers

    word: ClassVar[str] = "member"
    """The word for a member in messages."""

    @abstractmethod
    def set_up(
        self, rows: LabelledRows, targets: NDArray[Any], classes: int, seed: int
    ) -> tuple[Maker, Bags, Counted]:
        """Return the maker of members, the bags, and the rows that may be counted out of bag."""

    @abstractmethod
    def so_far(self, maker: Maker) -> list[Any]:
        """Return the members of the last fit."""

    @abstractmethod
    def keep(self, run: Bagging, rows: LabelledRows) -> None:
        """Keep the members of a run that has ended."""

    def binned(
        self, table: Table, seed: int, max_bins: int, weights: NDArray[np.float64] | None = None
    ) -> tuple[Bins, Counted]:
        """Bin the features, and return the rows that may be counted out of bag.

        Bins of all rows depend on rows outside the bags. If those certify, some rows give the bins
        and are not counted: a tenth, or a third if that is less than 256.
        """
        if not self.answers.certifies_outside:
            return fit_bins(table, max_bins, weights), None
        counted = rows_to_count(table.n_rows, seed)
        return fit_bins(SomeRows(table, np.flatnonzero(~counted)), max_bins), counted


def rows_to_count(rows: int, seed: int) -> NDArray[np.bool_]:
    """Choose the rows that may certify out of bag; the bins are made from the others."""
    generator = np.random.default_rng((seed, 2**32))  # no bag has this number
    size = max(1, rows // 10, min(rows // 3, MIN_ROWS_FOR_BINS))
    counted = np.ones(rows, dtype=np.bool_)
    counted[generator.permutation(rows)[:size]] = False
    return counted


@dataclass(frozen=True, eq=False)
class BagFit:
    """A fit that is ready to run."""

    run: Bagging
    rows: LabelledRows
    division: Division
    n_rows: int
    """The number of rows of X, held-out ones included."""


def fit_members(
    members: MemberKind, X: object, y: object, sample_weight: object, copies: str
) -> None:
    """Fit all members, or leave the estimator unchanged; Ctrl-C keeps those made so far."""
    estimator = members.estimator
    estimator._equal_rows = check_copies(copies)
    with all_or_nothing(estimator) as attempt, using(estimator.n_jobs):
        fit = prepare_bags(members, X, y, sample_weight)
        attempt.keep = lambda: keep_interrupted(members, fit)
        make_members(estimator, fit.run)
        keep(members, fit)
    if isinstance(members.answers, Classes) and members.answers.choices.ndim == 1:
        warn_of_one_class(estimator.classes_)


def prepare_bags(members: MemberKind, X: object, y: object, sample_weight: object) -> BagFit:
    """Check the parameters and rows, and plan the run."""
    estimator, answers = members.estimator, members.answers
    n_members = positive_whole("n_estimators", estimator.n_estimators)
    goes_on = estimator.warm_start and estimator.__sklearn_is_fitted__()
    record = begin_record(estimator, fitted=goes_on)
    outside_certifies = answers.certifies_outside
    certifying = Certifying(
        getattr(estimator, "certify", None), getattr(estimator, "holdout", 0.0),
        getattr(estimator, "delta", 0.05), estimator._equal_rows,
    )  # fmt: skip
    division = held_out(X, y, sample_weight, certifying, record.seed, WAYS, once=outside_certifies)
    apart = division.apart
    with named_among(X, lambda every: Schema.learn(every, estimator._column_options())):
        rows = answers.read(division, division.weights(sample_weight), record.seed)
        apart_tables = [] if apart is None else [estimator._schema.read(apart.X)]
    if apart is not None:
        division = replace(division, apart=replace(apart, weighted=rows.weights is not None))
    estimator._remember(rows.table, *apart_tables)
    rows = replace(rows, numbers=division.rows).counting()
    targets, classes = answers.targets(rows)
    maker, bags, counted = members.set_up(rows, targets, classes, record.seed)
    outside = None
    asked = estimator.oob_score or estimator.settle is not None or outside_certifies
    if asked and bags.hold_all:
        raise ParameterError(
            "oob_score, settle and certify='oob' need rows outside the bags, and every bag "
            f"holds all rows (n_samples={bags.rows}); set bootstrap=True or max_samples below "
            "1, or oob_score=False, settle=None and certify=None",
            parameter="oob_score",
        )
    if asked or (estimator.oob_score is None and not bags.hold_all):
        outside = answers.ask_outside(targets, classes, bags, counted)
    patience = None if estimator.settle is None else positive_whole("settle", estimator.settle)
    run = Bagging(maker, bags, outside, None if patience is None else Settling(patience))
    row_digest = _digest_of_rows(run, rows, targets, apart_tables, division, answers)
    # a first look without warm_start takes all of delta: most fits are never continued
    # (docs/decisions/0012)
    looks = None if division.apart is None else int(estimator.warm_start)
    if goes_on:
        refuse([] if row_digest == record.rows else ["rows"])
        looks = None if record.looks is None else record.looks + 1
        if estimator._torn:
            raise ParameterError(f"{TORN} with warm_start=False", parameter="warm_start")
        run.members, run.outside = members.so_far(run.maker), deepcopy(estimator._outside)
        refuse_fewer(n_members, len(run.members), f"{members.word}s")
        run.settling = deepcopy(estimator._settled)
    estimator._record = replace(record, rows=row_digest, looks=looks)
    return BagFit(run, rows, division, Rows.of(X).count)


def make_members(estimator: Estimator, run: Bagging) -> None:
    """Fit members until there are enough, the error has settled, or a callback stops."""
    with ExitStack() as stack:
        watchers = callables("callbacks", estimator.callbacks)
        after = progress_after(estimator.verbose)
        watched = bool(watchers) or after == 0  # else nobody needs the error, which costs time
        if after is not None:
            from pacboost.reports.progress import MembersBar

            bar = MembersBar(estimator.n_estimators, after=after)
            watchers.append(stack.enter_context(bar))
        cluster, at_once = joblib_cluster(), thread_count(estimator.n_jobs)
        steps = run.run(estimator.n_estimators, at_once, watched=watched, cluster=cluster)
        for event in stack.enter_context(closing(steps)):
            wishes = [watcher(event) for watcher in watchers]
            if any(wishes):
                run.stopped = StopReason(Stop.CALLBACK)


def keep(members: MemberKind, fit: BagFit) -> None:
    """Store the results of a run on the estimator, and certify them."""
    estimator, run, division = members.estimator, fit.run, fit.division
    estimator._bags, estimator._outside, estimator._settled = run.bags, run.outside, run.settling
    estimator._torn, estimator.stopped_ = run.torn, sentence_of(run.stopped)
    members.keep(run, fit.rows)
    estimator._out_of_bag = None
    if run.outside is not None:
        answers = members.answers.summarised(run.outside)
        if fit.rows.numbers is not None:  # other rows of X were held out, and have NaN
            predictions = np.full((fit.n_rows, *answers.predictions.shape[1:]), np.nan)
            predictions[fit.rows.numbers] = answers.predictions
            answers = replace(answers, predictions=predictions)
        if fit.rows.weights is not None:  # the theorems ask that all rows are drawn alike
            answers = replace(answers, counts=None)
        estimator._out_of_bag = answers
    if isinstance(members.answers, Classes):
        members.answers.certify(division.apart, division.examples)
    estimator._record = replace(estimator._record, parameters=written_parameters(estimator))


def keep_interrupted(members: MemberKind, fit: BagFit) -> str | None:
    """Keep the members made before Ctrl-C, and add a note to the exception."""
    n_members = len(fit.run.members)
    if not n_members:
        return None
    fit.run.stopped = StopReason(Stop.INTERRUPTED)
    keep(members, fit)
    return (
        f"the {n_members} {members.word}s made before the interrupt are kept; use the "
        "estimator, or continue with warm_start=True"
    )


def _digest_of_rows(
    run: Bagging, rows: LabelledRows, targets: NDArray[Any], apart_tables: list[Table],
    division: Division, answers: Answers,
) -> str:  # fmt: skip
    choices = answers.choices.tolist() if isinstance(answers, Classes) else []
    parts: list[Any] = [_digest(run.maker.sample), targets, repr(choices)]
    if division.apart is not None:
        parts += [*map(row_hashes, apart_tables), repr(division.apart.y.tolist())]
    if rows.weights is not None:
        parts.append(rows.weights)
    return digest(*parts)


def _digest(sample: Sample) -> str:
    """Return a digest of codes and bins, or of the table if members learn from that."""
    table = sample.table
    if sample.bins is not None and sample.codes is not None:
        return digest(repr(table.levels), sample.codes, *sample.bins.thresholds)
    blocks = (block.T.astype(np.float64) for _, block in table.blocks())
    return digest(repr((table.n_rows, table.n_columns, table.levels)), *blocks)
