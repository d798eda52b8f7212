"""How a fit by filtering is set up: booster, learner, sizes and bins from parameters and source."""

from __future__ import annotations

import math
import os
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.boosters.choose import as_booster
from pacboost.boosters.logit import Logit
from pacboost.boosters.registry import BOOSTERS
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.filtering.filter_session import Session
from pacboost.estimators.fitting.parameters import (
    limits,
    named,
    step_size,
    with_a_rule,
    with_fields,
)
from pacboost.estimators.inputs.parameters import (
    RESERVE,
    USUAL,
    draw_seed,
    read_seconds,
    read_size,
    resident,
    rows_in,
)
from pacboost.fit.targets import read_labels
from pacboost.kernels.runtime.threads import threads
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
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.arrow import release_memory
from pacboost.sources.oracles.blocks import trim
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.oracles.remote import RemoteOracle
from pacboost.training.filtering.arrivals import without_copies
from pacboost.training.filtering.candidates import (
    LEAST_AT_ONCE,
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

ROWS = 100_000
ROWS_OF_STUMPS = 50_000
"""Stumps learn nearly as much from half as many rows, at half the cost (docs/decisions/0008)."""
ROWS_FOR_BINS = 50_000
CELLS_FOR_BINS = 2**22
LEAST_FOR_BINS = 1_000
MOST_APART = 20_000
CELLS_TO_CHECK = 2**22
"""Arrays with more cells are not checked as a whole: only rows that are drawn are."""
OUTSIDE = ("checkpoint", "callbacks", "n_jobs", "device", "verbose", "time_limit")
"""Parameters that may differ when a run continues from a checkpoint."""


DIVISION = 3
"""The version of how rows are divided; no run goes on from the checkpoint of another version."""


def end_of_time(estimator: Any) -> float:
    """Return when a fit that begins now has to end, on the monotonic clock."""
    seconds = read_seconds("time_limit", estimator.time_limit)
    return math.inf if seconds is None else time.monotonic() + seconds


def set_up(
    estimator: Any,
    oracle: AbstractOracle,
    seed: int,
    classes: Any,
    deadline: float,
    copies: str = "draws",
) -> Session:
    """Set up the run that the parameters of an estimator ask for; ``classes`` may be None."""
    memory = read_size("memory", estimator.memory)
    held = resident() if memory is None else _resident_without_blocks()
    learner = _learner(estimator)
    if memory is not None:
        outputs = 1 if classes is None else _outputs(np.unique(np.asarray(classes)))
        _room(estimator, oracle, learner, outputs, held)  # before anything is read
        oracle.check_memory(max(0, memory - max(held, USUAL) - RESERVE))
    else:
        oracle.read_ahead_on(threads())
    if isinstance(oracle, RemoteOracle) and not learner.codes:
        raise ParameterError(
            "on a cluster the learner has to be 'stump' or 'tree': black boxes are shown rows, and "
            "rows stay with the workers. Give client=False."
        )
    booster = _booster(estimator, learner)
    if isinstance(oracle, ArrayOracle) and copies == "distinct":
        oracle = without_copies(oracle)
    faithful = estimator.edge is not None
    in_memory = isinstance(oracle, ArrayOracle) and oracle.order.name == "shuffled"
    known = _classes(oracle, classes, None) if in_memory and not faithful else None
    candidates = _candidates(estimator, oracle, seed, booster, known, copies)
    candidates.distinct = copies == "distinct"
    if isinstance(candidates, BlockRows):
        candidates.divide()
    bins, seen = _look(estimator, candidates, learner)
    if known is None:
        known = _classes(oracle, classes, seen)
    if known.size > 2 and booster.multiclass != "softmax":
        raise ParameterError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"there are {known.size} classes, and the booster {booster.name} filters for two. "
            "Use booster='logit' with edge=None."
        )
    plan = _plan(estimator, oracle, learner, known, seed, held=held)
    plan = replace(plan, rounds=int(min(with_a_rule(plan.rounds, booster), booster.last_round)))
    encoder = RowEncoder(known, bins)
    if isinstance(candidates, BlockRows):
        candidates.encode(encoder)
    at_once = LEAST_AT_ONCE if faithful else max(LEAST_AT_ONCE, plan.first_rows)
    candidates.at_once = min(candidates.at_once, at_once)
    kind = Faithful if faithful else Filtering
    run = kind(candidates, encoder, learner, booster, plan, answer_names(known))
    if known.size == 1:
        run.stopped = StopReason(Stop.ONE_CLASS)
    path = checkpoint_of(estimator)
    if path is not None and bins is None:
        raise ParameterError(
            "checkpoint needs the learner 'stump' or 'tree': black boxes are not written"
        )
    settings: dict[str, Any] = {}
    if path is not None:  # what a later run must share with this one to continue from there
        given = estimator.get_params(deep=False).items()
        settings = {name: repr(own) for name, own in given if name not in OUTSIDE}
        settings |= {"division": DIVISION, "seed": seed, "source": oracle.fingerprint()}
        settings |= {"classes": repr(known.tolist()), "copies": copies}
    return Session(run, deadline, path, settings)


