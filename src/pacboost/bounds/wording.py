"""The words of certificates: every claim is made here, from numbers and never from stored text.

A certificate says by ``of_what`` what its number speaks of: new examples, new groups, a period, the
training rows, and so on. The claim, the sentence with the confidence, and the places of the number
within them all follow from that, so no other code has to read English.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from pacboost.bounds import measures
from pacboost.bounds.registry import bound_of
from pacboost.bounds.rounding import confidence
from pacboost.numerics.percent import percent_above

if TYPE_CHECKING:
    from pacboost.bounds.certificate import Certificate

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
    *measures.OF_WHAT,
)  # fmt: skip
"""Everything that a certificate can speak of; the words of measures are in bounds/measures.py."""

WITHOUT_WEIGHTS = "without_weights"
"""The detail that says: rows had weights in training, and none where mistakes were counted."""
DISTINCT = "distinct "
"""How what is said of a sample begins, if copies of its rows were left out."""
IF_NEW = "If these rows are new: "
"""How a claim begins if it could not be checked that the rows had no part in the fit."""

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


def claim(certificate: Certificate) -> Statement:
    """State what a certificate claims, without its confidence."""
    if certificate.of_what in measures.OF_WHAT:
        said = Statement(*measures.claim(certificate))
        return _capital(said) if certificate.rows_checked else said.within(IF_NEW)
    known = math.isfinite(certificate.value)
    said = _claim(certificate, percent_above(certificate.value, 2) if known else "an unknown share")
    if WITHOUT_WEIGHTS in certificate.details:
        said = said._replace(after=f"{said.after.removesuffix('.')}, counted without weights.")
    return _capital(said) if certificate.rows_checked else said.within(IF_NEW)


def sentence(certificate: Certificate, delta: float | None = None) -> Statement:
    """State a claim with its confidence and what was counted, for readers who know no theory.

    ``delta`` takes the place of the certificate's own where several claims share it.

    >>> from pacboost.bounds import holdout
    >>> print(sentence(holdout.certificate(5, 99, 0.05)))
    At most 10.4 % wrong on future examples like these (95 % confidence; 99 held-out rows, 5 wrong).
    """
    chance = certificate.delta if delta is None else delta
    said = _capital(_plain(certificate, percent_above(certificate.value)))
    if chance:
        grounds = f" ({confidence(chance)} confidence{_counted(certificate)})."
        said = said._replace(after=f"{said.after.removesuffix('.')}{grounds}")
    return said if certificate.rows_checked else said.within(IF_NEW)


def distinct(certificate: Certificate) -> str:
    """Return the word to put before the rows of a certificate if copies were left out, or ""."""
    return DISTINCT if certificate.sample.startswith(DISTINCT) else ""


def _counted(certificate: Certificate) -> str:
    """Return how many rows certify and how many of them were wrong, where rows were held out."""
    counts = certificate.inputs
    how = ", counted without weights" if WITHOUT_WEIGHTS in certificate.details else ""
    rows = f"{distinct(certificate)}held-out rows"
    if certificate.of_what == NEW_GROUPS:
        return f"; {certificate.size:,} held-out groups{how}"
    if certificate.of_what in measures.OF_WHAT:
        groups = certificate.details.get("unit") == "groups"
        return f"; {certificate.size:,} {'held-out groups' if groups else rows}{how}"
    bound = bound_of(certificate.bound)
    if bound is None or not bound.held_out or not {"k", "n"} <= set(counts):
        return how
    answered = "answered " if certificate.of_what == ANSWERED else ""
    return f"; {int(counts['n']):,} {answered}{rows}, {int(counts['k']):,} wrong{how}"


def _claim(certificate: Certificate, number: str) -> Statement:
    who, of_what = _subject(certificate), certificate.of_what
    if of_what == NEW_GROUPS:
        after = " of the examples of a new group, on average over groups, large or small."
        return Statement(f"{who} is wrong on at most ", number, after)
    if of_what == PERIOD:
        return Statement(
            "over the period watched the mean chance of an error was at most ", number, "."
        )
    if of_what == ANSWERED:
        return Statement(f"{_answered(certificate)} {who} is wrong on at most ", number, ".")
    if of_what in (TRAINING_ROWS, TRAINING_LABELS):
        rows = "rows" if of_what == TRAINING_ROWS else "labels of the rows"
        after = f" of the {rows} it was trained on{_weights(certificate)}."
        return Statement(f"{who} is wrong on at most ", number, after)
    if of_what in SOURCES:
        after = f" of the rows of {of_what}: this is the error on {of_what}."
        return Statement(f"{who} is wrong on at most ", number, after)
    bound = bound_of(certificate.bound)
    end = "" if bound is None else bound.end
    return Statement(f"{who} is wrong on at most ", number, f" of new examples{end}.")


def _plain(certificate: Certificate, number: str) -> Statement:
    """State a claim about the model at hand, which is called "it"."""
    of_what = certificate.of_what
    if certificate.vacuous and of_what not in measures.OF_WHAT:
        where = f" for {_answered(certificate)[3:]}" if of_what == ANSWERED else ""
        return Statement("no error below ", number, f" is certified{where}.")
    if of_what in (NEW_EXAMPLES, NEW_GROUPS):
        return _of_new(certificate, number)
    if of_what == PERIOD:
        after = f" over the latest {certificate.size:,} examples."
        return Statement("its mean chance of an error was at most ", number, after)
    if of_what == ANSWERED:
        return Statement("it is wrong on at most ", number, f" {_answered(certificate)}.")
    if of_what in (TRAINING_ROWS, TRAINING_LABELS):
        labels = " of the labels" if of_what == TRAINING_LABELS else ""
        after = f"{labels} of the rows it learned from{_weights(certificate)}."
        return Statement("it is wrong on at most ", number, after)
    known = of_what in measures.OF_WHAT
    return Statement(*measures.claim(certificate)) if known else _claim(certificate, number)


def _of_new(certificate: Certificate, number: str) -> Statement:
    if certificate.of_what == NEW_EXAMPLES:
        return Statement("at most ", number, " wrong on future examples like these.")
    groups = "the examples of a new group like these, on average over groups, large or small"
    return Statement("at most ", number, f" wrong on {groups}.")


def _capital(said: Statement) -> Statement:
    return said._replace(before=said.before[:1].upper() + said.before[1:])


def _weights(certificate: Certificate) -> str:
    return ", counted by their weights" if certificate.details.get("weighted") else ""


def _answered(certificate: Certificate) -> str:
    threshold = certificate.details.get("threshold", 0.0)
    return f"of the new examples it answers (confidence {threshold:.4g} or more)"


def _subject(certificate: Certificate) -> str:
    details, bound = certificate.details, bound_of(certificate.bound)
    if "members" in details:
        return f"the plurality vote of {details['members']} members"
    who = "the classifier" if bound is None else bound.subject
    return f"{who} of the first {details['rounds']} rounds" if "rounds" in details else who
