"""Certificates are computed again from a model file and compared with those in the file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from importlib import import_module
from typing import Any

from pacboost.boosters.registry import BOOSTERS
from pacboost.bounds import (
    compression,
    dependent,
    filtering,
    holdout,
    measured,
    occam,
    pac_bayes,
    three_way,
)
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.training import product_bound, training_error
from pacboost.bounds.wording import DISTINCT, NEW_EXAMPLES, WITHOUT_WEIGHTS
from pacboost.ledgers.ledger import Ledger

FREE = ("ledger_digest", "model_digest", "rows_checked", "assumptions")
"""Fields that other checks look at, or of which a certificate may have more than its bound says."""
ROUNDED = ("occam.occam_bound", "compression.vote_bound")
"""Certificates of votes that are not those of the rounds, but made of them."""

Maker = Callable[[Certificate, Ledger], Certificate]


def difference(given: Certificate, makers: Mapping[str, Maker], ledger: Ledger) -> str:
    """Return how a certificate differs from the one that its bound gives; "" if it does not."""
    if given.bound not in makers:
        return f"bound {given.bound!r} is not among {', '.join(makers)}"
    made = makers[given.bound](given, ledger)
    if WITHOUT_WEIGHTS in given.details:
        made = made.counted_without_weights()
    if given.sample.startswith(DISTINCT):
        made = made.of_distinct_rows()
    for name in [field.name for field in fields(Certificate) if field.name not in FREE]:
        old, new = getattr(given, name), getattr(made, name)
        if old != new:
            return f"{name} says {old}, but it is {new}"
    absent = [text for text in made.assumptions if text not in given.assumptions]
    return f"the certificate leaves out that {absent[0]}" if absent else ""


def recompute(certificate: Certificate, ledger: Ledger) -> float:
    """Compute the number of any certificate of ours again, from its inputs or from the ledger."""
    if certificate.bound == "training.product_bound":
        return product_bound(ledger)
    file, _, function = certificate.bound.partition(".")
    bound = getattr(import_module(f"pacboost.bounds.{file}"), function)
    return float(bound(**certificate.inputs))


def _inputs(given: Certificate) -> dict[str, Any]:
    return dict(given.inputs)


def _held_out(given: Certificate, ledger: Ledger) -> Certificate:
    """Keep the words about how rows were held out: they differ from source to source."""
    return replace(holdout.certificate(**_inputs(given)), sample=given.sample)


def _filtered(given: Certificate, ledger: Ledger) -> Certificate:
    """Certify the last refill again; all tests of the run share the failure probability."""
    last = ledger.refills[-1]
    if last.rounds != len(ledger):
        raise ValueError("rounds came after the draws that were tested")
    if math.fsum(refill.delta for refill in ledger.refills) > given.delta:
        raise ValueError(f"the tests together may fail with more than {given.delta}")
    factor = _error_factor(given, ledger)
    of = "" if given.of_what == NEW_EXAMPLES else given.of_what
    made = filtering.certificate(last, given.delta, factor, given.assumptions[0], of=of)
    return replace(made, sample=given.sample)


def _error_factor(given: Certificate, ledger: Ledger) -> float:
    """Return the factor of the booster; a booster of the user's own is believed."""
    known = BOOSTERS.get(ledger.booster)
    if known is None:
        return 0.0 if ledger.potential == "projected" else float(given.inputs["factor"])
    return known.error_factor


def _recursive(given: Certificate, ledger: Ledger) -> Certificate:
    return three_way.certificate(
        **_inputs(given), delta=given.delta, draws=given.size, assumes=given.assumptions[0]
    )


def _members(given: Certificate, ledger: Ledger) -> Certificate:
    """Certify a bagged vote again; what is said of its bags in words is bound by the digest."""
    made = pac_bayes.certificate(given.bound.removeprefix("pac_bayes."), **_inputs(given))
    return replace(
        made,
        sample=given.sample,
        independent_of=given.independent_of,
        assumptions=made.assumptions[:1],
        details=given.details,
    )


OF_MEASURES: dict[str, Maker] = {
    name: lambda given, _: measured.made_again(given) for name in measured.BOUNDS
}
"""By the bound of a certificate for a measure, what makes it again."""

OF_VOTES: dict[str, Maker] = {
    "training.product_bound": lambda given, ledger: training_error(ledger),
    "holdout.clopper_pearson": _held_out,
    "filtering.error_by_draws": _filtered,
    "three_way.recursive_error": _recursive,
    "occam.occam_bound": lambda given, _: occam.certificate(**_inputs(given)),
    "compression.vote_bound": lambda given, _: compression.vote_certificate(**_inputs(given)),
    "dependent.group_bets": lambda given, _: dependent.certificate_of_shares(**_inputs(given)),
    "dependent.ordered_mixture": lambda given, _: replace(
        dependent.ordered_certificate(**_inputs(given)), sample=given.sample
    ),
}
"""By the bound of a certificate, what makes it again for a vote."""

OF_FORESTS: dict[str, Maker] = {
    "holdout.clopper_pearson": _held_out,
    "pac_bayes.first_order_bound": _members,
    "pac_bayes.tandem_bound": _members,
    "pac_bayes.cantelli_bound": _members,
}
"""The same for a forest."""
