"""One base for everything made of bags: how bagged members and forests are fitted and certified."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from pacboost.bounds import out_of_bag
from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.continuing import begin_record, written_parameters
from pacboost.estimators.inputs.estimator import RemembersRows, takes_rows
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
from pacboost.sources.explained_errors import checked_by_scikit_learn, named_among
from pacboost.sources.table import SomeRows, Table
from pacboost.training.bags.bagging import TORN, Bagging, Made
from pacboost.training.bags.bags import Averages, Bags, OutOfBagVotes, Settling
from pacboost.training.bags.members import Maker
from pacboost.training.run.stop_reason import Stop, StopReason, sentence_of

Callback = Callable[[Made], bool | None]
Counted = NDArray[np.bool_] | None
"""Which rows may be counted out of bag; None for all of them."""
Weights = ArrayLike | None

WAYS = ("oob", *out_of_bag.WAYS, "holdout")
NOT_ASKED = (
    "nothing was certified; fit with certify='oob' to certify by out-of-bag rows, or with "
    "certify='holdout' to certify by held-out rows"
)
MAX_BINS_OF_TREES = 255  # trees with pure leaves are grown on codes of one byte
MIN_ROWS_FOR_BINS = 256  # fewer rows would give coarse bins


def rows_to_count(rows: int, seed: int) -> NDArray[np.bool_]:
    """Choose the rows that may certify out of bag; the others give the bins."""
    generator = np.random.default_rng((seed, 2**32))  # no bag has this number
    size = max(1, rows // 10, min(rows // 3, MIN_ROWS_FOR_BINS))
    counted = np.ones(rows, dtype=np.bool_)
    counted[generator.permutation(rows)[:size]] = False
    return counted


@dataclass(frozen=True)
class OutOfBagAnswers:
    """What members predict for rows outside their bags; rows of every bag have NaN."""

    predictions: NDArray[np.float64]
    score: float | None = None
    counts: OutOfBag | None = None


class Bagged(RemembersRows, BaseEstimator):  # type: ignore[misc]
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
    classes_: NDArray[Any]
    model_: Model
    """The model of a forest."""
    _sets: NDArray[np.int64] | None = None
    """The sets of labels that trees vote for, if a row may have several labels."""
    _member = "member"
    """The word for a member in messages."""
    _equal_rows = "draws"
    """The ``copies`` of the last fit."""
    _apart: Apart | None = None
    _examples: Examples | None = None
    """Which rows are one example, if rows certify."""
    _record: RunRecord
    _out_of_bag: OutOfBagAnswers | None = None

    @property
    def oob_score_(self) -> float:
        """The out-of-bag estimate of ``score``."""
        score = self._answers_outside("oob_score_").score
        if score is None:
            raise AttributeError("oob_score_ is missing: no row is outside a bag")
        return score

    def _answers_outside(self, name: str) -> OutOfBagAnswers:
        if self._out_of_bag is None:
            raise AttributeError(f"{name} is there after a fit that predicts out-of-bag rows")
        return self._out_of_bag

    @abstractmethod
    def _read(self, X: object, y: object, sample_weight: Weights, seed: int) -> LabelledRows:
        """Check the rows and their labels or targets."""

    @abstractmethod
    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        """Return what members learn to predict, and the number of classes, or 0 for regression."""

    @abstractmethod
    def _set_up(
        self, examples: LabelledRows, targets: NDArray[Any], classes: int, seed: int
    ) -> tuple[Maker, Bags, Counted]:
        """Return the maker of members, the bags, and the rows that may be counted out of bag."""

    @abstractmethod
    def _ask_outside(
        self, targets: NDArray[Any], classes: int, bags: Bags, counted: Counted
    ) -> OutOfBagVotes | Averages:
        """Start to collect the predictions of members for the rows outside their bags."""

    @abstractmethod
    def _members_so_far(self, maker: Maker) -> list[Any]:
        """Return the members of the last fit."""

    @abstractmethod
    def _keep_members(self, run: Bagging, examples: LabelledRows) -> None:
        """Keep the members of a run that has ended."""

    @abstractmethod
    def _summarised(self, outside: OutOfBagVotes | Averages) -> OutOfBagAnswers:
        """Return the out-of-bag answers for the rows that members learned from."""

    def _certify(self) -> None:
        """Certify the vote, if that was asked for."""

    @property
    def _certifies_outside(self) -> bool:
        """True if rows outside the bags certify; then nothing else may use them."""
        return self.certify not in (None, "holdout")

    def _fit(self, X: object, y: object, sample_weight: Weights, copies: str) -> Self:
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
            watched = bool(watchers) or after == 0  # else nobody needs the error, which costs time
            if after is not None:
                from pacboost.reports.progress import MembersBar

                bar = MembersBar(self.n_estimators, after=after)
                watchers.append(stack.enter_context(bar))
            cluster, at_once = joblib_cluster(), thread_count(self.n_jobs)
            steps = run.run(self.n_estimators, at_once, watched=watched, cluster=cluster)
            for event in stack.enter_context(closing(steps)):
                wishes = [watcher(event) for watcher in watchers]
                if any(wishes):
                    run.stopped = StopReason(Stop.CALLBACK)

    def _binned(
        self, table: Table, seed: int, max_bins: int, weights: NDArray[np.float64] | None = None
    ) -> tuple[Bins, Counted]:
        """Bin the features, and return the rows that may be counted out of bag.

        Bins of all rows depend on rows outside the bags. If those certify, some rows give the bins
        and are not counted: a tenth, or a third if that is less than 256.
        """
        if not self._certifies_outside:
            return fit_bins(table, max_bins, weights), None
        counted = rows_to_count(table.n_rows, seed)
        return fit_bins(SomeRows(table, np.flatnonzero(~counted)), max_bins), counted

    def _prepare(
        self, X: object, y: object, sample_weight: Weights
    ) -> tuple[Bagging, LabelledRows, int]:
        """Check everything, and return the run, its rows, and the number of rows of X."""
        n_members = positive_whole("n_estimators", self.n_estimators)
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
        apart = self._apart
        with named_among(X, lambda rows: Schema.learn(rows, self._column_options())):
            examples = self._read(divided.X, divided.y, divided.weights(sample_weight), seed)
            held_out = [] if apart is None else [self._schema.read(apart.X)]
        self._remember(examples.table, *held_out)
        examples = replace(examples, numbers=divided.rows).counting()
        targets, classes = self._targets(examples)
        maker, bags, counted = self._set_up(examples, targets, classes, seed)
        outside = None
        asked = self.oob_score or self.settle is not None or self._certifies_outside
        if asked and bags.hold_all:
            raise ParameterError(
                "oob_score, settle and certify='oob' need rows outside the bags, and every bag "
                f"holds all rows (n_samples={bags.rows}); set bootstrap=True or max_samples below "
                "1, or oob_score=False, settle=None and certify=None",
                parameter="oob_score",
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
                raise ParameterError(f"{TORN} with warm_start=False", parameter="warm_start")
            run.members, run.outside = self._members_so_far(run.maker), deepcopy(self._outside)
            refuse_fewer(n_members, len(run.members), f"{self._member}s")
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
        self._out_of_bag = None
        if run.outside is not None:
            answers = self._summarised(run.outside)
            if examples.numbers is not None:  # other rows of X were held out, and have NaN
                predictions = np.full((rows, *answers.predictions.shape[1:]), np.nan)
                predictions[examples.numbers] = answers.predictions
                answers = replace(answers, predictions=predictions)
            self._out_of_bag = answers
        self._certify()
        self._apart = None
        self._record = replace(self._record, parameters=written_parameters(self))

    def _keep_interrupted(self, run: Bagging, examples: LabelledRows, rows: int) -> str | None:
        n_members = len(run.members)
        if not n_members:
            return None
        run.stopped = StopReason(Stop.INTERRUPTED)
        self._keep(run, examples, rows)
        return (
            f"the {n_members} {self._member}s made before the interrupt are kept; use the "
            "estimator, or continue with warm_start=True"
        )


def _digest(sample: Sample) -> str:
    """Hash codes and bins if members learn from these, else the table column by column."""
    table = sample.table
    if sample.bins is not None and sample.codes is not None:
        return digest(repr(table.levels), sample.codes, *sample.bins.thresholds)
    blocks = (block.T.astype(np.float64) for _, block in table.blocks())
    return digest(repr((table.n_rows, table.n_columns, table.levels)), *blocks)


class BaggedClassifier(ClassifierMixin, Bagged):  # type: ignore[misc]
    """A vote of members made from bags: its out-of-bag error and its certificates."""

    holdout: float
    _certificate: Certificate | None = None
    _refusal = NOT_ASKED

    @takes_rows
    def score(self, X: object, y: object, sample_weight: Weights = None) -> float:
        """Return the accuracy."""
        with checked_by_scikit_learn():
            return float(super().score(X, y, sample_weight))

    @property
    def certificate_(self) -> Certificate:
        """The bound that ``certify`` asked for; raises NotCertified if there is none."""
        check_is_fitted(self)
        certificate = self.model_.certificate if hasattr(self, "model_") else self._certificate
        if certificate is None:
            raise NotCertified(self._refusal)
        return certificate

    @property
    def oob_decision_function_(self) -> NDArray[np.float64]:
        """Shares of the out-of-bag votes."""
        return self._answers_outside("oob_decision_function_").predictions

    @property
    def out_of_bag_(self) -> OutOfBag:
        """The counts that a certificate by out-of-bag rows needs."""
        counts = self._answers_outside("out_of_bag_").counts
        if counts is None:
            raise AttributeError("out_of_bag_ is there after a fit that counts out-of-bag votes")
        return counts

    @abstractmethod
    def _votes(self, X: object) -> NDArray[Any]:
        """Return the votes for every class, or set of labels, or their shares."""

    @property
    def _choices(self) -> NDArray[Any]:
        """The classes, or sets of labels, that members vote for."""
        return self.classes_ if self._sets is None else self._sets

    def _decide(self, votes: NDArray[Any]) -> NDArray[Any]:
        """Return the answer with the most votes; a tie goes to the first one."""
        choices = self._choices  # trees in a file of one class may name a second
        answers: NDArray[Any] = choices[votes[:, : len(choices)].argmax(axis=1)]
        return answers

    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        answers = len(self._choices)
        return np.minimum(examples.classes(), answers - 1), answers

    def _ask_outside(
        self, targets: NDArray[Any], classes: int, bags: Bags, counted: Counted
    ) -> OutOfBagVotes | Averages:
        """Count votes out of bag, and joint mistakes of pairs if the bound needs them."""
        rows = bags.rows if counted is None else int(np.count_nonzero(counted))
        way = out_of_bag.way_for(rows) if self.certify == "oob" else self.certify
        return OutOfBagVotes(
            targets, self.n_estimators, classes,
            outside=bags.chance_outside, pairs=way in ("tandem", "cantelli"), counted=counted,
        )  # fmt: skip

    def _summarised(self, outside: OutOfBagVotes | Averages) -> OutOfBagAnswers:
        if isinstance(outside, OutOfBagVotes):
            counts, shares = outside.result(), shares_of(outside.votes)
        else:
            counts, shares = None, outside.mean()
        shares = shares[:, : len(self._choices)]
        error, _ = outside.estimate()
        return OutOfBagAnswers(
            shares if self._sets is None else product(shares, self._sets),
            None if error is None else 1 - error,
            counts,
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

        A row with several labels is wrong if any of them is.
        """
        if self._apart is not None:
            votes, labels = self._votes(self._apart.X), self._apart.y
            if labels.ndim == 2:
                wrong = (self._decide(votes) != labels).any(axis=1) | tied(votes)
            else:
                wrong = wrong_answers(self._decide(votes), labels, votes)
            return self._apart.certificate(wrong, self.delta, self._record.looks or 0)
        way = None if self.certify == "oob" else self.certify
        changed = TORN if self._torn else ""
        certificate = out_of_bag.certificate(self.out_of_bag_, self.delta, way, changed=changed)
        return division.counted(certificate, self._examples)


