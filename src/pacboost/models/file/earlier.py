"""Files of earlier versions: what they lack, and what is filled in when they are read.

They hold the claim of a certificate as text, which is not read, but neither what the claim is about
nor a digest of the whole model. The first follows from the ledger. The second cannot be recovered:
such a certificate is marked (models/file/seal.py), so that saving the model again does not bind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.wording import NEW_EXAMPLES, THIS_SOURCE, TRAINING_LABELS, TRAINING_ROWS
from pacboost.models.file.seal import kept

if TYPE_CHECKING:
    from pacboost.bounds.decision import ThresholdDecision
    from pacboost.bounds.interval_rule import IntervalRule
    from pacboost.bounds.label_sets import SetRule
    from pacboost.models.model import Model


def completed(model: Model, document: Mapping[str, Any]) -> Model:
    """Fill in what the claims of a model lack."""
    certificate, answering = model.certificate, model.answering
    if answering is not None:
        answering = replace(answering, model_digest=kept(document, "answering"))
    return replace(
        model,
        certificate=read(certificate, document),
        answering=answering,
        decision=decided(model.decision, document),
        coverage=covered(model.coverage, document, model.classes.size),
    )


def decided(
    decision: ThresholdDecision | None, document: Mapping[str, Any]
) -> ThresholdDecision | None:
    """Keep the digest of a decision only where it does not belong to the file."""
    if decision is None:
        return None
    return replace(decision, model_digest=kept(document, "decision"))


def covered(
    rule: SetRule | IntervalRule | None, document: Mapping[str, Any], classes: int
) -> SetRule | IntervalRule | None:
    """Keep the digest of sets or intervals only where it does not belong to the file."""
    if rule is None:
        return None
    if hasattr(rule, "score") != bool(classes) or len(rule.cutoffs) not in _numbers(rule, classes):
        raise ValueError(f"the sets or intervals are not those of a model of {classes} classes")
    return replace(rule, model_digest=kept(document, "coverage"))


def _numbers(rule: SetRule | IntervalRule, classes: int) -> tuple[int, ...]:
    """Say how many cutoffs there may be."""
    groups = len(getattr(rule, "groups", ()))
    return (groups,) if groups else (1, classes)


def read(certificate: Certificate | None, document: Mapping[str, Any]) -> Certificate | None:
    """Fill in what the certificate of a file lacks."""
    if certificate is None:
        return None
    return replace(typed(certificate, document), model_digest=kept(document, "certificate"))


def typed(certificate: Certificate, document: Mapping[str, Any]) -> Certificate:
    """Fill in what the certificate of a document is about, if only its text said so."""
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
