"""Is the certificate what it says? Recomputed from the saved file, without the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.training import product_bound
from pacboost.ledgers.ledger import Ledger
from pacboost.models import format as model_file


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    holds: bool
    words: str


def verify(path: str | Path) -> list[Check]:
    """Check a model file: the ledger's fingerprint, its rounds, and the certificate's number."""
    model = model_file.load(path)
    ledger, certificate = model.ledger, model.certificate
    digest = ledger.digest()
    return [
        Check(
            "ledger",
            certificate.ledger_digest == digest,
            f"the certificate was made for ledger {certificate.ledger_digest[:16]}, "
            f"this one is {digest[:16]}",
        ),
        _rounds(ledger),
        _value(certificate, ledger),
    ]


def _rounds(ledger: Ledger) -> Check:
    """Every round's numbers must agree with each other, and with the theorem."""
    product = 1.0
    for entry in ledger.rounds:
        z = entry.error * math.exp(entry.vote) + (1 - entry.error) * math.exp(-entry.vote)
        product *= entry.normaliser
        fits = math.isclose(z, entry.normaliser, rel_tol=1e-9)
        fits &= math.isclose(entry.edge, 1 - 2 * entry.error, abs_tol=1e-12)
        if ledger.potential == "exponential":
            fits &= entry.training_error <= product * (1 + 1e-6)
        if not fits:
            return Check("rounds", False, f"round {entry.number} contradicts itself")
    return Check("rounds", True, f"{len(ledger)} rounds agree with the theorem")


def _value(certificate: Certificate, ledger: Ledger) -> Check:
    found = recompute(certificate, ledger)
    words = f"{certificate.bound} gives {found:.6g}, the certificate says {certificate.value:.6g}"
    return Check("bound", math.isclose(found, certificate.value, rel_tol=1e-12), words)


def recompute(certificate: Certificate, ledger: Ledger) -> float:
    """Compute the number of a certificate again, from its inputs or from the ledger."""
    if certificate.bound == "training.product_bound":
        return product_bound(ledger)
    file, _, function = certificate.bound.partition(".")
    if not (file.isidentifier() and function.isidentifier()) or function.startswith("_"):
        return math.nan
    try:
        bound = getattr(import_module(f"pacboost.bounds.{file}"), function)
    except (ImportError, AttributeError):
        return math.nan
    return float(bound(**certificate.inputs))
