"""How a fit by filtering is set up from its parameters and its source."""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pacboost.boosters.multiclass import method_of
from pacboost.errors import DataError, ParameterError, invalid
from pacboost.estimators.filtering.choices import booster_of, classes_of, learner_of, outputs_of
from pacboost.estimators.filtering.filter_session import Session
from pacboost.estimators.filtering.memory import RESERVE, USUAL, resident
from pacboost.estimators.filtering.sizes import Sizes
from pacboost.estimators.fitting.rounds import with_a_rule
from pacboost.estimators.inputs.parameters import draw_seed
from pacboost.estimators.parameters.values import Values
from pacboost.fit.targets import read_labels
from pacboost.kernels.threads import threads
from pacboost.learners.learner import Learner
from pacboost.models.file.checkpoint import load as load_checkpoint
from pacboost.models.model import answer_names
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.sources.dataframe import columns_of, is_frame
from pacboost.sources.given import GivenRows
from pacboost.sources.levels import NO_LEVELS
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.arrow import release_memory
from pacboost.sources.oracles.blocks import trim
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.oracles.remote import RemoteOracle
from pacboost.sources.oracles.row_block import are_numbers
from pacboost.training.filtering.arrivals import without_copies
from pacboost.training.filtering.candidates import (
    MIN_ROWS_PER_OFFER,
)
from pacboost.training.filtering.engine import Filtering
from pacboost.training.filtering.faithful import Faithful
from pacboost.training.filtering.plan import FilteringPlan
from pacboost.training.filtering.rows import RowEncoder
from pacboost.training.filtering.stream import BlockRows
from pacboost.training.run.stop_reason import Stop, StopReason

CELLS_TO_CHECK = 2**22
"""Of arrays with more cells, only rows that are drawn are checked."""
FREE_PARAMETERS = ("checkpoint", "callbacks", "n_jobs", "device", "verbose", "time_limit")
"""Parameters that may differ when a run continues from a checkpoint."""
GROUPS_PER_SAMPLE = 16
"""A run decides between groups of candidates, so that a sixteenth of a sample is asked for in vain
at most."""
DIVISION_VERSION = 3
"""No run continues from a checkpoint whose rows were divided by another version."""


def end_of_time(estimator: Values) -> float:
    """Return the time on the monotonic clock at which a fit that begins now has to end."""
    seconds: Any = estimator.time_limit  # read as the fit began
    return math.inf if seconds is None else time.monotonic() + seconds


def set_up(
    estimator: Values,
    oracle: AbstractOracle,
    seed: int,
    classes: ArrayLike | None,
    deadline: float,
    copies: str = "draws",
) -> Session:
    """Set up a run by the parameters of an estimator; ``classes`` may be None."""
    memory: Any = estimator.memory  # in bytes, as the fit has read it
    in_use = resident() if memory is None else _resident_without_blocks()
    learner = learner_of(estimator)
    sizes = Sizes(estimator, oracle, learner, seed, copies, in_use)
    if memory is not None:
        outputs = 1 if classes is None else outputs_of(np.unique(np.asarray(classes)))
        sizes.rows_in_memory(outputs)  # before anything is read
        oracle.check_memory(max(0, memory - max(in_use, USUAL) - RESERVE))
    else:
        oracle.read_ahead_on(threads())
    check_source(oracle, learner, classes)
    booster = booster_of(estimator, learner)
    if isinstance(oracle, ArrayOracle) and copies == "distinct":
        oracle = without_copies(oracle)
        sizes = replace(sizes, oracle=oracle)
    faithful = estimator.edge is not None
    in_memory = isinstance(oracle, ArrayOracle) and oracle.order.name == "shuffled"
    labels = classes_of(oracle, classes, None) if in_memory and not faithful else None
    candidates = sizes.candidates(booster, labels)
    candidates.distinct = copies == "distinct"
    if isinstance(candidates, BlockRows):
        candidates.divide()
    bins, first_labels = sizes.first_look(candidates)
    if labels is None:
        labels = classes_of(oracle, classes, first_labels)
    if labels.size > 2 and not method_of(booster.multiclass).shares:
        raise ParameterError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"there are {labels.size} classes, and the booster {booster.name} takes two. "
            "Use booster='logit' with edge=None.",
            parameter="booster",
        )
    plan = sizes.plan(outputs_of(labels))
    plan = replace(plan, rounds=int(min(with_a_rule(plan.rounds, booster), booster.last_round)))
    encoder = RowEncoder(labels, bins)
    if isinstance(candidates, BlockRows):
        candidates.encode(encoder)
    candidates.at_once = min(candidates.at_once, rows_at_once(plan, oracle, faithful=faithful))
    kind = Faithful if faithful else Filtering
    run = kind(candidates, encoder, learner, booster, plan, answer_names(labels))
    if labels.size == 1:
        run.stopped = StopReason(Stop.ONE_CLASS)
    path = checkpoint_of(estimator)
    if path is None:
        return Session(run, deadline, None, {})
    if bins is None:
        raise ParameterError(
            "checkpoint needs the learner 'stump' or 'tree': black boxes are not written",
            parameter="checkpoint",
        )
    same: dict[str, Any] = same_to_continue(estimator)
    same |= {"division": DIVISION_VERSION, "seed": seed, "source": oracle.fingerprint()}
    same |= {"classes": repr(labels.tolist()), "copies": copies}
    return Session(run, deadline, path, same)


