"""Which rows a model gets wrong, whatever library it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.kernels import hashing
from pacboost.learners.learner import Learner
from pacboost.models.answers import asked
from pacboost.samples.bins import MAX_BINS, fit_bins
from pacboost.samples.row_hashes import row_hashes
from pacboost.samples.sample import Sample
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.dataframe import is_frame
from pacboost.sources.explained_errors import explains_input, odd_cell, odd_shape, shown
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.optional import collected, need
from pacboost.sources.oracles.choose import open_source
from pacboost.sources.oracles.dask_collections import is_collection
from pacboost.sources.oracles.held import Held, split_frame
from pacboost.sources.table import Table, refuse_infinite


@explains_input
def mistakes(model: Any, X: Any, y: Any) -> NDArray[np.bool_]:
    """Which rows the model gets wrong; for a vote of ours, ties count as wrong."""
    if hasattr(model, "ledger_") and not hasattr(model, "mistakes"):
        raise NotCertified(
            "certify bounds how often a classifier is wrong; this model predicts numbers, which "
            "are never simply right or wrong. Certify of='absolute_error' with clip=, or "
            "of='large_errors' with larger_than=, or make intervals by pacboost.intervals"
        )
    several, classes = (
        bool(getattr(model, "several_labels_", False)),
        getattr(model, "classes_", ()),
    )
    if not several:
        refuse_other_labels(classes, y)
    if hasattr(model, "ledger_"):  # a vote of ours
        wrong: NDArray[np.bool_] = model.mistakes(X, y)
        return wrong
    labels = np.asarray(y)
    if labels.ndim != 1 + several or labels.size == 0:
        needed = "one column for each label" if several else "one label a row"
        raise DataError(f"y has shape {labels.shape}; {needed} is needed, and at least one")
    answers = asked(model, X)
    if answers.shape != labels.shape:
        raise DataError(f"predict gave shape {answers.shape} for labels of shape {labels.shape}")
    if not several and not len(classes):
        refuse_other_labels(answers, labels)
    wrong = np.asarray(answers != labels)
    return np.asarray(wrong.any(axis=1)) if several else wrong


def fresh_labels(y: Any, classes: Any = None) -> NDArray[Any]:
    """Return the labels of rows that had no part in a fit: one a row, none missing, of its type."""
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise DataError(f"y has shape {labels.shape}; one label a row is needed, and at least one")
    if any(label is None or label != label for label in labels.tolist()):  # noqa: PLR0124
        raise DataError("y holds missing labels; drop those rows")
    if classes is not None:
        refuse_other_labels(classes, labels)
    return labels


def refuse_other_labels(classes: Any, y: Any) -> None:
    """Raise if a label is text and no class is, or the like: it could never be right."""
    labels, class_labels = np.asarray(y), np.asarray(classes)
    other = _kinds(labels).keys() - _kinds(class_labels).keys()
    if class_labels.size and other:
        names = ", ".join(map(repr, list(dict.fromkeys(class_labels.tolist()))[:10]))
        raise DataError(
            f"y holds {_kinds(labels)[min(other)]!r}, and the classes are {names}: a label of "
            "another type is never right. Give labels of the type that they had in the fit"
        )


def _kinds(values: NDArray[Any]) -> dict[str, Any]:
    """Return which of text, bytes and numbers there are, with an example of each."""
    examples = values.reshape(-1)
    if examples.dtype.kind != "O":
        examples = examples[:1]
    return {
        "text"
        if isinstance(value, str)
        else "bytes"
        if isinstance(value, bytes)
        else "number": value
        for value in examples.tolist()
    }


ROW_SALT = 20200604


def share_of_row(table: Table) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each row, made from its values, that prediction sets draw by.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> some = share_of_row(ArrayTable(np.array([[1.0], [2.0], [1.0]])))
    >>> bool(some[0] == some[2] != some[1])
    True
    """
    hashes = row_hashes(table, salt=ROW_SALT)
    return np.asarray((hashes >> np.uint64(11)) * 2.0**-53)


def two_classes(X: Any, y: Any) -> tuple[Table, NDArray[np.int8]]:
    """Read rows, and their labels as -1 and +1 in the order of the classes."""
    table = table_of(collected(X))
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if classes.size != 2 or codes.size != table.n_rows:
        raise DataError(
            f"y holds {classes.size} classes in {codes.size} rows for {table.n_rows} rows of X; "
            "two classes, and one label a row, are needed"
        )
    return table, np.where(codes == 1, np.int8(1), np.int8(-1))


def whole_sample(learner: Learner, X: Any, y: Any) -> Sample:
    """Return a sample of all rows, with a bin for every value where the learner reads bins."""
    table, signs = two_classes(X, y)
    bins = fit_bins(table, MAX_BINS) if learner.codes else None
    return Sample(table, signs[:, None], bins=bins)


def table_of(X: Any) -> Table:
    """Read rows of numbers, or of a data frame."""
    if isinstance(X, Table):
        return X
    if is_frame(X):
        return FrameTable.learn(X, None)
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        reason = odd_cell(X, text=True) or odd_shape(X) or f"X is {shown(X)}"
        raise DataError(f"{reason}; a table of numbers is needed") from problem
    if values.ndim != 2 or 0 in values.shape:
        raise DataError(f"X has shape {values.shape}; rows and columns are needed, some of each")
    for column in range(values.shape[1]):
        refuse_infinite(values[:, column], str(column))
    return ArrayTable(values)


MAX_ROWS_TO_FETCH = 200_000
"""Maximum number of rows read from a Dask collection. A certificate then has a width of a quarter
of a percent, and more rows hardly narrow it."""
COIN_KEY = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class ByCoin:
    """Chooses every row of a Dask collection with the same chance.

    The coin of a row is keyed to its partition and its number there, so the chosen rows are a
    simple random sample: if all rows are new and independent draws, so are these.
    """

    share: float

    def __call__(self, rows: NDArray[np.uint64], held: Held) -> NDArray[np.bool_]:
        """Return which rows are chosen."""
        drawn = np.empty(rows.size, dtype=np.uint64)
        hashing.numbers(rows, COIN_KEY, drawn)
        return np.asarray(drawn * 2.0**-hashing.BITS < self.share)


def rows_and_labels(X: Any, y: Any, target: str | None) -> tuple[Any, Any]:
    """Return rows in memory and their labels; ``target`` names the column of labels of a frame."""
    if is_collection(X):
        return _chosen(X if target is not None else (X, y), target)
    if target is None:
        if y is None:
            raise DataError("y is None; give the labels, or name their column by target=")
        return X, y
    X = collected(X)
    if not is_frame(X):
        raise ParameterError(
            f"target is {target!r}, and X is no data frame; give y instead", parameter="target"
        )
    rows, labels = split_frame(X, target)
    return rows, labels.to_numpy()


def _chosen(source: Any, target: str | None) -> tuple[Any, NDArray[Any]]:
    with open_source(source, target, 0) as oracle:
        share = min(1.0, MAX_ROWS_TO_FETCH / max(1, oracle.n_rows or 1))
        batches = list(oracle.select(ByCoin(share)))
        if not batches:
            raise DataError("the Dask collection holds no rows; at least one is needed")
        rows = np.concatenate([batch.table.rows() for batch in batches])
        labels = np.concatenate([batch.labels for batch in batches])
        if oracle.names is None:
            return rows, labels
        return need("pandas", "frames").DataFrame(rows, columns=list(oracle.names)), labels
