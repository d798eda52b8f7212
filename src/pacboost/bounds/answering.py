"""Answering only where confident: counts of held-out rows at thresholds, and bounds from them.

No threshold equals a score: the last bits of a score may depend on which rows are scored together
(docs/proofs/thresholds.md, "Where thresholds stand").
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds import selective
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.decision import Borders, whole_count
from pacboost.bounds.selective import Point
from pacboost.bounds.wording import HAVE_TIMES, SHARE_BUT_ONE, SHARE_LEARNED
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.numerics.checks import counts, positive_whole, probability
from pacboost.numerics.markup import bold, paragraph, table
from pacboost.numerics.percent import percent_above, percent_below
from pacboost.samples.equal_rows import DISTINCT


@dataclass(frozen=True)
class Answering:
    """A bound on the error among answered rows for every threshold, and the chosen threshold.

    All bounds on errors hold together except with probability ``delta``; so do the intervals for
    the share of new examples that are answered. Only counts are kept: bounds are made from them.

    >>> answering = Answering(1000, 0.05, 2, (Point(0.0, 1000, 80, 1000, 1000),
    ...                                       Point(0.9, 600, 3, 600, 600)))
    >>> print(answering.within(0.02))  # doctest: +ELLIPSIS
    Of the new examples it answers (confidence 0.9 or more) the classifier is wrong ... 1.46 %.
    It answers between 56.44 % and 63.48 % of new examples.
    <BLANKLINE>
      confidence  answered  mistakes  error at most  answers of new examples
               0     1,000        80         9.86 %  all
    *        0.9       600         3         1.46 %  56.44 % to 63.48 %
    <BLANKLINE>
      All errors hold together except with probability 0.05, and so do all shares.
    """

    rows: int
    delta: float
    thresholds: int
    """Number of planned thresholds: each has its share of delta."""
    points: tuple[Point, ...]
    chosen: int | None = None
    target_error: float | None = None
    tested: float | None = None
    """A target error that was fixed before the rows were seen (bounds/selective.py)."""
    model_digest: str = field(default="", compare=False)
    rows_checked: bool = True
    models: int = 1
    """Number of models that are tried on these rows and share delta."""
    assumptions: tuple[str, ...] = ()
    details: Mapping[str, float] = field(default_factory=dict)
    """What was noticed about the rows: details of the certificate."""

    def within(self, target_error: float) -> Answering:
        """Choose the smallest threshold whose certified error is at most ``target_error``."""
        target = probability("target_error", target_error)
        good = (j for j, error in enumerate(self.errors) if error <= target)
        return replace(self, chosen=next(good, None), target_error=target)

    def at(self, number: int) -> Answering:
        """Choose the threshold at this index of ``points``."""
        return replace(self, chosen=range(len(self.points))[number], target_error=None)

    @property
    def errors(self) -> tuple[float, ...]:
        """The bound on the error among answered rows, for every threshold."""
        bounds = [
            selective.answered_error(p.mistakes, p.answered, self._delta, self.thresholds)
            for p in self.points
        ]
        if self.tested is None:
            return tuple(bounds)
        level = selective.TESTS * self._share_of_delta
        passed = selective.passed(self.points, self.rows, self.thresholds, level, self.tested)
        return tuple(min(b, self.tested) if j in passed else b for j, b in enumerate(bounds))

    @property
    def _delta(self) -> float:
        """The part of delta for the bounds at all thresholds; the rest is for tests of a target."""
        return self._share_of_delta * (1 if self.tested is None else 1 - selective.TESTS)

    @property
    def _share_of_delta(self) -> float:
        return self.delta / self.models

    @property
    def shares(self) -> tuple[tuple[float, float], ...]:
        """Lower and upper end of the share of answered new examples, for every threshold."""
        return tuple(map(self._share, self.points))

    @property
    def point(self) -> Point:
        """The threshold that was chosen, with its counts."""
        return self.points[self._chosen]

    @property
    def error(self) -> float:
        """The bound on the error at the chosen threshold."""
        return self.errors[self._chosen]

    @property
    def share(self) -> tuple[float, float]:
        """Lower and upper end of the share of new examples that are answered."""
        return self.shares[self._chosen]

    @property
    def certificate(self) -> Certificate:
        """The bound on the error at the chosen threshold, with its grounds."""
        point, error = self.point, self.error
        if self.tested is not None and error == self.tested:
            level = selective.TESTS * self._share_of_delta
            chosen = selective.passed_certificate(
                point.mistakes, point.answered, level, self.tested, point.threshold, of=self.delta
            )
        else:
            chosen = selective.certificate(
                point.mistakes, point.answered, self._delta, self.thresholds, point.threshold
            )
            chosen = replace(chosen, delta=self.delta)
        chosen = chosen.assuming(*self.assumptions).detailed(self.details)
        return chosen if self.rows_checked else chosen.unchecked()

    @property
    def _chosen(self) -> int:
        if self.chosen is None:
            raise NotCertified(self._no_choice())
        return self.chosen

    def _share(self, point: Point) -> tuple[float, float]:
        if point.threshold <= 0:  # no confidence is less
            return 1.0, 1.0
        return selective.answered_share(
            point.fewest, point.most, self.rows, self._share_of_delta, self.thresholds
        )

    def _no_choice(self) -> str:
        if self.target_error is None:
            return "no threshold is chosen; all bounds hold at once, so name a target_error"
        errors = self.errors
        best = min(range(len(self.points)), key=errors.__getitem__)
        return (
            "no threshold brings the certified error among the answered to "
            f"{self.target_error:.4g}; the least is {errors[best]:.4g}, with "
            f"{self.points[best].answered:,} of {self.rows:,} held-out rows answered. Hold out "
            "more rows, or allow a larger error"
        )

    def __str__(self) -> str:
        return "\n".join([*self._head(), "", self.table()])

    def table(self) -> str:
        """Return the numbers of all thresholds, as lines of text."""
        lines = ["  confidence  answered  mistakes  error at most  answers of new examples"]
        for chosen, (threshold, answered, mistakes, error, of_new) in self._lines():
            numbers = f"{threshold:>10} {answered:>9} {mistakes:>9} {error:>14}"
            lines.append(f"{'*' if chosen else ' '} {numbers}  {of_new}")
        return "\n".join([*lines, "", f"  {self._note()}"])

    def answers(self) -> str:
        """State the share of new examples that is answered at the chosen threshold."""
        low, high = self.share
        share = "all" if low >= 1 else f"between {' and '.join(_percentages(low, high))}"
        return f"It answers {share} of new examples."

    def _head(self) -> list[str]:
        if self.chosen is None:
            return [self._no_choice() + "."]
        return [self.certificate.claim, self.answers()]

    def _lines(self) -> Iterator[tuple[bool, list[str]]]:
        columns = zip(self.points, self.errors, self.shares, strict=True)
        for j, (p, error, (low, high)) in enumerate(columns):
            of_new = "all" if low >= 1 else " to ".join(_percentages(low, high))
            numbers = [f"{p.threshold:.4g}", f"{p.answered:,}", f"{p.mistakes:,}"]
            yield j == self.chosen, [*numbers, percent_above(error, 2), of_new]

    def _note(self) -> str:
        tried = f"; delta is shared by {self.models} models" if self.models > 1 else ""
        holds = f"All errors hold together except with probability {self.delta:g}"
        return f"{holds}, and so do all shares{tried}."

    def _repr_html_(self) -> str:
        heads = ["confidence", "answered", "mistakes", "error at most", "answers of new examples"]
        rows = [["*" if chosen else "", *cells] for chosen, cells in self._lines()]
        head = "".join(map(bold, self._head()))
        return head + table(["", *heads], rows) + paragraph(self._note())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        content = {**asdict(self), "points": [list(asdict(p).values()) for p in self.points]}
        content["assumptions"] = list(self.assumptions)
        defaults: dict[str, Any] = {"tested": None, "model_digest": "", "rows_checked": True}
        defaults |= {"models": 1, "assumptions": [], "details": {}}
        return {k: v for k, v in content.items() if k not in defaults or v != defaults[k]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Answering:
        """Read the result of ``to_dict``; refuse impossible counts."""
        points = tuple(
            Point(_number(threshold), *map(whole_count, rest))
            for threshold, *rest in content["points"]
        )
        assumed = tuple(content.get("assumptions", ()))
        if assumed not in ((), (DISTINCT,)):
            raise ValueError(f"{assumed!r:.80} are no assumptions of these rows")
        for name, value in content.get("details", {}).items():
            is_known = name in (HAVE_TIMES, SHARE_LEARNED, SHARE_BUT_ONE)
            if not is_known or type(value) not in (int, float) or not 0 < value <= 1:
                raise ValueError(f"{name!r} is {value!r}, which is no detail of these rows")
        self = cls(**{**content, "points": points, "assumptions": assumed})
        positive_whole("thresholds", self.thresholds)
        positive_whole("models", self.models)
        probability("delta", self.delta)
        for point in points:
            counts(point.answered, self.rows)
            if point.answered or point.mistakes:
                counts(point.mistakes, point.answered)
            ordered = 0 <= point.fewest <= point.answered <= point.most <= self.rows
            all_answered = point.threshold > 0 or point.answered == self.rows
            if not ordered or not all_answered or not 0 <= point.threshold <= 1:
                raise ValueError(f"{point} contradicts itself")
        falls = all(
            a.threshold < b.threshold and 0 <= a.mistakes - b.mistakes <= a.answered - b.answered
            for a, b in pairwise(points)
        )
        if not falls or not 0 < len(points) <= self.thresholds:
            raise ValueError("the thresholds of the answers are not in order, or too many")
        if self.chosen is not None and not 0 <= whole_count(self.chosen) < len(points):
            raise ValueError(f"threshold {self.chosen} is chosen, and there are {len(points)}")
        if self.target_error is not None:
            probability("target_error", self.target_error)
        if self.tested is not None:
            probability("tested", self.tested)
        if type(self.model_digest) is not str:
            raise ValueError("the digest of the model is not text")
        return self


def _percentages(low: float, high: float) -> tuple[str, str]:
    return percent_below(low), percent_above(high, 2)


def _number(value: object) -> float:
    if type(value) is not float:
        raise ValueError(f"{value!r} is no confidence")
    return value


RANKS = 20
"""Default number of thresholds: each answers a twentieth of the rows more than the one before."""


def by_ranks(
    confidence: ArrayLike,
    wrong: ArrayLike,
    delta: float,
    ranks: int = RANKS,
    target: float | None = None,
) -> Answering:
    """Choose thresholds at which 1/ranks, 2/ranks, … of the held-out rows are answered.

    A ``target`` error that was fixed before the rows were seen is tested at these thresholds
    (bounds/selective.py), which lets more rows be answered than the bounds for all of them do.
    The dtype of the confidences decides how many of their bits count.
    """
    confidences, mistaken = _read(confidence, wrong)
    borders = Borders.of(np.asarray(confidence))
    rows = confidences.size
    falling = np.sort(confidences)[::-1]
    parts = positive_whole("ranks", ranks)
    planned = sorted({math.ceil(rows * j / parts) for j in range(1, parts + 1)})
    points: dict[float, Point] = {}
    for rank in planned:
        threshold = borders.above(float(falling[rank])) if rank < rows else 0.0
        answered = confidences >= threshold
        n = int(np.count_nonzero(answered))
        if n == 0:  # more rows have the largest confidence than were to be answered
            continue
        fewest = max((other for other in planned if other <= n), default=0)
        k = int(np.count_nonzero(mistaken[answered]))
        points.setdefault(threshold, Point(threshold, n, k, fewest, rank))
    tested = None if target is None else probability("target_error", target)
    ordered = _in_order(points.values())
    return Answering(rows, probability("delta", delta), len(planned), ordered, tested=tested)


def at_thresholds(
    confidence: ArrayLike, wrong: ArrayLike, delta: float, thresholds: Iterable[float]
) -> Answering:
    """Use thresholds that were fixed before the rows were seen."""
    confidences, mistaken = _read(confidence, wrong)
    fixed = [check_threshold("a threshold", value) for value in thresholds]
    if not fixed:
        raise ParameterError("there are no thresholds; give at least one, from 0 to 1")
    points = []
    for threshold in set(fixed):
        answered = confidences >= threshold
        n, k = int(np.count_nonzero(answered)), int(np.count_nonzero(mistaken[answered]))
        points.append(Point(threshold, n, k, n, n))
    return Answering(confidences.size, probability("delta", delta), len(points), _in_order(points))


def _in_order(points: Iterable[Point]) -> tuple[Point, ...]:
    return tuple(sorted(points, key=lambda point: point.threshold))


def check_threshold(name: str, value: object) -> float:
    """Check the smallest confidence with which a row is answered."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ParameterError(f"{name} is {value!r}; a confidence lies between 0 and 1")
    return float(value)


def _read(confidence: ArrayLike, wrong: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    confidences = np.asarray(confidence, dtype=np.float64)
    mistaken = np.asarray(wrong, dtype=np.bool_)
    if confidences.ndim != 1 or confidences.size == 0 or mistaken.shape != confidences.shape:
        raise DataError(
            f"confidence has shape {confidences.shape} and wrong {mistaken.shape}; one of each is "
            "needed for every row, and at least one row"
        )
    if not ((confidences >= 0) & (confidences <= 1)).all():
        raise DataError("a confidence is missing or not between 0 and 1")
    return confidences, mistaken
