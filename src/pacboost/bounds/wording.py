"""The words of certificates: every claim is written here, from numbers and never from stored text.

``Certificate.of_what`` names the subject of its number: new examples, new groups, a period, the
training rows, a measure, and so on. The claim and the sentence with the confidence follow from it
and from the details, so no other code has to read English.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from pacboost.bounds.certified_number import CertifiedNumber
from pacboost.bounds.coverages import COVERAGES
from pacboost.bounds.known_measures import MEASURES
from pacboost.bounds.quantity import Quantity
from pacboost.bounds.registry import Bound, bound_of
from pacboost.bounds.rounding import confidence
from pacboost.numerics.percent import percent, percent_above
from pacboost.samples.equal_rows import DISTINCT

GAP = "gap"
OVER_GROUPS = ", on average (every group counts once)"


def quantity(of_what: str) -> type[Quantity] | None:
    """Return the measure, or the kind of coverage, that a certificate is about; None for others.

    >>> quantity("recall").__name__, quantity("new examples")
    ('Recall', None)
    """
    return MEASURES.get(of_what) or COVERAGES.get(of_what)


def is_measured(of_what: str) -> bool:
    """Check whether a certificate is about a measure, or about a gap of one between groups."""
    return of_what == GAP or quantity(of_what) is not None


def side_of(certificate: CertifiedNumber) -> str:
    """Return the end that a certificate states, "lower" or "upper"."""
    registered = bound_of(certificate.bound)
    return "upper" if registered is None else registered.side


def is_lower(certificate: CertifiedNumber) -> bool:
    """Check whether a certificate states a lower end."""
    return side_of(certificate) == "lower"


def says_nothing(certificate: CertifiedNumber) -> bool:
    """Check whether every model satisfies the number."""
    if not is_measured(certificate.of_what):
        return certificate.value >= 1
    if is_lower(certificate):
        return certificate.value <= 0
    return certificate.value >= largest_of(certificate)


def largest_of(certificate: CertifiedNumber) -> float:
    """Return the largest value that the number of a certificate can have."""
    largest = certificate.inputs.get("scale", certificate.details.get("largest", 1.0))
    return float(largest) if isinstance(largest, int | float) else 1.0


def measure_claim(certificate: CertifiedNumber) -> Statement:
    """Return the claim of a certificate of a measure, or of a gap between groups."""
    details = certificate.details
    label = f"'{details.get('class', '')}'"
    if certificate.of_what == GAP:
        measure = str(details.get("of", "rate")).replace("_", " ")
        of_class = f" of class {label}" if "class" in details else ""
        number = f"{math.ceil(1e4 * certificate.value - 1e-7) / 100:.2f} percentage points"
        groups = listed(details.get("groups"), "groups")
        return Statement(
            f"the {measure}{of_class} differs by at most ", number, f" between any two of {groups}"
        )
    # Only these fixed texts are formats: a class or group named "{x}" is inserted, never expanded.
    words = defaultdict(
        lambda: "?",
        {
            "new": _examples(certificate),
            "c": label,
            "classes": listed(details.get("classes"), "classes"),
            "at": "at least" if is_lower(certificate) else "at most",
            "scale": f"{largest_of(certificate):g}",
            **{n: f"{value:g}" for n, value in details.items() if isinstance(value, int | float)},
        },
    )
    kind = quantity(certificate.of_what)
    assert kind is not None  # a certificate is made with no other subject
    before, after = kind.words.split("{value}")
    number = number_of(certificate, kind.in_per_cent)
    return Statement(before.format_map(words), number, after.format_map(words))


MAX_NAMES_LISTED = 6


def listed(names: object, what: str) -> str:
    """Return the names of classes or groups, or their number if there are many.

    >>> listed(["a", "b"], "classes"), listed(None, "groups")
    ("the classes 'a' and 'b'", 'the groups that occur here')
    """
    values = [f"'{name}'" for name in names] if isinstance(names, list | tuple) else []
    if not values:
        return f"the {what} that occur here"
    if len(values) > MAX_NAMES_LISTED:
        return f"the {len(values)} {what} counted here"
    return f"the {what} " + " and ".join(filter(None, [", ".join(values[:-1]), values[-1]]))


def number_of(certificate: CertifiedNumber, in_per_cent: bool) -> str:
    """Return the number as text, rounded to the side that makes the claim weaker."""
    value = certificate.value
    if not math.isfinite(value):
        return "an unknown number"
    if in_per_cent and is_lower(certificate):
        return f"{math.floor(1e4 * value * (1 + 1e-14)) / 100:.2f} %"
    if in_per_cent:
        return percent_above(value, 2)
    step = 10.0 ** (math.floor(math.log10(value)) - 3) if value >= 1 else 1e-4  # of the last digit
    down, up = math.floor(value / step * (1 + 1e-14)), math.ceil(value / step * (1 - 1e-14))
    return f"{(down if is_lower(certificate) else up) * step:.10g}"


def new_examples(certificate: CertifiedNumber) -> str:
    """Return "distinct new rows" if equal rows were counted once, else "new examples"."""
    return "distinct new rows" if DISTINCT_ROWS in certificate.details else "new examples"


def answered_rows_of(certificate: CertifiedNumber) -> str:
    """Return "answered rows of the " if rows without an answer do not count, else ""."""
    return "answered rows of the " if ABSTAINS in certificate.details else ""


def _examples(certificate: CertifiedNumber) -> str:
    details = certificate.details
    # rows of one class may have no answer much more often than others
    answered = "answered " if ABSTAINS in details else ""
    new = answered + new_examples(certificate)
    if "threshold" in details:
        return new
    if "group" in details:
        pooled = details.get("pooled")
        mixed = f" ({listed(pooled, 'groups')}, mixed as in these rows)" if pooled else ""
        return f"{new} in group '{details['group']}'{mixed}"
    if details.get("unit") == "groups":
        return f"the {answered}examples of a new group{OVER_GROUPS}"
    if details.get("unit") == "period":
        return f"the {answered}examples of the period watched, on average over their chances"
    return new


NEW_EXAMPLES = "new examples"
NEW_GROUPS = "new groups"
PERIOD = "period"
ANSWERED = "answered examples"
TRAINING_ROWS = "training rows"
TRAINING_LABELS = "training labels"
OF_TRAINING = (TRAINING_ROWS, TRAINING_LABELS)
NOTHING_YET = "nothing is certified yet about new examples; "
"""The opening of claims about training rows: it is what a reader has to know first."""
THIS_ARRAY, THIS_FILE, THIS_STREAM, THIS_SOURCE = (
    "this array", "this file", "this stream", "this source",
)  # fmt: skip
SOURCES = (THIS_ARRAY, THIS_FILE, THIS_STREAM, THIS_SOURCE)
"""Sources whose rows may be drawn again; "this source" is any of them, where a file names none."""
THIS_POOL = "this pool"
"""Rows that were there before some of them were drawn at random (bounds/pool.py)."""
SUBJECTS = (
    NEW_EXAMPLES, NEW_GROUPS, PERIOD, ANSWERED, TRAINING_ROWS, TRAINING_LABELS, *SOURCES, THIS_POOL,
)  # fmt: skip

WITHOUT_WEIGHTS = "without_weights"
ABSTAINS = "missing_abstain"
UNANSWERED = {
    ABSTAINS: "empty answers ({}) do not count",
    "missing_wrong": "empty answers ({}) count as wrong",
}
"""Details that hold the share of rows without an answer, and how a claim treats such rows."""
DISTINCT_ROWS = "distinct_rows"
"""Detail: equal rows were counted once, so the claim is about distinct rows."""
SHARE_LEARNED = "share_learned"
"""Detail: the share of rows that equal training rows, and may be copies of them."""
SHARE_BUT_ONE = "near"
"""Detail: the same share, of rows that differ from training rows in one column only."""
HAVE_TIMES = "have_times"
"""Detail: a column says when rows were drawn, and the claim takes all for draws of one world."""
NOT_LATER = "These rows have times: this is about rows drawn like them, not about later ones"
UNMOVED_PAIRS = "unmoved_pairs"
"""Detail: this many pairs of a new and an old row were compared, and no shift was found."""
ABOUT_ROWS = (
    DISTINCT_ROWS, HAVE_TIMES, SHARE_LEARNED, SHARE_BUT_ONE, UNMOVED_PAIRS, WITHOUT_WEIGHTS,
    *UNANSWERED,
)  # fmt: skip
"""Details on the rows that certify, which no bound computes; each stands beside an assumption."""
ASSUMED_BESIDE = {
    DISTINCT_ROWS: DISTINCT,
    HAVE_TIMES: NOT_LATER,
    SHARE_LEARNED: "rows that equal training rows are draws as all others, and no copies of them",
    SHARE_BUT_ONE: "rows that equal training rows in all columns but one are draws as all others",
    UNMOVED_PAIRS: "the world has not moved, as far as pairs of rows show",
    WITHOUT_WEIGHTS: "new examples count alike, whatever weights the training rows had",
}
"""What details on rows assume. Neither stands in a certificate without the other, so that no notice
can be taken away alone."""
IF_NEW = "if these rows are new: "
UNCHECKED = (
    "the model has not seen these rows, which could not be checked: it does not remember the rows "
    "that it was trained on, or too few of them"
)
DRAWN = "rows are drawn independently from the distribution of new examples"
DRAWN_BEFORE_MOVE = "rows are drawn independently from the distribution before it moved"
FILTERED = (
    "rows are drawn independently from one distribution; that of the examples spoken of has the "
    "ratio to it by which coins were tossed, up to a factor; ratio, bound and seed were fixed "
    "before these rows were seen"
)
BY_RATIO = ("ratio_bound", "offered", "seed", "learned")
"""Details of a certificate by rows that were accepted at random: the bound of their weights, the
number of rows offered, the seed, and whether the weights were learned."""

TIGHTER = "usually larger than a bound by rows held out"


class Statement(NamedTuple):
    """A clause or sentence in three parts: before its number, the number, and after it."""

    before: str
    number: str
    after: str

    def __str__(self) -> str:
        return "".join(self)

    def opening(self, words: str) -> Statement:
        """Return the clause with more words at its start."""
        return self._replace(before=words + self.before)

    def ending(self, words: str) -> Statement:
        """Return the clause with more words at its end."""
        return self._replace(after=self.after + words)

    def finished(self) -> Statement:
        """Return the clause as a sentence, with a capital letter and a full stop."""
        before = self.before[:1].upper() + self.before[1:]
        return self._replace(before=before, after=f"{self.after}.")


def claim(certificate: CertifiedNumber) -> Statement:
    """Return what a certificate claims, without its confidence."""
    opening = NOTHING_YET if certificate.of_what in OF_TRAINING else ""
    return _notice(certificate, clause(certificate)).opening(opening).finished()


def claim_beside_others(certificate: CertifiedNumber) -> Statement:
    """Return the same where other claims may be about new examples."""
    return _notice(certificate, clause(certificate)).finished()


def clause(certificate: CertifiedNumber) -> Statement:
    """Return what a certificate claims, as a clause within a sentence."""
    if is_measured(certificate.of_what):
        statement = measure_claim(certificate)
    else:
        finite = math.isfinite(certificate.value)
        number = percent_above(certificate.value, 2) if finite else "an unknown share"
        statement = _claim(certificate, number)
        if WITHOUT_WEIGHTS in certificate.details:
            statement = statement.ending(", counted without weights")
    return _on_condition(certificate, statement.ending(_unanswered(certificate)), "")


def sentence(
    certificate: CertifiedNumber, delta: float | None = None, opening: str = ""
) -> Statement:
    """Return a claim with its confidence and the counted rows, for readers without theory.

    ``delta`` replaces that of the certificate where several claims share it; ``opening`` stands
    before the claim.

    >>> from pacboost.bounds import holdout
    >>> print(sentence(holdout.certificate(5, 99, 0.05)))
    At most 10.4 % wrong on future examples like these (95 % confidence; 99 held-out rows, 5 wrong).
    """
    chance = certificate.delta if delta is None else delta
    statement = _about_model(certificate, percent_above(certificate.value))
    grounds = f" ({confidence(chance)} confidence{_counted(certificate)})" if chance else ""
    statement = statement.ending(_unanswered(certificate))
    opening += NOTHING_YET if certificate.of_what in OF_TRAINING else ""
    conditional = _on_condition(certificate, statement, grounds).opening(opening)
    return _notice(certificate, conditional).finished()


def equal_to_learned(share: float, *, but_one: bool = False) -> str:
    """Return the share of rows that equal training rows as text, and what to do about copies."""
    where = " in all columns but one" if but_one else ""
    return (
        f"{percent(share)} of the rows compared equal rows it learned from{where}; if they are "
        "copies, count distinct rows or name their groups"
    )


def _on_condition(certificate: CertifiedNumber, statement: Statement, grounds: str) -> Statement:
    """Add the conditions of a claim: its examples, and whether the rows are new."""
    details = certificate.details
    statement = statement.ending(f"{_move(certificate)}{grounds}")
    if "ratio_bound" in details:
        who = "examples that the ratio describes"
        if "learned" in details:
            who = "rows like the new ones (as far as the learned weights describe them)"
        statement = statement.opening(f"on {who}, ")
    if UNMOVED_PAIRS in details:
        pairs = f"{details[UNMOVED_PAIRS]:,} pairs show nothing"
        statement = statement.opening(f"if the world has not moved ({pairs}): ")
    if not certificate.rows_checked:
        statement = statement.opening(IF_NEW)
    return statement


def _notice(certificate: CertifiedNumber, statement: Statement) -> Statement:
    """Add what was noticed about the certifying rows."""
    for name in (SHARE_LEARNED, SHARE_BUT_ONE):
        share = certificate.details.get(name)
        if isinstance(share, int | float):
            notice = equal_to_learned(float(share), but_one=name == SHARE_BUT_ONE)
            statement = statement.ending(f". {notice}")
    return statement.ending(f". {NOT_LATER}" if HAVE_TIMES in certificate.details else "")


def _move(certificate: CertifiedNumber) -> str:
    """Return how new examples may differ from the rows, as text; "" without a shift."""
    bound = bound_of(certificate.bound)
    if bound is None or bound.condition is None:
        return ""
    who = affected(certificate)
    return f", {bound.condition(certificate.inputs, 'them' if who == NEW_EXAMPLES else who)}"


def affected(certificate: CertifiedNumber) -> str:
    """Return the examples, or groups, whose distribution shifts, as text."""
    details, of_what = certificate.details, certificate.of_what
    if of_what == NEW_GROUPS or details.get("unit") == "groups":
        return NEW_GROUPS
    kind = quantity(of_what)
    if of_what not in (NEW_EXAMPLES, ANSWERED) and not (kind and kind.every_row):
        return "these examples"
    answered = of_what == ANSWERED or "missing_abstain" in details
    return f"{ANSWERED if answered else NEW_EXAMPLES}{' of this group' * ('group' in details)}"


def bound_before(certificate: CertifiedNumber) -> Bound | None:
    """Return the bound of a certificate; if it is about a shift, the bound before it."""
    return bound_of(str(certificate.inputs.get("bound", certificate.bound)))


def distinct(certificate: CertifiedNumber) -> str:
    """Return "distinct " if equal rows of the certificate count once, else ""."""
    return "distinct " if DISTINCT_ROWS in certificate.details else ""


def _counted(certificate: CertifiedNumber) -> str:
    """Return the numbers of rows counted and of mistakes as text; "" if no rows were counted."""
    counts = certificate.inputs
    how = ", counted without weights" if WITHOUT_WEIGHTS in certificate.details else ""
    rows = f"{distinct(certificate)}held-out rows"
    if certificate.of_what == NEW_GROUPS:
        return f"; {certificate.size:,} held-out groups{how}"
    if is_measured(certificate.of_what):
        groups = certificate.details.get("unit") == "groups"
        return f"; {certificate.size:,} {'held-out groups' if groups else rows}{how}"
    # out of bag, mistakes of single members are counted, or those that two of them share
    for name, wrong in (("gibbs", "a member is"), ("tandem", "two members are both")):
        if name in counts and "n" in counts:
            share = f"{wrong} wrong on {percent(float(counts[name]))} of the rows outside"
            return f"; {share} their bags, of {int(counts['n']):,} at least"
    bound = bound_before(certificate)
    if bound is None or not bound.held_out or not {"k", "n"} <= set(counts):
        return how
    answered = "answered " if certificate.of_what == ANSWERED else ""
    return f"; {int(counts['n']):,} {answered}{rows}, {int(counts['k']):,} wrong{how}"


def _claim(certificate: CertifiedNumber, number: str) -> Statement:
    of_what, bound = certificate.of_what, bound_before(certificate)
    before = f"{_subject(certificate)} is wrong on at most "
    if of_what == NEW_GROUPS:
        after = f" of the examples of a new group{OVER_GROUPS}"
    elif of_what == PERIOD:
        before, after = "over the period watched the expected error rate was at most ", ""
    elif of_what == ANSWERED:
        before, after = f"of the {_answered(certificate)} {before}", ""
    elif of_what in OF_TRAINING:
        rows = "rows" if of_what == TRAINING_ROWS else "labels of the rows"
        after = f" of the {rows} it was trained on{_weights(certificate)}"
    elif of_what == THIS_POOL:
        after = f" of the {int(certificate.inputs.get('rows', 0)):,} other rows of this pool"
    elif of_what in SOURCES:
        after = f" of the rows of {of_what}: this is the error on {of_what}"
    else:
        after = f" of {new_examples(certificate)}{'' if bound is None else bound.end}"
    return Statement(before, number, after)


def _about_model(certificate: CertifiedNumber, number: str) -> Statement:
    of_what, before = certificate.of_what, "it is wrong on at most "
    like_these = "" if _move(certificate) else " like these"
    if is_measured(of_what):
        return measure_claim(certificate)
    if says_nothing(certificate):
        where = f" for the {_answered(certificate)}" if of_what == ANSWERED else ""
        before, after = "no error below ", f" is certified{where}"
    elif of_what == NEW_EXAMPLES:
        future = "distinct future rows" if distinct(certificate) else "future examples"
        where = "" if "ratio_bound" in certificate.details else f" on {future}{like_these}"
        before, after = "at most ", f" wrong{where}"
    elif of_what == NEW_GROUPS:
        before = f"in a new group{like_these}, at most "
        after = " wrong on average (every group counts once)"
    elif of_what == PERIOD:
        before = "the expected error rate was at most "
        after = f" over the latest {certificate.size:,} examples"
    elif of_what == ANSWERED:
        after = f" of the {_answered(certificate)}"
    elif of_what in OF_TRAINING:
        labels = " of the labels" if of_what == TRAINING_LABELS else ""
        after = f"{labels} of the rows it learned from{_weights(certificate)}"
    else:
        return _claim(certificate, number)
    return Statement(before, number, after)


def unanswered(details: Mapping[str, Any]) -> list[str]:
    """Return how rows without an answer were counted; empty if all rows have one."""
    return [
        words.format(percent(float(details[name])))
        for name, words in UNANSWERED.items()
        if name in details
    ]


def _unanswered(certificate: CertifiedNumber) -> str:
    return "".join(f", {words}" for words in unanswered(certificate.details)[:1])


def assumed_beside(details: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the assumptions that the details on the rows of a certificate stand for."""
    texts = [words for name, words in ASSUMED_BESIDE.items() if name in details]
    return (*texts, *unanswered(details))


def _weights(certificate: CertifiedNumber) -> str:
    return ", counted by their weights" if certificate.details.get("weighted") else ""


def _answered(certificate: CertifiedNumber) -> str:
    threshold = certificate.details.get("threshold", 0.0)
    return f"{new_examples(certificate)} it answers (confidence {threshold:.4g} or more)"


def _subject(certificate: CertifiedNumber) -> str:
    details, bound = certificate.details, bound_before(certificate)
    if "members" in details:
        return f"the plurality vote of {details['members']} members"
    who = "the classifier" if bound is None else bound.subject
    return f"{who} of the first {details['rounds']} rounds" if "rounds" in details else who
