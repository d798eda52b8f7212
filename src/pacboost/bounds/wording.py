"""The words of certificates: every claim is made here, from numbers and never from stored text.

A certificate says by ``of_what`` what its number speaks of: new examples, new groups, a period, the
training rows, a measure, and so on. The claim, the sentence with the confidence, and the places of
the number within them all follow from that, so no other code has to read English.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pacboost.bounds.registry import Bound, bound_of
from pacboost.bounds.rounding import confidence
from pacboost.numerics.percent import percent, percent_above

if TYPE_CHECKING:
    from pacboost.bounds.certificate import Certificate


# Measures. ``{new}`` stands for the examples a claim speaks of, ``{c}`` for the class, ``{at}`` for
# "at least" or "at most", and other names for details of the certificate. A certificate whose bound
# has a name that ends in ``_lower`` states a lower end.


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
OF_MEASURES = (*KINDS, GAP)
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


def measure_claim(certificate: Certificate) -> tuple[str, str, str]:
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
    """Write the number, rounded to the side that makes the claim weaker."""
    value = certificate.value
    if not math.isfinite(value):
        return "an unknown number"
    if rate and is_lower(certificate):
        return f"{math.floor(1e4 * value * (1 + 1e-14)) / 100:.2f} %"
    if rate:
        return percent_above(value, 2)
    step = 10.0 ** (math.floor(math.log10(value)) - 3) if value >= 1 else 1e-4  # of the last digit
    down, up = math.floor(value / step * (1 + 1e-14)), math.ceil(value / step * (1 - 1e-14))
    return f"{(down if is_lower(certificate) else up) * step:.10g}"


def new_examples(certificate: Certificate) -> str:
    """Name the examples that a claim speaks of: new examples, or distinct new rows."""
    return "distinct new rows" if DISTINCT_ROWS in certificate.details else "new examples"


def _examples(certificate: Certificate) -> str:
    details, new = certificate.details, new_examples(certificate)
    if "threshold" in details:
        return new
    if "group" in details:
        return f"{new} in group '{details['group']}'"
    if details.get("unit") == "groups":
        return "the examples of a new group, on average over groups, large or small"
    if details.get("unit") == "period":
        return "the examples of the period watched, on average over their chances"
    return new


NEW_EXAMPLES = "new examples"
NEW_GROUPS = "new groups"
PERIOD = "period"
ANSWERED = "answered examples"
TRAINING_ROWS = "training rows"
TRAINING_LABELS = "training labels"
THIS_ARRAY, THIS_FILE, THIS_STREAM, THIS_SOURCE = (
    "this array", "this file", "this stream", "this source",
)  # fmt: skip
SOURCES = (THIS_ARRAY, THIS_FILE, THIS_STREAM, THIS_SOURCE)
"""Rows that may be drawn again; "this source" stands for any of them in files that do not say."""
OF_WHAT = (
    NEW_EXAMPLES, NEW_GROUPS, PERIOD, ANSWERED, TRAINING_ROWS, TRAINING_LABELS, *SOURCES,
    *OF_MEASURES,
)  # fmt: skip
"""Everything that a certificate can speak of; the words of measures are in bounds/wording.py."""

WITHOUT_WEIGHTS = "without_weights"
"""The detail that says: rows had weights in training, and none where mistakes were counted."""
UNANSWERED = {
    "missing_abstain": "counting answers only",
    "missing_wrong": "with no answer counted as wrong",
}
"""Details with the share of rows that have no answer, and what a claim says of these."""
DISTINCT_ROWS = "distinct_rows"
"""The detail that says: equal rows were counted once, and the claim speaks of distinct rows."""
SHARE_LEARNED = "share_learned"
"""The detail with the share of rows that equal rows learned from, where these may be copies."""
IF_NEW = "If these rows are new: "
"""How a claim begins if it could not be checked that the rows had no part in the fit."""
DRAWN = "rows are drawn independently from the distribution of new examples"
FILTERED = (
    "rows are drawn independently from one distribution; that of the examples spoken of has the "
    "ratio to it by which coins were tossed, up to a factor; ratio, bound and seed were fixed "
    "before these rows were seen"
)
BY_RATIO = ("ratio_bound", "offered", "seed", "learned")
"""The details of a certificate by rows that coins have chosen: the bound of their weights, how
many rows were offered to them, their seed, and whether the weights were learned."""

TIGHTER = 'usually larger than a bound by rows held out (certify="holdout")'


class Statement(NamedTuple):
    """A sentence in three parts: the number that counts, and what stands before and after it."""

    before: str
    number: str
    after: str

    def __str__(self) -> str:
        return "".join(self)

    def within(self, opening: str) -> Statement:
        """Return the same sentence after an opening.

        >>> str(Statement("It is wrong on at most ", "5 %", ".").within("If so: "))
        'If so: it is wrong on at most 5 %.'
        """
        if not opening:
            return self
        return Statement(f"{opening}{self.before[:1].lower()}{self.before[1:]}", *self[1:])

    def ending(self, words: str) -> Statement:
        """Return the same sentence with more words before its full stop."""
        return self._replace(after=f"{self.after.removesuffix('.')}, {words}.")


def claim(certificate: Certificate) -> Statement:
    """State what a certificate claims, without its confidence."""
    if certificate.of_what in OF_MEASURES:
        said = Statement(*measure_claim(certificate))
    else:
        known = math.isfinite(certificate.value)
        number = percent_above(certificate.value, 2) if known else "an unknown share"
        said = _claim(certificate, number)
        if WITHOUT_WEIGHTS in certificate.details:
            said = said.ending("counted without weights")
    said = _on_condition(certificate, _with_unanswered(certificate, said))
    return _with_learned(certificate, _begun(certificate, said))


def sentence(certificate: Certificate, delta: float | None = None) -> Statement:
    """State a claim with its confidence and what was counted, for readers who know no theory.

    ``delta`` takes the place of the certificate's own where several claims share it.

    >>> from pacboost.bounds import holdout
    >>> print(sentence(holdout.certificate(5, 99, 0.05)))
    At most 10.4 % wrong on future examples like these (95 % confidence; 99 held-out rows, 5 wrong).
    """
    chance = certificate.delta if delta is None else delta
    said = _with_unanswered(certificate, _plain(certificate, percent_above(certificate.value)))
    said = _on_condition(certificate, said)
    if chance:
        grounds = f" ({confidence(chance)} confidence{_counted(certificate)})."
        said = said._replace(after=f"{said.after.removesuffix('.')}{grounds}")
    return _with_learned(certificate, _begun(certificate, said))


def equal_to_learned(share: float) -> str:
    """Say that rows equal rows learned from, and what to do if they are copies.

    >>> print(equal_to_learned(0.085))
    8.5 % of these rows equal rows it learned from; if they are copies, pass copies='distinct' or \
