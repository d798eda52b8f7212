"""check_order: are these rows in an order by chance, or sorted by time, by class, by a column?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.exact_tests import MOST_ROWS, halves_p, runs_of, runs_p
from pacboost.errors import DataError, InputWarning, NotCertified, ParameterError
from pacboost.models.answers import asked
from pacboost.numerics.checks import probability
from pacboost.numerics.markup import bold
from pacboost.numerics.percent import percent
from pacboost.sources.columns import Columns
from pacboost.sources.dataframe import is_frame
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.table import Table

MOST_COLUMNS = 100
"""So many columns are looked at, the first ones."""
MOST_CLASSES = 20
"""So many classes are looked at, the most frequent ones."""
NAMED = 3
"""So many of the columns that fail are named in words."""
ORDERS = ("any", "warn", "refuse")
NUMBERS = "fiubmM"
"""Kinds of arrays that have a median: numbers, dates and durations."""
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class OrderFinding:
    """One condition on rows whose places are not by chance."""

    what: str
    """ "mistakes", "labels" or "columns": what the condition is about."""
    name: str
    first_half: float
    """The share of the first half of the rows that meet it."""
    second_half: float
    runs: int
    """How often rows that meet it and rows that do not change, and one more."""
    expected_runs: float
    p_value: float
    """Multiplied by the number of all tests."""

    @property
    def words(self) -> str:
        """Return what was found."""
        shares = percent(self.first_half, 2), percent(self.second_half, 2)
        return (
            f"{self.name}: {shares[0]} of the first half of the rows and {shares[1]} of the "
            f"second, in {self.runs:,} runs where about {self.expected_runs:,.0f} are expected "
            f"(p = {self.p_value:.2g})"
        )


@dataclass(frozen=True)
class RowOrder:
    """Whether the order of rows is by chance, as far as tests can tell.

    If rows are independent draws from one distribution, ``by_chance`` is False with a probability
    of at most ``delta``.
    """

    rows: int
    tests: int
    delta: float
    findings: tuple[OrderFinding, ...]
    """What is not by chance: mistakes first, then labels, then columns."""

    @property
    def by_chance(self) -> bool:
        """Whether no test has failed."""
        return not self.findings

    @property
    def mistakes_change(self) -> bool:
        """Whether the mistakes of the model are among what is not by chance."""
        return any(own.what == "mistakes" for own in self.findings)

    def _repr_html_(self) -> str:
        return bold(self.sentence)

    @property
    def sentence(self) -> str:
        """What was found, and what it means for certificates."""
        if self.by_chance:
            return (
                f"The order of the {self.rows:,} rows looks like chance ({self.tests:,} exact "
                f"tests, false alarms with probability {self.delta:g} at most)."
            )
        more = len(self.findings) - NAMED
        shown = "; ".join(own.words for own in self.findings[:NAMED])
        others = f"; and {more} more" if more > 0 else ""
        meaning = (
            "The rate of mistakes changes along the rows, so new examples may be like the last "
            "rows rather than like all of them."
            if self.mistakes_change
            else "Mistakes of the model, if they were looked at, do not change along the rows."
        )
        return (
            f"The rows are not in an order by chance: {shown}{others}. {meaning} If somebody has "
            "sorted rows that were drawn at random, nothing is lost, since no bound depends on "
            "their order. If the rows came in this order, they are no sample of one distribution: "
            "certify with ordered=True, or by rows of the time that you ask about. (If the order "
            f"were by chance, this would be said with probability {self.delta:g} at most.)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON knows."""
        return {
            "by_chance": self.by_chance,
            "sentence": self.sentence,
            "rows": self.rows,
            "tests": self.tests,
            "delta": self.delta,
            "findings": [vars(own) for own in self.findings],
        }

    def __str__(self) -> str:
        return self.sentence


@explains_input
def check_order(X: Any, y: Any, model: Any = None, *, delta: float = 0.01) -> RowOrder:
    """Test whether the order of rows is by chance, before they certify anything.

    A certificate needs rows that are independent draws from the distribution of new examples.
    Then their order says nothing. Two exact tests look at every class, every column and, with a
    model, at its mistakes: are there more ones in one half of the rows, and do equal values follow
    each other? Sorted files fail, and so do rows whose distribution changes in time. A sample that
    is drawn from the wrong place, but shuffled, does not: no test of the rows alone can see that.

    Parameters
    ----------
    X, y : rows and their labels, or numbers, in the order in which they came
    model : fitted classifier or regressor, default=None
        With it, mistakes are looked at, which matter most; large errors, for numbers.
    delta : float, default=0.01
        The probability with which an order by chance fails, over all tests together.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X, y = generator.normal(size=(300, 2)), generator.integers(2, size=300)
    >>> check_order(X, y).by_chance
    True
    >>> check_order(X, np.sort(y)).findings[0].name
    "class '1'"
    """
    probability("delta", delta)
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise DataError(f"y has shape {labels.shape}; one label a row is needed, and one row")
    places = _places(labels.size)
    series = {
        (what, name): chosen
        for what, name, own in _conditions(X, labels, model)
        if 0 < (chosen := own[places]).sum() < chosen.size
    }
    tests = 2 * len(series)
    tried = [_tested(what, name, own, tests) for (what, name), own in series.items()]
    failed = sorted(
        (own for own in tried if own.p_value <= delta),
        key=lambda own: (("mistakes", "labels", "columns").index(own.what), own.p_value),
    )
    return RowOrder(labels.size, tests, float(delta), tuple(failed))


