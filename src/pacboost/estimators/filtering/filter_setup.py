"""How a fit by filtering is set up: booster, learner, sizes and bins from parameters and source."""

from __future__ import annotations

import math
import os
import sys
import time
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.boosters.choose import as_booster
from pacboost.boosters.logit import Logit
from pacboost.boosters.multiclass import method_of
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import DataError, ParameterError, invalid
from pacboost.estimators.filtering.filter_session import Session
from pacboost.estimators.filtering.memory import RESERVE, USUAL, resident, rows_in
from pacboost.estimators.fitting.constraints import limits
from pacboost.estimators.fitting.nested import named, with_fields
from pacboost.estimators.fitting.rounds import with_a_rule
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.estimators.parameters.values import Values
from pacboost.fit.targets import read_labels
from pacboost.kernels.threads import threads
from pacboost.learners.choose import as_learner
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.models.file.checkpoint import load as load_checkpoint
from pacboost.models.model import answer_names
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.numerics.checks import integer, positive_whole, real_number
from pacboost.samples.bins import Bins, fit_bins
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.given import GivenRows
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.arrow import release_memory
from pacboost.sources.oracles.blocks import trim
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.oracles.remote import RemoteOracle
from pacboost.training.filtering.arrivals import without_copies
from pacboost.training.filtering.candidates import (
    MIN_ROWS_PER_OFFER,
    ArrayRows,
    Candidates,
    bytes_of_work,
)
from pacboost.training.filtering.engine import Filtering
from pacboost.training.filtering.faithful import Faithful
from pacboost.training.filtering.plan import KEPT, FilteringPlan
from pacboost.training.filtering.rows import RowEncoder
from pacboost.training.filtering.stream import BlockRows, Stream, rows_for_tests
from pacboost.training.run.stop_reason import Stop, StopReason

if TYPE_CHECKING:
    from pacboost.estimators.filtering.filter_boost import FilterBoostClassifier

ROWS = 100_000
ROWS_OF_STUMPS = 50_000
"""Stumps learn nearly as much from half as many rows, at half the cost (docs/decisions/0008)."""
ROWS_FOR_BINS = 50_000
CELLS_FOR_BINS = 2**22
MIN_ROWS_FOR_BINS = 1_000
MAX_ROWS_APART = 20_000
CELLS_TO_CHECK = 2**22
"""Of arrays with more cells, only rows that are drawn are checked."""
FREE_PARAMETERS = ("checkpoint", "callbacks", "n_jobs", "device", "verbose", "time_limit")
"""Parameters that may differ when a run continues from a checkpoint."""
DIVISION_VERSION = 3
"""No run continues from a checkpoint whose rows were divided by another version."""


def end_of_time(estimator: FilterBoostClassifier) -> float:
    """Return the time on the monotonic clock at which a fit that begins now has to end."""
    seconds: Any = estimator.time_limit  # read as the fit began
    return math.inf if seconds is None else time.monotonic() + seconds


def set_up(
    estimator: FilterBoostClassifier,
    oracle: AbstractOracle,
    seed: int,
    classes: ArrayLike | None,
    deadline: float,
    copies: str = "draws",
) -> Session:
    """Set up a run by the parameters of an estimator; ``classes`` may be None."""
    memory: Any = estimator.memory  # in bytes, as the fit has read it
    in_use = resident() if memory is None else _resident_without_blocks()
    learner = _learner(estimator)
    setup = Setup(estimator, oracle, learner, seed, copies, in_use)
    if memory is not None:
        outputs = 1 if classes is None else _outputs(np.unique(np.asarray(classes)))
        setup.rows_in_memory(outputs)  # before anything is read
        oracle.check_memory(max(0, memory - max(in_use, USUAL) - RESERVE))
    else:
        oracle.read_ahead_on(threads())
    if isinstance(oracle, RemoteOracle) and not learner.codes:
        raise ParameterError(
            "on a cluster the learner must be 'stump' or 'tree', because rows stay with the "
            "workers; give client=False",
            parameter="learner",
        )
    booster = _booster(estimator, learner)
    if isinstance(oracle, ArrayOracle) and copies == "distinct":
        oracle = without_copies(oracle)
        setup = replace(setup, oracle=oracle)
    faithful = estimator.edge is not None
    in_memory = isinstance(oracle, ArrayOracle) and oracle.order.name == "shuffled"
    labels = _classes(oracle, classes, None) if in_memory and not faithful else None
    candidates = setup.candidates(booster, labels)
    candidates.distinct = copies == "distinct"
    if isinstance(candidates, BlockRows):
        candidates.divide()
    bins, first_labels = setup.first_look(candidates)
    if labels is None:
        labels = _classes(oracle, classes, first_labels)
    if labels.size > 2 and not method_of(booster.multiclass).shares:
        raise ParameterError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"there are {labels.size} classes, and the booster {booster.name} takes two. "
            "Use booster='logit' with edge=None.",
            parameter="booster",
        )
    plan = setup.plan(_outputs(labels))
    plan = replace(plan, rounds=int(min(with_a_rule(plan.rounds, booster), booster.last_round)))
    encoder = RowEncoder(labels, bins)
    if isinstance(candidates, BlockRows):
        candidates.encode(encoder)
    at_once = MIN_ROWS_PER_OFFER if faithful else max(MIN_ROWS_PER_OFFER, plan.first_rows)
    candidates.at_once = min(candidates.at_once, at_once)
    kind = Faithful if faithful else Filtering
    run = kind(candidates, encoder, learner, booster, plan, answer_names(labels))
    if labels.size == 1:
        run.stopped = StopReason(Stop.ONE_CLASS)
    path = checkpoint_of(estimator)
    if path is not None and bins is None:
        raise ParameterError(
            "checkpoint needs the learner 'stump' or 'tree': black boxes are not written",
            parameter="checkpoint",
        )
    same: dict[str, Any] = {} if path is None else same_to_continue(estimator)
    if path is not None:
        same |= {"division": DIVISION_VERSION, "seed": seed, "source": oracle.fingerprint()}
        same |= {"classes": repr(labels.tolist()), "copies": copies}
    return Session(run, deadline, path, same)


