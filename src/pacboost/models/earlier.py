"""What files of earlier versions leave out, and what stands in its place when they are read.

They wrote the claim of a certificate as text, which is not read, and neither what it speaks of nor
a digest of the whole model. The first follows from the ledger. The second cannot be had again: such
a certificate is marked, so that writing the model anew does not bind it after the fact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.wording import NEW_EXAMPLES, THIS_SOURCE, TRAINING_LABELS, TRAINING_ROWS
from pacboost.models.seal import UNBOUND

if TYPE_CHECKING:
    from pacboost.models.model import Model


def completed(model: Model, document: Mapping[str, Any]) -> Model:
    """Give the model of a file with what its claims leave out."""
    certificate, answering = model.certificate, model.answering
    if certificate is not None:
        certificate = marked(typed(certificate, document))
    if answering is not None and not answering.model_digest:
        answering = replace(answering, model_digest=UNBOUND)
    return replace(model, certificate=certificate, answering=answering)


def marked(certificate: Certificate) -> Certificate:
    """Mark a certificate that came from a file without a digest of the whole model."""
    return certificate if certificate.model_digest else replace(certificate, model_digest=UNBOUND)


def typed(certificate: Certificate, document: Mapping[str, Any]) -> Certificate:
    """Say what the certificate of a document speaks of, where only words said so."""
    if "of_what" in document["certificate"]:
        return certificate
    core = document["model"]
    if certificate.bound.startswith("pac_bayes.") and "blocks" in core:
        members = sum(len(block["firsts"]) - 1 for block in core["blocks"])
        return replace(certificate, details={"members": members})
    ledger = core.get("ledger", {})
    if certificate.bound == "training.product_bound":
        of_what = TRAINING_LABELS if ledger.get("several_labels") else TRAINING_ROWS
        details = {"weighted": 1} if ledger.get("weighted") else {}
        return replace(certificate, of_what=of_what, details=details)
    if certificate.bound == "filtering.error_by_weight":
        refills = ledger["refills"]
        of_what = NEW_EXAMPLES if int(refills["fresh"][-1]) else THIS_SOURCE
        return replace(certificate, of_what=of_what, details={"rounds": int(refills["rounds"][-1])})
    return certificate
