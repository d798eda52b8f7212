"""Compare two models of numbers by the rows that neither has seen.

The differences of the clipped losses of the two on a row lie between -clip and clip, so that a
bet on their mean encloses the difference of the mean losses (docs/proofs/rates.md).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import losses
from pacboost.bounds.rounding import confidence
from pacboost.numerics.checks import check_limit
from pacboost.numerics.markup import bold, facts

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class LossDifference:
    """Two models of numbers compared on the same rows, by their mean absolute errors.

    >>> found = LossDifference.of(("old", "new"), np.full(500, 3.0), np.full(500, 1.0), 10, 0.05, 1)
    >>> print(found)
    'new' is better: the mean absolute error of 'old' is larger by 1.9 to 2.07 (95 % confidence; \
500 held-out rows, 3 and 1 on them; errors above 10 count as 10).
    """

    one: str
    other: str
    one_loss: float
    other_loss: float
    """The mean clipped losses on these rows."""
    lower: float
    upper: float
    """They enclose the mean loss of the first less that of the second, except with ``delta``."""
    clip: float
    rows: int
    delta: float
    pairs: int = 1
    assumptions: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, names: tuple[str, str], one: Doubles, other: Doubles, clip: float, delta: float,
        pairs: int, assumptions: tuple[str, ...] = (),
    ) -> LossDifference:  # fmt: skip
        """Compare the absolute errors of two models."""
        check_limit("clip", clip)
        first, second = np.minimum(one, clip), np.minimum(other, clip)
        shares = (first - second + clip) / (2 * clip)
        # two ends, which hold together
        upper, minus_lower = (
            losses.mean_upper(losses.counted_losses(part, rare=False), 2 * clip, delta, 2 * pairs)
            - clip
            for part in (shares, 1 - shares)
        )
        means = float(first.mean()), float(second.mean())
        return cls(
            *names, *means, -minus_lower, upper, clip, one.size, delta, pairs, assumptions
        )  # fmt: skip

    @property
    def value(self) -> float:
        """The mean loss of the first less that of the second, on these rows."""
        return self.one_loss - self.other_loss

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end of the difference."""
        return self.lower, self.upper

    @property
    def significant(self) -> bool:
        """True if one is better at this delta."""
        return self.lower > 0 or self.upper < 0

    @property
    def claim(self) -> str:
        """The better model and the size of the difference, without grounds."""
        if not self.significant:
            return (
                f"Not decided: the mean absolute error of '{self.one}' minus that of "
                f"'{self.other}' is {self.lower:.3g} to {self.upper:.3g}"
            )
        worse, better = (self.one, self.other) if self.lower > 0 else (self.other, self.one)
        low, high = (self.lower, self.upper) if self.lower > 0 else (-self.upper, -self.lower)
        return (
            f"'{better}' is better: the mean absolute error of '{worse}' is larger by {low:.3g} "
            f"to {high:.3g}"
        )

    @property
    def sentence(self) -> str:
        """The claim with its grounds."""
        assumed = "".join(f"; {words}" for words in self.assumptions)
        return (
            f"{self.claim} ({confidence(self.delta)} confidence; {self.rows:,} held-out rows, "
            f"{self.one_loss:.4g} and {self.other_loss:.4g} on them; errors above {self.clip:g} "
            f"count as {self.clip:g}{assumed})."
        )

    def __str__(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        entries = [(self.one, f"{self.one_loss:.4g}"), (self.other, f"{self.other_loss:.4g}")]
        return bold(self.sentence) + facts(entries)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {**asdict(self), "claim": self.claim, "value": self.value}
