"""The example oracle of learning theory: a function that gives one example whenever it is asked.

Examples may cost money or an expert's time, so no more of them are asked for than are used. If
labels cost and rows do not, ``label`` gives the label of a row: a filter then asks only for the
labels of rows that it may keep (training/filtering/late_labels.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError
from pacboost.numerics.checks import real_number
from pacboost.sources.oracles.oracle import STREAM, AbstractOracle, Batch
from pacboost.sources.oracles.row_block import hold


@dataclass(frozen=True, eq=False)
class UnlabelledBatch(Batch):
    """Rows whose labels are asked for when they are read."""

    given: Sequence[Any] = ()
    """The rows as they came."""
    ask: Callable[[Sequence[Any], NDArray[np.uint64]], NDArray[Any]] = lambda *_: np.empty(0)

    @cached_property
    def labels(self) -> NDArray[Any]:
        return self.ask(self.given, self.rows)

    def take(self, chosen: NDArray[np.intp]) -> UnlabelledBatch:
        given = [self.given[place] for place in chosen.tolist()]
        values = self.table.take(chosen), np.empty(0)
        return replace(self, copied=values, rows=self.rows[chosen], given=given)


class ExampleOracle(AbstractOracle):
    """Examples (x, y) that a function returns one by one, or rows x and a function for labels.

    ``asked`` counts the calls: of ``draw``, or of ``label`` if there is one. ``price`` is that of
    one call. A function that raises StopIteration has no more examples.

    >>> numbers = iter(range(100))
    >>> oracle = ExampleOracle(lambda: ([next(numbers)], next(numbers)))
    >>> oracle.draw(3).table.rows().ravel().tolist(), oracle.asked
    ([0.0, 2.0, 4.0], 3)
    """

    order = STREAM
    asks = True

    def __init__(
        self,
        draw: Callable[[], Any],
        *,
        label: Callable[[Any], Any] | None = None,
        price: float | None = None,
        first: Sequence[Any] = (),
    ) -> None:
        """``first`` are examples that were asked for before."""
        self._draw, self._label = draw, label
        self.late_labels = label is not None
        self.price = None if price is None else real_number("price", price)
        if self.price is not None and not 0 <= self.price < math.inf:
            raise ParameterError(f"price is {price}; it must be 0 or more", parameter="price")
        self._row = 0
        self._ready = [self._pair(example, k) for k, example in enumerate(first)]
        self.asked = len(self._ready)
        self._ended = False
        if not self._fill(1):
            raise DataError("the oracle gave no example; at least one is needed")
        self.n_columns = self._held(self._ready[:1]).n_columns

    def _fill(self, count: int) -> bool:
        """Ask until so many examples are there; return whether any is."""
        while len(self._ready) < count and not self._ended:
            number = self._row + len(self._ready)
            try:
                example = self._draw()
            except StopIteration:
                self._ended = True
                break
            except Exception as problem:
                raise DataError(
                    f"{self.place(number)} cannot be drawn: {type(problem).__name__}: {problem}"
                ) from problem
            if not self.late_labels:
                self.asked += 1
                example = self._pair(example, number)
            self._ready.append(example)
        return bool(self._ready)

    def _pair(self, example: Any, number: int) -> tuple[Any, Any]:
        if not is_example(example):
            raise DataError(
                f"{self.place(number)} is a {type(example).__name__}; each call must return a pair "
                "(x, y) of one row and its label"
            )
        x, y = example
        return (x[0], y[0]) if np.ndim(y) else (x, y)  # arrays of one row

    def _held(self, examples: Sequence[Any]) -> Any:
        if self.late_labels:
            return hold(list(examples), np.zeros(len(examples)))
        return hold([x for x, _ in examples], [y for _, y in examples])

    def _upcoming(self, n: int) -> Batch:
        if not self._fill(n):
            return self._no_rows()
        examples = self._ready[:n]
        rows = np.arange(self._row, self._row + len(examples), dtype=np.uint64)
        held = self._held(examples)
        if held.n_columns != self.n_columns:
            raise DataError(
                f"{self.place(self._row)}: has {held.n_columns} columns, but the first example "
                f"had {self.n_columns}"
            )
        batch = Batch(None, rows, place=self.place, block=held, picked=np.arange(len(examples)))
        if not self.late_labels:
            return batch
        read = batch.read()
        return UnlabelledBatch(
            (read.table, np.empty(0)), rows, place=self.place, given=examples, ask=self._ask
        )

    def _advance(self, count: int) -> None:
        self._row += count
        del self._ready[:count]

    def _ask(self, given: Sequence[Any], rows: NDArray[np.uint64]) -> NDArray[Any]:
        labels = []
        for x, row in zip(given, rows.tolist(), strict=True):
            self.asked += 1
            try:
                labels.append(self._label(x))  # type: ignore[misc]
            except Exception as problem:
                raise DataError(
                    f"{self.place(row)}: its label cannot be asked for: "
                    f"{type(problem).__name__}: {problem}"
                ) from problem
        return np.asarray(labels)

    def position(self) -> dict[str, Any]:
        return {"row": self._row}

    def seek(self, position: Mapping[str, Any]) -> None:
        raise ParameterError(
            "examples that were asked for cannot be asked for again; keep them in a file, and "
            "continue from that",
            parameter="checkpoint",
        )

    def fingerprint(self) -> str:
        return sha256(f"examples of {self.n_columns} columns".encode()).hexdigest()

    def place(self, row: int) -> str:
        return f"example {row} of the oracle"


def is_example(item: object) -> bool:
    """Check whether an item is a single example (x, y): one label, or arrays of one row."""
    if not isinstance(item, tuple) or len(item) != 2:
        return False
    X, y = item
    if np.ndim(y) == 0:
        return True
    return bool(type(X) is type(y) is np.ndarray and X.ndim == 2 and X.shape[:1] == y.shape == (1,))
