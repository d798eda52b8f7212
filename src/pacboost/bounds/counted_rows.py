"""Which rows a certificate counted: facts that it stores, their check, and their words.

``Certificate.sample`` holds what neither the bound nor its inputs nor the details say: the kind of
the rows, an entry of ``ROWS``; how many rows were left out; the order of a source; how a shift was
looked for. It is empty where the bound alone says which rows it counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pacboost.bounds import wording
from pacboost.bounds.certified_number import CertifiedNumber
from pacboost.bounds.registry import Bound
from pacboost.numerics.percent import percent
from pacboost.sources.oracles.oracle import INDEPENDENT, REPLACED, SHUFFLED, STREAM

SET_APART = "; ties counted as errors. Order: {order}; {assumes}{copies}"
ROWS = {
    "held_out": "held-out rows",
    "votes": "held-out rows, ties counted as errors",
    "in_time": "held-out rows in the order of time",
    "groups": "whole groups that were held out",
    "calibration": "calibration rows",
    "calibration_groups": "calibration rows, one drawn from each group",
    "test": "test rows, ties counted as errors",
    "bags": "rows outside the bags, {fewest:,} or more a member",
    "fresh": "examples never looked at before, scored after the last of these rounds",
    "later_pass": "rows of {of_what} drawn after the last of these rounds, which had come before",
    "as_they_came": "rows set apart as they came, never learned from, scored after the last round"
    + SET_APART,
    "by_coins": "rows drawn from the whole source, by a keyed coin for each, before anything else, "
    "never learned from, scored after the last round" + SET_APART,
}
"""Kinds of rows, in words; names in braces stand for other facts."""
OF_SOURCE = ("as_they_came", "by_coins")
OF_FILTERING = ("fresh", "later_pass")
MAY_BE_DISTINCT = ("held_out", "votes", "in_time", "calibration", "calibration_groups")
ORDERS = {order.name: order for order in (INDEPENDENT, SHUFFLED, REPLACED, STREAM)}
COPIES = (
    "rows that came again are copies of rows that had come before, not new draws; after the first "
    "of them no more rows were set apart"
)
"""A further assumption on rows of a stream that came again."""
TYPES: dict[str, tuple[type, ...]] = {
    "rows": (str,), "order": (str,), "copies": (bool,), "fewest": (int,), "validation": (int,),
    "training": (int,), "of": (int,), "kept": (int,), "pairs": (int,), "tested": (int,),
    "apart": (int, float), "p": (int, float), "moved": (list,),
}  # fmt: skip
"""All facts. ``validation`` and ``training`` rows were left out, of ``of`` many, and coins kept
``kept``. Rules learned from ``pairs`` of a new and an old row told the share ``apart`` of
``tested`` others apart, by the columns that ``moved``."""
Facts = Mapping[str, Any]


def assumed(order: str, copies: bool) -> str:
    """Return what is assumed of the rows of a source that come in an order."""
    assumption = ORDERS[order].assumes
    return f"{assumption}; {COPIES}" if copies else assumption


def words(certificate: CertifiedNumber) -> str:
    """Return which rows a certificate counted, as text."""
    facts, inputs, details = certificate.sample, certificate.inputs, certificate.details
    bound = wording.bound_before(certificate)
    kind = facts.get("rows")
    if kind is None:
        form = "" if bound is None else bound.sample
        text = form.format_map({**inputs, "size": certificate.size, "of_what": certificate.of_what})
    else:
        order = ORDERS.get(facts.get("order", ""))
        copies = f"; {COPIES}" if facts.get("copies") else ""
        found = {"order": order and order.name, "assumes": order and order.assumes}
        found["of_what"] = certificate.of_what
        text = ROWS[kind].format_map({**facts, **found, "copies": copies})
    if kind in MAY_BE_DISTINCT and wording.DISTINCT_ROWS in details:
        text = f"distinct {text}"
    if "training" in facts:
        text += f"; {facts['training']:,} of {facts['of']:,} are training rows and are left out"
    if "kept" in facts:
        text += (
            f"; {facts['kept']:,} of {details['offered']:,} kept by coins of chance "
            f"weight/{details['ratio_bound']:g}, seed {details['seed']}"
        )
    text += _shift(facts)
    if look := int(inputs.get("look", 0)):
        price = look * (look + 1)
        text += f"; look number {look} at these rows, which pays 1/{price} of delta"
    if "validation" in facts:
        text += f"; {facts['validation']:,} more are validation rows, and were left out"
    claims = int(inputs.get("claims", 1))
    shared = f"; {claims} claims share delta, each has delta/{claims}"
    return text + (shared if claims > 1 and _of_measure(bound) else "")


def moved_words(moved: list[Any]) -> str:
    """Return the columns by which new rows differ from old ones, with their shares."""
    columns = [f"{name} ({percent(share, 0)})" for name, share in moved]
    return ", ".join(columns) or "no column in particular"


def _shift(facts: Facts) -> str:
    if "pairs" not in facts:
        return ""
    if "tested" in facts:
        evidence = (
            f"of {facts['tested']:,} held-out pairs of a new and an old row, rules learned from "
            f"{facts['pairs']:,} others tell {percent(facts['apart'], 1)} apart "
            f"(p = {facts['p']:.2g})"
        )
        unmoved = f"; no shift was found: {evidence}"
    else:  # a monitor has compared the rows
        evidence = f"drift was found among {facts['pairs']:,} pairs of a new and an old row"
        unmoved = f"; no {evidence}"
    moved = facts.get("moved")
    return unmoved if moved is None else f"; weights: {evidence}, by {moved_words(moved)}"


def _of_measure(bound: Bound | None) -> bool:
    return bound is not None and bound.of == ("measure",)


def are_free(certificate: CertifiedNumber) -> bool:
    """Check whether the facts do not follow from the bound and its inputs."""
    bound, members = wording.bound_before(certificate), "members" in certificate.details
    of_rows = bound is not None and bound.held_out and not bound.sample
    return _of_measure(bound) or members or of_rows


def contradictions(certificate: CertifiedNumber) -> Iterator[str]:
    """Return what is wrong with the facts about the rows of a certificate."""
    facts, details = certificate.sample, certificate.details
    for name, value in facts.items():
        absent = type(value) in (int, bool) and not value > 0  # what is 0 is left out
        if type(value) not in TYPES.get(name, ()) or absent:
            yield f"sample says {name} {value!r:.40}, which no way to certify writes"
            return
    if (
        facts.get("rows") not in ROWS.keys() - {*OF_FILTERING}
        or facts.get("order", "stream") not in ORDERS
    ):
        yield f"sample says {dict(facts)!r:.80}, which no way to certify writes"
        return
    kind, moved = facts["rows"], facts.get("moved", [])
    needed = {
        "order": kind in OF_SOURCE, "fewest": kind == "bags", "of": "training" in facts,
        "kept": "ratio_bound" in details, "moved": "learned" in details,
        "p": "tested" in facts, "apart": "tested" in facts,
        "pairs": "learned" in details or wording.UNMOVED_PAIRS in details,
    }  # fmt: skip
    for name, must in needed.items():
        if (name in facts) != must:
            yield f"sample {'leaves out' if must else 'has'} {name}, and the rest does not"
    if not all(0 <= facts.get(name, 0) <= 1 for name in ("apart", "p")):
        yield "sample names a share of pairs that is not from 0 to 1"
    if any(len(pair) != 2 or not 0 <= pair[1] <= 1 for pair in moved):
        yield "sample names columns that moved without their shares"
    if facts.get("training", 0) > facts.get("of", 0) or facts.get("kept", 0) > _offered(details):
        yield "sample counts more rows than there were"


def _offered(details: Facts) -> int:
    return int(details.get("offered", 0))
