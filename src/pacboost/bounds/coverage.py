"""Prediction sets and intervals: their scores, and the share of new examples that they cover.

A score s(x, y) says how badly y fits the prediction for x; it is fixed before the calibration rows
are seen. The set of x holds every y with s(x, y) ≤ s₍ₖ₎, the k-th smallest score of n rows.
Its coverage is at least p, except with probability P[Bin(n, p) ≥ k] (docs/proofs/sets.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverages import COVERAGES
from pacboost.bounds.deciding import rank_for
from pacboost.bounds.family import Family
from pacboost.bounds.holdout import clopper_pearson_lower
from pacboost.bounds.measured import measure_bound
from pacboost.bounds.passing import rows_from_tooth_on
from pacboost.bounds.wording import sentence
from pacboost.errors import invalid
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.numerics.kl import kl


@plain_numbers
def covering_rank(n: int, coverage: float, delta: float) -> int:
    """Return the smallest k with P[Bin(n, coverage) ≥ k] ≤ delta; n + 1 if there is none."""
    return n + 1 - rank_for(n, 1 - probability("coverage", coverage), delta)


@plain_numbers
def rows_to_cover(coverage: float, delta: float, excess: float) -> int:
    """Return the least n such that n or more calibration rows cover at most ``excess`` too much.

    k/(n + 1) ≤ coverage + excess for k = covering_rank(n) and every n from the answer on.
    """
    upper, missed = probability("excess", excess) + coverage, 1 - probability("coverage", coverage)
    below = kl(max(0.0, missed - 0.9 * excess), missed)
    enough = max(-math.log(probability("delta", delta)) / below, 10 * (1 - upper) / excess)
    return rows_from_tooth_on(
        lambda c, n: n - c <= upper * (n + 1), math.ceil(enough * (1 + 1e-12)), missed, delta
    )


@plain_numbers
def average_rank(n: int, coverage: float) -> int:
    """Return the rank of n scores with this coverage on average; n + 1 if there is none."""
    positive_whole("n", n)
    return math.ceil((n + 1) * probability("coverage", coverage) * (1 - 1e-12))


@measure_bound(
    "covering",
    "P[score ≤ s₍ₖ₎] ≥ p where P[Bin(n, p) ≥ k] = delta/claims",
    "Vovk 2012; Park, Bastani, Matni and Lee 2020; docs/proofs/sets.md",
    *COVERAGES,
    side="lower",
)
def covered_lower(rank: int, n: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the share of new scores up to the score at a rank of n.

    >>> round(covered_lower(96, 100, 0.05), 6), round(covered_lower(462, 500, 0.05), 6)
    (0.910804, 0.901572)
    """
    return clopper_pearson_lower(positive_whole("rank", rank), n, delta, claims)


Doubles = NDArray[np.float64]
SET_METHODS = ("lac", "aps", "raps")


@dataclass(frozen=True)
class LabelScore:
    """A score of labels, fixed before calibration rows are seen.

    ``lac`` is 1 - p(y). ``aps`` is the probability of all labels more probable than y, plus a share
    u of p(y), where u is computed from the values of the row. ``raps`` adds a penalty for every
    label beyond the first few. The most probable label has the score 0, so no set is empty.
    """

    method: str = "lac"
    penalty: float = 0.05
    free_labels: int = 2

    def __post_init__(self) -> None:
        if self.method not in SET_METHODS:
            raise invalid("method", self.method, f"may be {', '.join(map(repr, SET_METHODS))}")
        if not isinstance(self.penalty, int | float) or not 0 <= self.penalty < np.inf:
            raise invalid("penalty", self.penalty, "is a finite number, 0 or more")
        if isinstance(self.free_labels, bool) or not isinstance(self.free_labels, int | np.integer):
            raise invalid("free_labels", self.free_labels, "is a whole number")

    @property
    def by_row(self) -> bool:
        """True if the score needs a random number u for every row."""
        return self.method != "lac"

    def __call__(self, chances: Doubles, u: Doubles | None) -> Doubles:
        """Score all labels of all rows: (rows, classes), the lower the better."""
        scores = 1 - chances if u is None else self._cumulated(chances, u)
        if len(scores):
            scores[np.arange(len(scores)), chances.argmax(axis=1)] = 0.0
        return scores

    def _cumulated(self, chances: Doubles, u: Doubles) -> Doubles:
        order = np.argsort(-chances, axis=1, kind="stable")
        falling = np.take_along_axis(chances, order, axis=1)
        scores = np.cumsum(falling, axis=1) - (1 - u[:, None]) * falling
        if self.method == "raps":
            places = np.arange(1, chances.shape[1] + 1)
            scores += self.penalty * np.maximum(0, places - self.free_labels)
        in_place = np.empty_like(scores)
        np.put_along_axis(in_place, order, scores, axis=1)
        return in_place


