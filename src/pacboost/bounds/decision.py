"""A threshold with its guarantee, what it costs on the other side, and the curve around it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds import wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.deciding import curve_lower, curve_upper, planned_ranks
from pacboost.bounds.family import Family
from pacboost.bounds.rounding import confidence
from pacboost.numerics.checks import counts, positive_whole, probability
from pacboost.numerics.markup import bold, table

BOUNDS_BY_WISH = {
    "recall": {
        "recall": "deciding.order_lower",
        "false_positive_rate": "rates.rate_upper",
        "precision": "deciding.precision_lower",
    },
    "precision": {
        "precision": "deciding.passed_lower",
        "recall": "deciding.curve_lower",
        "false_positive_rate": "deciding.curve_upper",
    },
    "false_positive_rate": {
        "false_positive_rate": "deciding.order_upper",
        "recall": "rates.rate_lower",
        "precision": "deciding.precision_lower",
    },
    "cost": {
        "cost": "deciding.cost_upper",
        "recall": "deciding.curve_lower",
        "false_positive_rate": "deciding.curve_upper",
    },
}
"""The bound of each measure at a threshold chosen for a wish; the wish itself comes first."""
WISHES = tuple(BOUNDS_BY_WISH)
HEADS = (
    "threshold", "recall", "recall_at_least", "false_positive_rate", "false_positive_rate_at_most",
    "precision",
)  # fmt: skip


MAX_SCORE = 1e150
"""The threshold that no row reaches, whatever its score; every row reaches its negative. Files hold
no larger number."""


def is_constant(threshold: float) -> bool:
    """Check whether a threshold says the same of every row."""
    return abs(threshold) == MAX_SCORE


def reached(scores: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Return which scores reach a threshold; rules that are constant look at no score."""
    if is_constant(threshold):
        return np.full(scores.shape, threshold < 0)
    return np.asarray(scores >= threshold)