def same_to_continue(estimator: FilterBoostClassifier) -> dict[str, Any]:
    """Return the parameters that a later run has to have, too, to continue from a checkpoint."""
    parameters = estimator.get_params(deep=False).items()
    return {name: repr(value) for name, value in parameters if name not in FREE_PARAMETERS}


def _resident_without_blocks() -> int:
    """Return the memory of the process without the block that was read."""
    release_memory()
    trim()(0)
    return resident()


def checkpoint_of(estimator: FilterBoostClassifier) -> Path | None:
    """Return the file of the run's checkpoint, None if there is none."""
    path = estimator.checkpoint
    if not isinstance(path, str | os.PathLike | None) or path == "":
        raise invalid("checkpoint", path, "may be the name of a file, or None")
    return None if path is None else Path(path)


def seed_of_run(estimator: FilterBoostClassifier) -> int:
    """Draw a seed, or return the seed of the run that is continued."""
    path = checkpoint_of(estimator)
    if estimator.random_state is None and path is not None and path.exists():
        return int(load_checkpoint(path).settings["seed"])
    return draw_seed(estimator.random_state)


def check_rows(options: ColumnOptions, X: object, y: object) -> tuple[Schema, Any, NDArray[Any]]:
    """Return columns, rows and labels; cells of large arrays are checked when they are drawn."""
    is_matrix = isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2
    if isinstance(X, np.ndarray) and is_matrix and X.size > CELLS_TO_CHECK:
        labels = np.asarray(y)
        if labels.ndim != 1 or labels.dtype.kind not in "iubUT":
            labels = read_labels(y, len(X))
        if labels.size != len(X):
            raise DataError(f"X has {len(X)} rows and y {labels.size} labels; give one for each")
        return Schema(X.shape[1], owner=options.owner), X, labels
    X = options.divisible(X)
    schema, table = Schema.learn(X, options)
    labels = read_labels(y, table.n_rows)
    if isinstance(X, GivenRows):
        return schema, X, labels
    if table.names is not None:
        return schema, X, labels
    if sparse.issparse(X):
        matrix: Any = X
        return schema, matrix.tocsr(), labels
    return schema, np.ascontiguousarray(table.rows()), labels


