"""One base for everything made of bags: how bagged members and forests are fitted and certified."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds import out_of_bag
from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.continuing import begin_record, written_parameters
from pacboost.estimators.inputs.estimator import HasSchema, RemembersRows, takes_rows
from pacboost.estimators.inputs.parameters import callables, progress_after
from pacboost.fit import division, taking
from pacboost.fit.continuing import RunRecord, digest, refuse, refuse_fewer
from pacboost.fit.division import Apart, Certifying
from pacboost.fit.examples import read_numbers
from pacboost.fit.rows import LabelledRows
from pacboost.fit.targets import warn_of_one_class
from pacboost.kernels.runtime.threads import using
from pacboost.ledgers.out_of_bag import OutOfBag
from pacboost.models.model import Model
from pacboost.models.schema import Schema
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.exact import tied, wrong_answers
from pacboost.numerics.same_bits import product
from pacboost.parallel.cluster import joblib_cluster
from pacboost.parallel.cores import thread_count
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.row_hashes import row_hashes
from pacboost.samples.same_example import Examples, check_copies
from pacboost.samples.sample import Sample
from pacboost.sources.explained_errors import checked_by_scikit_learn
from pacboost.sources.table import SomeRows, Table
from pacboost.training.bags.bagging import TORN, Bagging, Made
from pacboost.training.bags.bags import Averages, Bags, OutOfBagVotes, Settling
from pacboost.training.bags.members import Maker
from pacboost.training.run.stop_reason import Stop, StopReason, sentence_of

Callback = Callable[[Made], bool | None]
Counted = NDArray[np.bool_] | None
"""Which rows may be counted out of bag; None for all of them."""

WAYS = ("oob", *out_of_bag.WAYS, "holdout")
NOT_ASKED = (
    "nothing was certified: fit with certify='oob' to certify by the rows outside the bags, or "
    "certify='holdout' to hold rows back"
)


MOST_BINS = 255
"""Trees with pure leaves are grown on codes of one byte."""
ROWS_FOR_BINS = 256
"""From fewer rows the bins would be coarse."""


def rows_to_count(rows: int, seed: int) -> NDArray[np.bool_]:
    """Choose the rows that may certify out of bag; the others give the bins."""
    generator = np.random.default_rng((seed, 2**32))  # no bag has this number
    size = max(1, rows // 10, min(rows // 3, ROWS_FOR_BINS))
    counted = np.ones(rows, dtype=np.bool_)
    counted[generator.permutation(rows)[:size]] = False
    return counted


class Bagged(HasSchema, RemembersRows, BaseEstimator):  # type: ignore[misc]
    """An estimator whose members are each made from a bag of the rows."""

    n_estimators: int
    oob_score: bool | None
    settle: int | None
    warm_start: bool
    callbacks: Sequence[Callback] | None
    n_jobs: int | None
    random_state: Any
    verbose: bool | int | str
    certify: str | None = None
    """A regressor certifies nothing."""
    delta = 0.05
    stopped_: str
    oob_score_: float
    classes_: NDArray[Any]
    model_: Model
    """What a forest leaves behind."""
    _sets: NDArray[np.int64] | None = None
    """The sets of labels that trees vote for, where a row may have several."""
    _member = "member"
    """What a member is called."""
    _equal_rows = "draws"
    """The ``copies`` of the last fit."""
    _apart: Apart | None = None
    _examples: Examples | None = None
    """Which rows are one example, where rows certify."""
    _record: RunRecord

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any, seed: int) -> LabelledRows:
        """Check the rows and their labels or targets."""

    @abstractmethod
    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        """Return what members learn to predict, and the number of classes, or 0 for regression."""

    @abstractmethod
    def _set_up(
        self, examples: LabelledRows, targets: NDArray[Any], classes: int, seed: int
    ) -> tuple[Maker, Bags, Counted]:
        """Choose how members are made of which bags, and which rows may be counted out of bag."""

    @abstractmethod
    def _ask_outside(
        self, targets: NDArray[Any], classes: int, bags: Bags, counted: Counted
    ) -> Any:
        """Start to collect the predictions of members on the rows outside their bags."""

    @abstractmethod
    def _members_so_far(self, maker: Maker) -> list[Any]:
        """Return the members of the last fit."""

    @abstractmethod
    def _keep_members(self, run: Bagging, examples: LabelledRows) -> None:
        """Keep the members of a run that has ended."""

    @abstractmethod
    def _keep_outside(self, outside: Any, examples: LabelledRows, rows: int) -> None:
        """Set the attributes that begin with oob; fit was given ``rows`` rows."""

    def _certify(self) -> None:
        """Certify the vote, if that was asked for."""

    @property
    def _certifies_outside(self) -> bool:
        """Whether rows outside the bags certify; then nothing else may use them."""
        return self.certify not in (None, "holdout")

    def _fit(self, X: Any, y: Any, sample_weight: Any, copies: str) -> Self:
        self._equal_rows = check_copies(copies)
        with all_or_nothing(self) as attempt, using(self.n_jobs):
            run, examples, rows = self._prepare(X, y, sample_weight)
            attempt.keep = lambda: self._keep_interrupted(run, examples, rows)
            self._make_members(run)
            self._keep(run, examples, rows)
        if hasattr(self, "classes_") and self._sets is None:
            warn_of_one_class(self.classes_)
        return self

    def _make_members(self, run: Bagging) -> None:
        """Fit members until there are enough, the error has settled, or a callback stops."""
        with ExitStack() as stack:
            watchers = callables("callbacks", self.callbacks)
            after = progress_after(self.verbose)
            watched = bool(watchers) or after == 0  # the error costs time that nobody asked for
            if after is not None:
                from pacboost.reports.progress import MembersBar

                bar = MembersBar(self.n_estimators, after=after)
                watchers.append(stack.enter_context(bar))
            cluster, at_once = joblib_cluster(), thread_count(self.n_jobs)
            steps = run.run(self.n_estimators, at_once, watched=watched, cluster=cluster)
            for made in stack.enter_context(closing(steps)):
                wishes = [watcher(made) for watcher in watchers]
                if any(wishes):
                    run.stopped = StopReason(Stop.CALLBACK)

    def _binned(
        self, table: Table, seed: int, most: int, weights: NDArray[np.float64] | None = None
    ) -> tuple[Bins, Counted]:
        """Bin the features; also give the rows that may be counted out of bag, if not all.

        Bins of all rows have looked at rows outside the bags. So where those shall certify, some
        rows give the bins and are not counted: a tenth, or a third where that is less than 256.
        """
        if not self._certifies_outside:
            return fit_bins(table, most, weights), None
        counted = rows_to_count(table.n_rows, seed)
        return fit_bins(SomeRows(table, np.flatnonzero(~counted)), most), counted

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> tuple[Bagging, LabelledRows, int]:
        """Check everything, and set up the run; also give the number of rows that fit was given."""
        most = positive_whole("n_estimators", self.n_estimators)
        goes_on = self.warm_start and self.__sklearn_is_fitted__()
        record = begin_record(self, fitted=goes_on)
        seed = record.seed
        certifying = Certifying(
            self.certify, getattr(self, "holdout", 0.0), self.delta, self._equal_rows
        )
        divided = division.held_out(
            X, y, sample_weight, certifying, seed, WAYS, once=self._certifies_outside
        )
        self._apart, self._examples = divided.apart, divided.examples
        examples = self._read(divided.X, divided.y, divided.weights(sample_weight), seed)
        apart = self._apart
        held = [] if apart is None else [self._schema.read(apart.X)]
        self._remember(examples.table, *held)
        examples = replace(examples, numbers=divided.rows).counting()
        targets, classes = self._targets(examples)
        maker, bags, counted = self._set_up(examples, targets, classes, seed)
        outside = None
        asked = self.oob_score or self.settle is not None or self._certifies_outside
        if asked and bags.hold_all:
            raise ParameterError(
                "oob_score, settle and certify='oob' ask members about rows outside their bags, "
                f"and every bag holds all rows (n_samples={bags.rows}); set bootstrap=True or "
                "max_samples below 1, or oob_score=False, settle=None and certify=None"
            )
        if asked or (self.oob_score is None and not bags.hold_all):
            outside = self._ask_outside(targets, classes, bags, counted)
        patience = None if self.settle is None else positive_whole("settle", self.settle)
        settling = None if patience is None else Settling(patience)
        run = Bagging(maker, bags, outside, settling)
        rows = self._rows_of(run, examples, targets)
        looks = None if apart is None else int(self.warm_start)
        if goes_on:
            refuse([] if rows == record.rows else ["rows"])
            looks = None if record.looks is None else record.looks + 1
            if self._torn:
                raise ParameterError(f"{TORN} with warm_start=False")
            run.members, run.outside = self._members_so_far(run.maker), deepcopy(self._outside)
            refuse_fewer(most, len(run.members), f"{self._member}s")
            run.settling = deepcopy(self._settled)
        self._record = replace(record, rows=rows, looks=looks)
        return run, examples, taking.number_of_rows(X)

    def _rows_of(self, run: Bagging, examples: LabelledRows, targets: NDArray[Any]) -> str:
        """Return a digest of all rows, labels and weights."""
        apart, choices = self._apart, np.asarray(getattr(self, "_choices", ()))
        parts: list[Any] = [_digest(run.maker.sample), targets, repr(choices.tolist())]
        if apart is not None:
            parts += [row_hashes(self._schema.read(apart.X)), repr(apart.y.tolist())]
        if examples.weights is not None:
            parts.append(examples.weights)
        return digest(*parts)

    def _keep(self, run: Bagging, examples: LabelledRows, rows: int) -> None:
        self._bags, self._outside, self._settled = run.bags, run.outside, run.settling
        self._torn, self.stopped_ = run.torn, sentence_of(run.stopped)
        self._keep_members(run, examples)
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_", "out_of_bag_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if run.outside is not None:
            self._keep_outside(run.outside, examples, rows)
        self._certify()
        self._apart = None
        self._record = replace(self._record, parameters=written_parameters(self))

    def _keep_interrupted(self, run: Bagging, examples: LabelledRows, rows: int) -> str | None:
        made = len(run.members)
        if not made:
            return None
        run.stopped = StopReason(Stop.INTERRUPTED)
        self._keep(run, examples, rows)
        return (
            f"the {made} {self._member}s made before the interrupt are kept; the estimator can be "
            "used, or go on with warm_start=True"
        )


def _digest(sample: Sample) -> str:
    """Hash codes and bins where members learn from these, else the table column by column."""
    table = sample.table
    if sample.bins is not None and sample.codes is not None:
        return digest(repr(table.levels), sample.codes, *sample.bins.thresholds)
    blocks = (block.T.astype(np.float64) for _, block in table.blocks())
    return digest(repr((table.n_rows, table.n_columns, table.levels)), *blocks)


class BaggedClassifier(ClassifierMixin, Bagged):  # type: ignore[misc]
    """What votes of members made from bags share: the error out of bag, and certificates."""

    holdout: float
    out_of_bag_: OutOfBag
    oob_decision_function_: NDArray[np.float64]
    _certificate: Certificate | None = None
    _refusal = NOT_ASKED

    @takes_rows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, the share of rows that are right."""
        with checked_by_scikit_learn():
            return float(super().score(X, y, sample_weight))

    @property
    def certificate_(self) -> Certificate:
        """The bound that ``certify`` asked for; raises NotCertified if there is none."""
        check_is_fitted(self)
        found = self.model_.certificate if hasattr(self, "model_") else self._certificate
        if found is None:
            raise NotCertified(self._refusal)
        return found

    @abstractmethod
    def _votes(self, X: Any) -> NDArray[Any]:
        """Return the votes for every class, or set of labels, or their shares."""

    @property
    def _choices(self) -> NDArray[Any]:
        """What members vote for: classes, or sets of labels."""
        return self.classes_ if self._sets is None else self._sets

    def _decide(self, votes: NDArray[Any]) -> NDArray[Any]:
        """Return the answer with the most votes; a tie goes to the first one."""
        choices = self._choices  # trees in a file of one class may name a second
        said: NDArray[Any] = choices[votes[:, : len(choices)].argmax(axis=1)]
        return said

    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        answers = len(self._choices)
        return np.minimum(examples.classes(), answers - 1), answers

    def _ask_outside(
        self, targets: NDArray[Any], classes: int, bags: Bags, counted: Counted
    ) -> Any:
        """Count votes out of bag, and joint mistakes of pairs where the bound needs them."""
        rows = bags.rows if counted is None else int(np.count_nonzero(counted))
        way = out_of_bag.way_for(rows) if self.certify == "oob" else self.certify
        return OutOfBagVotes(
            targets, self.n_estimators, classes,
            outside=bags.chance_outside, pairs=way in ("tandem", "cantelli"), counted=counted,
        )  # fmt: skip

    def _keep_outside(self, outside: Any, examples: LabelledRows, rows: int) -> None:
        if isinstance(outside, OutOfBagVotes):
            self.out_of_bag_ = outside.result()
            shares = shares_of(outside.votes)
        else:
            shares = outside.mean()
        error, _ = outside.estimate()
        if error is not None:
            self.oob_score_ = 1 - error
        own = slice(None) if examples.numbers is None else examples.numbers
        self.oob_decision_function_ = np.full((rows, self.classes_.size), np.nan)
        shares = shares[:, : len(self._choices)]
        self.oob_decision_function_[own] = (
            shares if self._sets is None else product(shares, self._sets)
        )

    def _certify(self) -> None:
        self._certificate, self._refusal = None, NOT_ASKED
        if self.certify is not None:
            try:
                self._certificate = self._certified()
            except NotCertified as problem:
                self._refusal = str(problem)

    def _certified(self) -> Certificate:
        """Certify by held-out rows, or by the rows outside each bag.

        Where a row has several labels, it is wrong if any of them is.
        """
        if self._apart is not None:
            votes, known = self._votes(self._apart.X), self._apart.y
            if known.ndim == 2:
                wrong = (self._decide(votes) != known).any(axis=1) | tied(votes)
            else:
                wrong = wrong_answers(self._decide(votes), known, votes)
            return self._apart.certificate(wrong, self.delta, self._record.looks or 0)
        way = None if self.certify == "oob" else self.certify
        changed = TORN if self._torn else ""
        found = out_of_bag.certificate(self.out_of_bag_, self.delta, way, changed=changed)
        return division.counted(found, self._examples)


