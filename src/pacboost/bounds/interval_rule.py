"""How far a number is from its prediction, and the interval of all numbers that are no farther.

* ``residual``: |y - f(x)|. All intervals have the same width.
* ``scaled``: |y - f(x)|/s(x), with s a second model of how large errors are, or the spread of the
  members of a forest. Intervals are wide where errors are large.
* ``quantiles`` (Romano, Patterson and Candès 2019): max(l(x) - y, y - h(x)) for two models of
  quantiles. Intervals have the shape of the data, and need not be symmetric.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.label_sets import SetRule
from pacboost.numerics.checks import probability

Doubles = NDArray[np.float64]
METHODS = ("residual", "scaled", "quantiles")


@dataclass(frozen=True)
class Forecast:
    """What models say of rows: the ends of an interval before calibration, and its scale."""

    low: Doubles
    high: Doubles
    scale: Doubles

    @classmethod
    def of(cls, low: Doubles, high: Doubles, scale: Doubles | None = None) -> Forecast:
        """Put quantiles that cross in their order; without a scale all rows have 1."""
        unit = np.ones(low.size) if scale is None else scale
        return cls(np.minimum(low, high), np.maximum(low, high), unit)

    def score(self, y: Doubles) -> Doubles:
        """Return how far numbers lie outside, in units of the scale; negative if inside.

        >>> one = Forecast.of(np.array([1.0]), np.array([3.0]))
        >>> one.score(np.array([2.0])).tolist(), one.score(np.array([5.0])).tolist()
        ([-1.0], [2.0])
        """
        return np.maximum(self.low - y, y - self.high) / self.scale

    def interval(self, cutoff: float) -> Doubles:
        """Return all numbers whose score is at most the cutoff: (rows, 2).

        Ends are rounded outward. Where nothing is left between two quantiles, the interval is the
        point in their middle.

        >>> Forecast.of(np.array([1.0]), np.array([3.0])).interval(0.5).round(6).tolist()
        [[0.5, 3.5]]
        """
        more = cutoff * self.scale
        low = np.nextafter(self.low - more, -np.inf)
        high = np.nextafter(self.high + more, np.inf)
        middle = (self.low + self.high) / 2
        crossed = low > high
        return np.column_stack([np.where(crossed, middle, low), np.where(crossed, middle, high)])


@dataclass(frozen=True)
class IntervalRule:
    """How wide intervals are, and what is certified."""

    method: str
    coverage: float
    cutoff: float
    floor: float
    certificate: Certificate
    mean_width: float
    """How wide the intervals of the calibration rows are on average: an estimate."""
    model_digest: str = field(default="", compare=False)
    """A digest of the model and of this rule, set when both are written to a file."""

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """What is certified."""
        return (self.certificate,)

    @property
    def cutoffs(self) -> tuple[float, ...]:
        """How far intervals reach beyond the prediction."""
        return (self.cutoff,)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for a file."""
        content = {
            "kind": "intervals",
            "method": self.method,
            "coverage": self.coverage,
            "cutoff": self.cutoff,
            "floor": self.floor,
            "certificates": [self.certificate.stored()],
            "mean_width": self.mean_width,
        }
        return {**content, "model_digest": self.model_digest} if self.model_digest else content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> IntervalRule:
        """Read what ``to_dict`` gave, and refuse what no calibration could have written."""
        (made,) = content["certificates"]
        floor, cutoff = float(content["floor"]), float(content["cutoff"])
        if content["method"] not in ("residual", "scaled") or not floor > 0:
            raise ValueError(f"the method {content['method']!r:.40} or its floor is not known")
        if type(content.get("model_digest", "")) is not str:
            raise ValueError("the digest of the model is no text")
        return cls(
            content["method"], probability("coverage", content["coverage"]), cutoff, floor,
            Certificate.from_dict(made), float(content["mean_width"]),
            content.get("model_digest", ""),
        )  # fmt: skip


def coverage_rule(content: Mapping[str, Any]) -> SetRule | IntervalRule:
    """Read the sets or the intervals of a file."""
    kinds: dict[Any, Any] = {"sets": SetRule, "intervals": IntervalRule}
    if content["kind"] not in kinds:
        raise ValueError(f"{content['kind']!r:.40} are neither sets nor intervals")
    found: SetRule | IntervalRule = kinds[content["kind"]].from_dict(content)
    for own in found.certificates:
        str(own)  # what cannot be said of it is noticed here
    return found