@dataclass(frozen=True)
class ThresholdCurve:
    """Counts at several thresholds, for bounds that hold for all of them at once."""

    positives: int
    negatives: int
    delta: float
    points: tuple[tuple[float, int, int], ...]
    """Thresholds with the number of positives below and of negatives above them."""

    @cached_property
    def columns(self) -> dict[str, list[float]]:
        """The observed and the certified rates at each threshold, as columns."""
        lines = [self._line(*point) for point in self.points]
        return {name: [line[j] for line in lines] for j, name in enumerate(HEADS)}

    def _line(self, threshold: float, missed: int, alarms: int) -> tuple[float, ...]:
        n, m = self.positives, self.negatives
        hits = n - missed
        recall_lower = curve_lower(hits, n, self.delta, 2)
        alarms_upper = curve_upper(alarms, m, self.delta, 2)
        predicted = hits + alarms
        precision = hits / predicted if predicted else math.nan
        return threshold, hits / n, recall_lower, alarms / m, alarms_upper, precision

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the curve as a data frame of pandas, polars or pyarrow."""
        import narwhals as nw

        return nw.from_dict(self.columns, backend=backend).to_native()  # type: ignore[arg-type]


@dataclass(frozen=True)
class ThresholdDecision:
    """A chosen threshold, the goal it was chosen for, and its certificates."""

    threshold: float
    positive: Any
    wish: str
    certificate: Certificate
    others: Family
    """Certificates of the other rates, which hold together, but apart from the guarantee."""
    curve: ThresholdCurve
    model_digest: str = field(default="", compare=False)

    @property
    def sentence(self) -> str:
        """The guarantee and its threshold, with the certified rates on the other side."""
        return f"{wording.sentence(self.certificate)} {self.details}"

    @property
    def details(self) -> str:
        """The threshold, and the certificates of the other rates."""
        threshold = f"The threshold is {self.threshold:.4g} for class '{self.positive}'."
        if is_constant(self.threshold):
            which = "Every" if self.threshold < 0 else "No"
            threshold = f"{which} row is said to be '{self.positive}'."
        if not len(self.others):
            return threshold
        others = "; ".join(str(wording.clause(certificate)) for certificate in self.others)
        same = self.others.delta == self.certificate.delta
        sure = "the same" if same else confidence(self.others.delta)
        costs = f" {self.costs_seen}" if self.wish == "cost" else ""
        return f"{threshold} With {sure} confidence, {others}.{costs}"

    @property
    def costs_seen(self) -> str:
        """The mean cost on the rows that certify, and that of both constant answers."""
        counts = self.certificate.inputs
        n = counts["positives"] + counts["negatives"]
        miss, alarm = counts["miss_cost"], counts["alarm_cost"]
        seen = (miss * counts["missed"] + alarm * counts["alarms"]) / n
        always, never = alarm * counts["negatives"] / n, miss * counts["positives"] / n
        name = f"'{self.positive}'"
        return (
            f"On these rows it costs {seen:.4g}; always saying {name} would cost {always:.4g} "
            f"(never more than {alarm:g}), never saying it {never:.4g} (estimates)."
        )

    @property
    def claims(self) -> Family:
        """The guarantee and the certificates of the other rates, with the sum of both deltas."""
        delta = self.certificate.delta + self.others.delta
        return Family((self.certificate, *self.others), delta)

    def contradiction(self) -> str:
        """Return how the claims contradict the goal, the class or the rows; "" if they do not."""
        bounds, claims = BOUNDS_BY_WISH[self.wish], (self.certificate, *self.others)
        names = [certificate.of_what for certificate in claims]
        if names != [*bounds]:
            return f"the claims of a threshold for {self.wish} are not on {', '.join(names)}"
        n, m = self.curve.positives, self.curve.negatives
        rows = {"recall": n, "false_positive_rate": m}
        for certificate in claims:
            name, details = certificate.of_what, certificate.details
            if certificate.bound != bounds[name]:
                return f"{name} is bounded by {certificate.bound}, not by {bounds[name]}"
            costs = (certificate.inputs.get(f"{what}_cost", 0) for what in ("miss", "alarm"))
            # each claim alone could be true of another threshold: all have to be about the one that
            # is used
            stated = details.get("threshold"), details.get("largest", 0)
            if stated != (self.threshold, max(costs)):
                return "a claim was made for another threshold, or for other costs"
            kind = wording.quantity(name)
            if kind and kind.of_class and details.get("class") != str(self.positive):
                return f"a claim is about class {details.get('class')!r}, not {self.positive!r}"
            counted, size = rows.get(name, n + m), certificate.size
            if certificate.bound != "deciding.passed_lower" and size != counted:
                return f"{name} counts {size:,} rows, and the curve {counted:,}"
        further = {"cost": self._other_rule, "precision": self._other_tests}.get(self.wish)
        return further() if further else ""

    def _other_rule(self) -> str:
        """Return how the counted rule differs from that of the threshold; "" if it does not."""
        inputs, n, m = self.certificate.inputs, self.curve.positives, self.curve.negatives
        constant = {-MAX_SCORE: (0, m), MAX_SCORE: (n, 0)}.get(self.threshold)
        counted = (inputs["missed"], inputs["alarms"]) if inputs.get("constant") else None
        if constant == counted:
            return ""
        return "the cost is that of a constant rule and the threshold is not, or the other way"

    def _other_tests(self) -> str:
        """Return how the tests of a precision differ from the planned ones; "" if they do not."""
        inputs = self.certificate.inputs
        right, claims, target = inputs["k"], inputs["claims"], inputs["target"]
        rows = self.curve.positives + self.curve.negatives
        planned = (
            len(planned_ranks(rows, 1 - target, inputs["delta"] / models)) * models
            for models in range(1, claims + 1)
            if claims % models == 0
        )
        if claims not in planned:
            return f"{claims} sequences of tests share delta, which is not the number planned"
        counts_above = [certificate.inputs["k"] for certificate in self.others]
        if counts_above != [right, inputs["n"] - right]:
            return "the test of the precision counts other rows than the claims beside it"
        return ""

    def __str__(self) -> str:
        return f"{self.certificate}\n\n{self.others}"

    def _repr_html_(self) -> str:
        heads, *lines = self.claims.lines()
        return bold(self.sentence) + table(heads, lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for a file."""
        curve = self.curve
        content = {
            "threshold": self.threshold,
            "positive": self.positive,
            "wish": self.wish,
            "certificate": self.certificate.stored(),
            "others": [certificate.stored() for certificate in self.others],
            "others_delta": self.others.delta,
            "positives": curve.positives,
            "negatives": curve.negatives,
            "curve_delta": curve.delta,
            "points": [list(point) for point in curve.points],
        }
        return {**content, "model_digest": self.model_digest} if self.model_digest else content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ThresholdDecision:
        """Read the result of ``to_dict``; refuse values that no decision could have."""
        if content["wish"] not in WISHES:
            raise ValueError(f"wish is {content['wish']!r:.40}; it may be {', '.join(WISHES)}")
        threshold, positive = content["threshold"], content["positive"]
        if type(threshold) is not float or type(positive) not in (int, float, str, bool):
            raise ValueError("the threshold is not a number, or the positive class no label")
        curve = ThresholdCurve(
            positive_whole("positives", content["positives"]),
            positive_whole("negatives", content["negatives"]),
            probability("curve_delta", content["curve_delta"]),
            tuple((float(t), whole_count(a), whole_count(b)) for t, a, b in content["points"]),
        )
        for _, missed, alarms in curve.points:
            counts(missed, curve.positives)
            counts(alarms, curve.negatives)
        others = tuple(map(Certificate.from_stored, content["others"]))
        unexpected = set(content) - set(cls._NAMES)
        if unexpected or type(content.get("model_digest", "")) is not str:
            raise ValueError(f"the decision holds {sorted(unexpected)}, which no choice writes")
        return cls(
            threshold, positive, content["wish"], Certificate.from_stored(content["certificate"]),
            Family(others, probability("others_delta", content["others_delta"])), curve,
            content.get("model_digest", ""),
        )  # fmt: skip

    _NAMES = (
        "threshold", "positive", "wish", "certificate", "others", "others_delta", "positives",
        "negatives", "curve_delta", "points", "model_digest",
    )  # fmt: skip


