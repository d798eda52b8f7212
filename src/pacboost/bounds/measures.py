"""What a classifier can be certified for: each measure, its direction, and its words.

A claim is made of a template: ``{new}`` stands for the examples it speaks of, ``{c}`` for the
class, ``{at}`` for "at least" or "at most", and other names for details of the certificate. A
certificate whose bound has a name that ends in ``_lower`` states a lower end, all others an upper.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pacboost.numerics.percent import percent_above

if TYPE_CHECKING:
    from pacboost.bounds.certificate import Certificate


@dataclass(frozen=True)
class MeasureKind:
    """A quantity of a fixed model on new examples."""

    before: str
    """The claim up to its number."""
    after: str
    higher_is_better: bool = False
    of_class: bool = False
    """Whether it speaks of one class, the positive one."""
    rate: bool = True
    """Whether it is a share of examples, which is written in per cent."""
    averages: bool = False
    """Whether it is a mean over rows, which groups of dependent rows can bound."""
    numbers: bool = False
    """Whether it is for models that predict numbers."""


MEASURES: dict[str, MeasureKind] = {
    "error": MeasureKind("the classifier is wrong on {at} ", " of {new}", averages=True),
    "recall": MeasureKind("of the {new} of class {c}, the classifier finds {at} ", "", True, True),
    "precision": MeasureKind(
        "of the {new} that the classifier calls {c}, {at} ", " are of that class", True, True
    ),
    "false_negative_rate": MeasureKind(
        "of the {new} of class {c}, the classifier misses {at} ", "", of_class=True
    ),
    "false_positive_rate": MeasureKind(
        "of the {new} of other classes than {c}, the classifier calls {at} ", " {c}", of_class=True
    ),
    "f1": MeasureKind("the F1 score of class {c} on {new} is {at} ", "", True, True, rate=False),
    "jaccard": MeasureKind(
        "the Jaccard index of class {c} on {new} is {at} ", "", True, True, False
    ),
    "balanced_error": MeasureKind(
        "the mean of the error rates of all classes is {at} ", " on {new}"
    ),
    "top_k_error": MeasureKind(
        "the true class is not among the {top_k} most probable ones for {at} ",
        " of {new}",
        averages=True,
    ),
    "auc": MeasureKind("the AUC of class {c} on {new} is {at} ", "", True, True, rate=False),
    "brier": MeasureKind("the mean Brier score on {new} is {at} ", "", rate=False, averages=True),
    "log_loss": MeasureKind(
        "the mean log loss on {new}, with probabilities clipped at {p_min}, is {at} ",
        "",
        rate=False,
        averages=True,
    ),
    "cost": MeasureKind(
        "the mean cost on {new}, where one costs at most {scale}, is {at} ",
        "",
        rate=False,
        averages=True,
    ),
    "absolute_error": MeasureKind(
        "the mean absolute error on {new}, with errors above {scale} counted as {scale}, is {at} ",
        "",
        rate=False,
        averages=True,
        numbers=True,
    ),
    "large_errors": MeasureKind(
        "the prediction is off by more than {larger_than} for {at} ",
        " of {new}",
        averages=True,
        numbers=True,
    ),
}
SETS: dict[str, MeasureKind] = {
    "set_coverage": MeasureKind(
        "the prediction set holds the true class for {at} ", " of {new}", True
    ),
    "class_coverage": MeasureKind(
        "of the {new} of class {c}, {at} ", " get a prediction set that holds it", True, True
    ),
    "interval_coverage": MeasureKind(
        "the prediction interval holds the true number for {at} ", " of {new}", True, numbers=True
    ),
}
"""What ``pacboost.sets`` and ``pacboost.intervals`` certify."""
KINDS = {**MEASURES, **SETS}
GAP = "gap"
OF_WHAT = (*KINDS, GAP)
"""What certificates made here speak of."""


def is_lower(certificate: Certificate) -> bool:
    """Check whether a certificate states a lower end."""
    return certificate.bound.endswith("_lower")


def says_nothing(certificate: Certificate) -> bool:
    """Check whether the number is one that every model satisfies."""
    if is_lower(certificate):
        return certificate.value <= 0
    return certificate.value >= _scale(certificate)


def _scale(certificate: Certificate) -> float:
    """Return the largest value that the measure can have."""
    largest = certificate.inputs.get("scale", certificate.details.get("largest", 1.0))
    return float(largest) if isinstance(largest, int | float) else 1.0


def claim(certificate: Certificate) -> tuple[str, str, str]:
    """State the claim in three parts: before its number, the number, and after it."""
    details, of_gap = certificate.details, certificate.of_what == GAP
    measure = str(details.get("of", "rate")) if of_gap else certificate.of_what
    words = defaultdict(
        lambda: "?",
        {
            "new": _examples(certificate),
            "c": f"'{details.get('class', '')}'",
            "at": "at least" if is_lower(certificate) else "at most",
            "scale": f"{_scale(certificate):g}",
            **{name: f"{value:g}" for name, value in details.items() if not isinstance(value, str)},
        },
    )
    if of_gap:
        of_class = " of class {c}" if "class" in details else ""
        before = f"the {measure.replace('_', ' ')}{of_class} differs by at most "
        number = f"{math.ceil(1e4 * certificate.value - 1e-7) / 100:.2f} percentage points"
        return before.format_map(words), number, " between any two groups."
    known = KINDS[measure]
    after = known.after.format_map(words)
    return known.before.format_map(words), number_of(certificate, known.rate), f"{after}."


def number_of(certificate: Certificate, rate: bool) -> str:
    """Write the number, rounded to the side that makes the claim weaker.

    >>> _down(0.786959), _up(0.786959), _up(12.34567)
    ('0.7869', '0.787', '12.35')
    """
    value = certificate.value
    if not math.isfinite(value):
        return "an unknown number"
    if rate and is_lower(certificate):
        return f"{math.floor(1e4 * value * (1 + 1e-14)) / 100:.2f} %"
    if rate:
        return percent_above(value, 2)
    return _down(value) if is_lower(certificate) else _up(value)


def _up(value: float) -> str:
    step = _step(value)
    return f"{math.ceil(value / step * (1 - 1e-14)) * step:.10g}"


def _down(value: float) -> str:
    step = _step(value)
    return f"{math.floor(value / step * (1 + 1e-14)) * step:.10g}"


def _step(value: float) -> float:
    """The unit of the fourth digit, but never more than four decimals below 1."""
    return float(10.0 ** (math.floor(math.log10(value)) - 3)) if value >= 1 else 1e-4


def _examples(certificate: Certificate) -> str:
    details = certificate.details
    if "threshold" in details:
        return "new examples"
    if "group" in details:
        return f"new examples in group '{details['group']}'"
    if details.get("unit") == "groups":
        return "the examples of a new group, on average over groups, large or small"
    if details.get("unit") == "period":
        return "the examples of the period watched, on average over their chances"
    return "new examples"