def _places(rows: int) -> NDArray[np.intp]:
    """Take rows at even distances, if they are too many: as exchangeable as all of them."""
    return np.unique(np.linspace(0, rows - 1, min(rows, MOST_ROWS)).astype(np.intp))


def _tested(what: str, name: str, own: Mask, tests: int) -> OrderFinding:
    n, ones, half = own.size, int(own.sum()), own.size // 2
    first, runs = int(own[:half].sum()), runs_of(own)
    least = min(halves_p(first, ones, n), runs_p(runs, ones, n))
    return OrderFinding(
        what, name, first / max(1, half), (ones - first) / (n - half), runs,
        1 + 2 * ones * (n - ones) / n, min(1.0, tests * least),
    )  # fmt: skip


def _conditions(X: Any, y: NDArray[Any], model: Any) -> Iterator[tuple[str, str, Mask]]:
    """Return what rows may meet or not; every rule is the same in whatever order rows come."""
    classes = _classes(y, model)
    if model is not None:
        yield _mistakes(model, X, y, classes=classes)
    if classes:
        texts = y.astype(str)
        names, counted = np.unique(texts, return_counts=True)
        falling = names[np.lexsort((names, -counted))[:MOST_CLASSES]]
        for name in falling[: 1 if names.size == 2 else None]:  # of two, one says it of the other
            yield "labels", f"class '{name}'", np.asarray(texts == name)
    else:
        yield "labels", "the target above its median", above_median(y.astype(np.float64))
    for name, values in _columns(X):
        if values.size == y.size:
            yield "columns", *_condition(name, values)


def _classes(y: NDArray[Any], model: Any) -> bool:
    if model is not None:
        return hasattr(model, "classes_") or hasattr(model, "mistakes")
    return y.dtype.kind != "f" or np.unique(y).size <= MOST_CLASSES


def _mistakes(model: Any, X: Any, y: NDArray[Any], *, classes: bool) -> tuple[str, str, Mask]:
    from pacboost.questions.mistakes import mistakes

    if classes:
        return "mistakes", "mistakes of the model", mistakes(model, X, y)
    said = asked(model, X).astype(np.float64)
    errors = np.abs(said - y.astype(np.float64))
    return "mistakes", "errors above their median", above_median(errors)


def _condition(name: str, values: NDArray[Any]) -> tuple[str, Mask]:
    if values.dtype.kind in NUMBERS:
        return f"column '{name}' above its median", above_median(values.astype(np.float64))
    texts = values.astype(str)
    known, counted = np.unique(texts, return_counts=True)
    common = known[np.lexsort((known, -counted))[0]]
    return f"column '{name}' being '{common}'", np.asarray(texts == common)


def above_median(values: NDArray[np.float64]) -> Mask:
    """Return which values are above the median of all, or at least it where none is above.

    >>> above_median(np.array([1.0, 2.0, 3.0])).tolist(), above_median(np.array([0.0, 1, 1])).sum()
    ([False, False, True], np.int64(2))
    """
    known = values[~np.isnan(values)]
    if known.size == 0:
        return np.zeros(values.size, dtype=np.bool_)
    middle = float(np.median(known))
    above = values > middle
    return np.asarray(above if above.any() else values >= middle)


def _columns(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return the columns by their names, as far as X has any; texts and sparse rows have none."""
    if isinstance(X, Table):
        for j in range(min(X.n_columns, MOST_COLUMNS) if X.entries is None else 0):
            yield X.name(j), X.cells(j)
    elif isinstance(X, Columns) or is_frame(X):
        for name, own in list(Columns.of(X).cells.items())[:MOST_COLUMNS]:
            yield name, own if isinstance(own, np.ndarray) else np.asarray(own.to_numpy())
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        for j in range(min(X.shape[1], MOST_COLUMNS)):
            yield f"x{j}", X[:, j]


def watch_order(order: str, X: Any, y: Any, model: Any) -> RowOrder | None:
    """Test the order of certifying rows if asked to; warn, or refuse, if it is not by chance."""
    if order not in ORDERS:
        allowed = ", ".join(map(repr, ORDERS))
        raise ParameterError(f"order is {order!r}; it may be {allowed}")
    if order == "any":
        return None
    found = check_order(X, y, model)
    if not found.by_chance and order == "refuse":
        raise NotCertified(found.sentence)
    if not found.by_chance:
        warnings.warn(found.sentence, InputWarning, stacklevel=3)
    return found
