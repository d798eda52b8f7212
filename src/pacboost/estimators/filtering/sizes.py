"""How many rows a fit by filtering draws: for bins, samples, tests and the certificate."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.errors import DataError, ParameterError
from pacboost.estimators.filtering.choices import outputs_of
from pacboost.estimators.filtering.memory import rows_in
from pacboost.estimators.parameters.values import Values
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.numerics.checks import integer, positive_whole, real_number
from pacboost.samples.bins import Bins, fit_bins
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.training.filtering.candidates import (
    ArrayRows,
    Candidates,
    bytes_of_work,
)
from pacboost.training.filtering.plan import FilteringPlan
from pacboost.training.filtering.stream import BlockRows, Stream, rows_for_tests

ROWS = 100_000
ROWS_OF_STUMPS = 50_000
"""Stumps learn nearly as much from half as many rows, at half the cost (docs/decisions/0008)."""
ROWS_FOR_BINS = 50_000
CELLS_FOR_BINS = 2**22
MIN_ROWS_FOR_BINS = 1_000
MAX_ROWS_APART = 20_000
DRAWS_FOR_BINS, ROWS_APART_PER_ROW = 2, 2
"""Where examples cost: draws that choose bins, and rows that certify, for each row of the first
sample. Logistic weights begin at a half, so that the first sample takes two draws for each row, and
it uses those of the bins."""


@dataclass(frozen=True)
class Sizes:
    """How many rows a fit draws for what, by its parameters and the source that it draws from."""

    estimator: Values
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
            return ArrayRows(oracle, seed, apart, labels, booster.first_chance(outputs_of(labels)))
        if oracle.in_blocks:
            return BlockRows(oracle, seed, apart, self._rows_for_tests, self.copies)
        once = isinstance(oracle, ArrayOracle)  # copies in an array were dropped before
        return Stream(oracle, seed, apart, "draws" if once else self.copies)

    @property
    def _sample_rows(self) -> int:
        """The size of a sample, if there is memory for it."""
        estimator, is_stump = self.estimator, isinstance(self.learner, Stump)
        if estimator.sample_rows is not None:
            return positive_whole("sample_rows", estimator.sample_rows)
        return ROWS_OF_STUMPS if is_stump and estimator.edge is None else ROWS

    @property
    def _first_rows(self) -> int:
        return first_rows(self._sample_rows)

    def plan(self, outputs: int) -> FilteringPlan:
        """Plan rounds and sizes of samples."""
        estimator = self.estimator
        rows = min(self._sample_rows, self.rows_in_memory(outputs))
        epsilon, edge = self._epsilon, estimator.edge
        return FilteringPlan(
            rounds=estimator.n_estimators,
            rows=rows,
            first_rows=first_rows(rows),
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
        labels = None if self.oracle.late_labels else candidates.labels_ahead()
        if not has_codes:
            return None, labels
        values = np.concatenate([table.rows() for table in tables])
        return fit_bins(ArrayTable(values, None, tables[0].levels), max_bins), labels

    @property
    def _rows_apart(self) -> int:
        n_rows, n_certify = self.oracle.n_rows, self.estimator.n_certify
        if n_certify is None and self.oracle.asks:
            return min(MAX_ROWS_APART, ROWS_APART_PER_ROW * self._first_rows)
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
        if self.oracle.asks:
            return min(count, DRAWS_FOR_BINS * self._first_rows)
        if self._epsilon is not None and self.oracle.n_rows is not None:
            count = min(count, max(MIN_ROWS_FOR_BINS, self.oracle.n_rows // 4))
        return count


def first_rows(rows: int) -> int:
    """Return the size of the first sample, from the largest one."""
    return max(1, rows // 2 if rows >= 4000 else rows)
