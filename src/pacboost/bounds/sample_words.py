"""Check the text of a certificate that says which rows were counted.

It is the one text that a certificate stores and that does not follow from its bound and its inputs:
each way to certify writes its own. ``verify`` accepts no other texts, and the parts of a text stand
beside details of the certificate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pacboost.bounds import wording
from pacboost.bounds.holdout import paid
from pacboost.bounds.registry import bound_of
from pacboost.sources.oracles.oracle import INDEPENDENT, REPLACED, SHUFFLED, STREAM

if TYPE_CHECKING:
    from pacboost.bounds.certificate import Certificate

HELD_OUT = ("holdout.clopper_pearson", "dependent.ordered_mixture")
COPIES = (
    "rows that came again are copies of rows that had come before, not new draws; after the first "
    "of them no more rows were set apart"
)
"""A further assumption on rows of a stream that came again."""
COUNT = r"\d[\d,]*"
ORDERS = "|".join(
    re.escape(f"{order.name}; {order.assumes}")
    for order in (INDEPENDENT, SHUFFLED, REPLACED, STREAM)
)
ROWS = (
    r"(?P<distinct>distinct )?(?:held-out rows(?:, ties counted as errors| in the order of time)?"
    r"|whole groups that were held out|calibration rows(?:, one drawn from each group)?)",
    "test rows, ties counted as errors",
    f"{COUNT} held-out groups, each counted once",
    f"rows outside the bags, {COUNT} or more a member",
    "(?:rows set apart as they came|rows drawn from the whole source, by a keyed coin for each, "
    "before anything else), never learned from, scored after the last round; ties counted as "
    rf"errors\. Order: (?:{ORDERS})(?:; {re.escape(COPIES)})?",
)
EVIDENCE = (
    f"of {COUNT} held-out pairs of a new and an old row, rules learned from {COUNT} others tell "
    r"[\d.]+ % apart \(p = [\d.e+-]+\)"
)
DRIFT = f"drift was found among {COUNT} pairs of a new and an old row"
"""What a monitor says of the rows that it compared."""
FURTHER = (
    f"{COUNT} more are validation rows, and were left out",
    f"{COUNT} of {COUNT} are training rows and are left out",
    rf"(?P<coins>{COUNT} of {COUNT} kept by coins of chance weight/[\d.e+-]+, seed -?\d+)",
    f"(?P<unmoved>no shift was found: {EVIDENCE}|no {DRIFT})",
    f"(?P<learned>weights: (?:{EVIDENCE}|{DRIFT}), by .*)",
    r"\d+ claims share delta, each has delta/\d+",
)
TEXT = re.compile(f"(?:{'|'.join(ROWS)})(?:; (?:{'|'.join(FURTHER)}))*", re.DOTALL)
BESIDE = {"coins": "ratio_bound", "unmoved": wording.UNMOVED_PAIRS, "learned": "learned"}
"""Parts of the text, and the details that stand beside them."""


def is_free(certificate: Certificate) -> bool:
    """Check whether the text does not follow from the bound and its inputs."""
    name = str(certificate.inputs.get("bound", certificate.bound))  # the one before a move, if any
    bound = bound_of(name)
    several = bound is not None and bound.of == ("measure",)
    return several or "members" in certificate.details or name in HELD_OUT


def contradictions(certificate: Certificate) -> Iterator[str]:
    """Return what is wrong with the text about the rows of a certificate."""
    look = paid(int(certificate.inputs.get("look", 0)))
    found = TEXT.fullmatch(certificate.sample.replace(look, "", 1))
    if found is None or look not in certificate.sample:
        yield f"sample says {certificate.sample!r:.80}, which no way to certify writes"
        return
    for part, detail in BESIDE.items():
        if (found[part] is None) != (detail not in certificate.details):
            yield f"sample and {detail} in details do not say the same"
    if found["distinct"] and wording.DISTINCT_ROWS not in certificate.details:
        yield "sample speaks of distinct rows, and details do not"