@dataclass(frozen=True)
class Setup:
    """The parameters of a fit, and the source that it draws from."""

    estimator: FilterBoostClassifier
    oracle: AbstractOracle
    learner: Learner
    seed: int
    copies: str
    bytes_in_use: int
    """The memory of the process before it begins to read."""

    def candidates(self, booster: FilteringBooster[Any], labels: NDArray[Any] | None) -> Candidates:
        """Choose how to draw rows: from an array with known classes, from blocks, or in order."""
        oracle, seed, apart = self.oracle, self.seed, self._rows_apart
        if labels is not None and isinstance(oracle, ArrayOracle):
            return ArrayRows(oracle, seed, apart, labels, booster.first_chance(_outputs(labels)))
        if oracle.in_blocks:
            return BlockRows(oracle, seed, apart, self._rows_for_tests, self.copies)
        once = isinstance(oracle, ArrayOracle)  # copies in an array were dropped before
        return Stream(oracle, seed, apart, "draws" if once else self.copies)

    def plan(self, outputs: int) -> FilteringPlan:
        """Plan rounds and sizes of samples."""
        estimator, is_stump = self.estimator, isinstance(self.learner, Stump)
        rows = ROWS_OF_STUMPS if is_stump and estimator.edge is None else ROWS
        if estimator.sample_rows is not None:
            rows = positive_whole("sample_rows", estimator.sample_rows)
        rows = min(rows, self.rows_in_memory(outputs))
        epsilon, edge = self._epsilon, estimator.edge
        return FilteringPlan(
            rounds=estimator.n_estimators,
            rows=rows,
            first_rows=max(1, min(rows, rows // 2 if rows >= 4000 else rows)),
            epsilon=None if epsilon is None else real_number("epsilon", epsilon),
            delta=estimator.delta,
            seed=self.seed,
            edge=edge,
        )

    def rows_in_memory(self, outputs: int) -> int:
        """Return the number of rows that fit into the memory limit; raise if they are few."""
        limit: Any = self.estimator.memory
        oracle = self.oracle
        if limit is None:
            return sys.maxsize
        tests = self._rows_for_tests if oracle.in_blocks else 0
        work = bytes_of_work(
            oracle, self.learner, outputs, self._rows_apart + tests, self._rows_for_bins
        )
        return rows_in(
            limit, oracle.n_columns, outputs, oracle.bytes_needed, codes=self.learner.codes,
            held=self.bytes_in_use, work=work, place=oracle.largest_block_place,
        )  # fmt: skip

    def first_look(self, candidates: Candidates) -> tuple[Bins | None, NDArray[Any] | None]:
        """Read the first rows: for bins, and for their labels."""
        max_bins, has_codes = self.estimator.max_bins, self.learner.codes
        if isinstance(candidates, ArrayRows):
            rows = candidates.some(self._rows_for_bins)
            return fit_bins(rows, max_bins) if has_codes else None, None
        if not isinstance(candidates, Stream):
            raise TypeError("candidates come from a pool or a stream")
        tables = candidates.peek(self._rows_for_bins)
        if not tables:
            raise DataError("the source holds no rows; at least one is needed")
        labels = candidates.labels_ahead()
        if not has_codes:
            return None, labels
        return fit_bins(ArrayTable(np.concatenate([t.rows() for t in tables])), max_bins), labels

    @property
    def _rows_apart(self) -> int:
        n_rows, n_certify = self.oracle.n_rows, self.estimator.n_certify
        if n_certify is None:
            rows = self.oracle.about_rows
            return MAX_ROWS_APART if rows is None else min(MAX_ROWS_APART, rows // 10)
        rows = integer("n_certify", n_certify)
        if rows < 0 or (n_rows is not None and rows >= max(1, n_rows)):
            raise ParameterError(
                f"n_certify is {rows}; it must be 0 or more, and leave rows to learn from",
                parameter="n_certify",
            )
        return rows

    @property
    def _epsilon(self) -> float | None:
        """The error at which to stop, from the estimator or from a booster object.

        With ``edge``, the booster's epsilon bounds the rounds instead.
        """
        epsilon: float | None = self.estimator.epsilon
        if epsilon is None and self.estimator.edge is None:
            epsilon = getattr(self.estimator.booster, "epsilon", None)
        return epsilon

    @property
    def _rows_for_tests(self) -> int:
        return rows_for_tests(self.oracle.about_rows or 0, self._epsilon)

    @property
    def _rows_for_bins(self) -> int:
        """The number of rows for the bins; these rows cannot test the error."""
        count = min(ROWS_FOR_BINS, max(MIN_ROWS_FOR_BINS, CELLS_FOR_BINS // self.oracle.n_columns))
        if self._epsilon is not None and self.oracle.n_rows is not None:
            count = min(count, max(MIN_ROWS_FOR_BINS, self.oracle.n_rows // 4))
        return count


def _learner(estimator: FilterBoostClassifier) -> Learner:
    choice, nested = named(estimator.learner)
    learner = as_learner(choice, "learner")
    changes = limits(Values.of(estimator.get_params(deep=False))) | nested
    return with_fields(learner, changes, "learner") if changes else learner


def _booster(estimator: FilterBoostClassifier, learner: Learner) -> FilteringBooster[Any]:
    choice, nested = named(estimator.booster)
    if choice == "logit" and estimator.edge is not None:
        choice = "filter_boost"
    booster = as_booster(choice)
    if not isinstance(booster, FilteringBooster):
        names = [name for name, kind in BOOSTERS.items() if issubclass(kind, FilteringBooster)]
        raise ParameterError(
            f"booster is {estimator.booster!r}, whose weights are not probabilities; it may be "
            f"{', '.join(map(repr, names))}, or a FilteringBooster",
            parameter="booster",
        )
    settings = {field.name for field in fields(booster)}  # type: ignore[arg-type]
    changes: dict[str, Any] = {}
    if isinstance(estimator.booster, str):
        if isinstance(booster, Logit):
            rate = 0.2 if isinstance(learner, Tree) else 1.0
            changes |= {"prior": True, "l2": 1.0, "learning_rate": rate}
        for name, part in (("edge", KEPT), ("epsilon", 1.0)):
            if name in settings and getattr(estimator, name) is not None:
                changes[name] = part * getattr(estimator, name)
    if estimator.learning_rate is not None:
        changes["learning_rate"] = estimator.learning_rate
    return with_fields(booster, changes | nested, "booster")  # type: ignore[no-any-return]


def _classes(
    oracle: AbstractOracle, classes: ArrayLike | None, first_labels: NDArray[Any] | None
) -> NDArray[Any]:
    if classes is not None:
        return np.unique(np.asarray(classes))
    labels = oracle.classes()
    return np.unique(first_labels) if labels is None else labels  # type: ignore[arg-type]


def _outputs(classes: NDArray[Any]) -> int:
    return 1 if classes.size <= 2 else int(classes.size)