class BaggedRegressor(RegressorMixin, Bagged):  # type: ignore[misc]
    """What means of members made from bags share: the error out of bag, and intervals."""

    oob_prediction_: NDArray[np.float64]

    @takes_rows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the R² of the predictions."""
        with checked_by_scikit_learn():
            return float(super().score(X, y, sample_weight))

    @property
    def certificate_(self) -> Certificate:
        """Raises NotCertified: the theorems bound classification errors only."""
        raise NotCertified(
            "the certificates of a fit bound how often a vote of classes errs; numbers are never "
            "simply right or wrong. pacboost.intervals certifies intervals by new rows; oob_score_ "
            "is an estimate"
        )

    def _read(self, X: Any, y: Any, sample_weight: Any, seed: int) -> LabelledRows:
        self._schema, table = Schema.learn(X, self._column_options())
        return read_numbers(table, y, sample_weight)

    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        assert examples.targets is not None
        return examples.targets, 0

    def _ask_outside(
        self, targets: NDArray[Any], classes: int, bags: Bags, counted: Counted
    ) -> Averages:
        return Averages(targets)

    def _keep_outside(self, outside: Any, examples: LabelledRows, rows: int) -> None:
        predicted, seen = outside.mean(), outside.counts > 0
        own = slice(None) if examples.numbers is None else examples.numbers
        self.oob_prediction_ = np.full(rows, np.nan)
        self.oob_prediction_[own] = predicted
        if np.count_nonzero(seen) > 1:
            self.oob_score_ = float(r2_score(outside.truth[seen], predicted[seen]))


def shares_of(votes: NDArray[Any]) -> NDArray[np.float64]:
    """Turn votes into shares; rows without a vote have NaN.

    >>> shares_of(np.array([[3, 1], [0, 0]])).tolist()
    [[0.75, 0.25], [nan, nan]]
    """
    total = votes.sum(axis=1, keepdims=True)
    none = np.full(votes.shape, np.nan)
    return np.asarray(np.divide(votes, total, out=none, where=total > 0))
