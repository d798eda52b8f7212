"""Choose the threshold that keeps a promise, and certify it by the same rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import deciding, measured
from pacboost.bounds.answering import check_threshold
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.decision import (
    MAX_SCORE,
    WISHES,
    Borders,
    ThresholdCurve,
    ThresholdDecision,
    is_constant,
    reached,
)
from pacboost.bounds.family import Family
from pacboost.errors import NotCertified, ParameterError, invalid
from pacboost.numerics.checks import probability

Doubles = NDArray[np.float64]
CURVE_POINTS = 100
MAX_COSTS_COMPARED = 20
"""Number of thresholds with the lowest observed cost whose certified costs are compared."""


def read_wish(wishes: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the measure and the target that were asked for; raise unless it is exactly one."""
    requests = {name: wish for name, wish in wishes.items() if wish is not None}
    if len(requests) != 1:
        raise ParameterError(
            f"{', '.join(requests) or 'nothing'} was asked for; give exactly one of "
            f"{', '.join([*WISHES, 'target_error', 'abstain_below'])}, fixed before the rows are "
            "looked at",
            parameter="recall",
        )
    name, wish = next(iter(requests.items()))
    if name == "abstain_below":
        return name, check_threshold(name, wish)
    if name != "cost":
        return name, probability(name, wish)
    try:
        pair = tuple(float(cost) for cost in wish)
    except (TypeError, ValueError, OverflowError):
        pair = ()
    if len(pair) != 2 or not all(0 < cost < math.inf for cost in pair):
        pairs = "is a pair: the cost of a missed example, and that of a false alarm, both above 0"
        raise invalid("cost", wish, pairs)
    return name, pair