def whole_count(value: object) -> int:
    """Read a count from a file."""
    if type(value) is not int:
        raise ValueError(f"{value!r:.40} is not a count")
    return value


@dataclass(frozen=True)
class Borders:
    """Values between which scores count as equal: every 2^bits-th float, and 0."""

    bits: int = 20

    @classmethod
    def of(cls, scores: NDArray[Any]) -> Borders:
        """Return the borders for scores of this dtype; 32-bit floats differ in earlier bits."""
        return cls(20 if scores.dtype.itemsize >= 8 else 38)

    def below(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return the largest border that is at most each score; infinities stay."""
        values = np.array(scores, dtype=np.float64)
        borders = _floats(np.maximum(self._floor(_places(values)), -_LAST))
        borders = np.where(values >= 0, np.maximum(borders, 0.0), borders)
        return np.where(np.isfinite(values), borders, values)

    def above(self, score: float) -> float:
        """Return the smallest border that is larger than a score."""
        place = np.maximum(_places(np.array([score])), -_LAST - 1)
        next_place = np.minimum(self._floor(place) + (1 << self.bits), _LAST + 1)
        border = float(_floats(next_place)[0])
        return border if score >= 0 else min(border, 0.0)

    def _floor(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        # away from numbers with few binary digits, tenths, thirds and sevenths, where scores tend
        # to lie
        start = int(0.6180339887498949 * 2**self.bits)
        return ((places - start) >> self.bits << self.bits) + start


_LAST = int(np.array(np.finfo(np.float64).max).view(np.int64))


def _places(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the place of each float in the order of all floats; 0 has place 0."""
    bits = values.view(np.int64)
    return np.where(bits < 0, -(bits & np.int64(2**63 - 1)), bits)


def _floats(places: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(places < 0, -np.abs(places).view(np.float64), np.abs(places).view(np.float64))