def _resident_without_blocks() -> int:
    """Return what the process takes by itself: less what is kept of the block that was read."""
    release_memory()
    trim()(0)
    return resident()


def checkpoint_of(estimator: Any) -> Path | None:
    """Return the file of the run's checkpoint, None if there is none."""
    place = estimator.checkpoint
    if not isinstance(place, str | os.PathLike | None) or place == "":
        raise ParameterError(f"checkpoint is {place!r}; it may be the name of a file, or None")
    return None if place is None else Path(place)


def seed_of_run(estimator: Any) -> int:
    """Draw a seed; without a random_state, take that of the run that is to go on."""
    path = checkpoint_of(estimator)
    if estimator.random_state is None and path is not None and path.exists():
        return int(load_checkpoint(path).settings["seed"])
    return draw_seed(estimator.random_state)


def check_rows(options: ColumnOptions, X: Any, y: Any) -> tuple[Schema, Any, NDArray[Any]]:
    """Check X and y, large arrays not as a whole; give their columns, rows and labels."""
    large = isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2
    if large and X.size > CELLS_TO_CHECK:
        labels = np.asarray(y)
        if labels.ndim != 1 or labels.dtype.kind not in "iubUT":
            labels = read_labels(y, len(X))
        if labels.size != len(X):
            raise DataError(f"X has {len(X)} rows and y {labels.size} labels; give one for each")
        return Schema(X.shape[1], owner=options.owner), X, labels
    schema, table = Schema.learn(X, options)
    labels = read_labels(y, table.n_rows)
    if table.names is not None:
        return schema, X, labels
    if sparse.issparse(X):
        matrix: Any = X
        return schema, matrix.tocsr(), labels
    return schema, np.ascontiguousarray(table.rows()), labels


def _candidates(
    estimator: Any,
    oracle: AbstractOracle,
    seed: int,
    booster: FilteringBooster[Any],
    known: NDArray[Any] | None,
    copies: str,
) -> Candidates:
    """Choose how rows are drawn: from an array with known classes, from blocks, or in order."""
    apart = _apart(estimator, oracle)
    if known is not None and isinstance(oracle, ArrayOracle):
        return ArrayRows(oracle, seed, apart, known, booster.first_chance(_outputs(known)))
    if oracle.in_blocks:
        tests = rows_for_tests(oracle.about_rows or 0, estimator.epsilon)
        return BlockRows(oracle, seed, apart, tests, copies)
    once = isinstance(oracle, ArrayOracle)  # copies in an array were dropped before
    return Stream(oracle, seed, apart, "draws" if once else copies)


