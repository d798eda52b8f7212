"""Rows are divided first, and only then is anything learned.

Which rows certify follows from the number of rows and the seed alone. They are taken out of X and y
as these came, so no level, kind of column, bin, word or class can be read from them: a fit sees the
other rows only. At the end the rows set apart are read as ``predict`` reads new rows, and a label
that is not among the classes counts as a mistake.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.inputs.labels import read_labels
from pacboost.samples.hidden_copies import places_of_rows, refuse_hidden_copies
from pacboost.samples.known_rows import MOST_EQUAL
from pacboost.sources.columns import Columns
from pacboost.sources.dataframe import is_frame, open_frame
from pacboost.sources.table import Table

Rows = NDArray[np.intp]

CERTIFY, CALIBRATE, TRIED = 1, 2, 3
"""Added to the seed of a fit to draw the rows that certify, that calibrate, and that are tried on.

Validation rows are drawn by the seed itself, so that each role gets rows independent of the others.
"""
MOST_SHARED = 0.05
"""Up to such a share of the rows set apart may be validation rows; they count as mistakes."""
SEPARATE = "equal rows are separate draws, as from a domain of few values"


@dataclass(frozen=True, eq=False)
class Apart:
    """The rows set apart for the certificate, as they came, and their labels."""

    X: Any
    y: NDArray[Any]
    known: NDArray[np.bool_] | None = None
    """Which of the rows equal rows that had a part in the fit; None if there are none of these."""
    discrete: bool = False
    """Whether so many rows repeat that equal rows are taken as separate draws."""
    weighted: bool = False
    """Whether the rows learned from have weights; those set apart are counted without."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    def beside(self, known: NDArray[np.bool_]) -> Apart:
        """Note that more of the rows had a part in the fit."""
        return replace(self, known=known if self.known is None else known | self.known)

    def count(self, wrong: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
        """Count rows that had a part in the fit as mistakes; also give how many these are."""
        if self.known is None:
            return wrong, 0
        return wrong | self.known, int(np.count_nonzero(self.known))

    def certificate(self, wrong: NDArray[np.bool_], delta: float, look: int = 0) -> Certificate:
        """Certify by the mistakes on these rows."""
        wrong, known = self.count(wrong)
        mistakes = int(np.count_nonzero(wrong))
        found = holdout.certificate(mistakes, wrong.size, delta, look=look, shared=known)
        found = found.counted_without_weights() if self.weighted else found
        return found.assuming(SEPARATE) if self.discrete else found


@dataclass(frozen=True, eq=False)
class Division:
    """The rows to learn from, as they came, and those set apart, if any are."""

    X: Any
    y: Any
    rows: Rows | None = None
    """Which of the rows handed in are learned from; None for all of them."""
    apart: Apart | None = None

    def weights(self, sample_weight: Any) -> Any:
        """Give the weights of the rows learned from, of weights for all rows that came."""
        if sample_weight is None or self.rows is None:
            return sample_weight
        given: NDArray[Any] = np.asarray(sample_weight)
        return given[self.rows] if given.ndim else given


def divide(X: Any, y: Any, name: str, share: float, seed: int) -> Division:
    """Set a random share of the rows apart; ``name`` is the parameter that says how many.

    >>> divided = divide([["a"], ["b"], ["c"], ["d"]], [0, 1, 0, 1], "holdout", 0.25, seed=0)
    >>> divided.X, divided.rows.tolist(), divided.apart.X
    ([['a'], ['b'], ['d']], [0, 1, 3], [['c']])
    """
    number = number_of_rows(X)
    labels = read_labels(y, number, several=True)
    several = isinstance(X, np.ndarray) and X.ndim > 2  # rows are arrays, for a black box
    flat = X.reshape(number, -1) if several else X
    refuse_hidden_copies(flat)
    learn, held = draw(number, name, share, seed)
    equal, discrete = equal_rows(places_of_rows(flat), learn, held)
    apart = Apart(taken(X, held), labels[held], equal, discrete)
    return Division(alone(X, learn), labels[learn], learn, apart)


def refuse_weights(certify: str | None) -> None:
    """Raise because a certificate cannot be had of rows that have weights."""
    raise ParameterError(
        f"certify is {certify!r} and rows have weights, by sample_weight or class_weight. "
        "This certificate counts the rows that are learned from: give neither, or set "
        "certify='holdout', which counts other rows without weights, or certify=None"
    )


def equal_rows(place: Rows, learn: Rows, held: Rows) -> tuple[NDArray[np.bool_] | None, bool]:
    """Tell which rows set apart equal rows learned from, or earlier ones of those set apart.

    ``place`` numbers the distinct rows. Such rows may be copies, and then say nothing of new ones.
    Where most rows repeat, and as often as independent draws from a discrete domain do
    (``refuse_hidden_copies``), new rows do so, too: then None is given, as where no rows repeat.
    Also tell whether the domain is discrete.

    >>> place = np.array([0, 1, 1, 2, 2, 3, 4, 5])
    >>> equal, discrete = equal_rows(place, np.arange(2), np.arange(2, 8))
    >>> equal.tolist(), discrete
    ([True, False, True, False, False, False], False)
    """
    apart = place[held]
    equal = np.ones(held.size, dtype=np.bool_)
    equal[np.unique(apart, return_index=True)[1]] = False
    equal |= np.isin(apart, place[learn])
    discrete = bool(np.count_nonzero(equal) > MOST_EQUAL * equal.size)
    return equal if equal.any() and not discrete else None, discrete


def draw(rows: int, name: str, share: float, seed: int) -> tuple[Rows, Rows]:
    """Draw which rows are held back, by their number alone; give the others first."""
    held = round(rows * share) if 0 < share < 1 else 0
    if not 0 < held < rows:
        raise ParameterError(
            f"{name} is {share} and there are {rows} rows; it must lie in (0, 1) and "
            "leave at least 1 sample on both sides"
        )
    order = np.random.default_rng(seed).permutation(rows)
    return np.sort(order[held:]), np.sort(order[:held])


def number_of_rows(X: Any) -> int:
    """Count the rows of whatever a fit takes.

    >>> number_of_rows([["a"], ["b"]]), number_of_rows(np.zeros((3, 1)))
    (2, 3)
    """
    if isinstance(X, Table | Columns):
        return X.n_rows
    try:
        return int(_num_samples(X))
    except TypeError as problem:
        raise DataError(f"the rows of X cannot be counted: {problem}") from problem


def taken(X: Any, rows: Rows) -> Any:
    """Take some of the rows, of the same kind as X.

    >>> taken(np.array([[1], [2], [3]]), np.array([0, 2])).tolist()
    [[1], [3]]
    """
    if isinstance(X, Table | Columns):
        return X.take(rows)
    if is_frame(X):
        return open_frame(X)[rows].to_native()
    if sparse.issparse(X):
        stored: Any = X
        return (stored if stored.format in ("csr", "csc") else stored.tocsr())[rows]
    if isinstance(X, list | tuple):
        return [X[row] for row in rows.tolist()]
    return np.asarray(X)[rows]


def alone(X: Any, rows: Rows) -> Any:
    """Take some of the rows as if there were no others: kinds of columns are found in these."""
    return X.alone(rows) if isinstance(X, Table) else taken(X, rows)