@dataclass(frozen=True)
class SetRule:
    """Sets of the labels whose score is at most a cutoff, with their certificate."""

    score: LabelScore
    coverage: float
    cutoffs: tuple[float, ...]
    """One for all labels, or one for each class."""
    certificate: Certificate | Family
    mean_size: float = float("nan")
    """Mean number of labels in the sets of the calibration rows: an estimate."""
    groups: tuple[str, ...] = ()
    """Names of the groups in the order of the cutoffs, if each group has a cutoff."""
    by: str = ""
    model_digest: str = field(default="", compare=False)

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """All certificates, as a tuple."""
        certificate = self.certificate
        return (certificate,) if isinstance(certificate, Certificate) else certificate.certificates

    def parts(self, classes: list[str]) -> list[tuple[str, str | None]]:
        """Return the measure, and the class or group, that each certificate is about."""
        if self.groups:
            return [("set_coverage", group) for group in self.groups]
        if isinstance(self.certificate, Certificate):
            return [("set_coverage", None)]
        return [("class_coverage", name) for name in classes]

    def holds(
        self, chances: Any, u: Doubles | None, place: NDArray[np.intp] | None = None
    ) -> NDArray[np.bool_]:
        """Return a mask of the labels in each set; ``place`` is the group number of each row."""
        cutoffs = np.asarray(self.cutoffs)
        cutoffs = cutoffs if place is None else cutoffs[place, None]
        return np.asarray(self.score(np.asarray(chances, dtype=np.float64), u) <= cutoffs)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for a file."""
        certificate = self.certificate
        content = {
            "kind": "sets",
            "score": [self.score.method, float(self.score.penalty), int(self.score.free_labels)],
            "coverage": self.coverage,
            "cutoffs": list(self.cutoffs),
            "certificates": [one.stored() for one in self.certificates],
            "delta": None if isinstance(certificate, Certificate) else certificate.delta,
            "mean_size": self.mean_size,
            "groups": list(self.groups),
            "by": self.by,
        }
        return {**content, "model_digest": self.model_digest} if self.model_digest else content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SetRule:
        """Read the result of ``to_dict``; refuse values that no calibration could have written."""
        method, penalty, free = content["score"]
        certificates = tuple(map(Certificate.from_stored, content["certificates"]))
        delta, groups = content["delta"], tuple(content["groups"])
        cutoffs = tuple(float(value) for value in content["cutoffs"])
        words = [*groups, content["by"], content.get("model_digest", "")]
        if {*map(type, words)} != {str} or not 0 < len(certificates) == len(cutoffs):
            raise ValueError("the sets do not have one claim for each cutoff")
        if groups and len(groups) != len(cutoffs):
            raise ValueError(f"the sets have {len(groups)} groups and {len(cutoffs)} cutoffs")
        if (delta is None) != (len(certificates) == 1 and not groups):
            raise ValueError("the claims of the sets do not share a delta")
        several = None if delta is None else Family(certificates, probability("delta", delta))
        return cls(
            LabelScore(method, penalty, free), probability("coverage", content["coverage"]),
            cutoffs, several or certificates[0], float(content["mean_size"]), groups, content["by"],
            content.get("model_digest", ""),
        )  # fmt: skip


def coverage_words(certificate: Certificate | Family) -> str:
    """Return the claims of one or several certificates as text."""
    if isinstance(certificate, Certificate):
        return str(sentence(certificate))
    return " ".join([*certificate.claims, certificate.note])


@dataclass(frozen=True)
class Forecast:
    """The ends of each row's interval before calibration, and its scale."""

    low: Doubles
    high: Doubles
    scale: Doubles

    @classmethod
    def of(cls, low: Doubles, high: Doubles, scale: Doubles | None = None) -> Forecast:
        """Create a forecast: ends that cross are swapped, and the default scale is 1."""
        unit = np.ones(low.size) if scale is None else scale
        return cls(np.minimum(low, high), np.maximum(low, high), unit)

    def score(self, y: Doubles) -> Doubles:
        """Return how far numbers lie outside, in units of the scale; negative if inside."""
        return np.maximum(self.low - y, y - self.high) / self.scale

    def interval(self, cutoff: float) -> Doubles:
        """Return all numbers whose score is at most the cutoff, (rows, 2), rounded outward."""
        reach = cutoff * self.scale
        low = np.nextafter(self.low - reach, -np.inf)
        high = np.nextafter(self.high + reach, np.inf)
        middle = (self.low + self.high) / 2
        crossed = low > high
        return np.column_stack([np.where(crossed, middle, low), np.where(crossed, middle, high)])


@dataclass(frozen=True)
class IntervalRule:
    """The cutoff that sets the width of intervals, with their certificate."""

    method: str
    coverage: float
    cutoff: float
    floor: float
    certificate: Certificate
    mean_width: float
    """Mean width of the intervals of the calibration rows: an estimate."""
    model_digest: str = field(default="", compare=False)

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate, in a tuple."""
        return (self.certificate,)

    def parts(self, classes: list[str]) -> list[tuple[str, str | None]]:
        """Return the measure that the certificate is about."""
        return [("interval_coverage", None)]

    @property
    def cutoffs(self) -> tuple[float, ...]:
        """The distances between prediction and ends of the interval, in units of the scale."""
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
        """Read the result of ``to_dict``; refuse values that no calibration could have written."""
        (certificate,) = content["certificates"]
        floor, cutoff = float(content["floor"]), float(content["cutoff"])
        if content["method"] not in ("residual", "scaled") or not floor > 0:
            raise ValueError(f"the method {content['method']!r:.40} or its floor is unknown")
        if type(content.get("model_digest", "")) is not str:
            raise ValueError("the digest of the model is not text")
        return cls(
            content["method"], probability("coverage", content["coverage"]), cutoff, floor,
            Certificate.from_stored(certificate), float(content["mean_width"]),
            content.get("model_digest", ""),
        )  # fmt: skip


def coverage_rule(content: Mapping[str, Any]) -> SetRule | IntervalRule:
    """Read the sets or the intervals of a file."""
    kinds: dict[Any, Any] = {"sets": SetRule, "intervals": IntervalRule}
    if content["kind"] not in kinds:
        raise ValueError(f"kind is {content['kind']!r:.40}; it must be 'sets' or 'intervals'")
    rule: SetRule | IntervalRule = kinds[content["kind"]].from_dict(content)
    for certificate in rule.certificates:
        str(certificate)  # raises if the claim cannot be written
    return rule
