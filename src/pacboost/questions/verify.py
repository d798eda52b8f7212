"""Is the certificate what it says? Recomputed from the saved file, without the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from pacboost.boosters.base.registry import BOOSTERS
from pacboost.bounds import compression, dependent, filtering, holdout, occam, three_way
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.rounding import percent
from pacboost.bounds.training import product_bound, training_error
from pacboost.hypotheses.digest import vote_digest
from pacboost.ledgers.ledger import Ledger
from pacboost.models import container, forest_format
from pacboost.models import format as model_file
from pacboost.models.model import Model


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    holds: bool
    words: str


NO_CERTIFICATE = Check("bound", False, "the file holds no certificate: none applies to this model")
FOREST_BOUNDS = (
    "holdout.clopper_pearson", "pac_bayes.first_order_bound", "pac_bayes.tandem_bound",
    "pac_bayes.cantelli_bound",
)  # fmt: skip


def verify(path: str | Path) -> list[Check]:
    """Check a model file: the ledger's fingerprint, its rounds and votes, and the certificate."""
    if container.kind_of(Path(path)) == forest_format.KIND:
        return _forest(forest_format.load(path))
    model = model_file.load(path)
    if model.certificate is None:
        return [_tried("rounds", lambda: _rounds(model)), NO_CERTIFICATE]
    digest = model.ledger.digest()
    made_for = model.certificate.ledger_digest
    return [
        Check(
            "ledger",
            made_for == digest,
            f"the certificate was made for ledger {made_for[:16]}, this one is {digest[:16]}",
        ),
        _tried("rounds", lambda: _rounds(model)),
        _tried("bound", lambda: _certificate(model)),
    ]


def _forest(model: forest_format.ForestModel) -> list[Check]:
    """Check that the certificate is that of these trees, and its number what its inputs give."""
    given = model.certificate
    if given is None:
        return [NO_CERTIFICATE]
    digest, made_for = vote_digest(model.forest), given.ledger_digest
    words = f"the certificate was made for trees {made_for[:16]}, these are {digest[:16]}"
    return [Check("trees", made_for == digest, words), _tried("bound", lambda: _number(given))]


def _number(given: Certificate) -> Check:
    if given.bound not in FOREST_BOUNDS:
        known = ", ".join(FOREST_BOUNDS)
        return Check("bound", False, f"bound {given.bound!r} is not among {known}")
    made = recompute(given, Ledger("", "none", "", 0, 0, False, False))
    if made != given.value or percent(made) not in given.claim:
        return Check("bound", False, f"the certificate says {given.value}, but it is {made}")
    if given.inputs["delta"] != given.delta:
        return Check("bound", False, f"delta says {given.delta}, but it is not what was used")
    return Check("bound", True, f"{given.bound} gives {made:.6g} again")


def _tried(name: str, look: Callable[[], Check]) -> Check:
    """Numbers that no run could have written make arithmetic fail; that is an answer too."""
    try:
        return look()
    except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
        return Check(name, False, f"the numbers make no sense ({problem})")


def _rounds(model: Model) -> Check:
    """Every round's numbers must agree with each other, with the votes, and with the theorem."""
    ledger, product = model.ledger, 1.0
    plain = ledger.potential == "exponential" and not ledger.cells
    for entry in ledger.rounds:
        z = entry.error * math.exp(entry.vote) + (1 - entry.error) * math.exp(-entry.vote)
        product *= entry.normaliser
        fits = not plain or math.isclose(z, entry.normaliser, rel_tol=1e-9)
        fits &= math.isclose(entry.edge, 1 - 2 * entry.error, abs_tol=1e-12)
        fits &= entry.weight > 0
        if ledger.multiclass != "samme" and not ledger.refills:
            fits &= entry.training_error <= ledger.factor * product * (1 + 1e-6) + 1e-9
        if not fits:
            return Check("rounds", False, f"round {entry.number} contradicts itself")
    rounded = model.certificate is not None and model.certificate.bound in ROUNDED
    whole = ledger.revised or not ledger.cells
    votes = [entry.vote if whole else 1.0 for entry in ledger.rounds]
    if ledger.potential == "none":  # members that have one vote each
        votes = [1.0] * len(model.vote.hypotheses)
    known = BOOSTERS.get(ledger.booster)
    cast = model.vote if known is None else known().parted(model.vote)
    if not rounded and cast.votes.tolist() != votes:
        return Check("rounds", False, "the votes are not those of the rounds")
    if vote_digest(model.vote) != ledger.vote_digest:
        return Check("rounds", False, "the rules or their votes are not those that were found")
    told = "themselves and the votes" if ledger.refills else "the theorem"
    return Check("rounds", True, f"{len(ledger)} rounds agree with {told}")