groups=
    """
    return (
        f"{percent(share)} of these rows equal rows it learned from; if they are copies, pass "
        "copies='distinct' or groups="
    )


def _with_learned(certificate: Certificate, said: Statement) -> Statement:
    share = certificate.details.get(SHARE_LEARNED)
    if not isinstance(share, int | float):
        return said
    return said._replace(after=f"{said.after} {equal_to_learned(float(share))}.")


def _on_condition(certificate: Certificate, said: Statement) -> Statement:
    """Add what is required of new examples where they need not be like those of the rows."""
    bound = bound_of(certificate.bound)
    if bound is None or bound.condition is None:
        return said
    said = said._replace(after=said.after.replace(" like these", ""))
    return said.ending(bound.condition(certificate.inputs))


def _bound_before(certificate: Certificate) -> Bound | None:
    """Return the bound of a certificate; of one that was moved, the bound before that."""
    return bound_of(str(certificate.inputs.get("bound", certificate.bound)))


def distinct(certificate: Certificate) -> str:
    """Return the word to put before the rows of a certificate if equal rows count once, or ""."""
    return "distinct " if DISTINCT_ROWS in certificate.details else ""


def _counted(certificate: Certificate) -> str:
    """Return how many rows certify and how many of them were wrong, where rows were held out."""
    counts = certificate.inputs
    how = ", counted without weights" if WITHOUT_WEIGHTS in certificate.details else ""
    rows = f"{distinct(certificate)}held-out rows"
    if certificate.of_what == NEW_GROUPS:
        return f"; {certificate.size:,} held-out groups{how}"
    if certificate.of_what in OF_MEASURES:
        groups = certificate.details.get("unit") == "groups"
        return f"; {certificate.size:,} {'held-out groups' if groups else rows}{how}"
    bound = _bound_before(certificate)
    if bound is None or not bound.held_out or not {"k", "n"} <= set(counts):
        return how
    answered = "answered " if certificate.of_what == ANSWERED else ""
    return f"; {int(counts['n']):,} {answered}{rows}, {int(counts['k']):,} wrong{how}"


GROUP = ", on average over groups, large or small"


def _claim(certificate: Certificate, number: str) -> Statement:
    of_what, bound = certificate.of_what, _bound_before(certificate)
    before = f"{_subject(certificate)} is wrong on at most "
    if of_what == NEW_GROUPS:
        after = f" of the examples of a new group{GROUP}"
    elif of_what == PERIOD:
        before, after = "over the period watched the expected error rate was at most ", ""
    elif of_what == ANSWERED:
        before, after = f"{_answered(certificate)} {before}", ""
    elif of_what in (TRAINING_ROWS, TRAINING_LABELS):
        rows = "rows" if of_what == TRAINING_ROWS else "labels of the rows"
        after = f" of the {rows} it was trained on{_weights(certificate)}"
    elif of_what in SOURCES:
        after = f" of the rows of {of_what}: this is the error on {of_what}"
    else:
        after = f" of {new_examples(certificate)}{'' if bound is None else bound.end}"
    return Statement(before, number, f"{after}.")


def _plain(certificate: Certificate, number: str) -> Statement:
    """State a claim about the model at hand, which is called "it"."""
    of_what, before = certificate.of_what, "it is wrong on at most "
    if of_what in OF_MEASURES:
        return Statement(*measure_claim(certificate))
    if certificate.vacuous:
        where = f" for {_answered(certificate)[3:]}" if of_what == ANSWERED else ""
        before, after = "no error below ", f" is certified{where}"
    elif of_what == NEW_EXAMPLES:
        future = "distinct future rows" if distinct(certificate) else "future examples"
        like = "" if "ratio_bound" in certificate.details else f" on {future} like these"
        before, after = "at most ", f" wrong{like}"
    elif of_what == NEW_GROUPS:
        before, after = "at most ", f" wrong on the examples of a new group like these{GROUP}"
    elif of_what == PERIOD:
        before = "the expected error rate was at most "
        after = f" over the latest {certificate.size:,} examples"
    elif of_what == ANSWERED:
        after = f" {_answered(certificate)}"
    elif of_what in (TRAINING_ROWS, TRAINING_LABELS):
        labels = " of the labels" if of_what == TRAINING_LABELS else ""
        after = f"{labels} of the rows it learned from{_weights(certificate)}"
    else:
        return _claim(certificate, number)
    return Statement(before, number, f"{after}.")


def unanswered(details: Mapping[str, float | int | str]) -> list[str]:
    """Return what is said of rows without an answer, if there are some.

    >>> unanswered({"missing_abstain": 0.25})
    ['counting answers only: 25.0 % of these rows have none']
    """
    return [
        f"{words}: {percent(float(details[name]))} of these rows have none"
        for name, words in UNANSWERED.items()
        if name in details
    ]


def _with_unanswered(certificate: Certificate, said: Statement) -> Statement:
    return next(map(said.ending, unanswered(certificate.details)), said)


def _begun(certificate: Certificate, said: Statement) -> Statement:
    """Return a sentence that begins with whose examples it speaks of, and on which condition."""
    details = certificate.details
    if "ratio_bound" in details:
        weights = "the learned weights describe" if "learned" in details else "the ratio describes"
        said = said.within(f"Among the examples that {weights}, ")
    if not certificate.rows_checked:
        return said.within(IF_NEW)
    return said._replace(before=said.before[:1].upper() + said.before[1:])


def _weights(certificate: Certificate) -> str:
    return ", counted by their weights" if certificate.details.get("weighted") else ""


def _answered(certificate: Certificate) -> str:
    threshold = certificate.details.get("threshold", 0.0)
    new = new_examples(certificate)
    return f"of the {new} it answers (confidence {threshold:.4g} or more)"


def _subject(certificate: Certificate) -> str:
    details, bound = certificate.details, _bound_before(certificate)
    if "members" in details:
        return f"the plurality vote of {details['members']} members"
    who = "the classifier" if bound is None else bound.subject
    return f"{who} of the first {details['rounds']} rounds" if "rounds" in details else who