class BaggedRegressor(RegressorMixin, Bagged):  # type: ignore[misc]
    """The mean of members made from bags, and its out-of-bag error."""

    @property
    def oob_prediction_(self) -> NDArray[np.float64]:
        """Means of the out-of-bag predictions."""
        return self._answers_outside("oob_prediction_").predictions

    @takes_rows
    def score(self, X: object, y: object, sample_weight: Weights = None) -> float:
        """Return the R² of the predictions."""
        with checked_by_scikit_learn():
            return float(super().score(X, y, sample_weight))

    @property
    def certificate_(self) -> Certificate:
        """Raises NotCertified: the theorems bound classification errors only."""
        raise NotCertified(
            "certificates of a fit bound classification errors, and numbers are never simply right "
            "or wrong; pacboost.intervals certifies intervals by new rows"
        )

    def _read(self, X: object, y: object, sample_weight: Weights, seed: int) -> LabelledRows:
        self._schema, table = Schema.learn(X, self._column_options())
        return read_numbers(table, y, sample_weight)

    def _targets(self, examples: LabelledRows) -> tuple[NDArray[Any], int]:
        assert examples.targets is not None
        return examples.targets, 0

    def _ask_outside(
        self, targets: NDArray[Any], classes: int, bags: Bags, counted: Counted
    ) -> Averages:
        return Averages(targets)

    def _summarised(self, outside: OutOfBagVotes | Averages) -> OutOfBagAnswers:
        assert isinstance(outside, Averages)
        predicted, has_answer = outside.mean(), outside.counts > 0
        if np.count_nonzero(has_answer) < 2:
            return OutOfBagAnswers(predicted)
        score = r2_score(outside.truth[has_answer], predicted[has_answer])
        return OutOfBagAnswers(predicted, float(score))


def shares_of(votes: NDArray[Any]) -> NDArray[np.float64]:
    """Turn votes into shares; rows without a vote have NaN.

    >>> shares_of(np.array([[3, 1], [0, 0]])).tolist()
    [[0.75, 0.25], [nan, nan]]
    """
    total = votes.sum(axis=1, keepdims=True)
    without_votes = np.full(votes.shape, np.nan)
    return np.asarray(np.divide(votes, total, out=without_votes, where=total > 0))