def _certificate(model: Model) -> Check:
    """Make the certificate again, from the ledger or from its inputs, and compare all of it."""
    given = model.certificate
    assert given is not None
    if given.bound not in MAKERS:
        known = ", ".join(MAKERS)
        return Check("bound", False, f"bound {given.bound!r} is not among {known}")
    made = MAKERS[given.bound](model)
    for field in fields(Certificate):
        if field.name == "ledger_digest":
            continue
        old, new = getattr(given, field.name), getattr(made, field.name)
        if old != new:
            return Check("bound", False, f"{field.name} says {old}, but it is {new}")
    return Check("bound", True, f"{given.bound} gives {made.value:.6g} again")


def _held_out(model: Model) -> Certificate:
    """How rows were held out is in words that differ by source, where they came from an oracle."""
    assert model.certificate is not None
    words = model.certificate.sample if model.ledger.refills else ""
    return holdout.certificate(**_inputs(model), sample=words)


def _filtered(model: Model) -> Certificate:
    """Certify the last refill again; all tests of the run share the failure probability."""
    given, ledger = model.certificate, model.ledger
    assert given is not None
    last = ledger.refills[-1]
    if last.rounds != len(ledger):
        raise ValueError("rounds came after the draws that were tested")
    if math.fsum(refill.delta for refill in ledger.refills) > given.delta:
        raise ValueError(f"the tests together may fail with more than {given.delta}")
    factor = 0.0 if ledger.potential == "projected" else _inputs(model)["factor"]
    of = given.claim.partition(filtering.ERROR_ON)[2].removesuffix(".")
    return filtering.certificate(last, given.delta, factor, given.assumptions[0], of=of)


def _recursive(model: Model) -> Certificate:
    given = model.certificate
    assert given is not None
    return three_way.certificate(
        **_inputs(model), delta=given.delta, draws=given.size, assumes=given.assumptions[0]
    )


def _inputs(model: Model) -> dict[str, Any]:
    return {} if model.certificate is None else dict(model.certificate.inputs)


MAKERS: dict[str, Callable[[Model], Certificate]] = {
    "training.product_bound": lambda model: training_error(model.ledger),
    "holdout.clopper_pearson": _held_out,
    "filtering.error_by_weight": _filtered,
    "three_way.recursive_error": _recursive,
    "occam.occam_bound": lambda model: occam.certificate(**_inputs(model)),
    "compression.vote_bound": lambda model: compression.vote_certificate(**_inputs(model)),
    "dependent.groups_bound": lambda model: dependent.certificate_of_groups(**_inputs(model)),
    "dependent.ordered_bound": lambda model: dependent.ordered_certificate(**_inputs(model)),
}

ROUNDED = ("occam.occam_bound", "compression.vote_bound")
"""Certificates of votes that are not those of the rounds, but made of them."""


def recompute(certificate: Certificate, ledger: Ledger) -> float:
    """Compute the number of any certificate of ours again, from its inputs or from the ledger."""
    if certificate.bound == "training.product_bound":
        return product_bound(ledger)
    file, _, function = certificate.bound.partition(".")
    bound = getattr(import_module(f"pacboost.bounds.{file}"), function)
    return float(bound(**certificate.inputs))
