"""Exact tests: which of two classifiers is better.

Of n rows b are wrong for the first classifier only and c for the second only. If both were equally
good, each of these b + c rows would be a fair coin (McNemar 1947); the difference of their risks
has Buehler's limits (docs/proofs/rates.md).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import lru_cache

from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.bounds.rounding import SLACK, confidence
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability
from pacboost.numerics.markup import bold, facts
from pacboost.numerics.two_rates import difference_upper

MAX_ROWS_FOR_BUEHLER = 20_000
"""With more rows the two chances have Clopper and Pearson's ends, at half the level each."""


@plain_numbers
def sign_test_p(b: int, c: int) -> float:
    """Return the probability that b + c fair coins split at least as unevenly as b and c."""
    from scipy.special import bdtr

    fewer, larger = sorted((b, c))
    return min(1.0, 2 * float(bdtr(fewer, fewer + larger, 0.5)))


@plain_numbers
def difference_interval(
    b: int, c: int, n: int, delta: float, pairs: int = 1
) -> tuple[float, float]:
    """Return limits of the risk of the first classifier minus that of the second."""
    counts(b + c, n)
    level = probability("delta", delta) / (2 * positive_whole("pairs", pairs))
    return -_upper(c, b, n, level) - SLACK, _upper(b, c, n, level) + SLACK


@lru_cache(1024)
def _upper(b: int, c: int, n: int, level: float) -> float:
    """Return an upper bound on P[only the first errs] - P[only the second errs]."""
    # two ends at half the level each are wider: 40 and 10 of 1,000 rows give 0.0077 to 0.0519, and
    # Buehler's limit 0.0133 to 0.0462
    if n > MAX_ROWS_FOR_BUEHLER:
        return clopper_pearson(b, n, level, 2) - clopper_pearson_lower(c, n, level, 2)
    # rows on which one of the two errs: the supremum runs over chances that these allow (Berger and
    # Boos 1994), for a tenth of the level
    either_upper = clopper_pearson(b + c, n, level / 10)
    return difference_upper(b, c, n, either_upper, 0.9 * level)


@dataclass(frozen=True)
class Difference:
    """Two classifiers compared on the same rows."""

    one: str
    other: str
    only_one_wrong: int
    only_other_wrong: int
    rows: int
    delta: float
    pairs: int = 1
    assumptions: tuple[str, ...] = ()

    @property
    def p_value(self) -> float:
        """Probability of a split at least as uneven if both classifiers were equally good."""
        return sign_test_p(self.only_one_wrong, self.only_other_wrong)

    @property
    def significant(self) -> bool:
        """True if one is better at this delta, divided among all pairs."""
        return self.p_value < self.delta / self.pairs

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end of the risk of the first minus that of the second."""
        return difference_interval(
            self.only_one_wrong, self.only_other_wrong, self.rows, self.delta, self.pairs
        )

    @property
    def value(self) -> float:
        """The error of the first minus that of the second, on these rows."""
        return (self.only_one_wrong - self.only_other_wrong) / self.rows

    @property
    def claim(self) -> str:
        """The better classifier and the size of the difference, without grounds."""
        low, high = self.interval
        if low > 0 or high < 0:
            first, second = (self.one, self.other) if low > 0 else (self.other, self.one)
            ends = _percentage_points(low, high) if low > 0 else _percentage_points(-high, -low)
            return f"'{second}' is better: the error of '{first}' is larger by {ends}"
        ends = _percentage_points(low, high)
        return f"Not decided: the error of '{self.one}' minus that of '{self.other}' is {ends}"

    @property
    def sentence(self) -> str:
        """The better classifier and the size of the difference, in a sentence."""
        assumed = "".join(f"; {words}" for words in self.assumptions)
        counted = f"{self.only_one_wrong:,} and {self.only_other_wrong:,} are wrong for one of them"
        return (
            f"{self.claim} ({confidence(self.delta)} confidence; {self.rows:,} held-out rows, "
            f"of which {counted} only; exact sign test p = {self.p_value:.2g}{assumed})."
        )

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        counts = [(self.one, self.only_one_wrong), (self.other, self.only_other_wrong)]
        return bold(self.sentence) + facts(
            (f"only {name} is wrong", f"{k:,} rows") for name, k in counts
        )

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain values for JSON."""
        content = asdict(self)
        del content["assumptions"]
        low, high = self.interval
        content |= {"p_value": self.p_value, "lower": low, "upper": high}
        return {**content, "assumptions": list(self.assumptions)}


def _percentage_points(low: float, high: float) -> str:
    ends = math.floor(1e4 * low) / 100, math.ceil(1e4 * high) / 100
    return f"{ends[0]:.2f} to {ends[1]:.2f} percentage points"