@dataclass(frozen=True, eq=False)
class ThresholdChoice:
    """Chooses a threshold by the scores of held-out rows."""

    positives: Doubles
    negatives: Doubles
    label: Any
    delta: float
    borders: Borders = field(default_factory=Borders)
    """Scores are borders themselves, so that {score ≥ border} holds the same rows as before."""
    sample: Mapping[str, Any] = field(default_factory=lambda: {"rows": "held_out"})
    models: int = 1

    @classmethod
    def of(
        cls, score: NDArray[Any], own: NDArray[np.bool_], label: object, delta: float
    ) -> ThresholdChoice:
        """Divide scores into those of rows of the class (``own``) and the others."""
        borders = Borders.of(score)
        settled = np.clip(borders.below(score), -MAX_SCORE, MAX_SCORE)
        return cls(settled[own], settled[~own], label, delta, borders)

    @property
    def share(self) -> float:
        """The share of delta for this model."""
        return self.delta / self.models

    def decide(self, name: str, wish: Any) -> ThresholdDecision:
        """Find the threshold for a request, and certify the rates on both sides of it."""
        if not self.positives.size or not self.negatives.size:
            missing = "of" if not self.positives.size else "of other classes than"
            raise NotCertified(
                f"there are no rows {missing} class {self.label!r}, so no threshold can be chosen"
            )
        find: Any = {
            "recall": self._by_recall,
            "false_positive_rate": self._by_alarms,
            "precision": self._by_precision,
            "cost": self._by_cost,
        }[name]
        threshold, certificate, others = find(wish)
        if threshold >= MAX_SCORE and name != "cost":
            raise NotCertified(
                "only a threshold that no row reaches would keep this promise; ask for less"
            )
        family = Family(others, self.delta)
        return ThresholdDecision(threshold, self.label, name, certificate, family, self.curve())

    def _by_recall(self, wish: float) -> tuple[float, Certificate, tuple[Certificate, ...]]:
        n = self.positives.size
        rank = self._rank(n, 1 - wish, f"rows of class {self.label!r}", f"recall {wish:g}")
        threshold = _finite(float(np.sort(self.positives)[rank - 1]))
        alarms = int((self.negatives >= threshold).sum())
        m = self.negatives.size
        inputs = {"rank": rank, "n": n}
        certificate = self._made("recall", "deciding.order_lower", inputs, threshold, n)
        return threshold, certificate, (
            self._made("false_positive_rate", "rates.rate_upper", {"k": alarms, "n": m},
                       threshold, m, claims=2),
            self._precision(n - (rank - 1), alarms, threshold),
        )  # fmt: skip

    def _by_alarms(self, wish: float) -> tuple[float, Certificate, tuple[Certificate, ...]]:
        m = self.negatives.size
        what = f"rows of other classes than {self.label!r}"
        rank = self._rank(m, wish, what, f"false_positive_rate {wish:g}")
        beyond = float(np.sort(self.negatives)[::-1][rank - 1])
        threshold = _finite(self.borders.above(beyond))
        n, n_found = self.positives.size, int((self.positives >= threshold).sum())
        inputs, bound = {"rank": rank, "n": m}, "deciding.order_upper"
        certificate = self._made("false_positive_rate", bound, inputs, threshold, m)
        return threshold, certificate, (
            self._made("recall", "rates.rate_lower", {"k": n_found, "n": n},
                       threshold, n, claims=2),
            self._precision(n_found, rank - 1, threshold),
        )  # fmt: skip

    def _by_precision(self, wish: float) -> tuple[float, Certificate, tuple[Certificate, ...]]:
        falling = np.sort(np.concatenate([self.positives, self.negatives]))[::-1]
        sequences = deciding.planned_ranks(falling.size, 1 - wish, self.share)
        each = self.delta / (len(sequences) * self.models or 1)
        passed = [p for ranks in sequences for p in self._passed(wish, falling, each, ranks)]
        if not passed:
            raise NotCertified(self._no_precision(wish, falling))
        # of all thresholds that passed, the lowest finds most: every one of them holds
        threshold, right, n_positive = min(passed)
        inputs = {"k": right, "n": n_positive, "target": wish}
        bound, claims = "deciding.passed_lower", len(sequences)
        certificate = self._made("precision", bound, inputs, threshold, n_positive, claims)
        return threshold, certificate, self._both_sides(threshold)

    def _passed(
        self, wish: float, falling: Doubles, delta: float, ranks: Sequence[int]
    ) -> Iterator[tuple[float, int, int]]:
        for rank in ranks:
            threshold, right, n_positive = self._at_rank(falling, rank)
            if not deciding.passes(n_positive - right, n_positive, 1 - wish, delta):
                return
            yield threshold, right, n_positive

    def _at_rank(self, falling: Doubles, rank: int) -> tuple[float, int, int]:
        """Return the lowest threshold that at most ``rank`` rows reach, and the number that do."""
        beyond = float(falling[rank]) if rank < falling.size else -MAX_SCORE
        threshold = _finite(self.borders.above(beyond))
        right = int((self.positives >= threshold).sum())
        return threshold, right, right + int((self.negatives >= threshold).sum())

    def _by_cost(
        self, wish: tuple[float, float]
    ) -> tuple[float, Certificate, tuple[Certificate, ...]]:
        points = [p for p in self._points(4 * CURVE_POINTS) if not is_constant(p[0])]
        miss, alarm = wish
        # a count of 0 is no rate of 0: one more of each comes near what the bounds will say
        costs_seen = [miss * (missed + 1) + alarm * (alarms + 1) for _, missed, alarms in points]
        # Bounds hold for all thresholds at once.
        tried = [points[j][0] for j in np.argsort(costs_seen, kind="stable")[:MAX_COSTS_COMPARED]]
        # flagging every row, or none, costs nothing more to try: only the share of positives is
        # unknown (docs/proofs/thresholds.md)
        tried += [-MAX_SCORE, MAX_SCORE]
        costs = [deciding.cost_upper(**self._cost(t, wish), delta=self.share) for t in tried]
        threshold = tried[int(np.argmin(costs))]
        rows = self.positives.size + self.negatives.size
        certificate = self._made(
            "cost", "deciding.cost_upper", self._cost(threshold, wish), threshold, rows
        )
        return threshold, certificate, self._both_sides(threshold)

    def _cost(self, threshold: float, wish: tuple[float, float]) -> dict[str, Any]:
        counts = {
            "missed": int((~reached(self.positives, threshold)).sum()),
            "positives": self.positives.size,
            "alarms": int(reached(self.negatives, threshold).sum()),
            "negatives": self.negatives.size,
            "miss_cost": wish[0],
            "alarm_cost": wish[1],
        }
        return counts | {"constant": 1} if is_constant(threshold) else counts

    def _both_sides(self, threshold: float) -> tuple[Certificate, ...]:
        """Certify recall and false alarms by bounds that hold for all thresholds at once."""
        n, m = self.positives.size, self.negatives.size
        n_found = int(reached(self.positives, threshold).sum())
        alarms = int(reached(self.negatives, threshold).sum())
        return (
            self._made("recall", "deciding.curve_lower", {"k": n_found, "n": n}, threshold, n, 2),
            self._made("false_positive_rate", "deciding.curve_upper", {"k": alarms, "n": m},
                       threshold, m, 2),
        )  # fmt: skip

    def _precision(self, found: int, alarms: int, threshold: float) -> Certificate:
        n, m = self.positives.size, self.negatives.size
        inputs = {"found": found, "positives": n, "alarms": alarms, "negatives": m}
        bound = "deciding.precision_lower"
        return self._made("precision", bound, inputs, threshold, n + m, claims=2)

    def _made(
        self, measure: str, bound: str, inputs: dict[str, Any], threshold: float, size: int,
        claims: int = 1,
    ) -> Certificate:  # fmt: skip
        all_inputs = {**inputs, "delta": self.delta, "claims": claims * self.models}
        named: dict[str, Any] = {"class": str(self.label)}
        if measure == "cost":
            named = {"largest": max(inputs["miss_cost"], inputs["alarm_cost"])}
        return measured.certificate(
            measure, bound, all_inputs, size=size, sample=self.sample, threshold=threshold, **named
        )

    def _rank(self, n: int, rate: float, what: str, wish: str) -> int:
        rank = deciding.rank_for(n, rate, self.share)
        if rank < 1:
            needed = deciding.fewest_rows(rate, self.share)
            share = n / (self.positives.size + self.negatives.size)
            raise NotCertified(
                f"{wish} with delta {self.share:g} needs at least {needed:,} {what}; there are "
                f"{n:,}. Collect {needed - n:,} more of them, about {(needed - n) / share:,.0f} "
                "rows at this share, or ask for less"
            )
        return rank

    def _no_precision(self, wish: float, falling: Doubles) -> str:
        sequences = deciding.planned_ranks(falling.size, 1 - wish, self.share)
        fewest = deciding.fewest_rows(1 - wish, self.share / max(1, len(sequences)))
        if not sequences:
            return (
                f"precision {wish:g} with delta {self.share:g} needs at least {fewest:,} rows "
                f"predicted positive; there are {falling.size:,} rows in all"
            )
        tested = [self._at_rank(falling, ranks[0]) for ranks in sequences]
        _, right, n_positive = next((point for point in tested if point[-1]), tested[-1])
        equal = "" if n_positive else " (too many rows have the highest score)"
        return (
            f"no threshold is certified to have precision {wish:g}: of the {n_positive:,} rows "
            f"with the highest scores {right:,} are of class {self.label!r}{equal}. Ask for a "
            "lower precision, use a better model, or collect more rows (with no mistake "
            f"{fewest:,} would suffice)"
        )

    def curve(self) -> ThresholdCurve:
        """Count rows at many thresholds, evenly spaced by rows."""
        n, m = self.positives.size, self.negatives.size
        return ThresholdCurve(n, m, self.share, tuple(self._points(CURVE_POINTS)))

    def _points(self, max_points: int) -> list[tuple[float, int, int]]:
        ends = np.concatenate([self.positives, self.negatives])
        positives = np.sort(self.positives)
        some = np.union1d(_spread(ends, max_points), _spread(positives, max_points // 2))
        thresholds = [_finite(float(value)) for value in some if value < MAX_SCORE]
        return [
            (t, int((self.positives < t).sum()), int((self.negatives >= t).sum()))
            for t in dict.fromkeys(thresholds)
        ]


def _spread(values: Doubles, max_values: int) -> Doubles:
    distinct = np.unique(values)
    places = np.linspace(0, distinct.size - 1, min(max_values, distinct.size)).astype(np.intp)
    return distinct[np.unique(places)]


def _finite(value: float) -> float:
    return min(max(value, -MAX_SCORE), MAX_SCORE)