def check_source(oracle: AbstractOracle, learner: Learner, classes: ArrayLike | None) -> None:
    """Raise if rows are not at hand that the learner needs, or no class is known."""
    if isinstance(oracle, RemoteOracle) and not learner.codes:
        raise ParameterError(
            "on a cluster the learner must be 'stump' or 'tree', because rows stay with the "
            "workers; give client=False",
            parameter="learner",
        )
    if oracle.late_labels and classes is None:
        raise ParameterError(
            "labels that come later than rows are not known at the start; name all of them by "
            "classes=",
            parameter="classes",
        )


def rows_at_once(plan: FilteringPlan, oracle: AbstractOracle, *, faithful: bool) -> int:
    """Return the number of candidates between which a run decides."""
    if oracle.asks:
        return max(1, plan.first_rows // GROUPS_PER_SAMPLE)
    return MIN_ROWS_PER_OFFER if faithful else max(MIN_ROWS_PER_OFFER, plan.first_rows)


def same_to_continue(estimator: Values) -> dict[str, Any]:
    """Return the parameters that a later run has to have, too, to continue from a checkpoint."""
    parameters = vars(estimator).items()
    return {name: repr(value) for name, value in parameters if name not in FREE_PARAMETERS}


def _resident_without_blocks() -> int:
    """Return the memory of the process without the block that was read."""
    release_memory()
    trim()(0)
    return resident()


def checkpoint_of(estimator: Values) -> Path | None:
    """Return the file of the run's checkpoint, None if there is none."""
    path = estimator.checkpoint
    if not isinstance(path, str | os.PathLike | None) or path == "":
        raise invalid("checkpoint", path, "may be the name of a file, or None")
    return None if path is None else Path(path)


def seed_of_run(estimator: Values) -> int:
    """Draw a seed, or return the seed of the run that is continued."""
    path = checkpoint_of(estimator)
    if estimator.random_state is None and path is not None and path.exists():
        return int(load_checkpoint(path).settings["seed"])
    return draw_seed(estimator.random_state)


def schema_of(oracle: AbstractOracle, owner: str) -> Schema:
    """Return the columns of a source as a schema, which reads new rows."""
    levels = NO_LEVELS if oracle.learned is None else oracle.learned.levels
    return Schema(oracle.n_columns, oracle.names, levels, owner=owner)


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
    if not options.as_they_came and is_frame(X) and not are_numbers(X):
        # ArrayOracle learns the columns, from rows that do not certify
        columns = columns_of(X)
        n_rows = len(next(iter(columns.values())))
        return Schema(len(columns), owner=options.owner), X, read_labels(y, n_rows)
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
