"""Rows that calibrate prediction sets and intervals, and the cutoff that covers enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost import shift
from pacboost.bounds import measured
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverage import covering_rank
from pacboost.bounds.deciding import fewest_rows
from pacboost.errors import NotCertified
from pacboost.numerics.checks import positive_whole, probability
from pacboost.questions.moved import filtered
from pacboost.questions.new_rows import NewRows
from pacboost.samples.groups import numbered
from pacboost.samples.row_hashes import row_hashes
from pacboost.sources.table import Table

Doubles = NDArray[np.float64]

CUTOFF_SLACK = 1e-9
"""Cutoffs are raised by this amount, and those of intervals by this share of their value: the score
of a row may differ in its last digits when it is computed among other rows."""


@dataclass(frozen=True, eq=False)
class CalibrationRows:
    """The calibration rows that count, and what a certificate states about them."""

    new: NewRows
    kept: NDArray[np.intp]
    sample: Mapping[str, Any]
    unit: str = "rows"
    models: int = 1

    @classmethod
    def of(
        cls, asked: Sequence[object], X: object, y: NDArray[Any], groups: ArrayLike | None,
        copies: str, models: int, new_rows: object = None,
    ) -> CalibrationRows:  # fmt: skip
        """Raise if rows are training rows of a model, and decide which rows count."""
        positive_whole("models", models)
        new = NewRows.select(asked, X, y, copies, each=groups is None)
        if new_rows is not None:
            new = filtered(new, X, y, shift.new_rows(new_rows), each=groups is None)
        if groups is None:
            return cls(new, new.kept, new.sample("calibration"), models=models)
        place = numbered(np.asarray(groups), y.size)[new.kept]
        facts = new.sample("calibration_groups")
        return cls(new, new.kept[one_of_each(place)], facts, "groups", models)

    def cutoff(
        self,
        measure: str,
        scores: Doubles,
        coverage: float,
        delta: float,
        claims: int = 1,
        **details: float | str,
    ) -> tuple[float, Certificate]:
        """Return the cutoff that has the coverage, and its certificate."""
        claims *= self.models
        n, share = scores.size, probability("delta", delta) / claims
        what = f"{self.unit} of class {details['class']!r}" if "class" in details else self.unit
        rank = covering_rank(n, coverage, share) if n else 1
        # P[Bin(n, p) ≥ n] = p^n is above delta for so few rows: no rank has the coverage
        if rank > n:
            raise NotCertified(too_few(n, coverage, share, what))
        value = float(np.partition(scores, rank - 1)[rank - 1])
        if not np.isfinite(value):
            lost = int(np.isinf(scores).sum())
            raise NotCertified(
                f"{lost:,} of {n:,} {what} can never be covered, because their label is unknown to "
                f"the model; coverage={coverage:g} allows {n - rank:,}. Calibrate by rows whose "
                "labels the model knows"
            )
        inputs = {"rank": rank, "n": n, "delta": delta, "claims": claims}
        if self.unit == "groups":
            details["unit"] = "groups"
        cutoff = value + CUTOFF_SLACK * (abs(value) if measure == "interval_coverage" else 1.0)
        certificate = measured.certificate(
            measure, "covering.covered_lower", inputs, size=n, sample=self.sample,
            cutoff=cutoff, seen=float((scores <= cutoff).mean()), **details,
        )  # fmt: skip
        return cutoff, self.new.marked(certificate)


def too_few(n: int, coverage: float, delta: float, what: str) -> str:
    """Return the error that states how many rows are needed."""
    needed = fewest_rows(1 - coverage, delta)
    return (
        f"coverage={coverage:g} with delta={delta:g} needs at least {needed:,} {what} to calibrate "
        f"by; there are {n:,}. Collect {needed - n:,} more, or ask for less; "
        "pacboost.theory.plan.coverage says how many keep sets small"
    )


def one_of_each(place: NDArray[np.intp]) -> NDArray[np.intp]:
    """Draw one row of every group; rows of different groups are independent."""
    # which row of a group counts must not depend on its score; a fixed seed, so that a certificate
    # can be made again
    order = np.random.default_rng(0).permutation(place.size)
    return np.sort(order[np.unique(place[order], return_index=True)[1]])


# The papers on aps and raps draw a number anew for every row; a hash of its values makes the score
# a function of the row, as the theorem asks, and equal rows get equal sets.
ROW_SALT = 20200604


def share_of_row(table: Table) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each row, computed from its values, for prediction sets."""
    hashes = row_hashes(table, salt=ROW_SALT)
    return np.asarray((hashes >> np.uint64(11)) * 2.0**-53)
