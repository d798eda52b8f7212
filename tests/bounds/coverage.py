"""Count how often a bound fails on worlds whose truth is known, and judge the count.

A bound at level delta may fail in a share delta of the runs. The judge is the exact binomial
quantile: a valid bound exceeds it with probability at most 1e-4, whatever the world. The same
judge sentences the broken twins. Every count is kept and printed at the end of the run.
"""

from dataclasses import dataclass
from typing import SupportsInt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

FALSE_ALARM = 1e-4


@dataclass(frozen=True)
class Count:
    """One judged simulation."""

    name: str
    violations: int
    runs: int
    delta: float
    twin: bool

    @property
    def allowed(self) -> int:
        return allowed_violations(self.runs, self.delta)

    @property
    def verdict(self) -> str:
        if self.violations > self.allowed:
            return "twin rejected" if self.twin else "VIOLATED"
        if self.twin:
            return "TWIN PASSES"
        return "holds" if self.violations else "loose"

    def __str__(self) -> str:
        rate = self.violations / self.runs
        return (
            f"{self.name:<56} {rate:>8.4f} {self.delta:>8.4g} "
            f"{self.violations:>7}/{self.runs:<7} {self.verdict}"
        )


COUNTS: list[Count] = []
HEADER = f"{'bound':<56} {'violated':>8} {'delta':>8} {'count':>7}/{'runs':<7} verdict"


def allowed_violations(runs: int, delta: float) -> int:
    """The count that a valid bound exceeds with probability at most 1e-4."""
    return int(binom.isf(FALSE_ALARM, runs, delta))


def check_coverage(name: str, violations: SupportsInt, runs: int, delta: float) -> None:
    """Assert that a bound failed no more often than delta explains."""
    count = _keep(name, violations, runs, delta, twin=False)
    assert count.violations <= count.allowed, str(count)


def check_rejected(name: str, violations: SupportsInt, runs: int, delta: float) -> None:
    """Assert that the same judge rejects a broken twin."""
    count = _keep(name, violations, runs, delta, twin=True)
    assert count.violations > count.allowed, str(count)


def _keep(name: str, violations: SupportsInt, runs: int, delta: float, *, twin: bool) -> Count:
    count = Count(name, int(violations), int(runs), float(delta), twin)
    COUNTS.append(count)
    return count


def out_of_bag_sizes(in_bag: NDArray[np.bool_]) -> tuple[int, int]:
    """Count the fewest rows outside the bag of a voter, and outside both bags of a pair."""
    outside = (~in_bag).astype(np.float64)
    overlaps = outside @ outside.T
    return int(overlaps.diagonal().min()), int(overlaps.min())