def _plan(
    estimator: Any,
    oracle: AbstractOracle,
    learner: Learner,
    classes: NDArray[Any],
    seed: int,
    *,
    held: int,
) -> FilteringPlan:
    few = isinstance(learner, Stump) and estimator.edge is None
    rows = ROWS_OF_STUMPS if few else ROWS
    if estimator.sample_rows is not None:
        rows = positive_whole("sample_rows", estimator.sample_rows)
    rows = min(rows, _room(estimator, oracle, learner, _outputs(classes), held))
    return FilteringPlan(
        rounds=positive_whole("n_estimators", estimator.n_estimators),
        rows=rows,
        first_rows=max(1, min(rows, rows // 2 if rows >= 4000 else rows)),
        epsilon=None if estimator.epsilon is None else real_number("epsilon", estimator.epsilon),
        delta=real_number("delta", estimator.delta),
        seed=seed,
        edge=None if estimator.edge is None else real_number("edge", estimator.edge),
    )


def _room(estimator: Any, oracle: AbstractOracle, learner: Learner, outputs: int, held: int) -> int:
    """Return number of rows for which the limit of memory leaves room; raise if they are few."""
    limit = read_size("memory", estimator.memory)
    if limit is None:
        return sys.maxsize
    tests = rows_for_tests(oracle.about_rows or 0, estimator.epsilon) if oracle.in_blocks else 0
    apart, bins = _apart(estimator, oracle) + tests, _rows_for_bins(estimator, oracle)
    work = bytes_of_work(oracle, learner, outputs, apart, bins)
    return rows_in(
        limit, oracle.n_columns, outputs, oracle.bytes_needed, codes=learner.codes, held=held,
        work=work, place=oracle.largest_block_place,
    )  # fmt: skip


def _learner(estimator: Any) -> Learner:
    choice, own = named(estimator.learner)
    learner = as_learner(choice, "learner")
    changes = limits(estimator) | own
    return with_fields(learner, changes, "learner") if changes else learner


def _booster(estimator: Any, learner: Learner) -> FilteringBooster[Any]:
    choice, own = named(estimator.booster)
    if choice == "logit" and estimator.edge is not None:
        choice = "filter_boost"
    booster = as_booster(choice)
    if not isinstance(booster, FilteringBooster):
        fit = [name for name, kind in BOOSTERS.items() if issubclass(kind, FilteringBooster)]
        raise ParameterError(
            f"booster is {estimator.booster!r}, whose weights are not probabilities; it may be "
            f"{', '.join(map(repr, fit))}, or a FilteringBooster of your own"
        )
    known = {f.name for f in fields(booster)}  # type: ignore[arg-type]
    changes: dict[str, Any] = {}
    if isinstance(estimator.booster, str):
        if isinstance(booster, Logit):
            rate = 0.2 if isinstance(learner, Tree) else 1.0
            changes |= {"prior": True, "l2": 1.0, "learning_rate": rate}
        for name, part in (("edge", KEPT), ("epsilon", 1.0)):
            if name in known and getattr(estimator, name) is not None:
                changes[name] = part * real_number(name, getattr(estimator, name))
    rate_set = step_size(estimator)
    if rate_set is not None:
        changes["learning_rate"] = rate_set
    return with_fields(booster, changes | own, "booster")  # type: ignore[no-any-return]


def _apart(estimator: Any, oracle: AbstractOracle) -> int:
    if estimator.n_certify is not None:
        wanted = integer("n_certify", estimator.n_certify)
        if wanted < 0 or (oracle.n_rows is not None and wanted >= max(1, oracle.n_rows)):
            raise ParameterError(
                f"n_certify is {wanted}; it must be 0 or more, and leave rows to learn from"
            )
        return wanted
    return MOST_APART if oracle.about_rows is None else min(MOST_APART, oracle.about_rows // 10)


def _look(
    estimator: Any, candidates: Candidates, learner: Learner
) -> tuple[Bins | None, NDArray[Any] | None]:
    """Look at some rows: for bins, and for labels where they are not known."""
    max_bins = integer("max_bins", estimator.max_bins)
    count = _rows_for_bins(estimator, candidates.oracle)
    if isinstance(candidates, ArrayRows):
        return fit_bins(candidates.some(count), max_bins) if learner.codes else None, None
    if not isinstance(candidates, Stream):
        raise TypeError("candidates come from a pool or a stream")
    tables = candidates.peek(count)
    if not tables:
        raise DataError("the source holds no rows; at least one is needed")
    seen = candidates.labels_ahead()
    if not learner.codes:
        return None, seen
    rows = ArrayTable(np.concatenate([table.rows() for table in tables]))
    return fit_bins(rows, max_bins), seen


def _rows_for_bins(estimator: Any, oracle: AbstractOracle) -> int:
    """Return number of rows that define the bins; a stop at epsilon cannot be tested on these."""
    count = min(ROWS_FOR_BINS, max(LEAST_FOR_BINS, CELLS_FOR_BINS // oracle.n_columns))
    if estimator.epsilon is not None and oracle.n_rows is not None:
        count = min(count, max(LEAST_FOR_BINS, oracle.n_rows // 4))
    return count


def _classes(oracle: AbstractOracle, given: Any, seen: NDArray[Any] | None) -> NDArray[Any]:
    if given is not None:
        return np.unique(np.asarray(given))
    found = oracle.classes()
    if found is None:
        found = np.unique(seen)  # type: ignore[arg-type]
    return found


def _outputs(classes: NDArray[Any]) -> int:
    return 1 if classes.size <= 2 else int(classes.size)
