"""Certificates about new examples that a fit makes, by held-out rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import ParameterError
from pacboost.estimators.fitting.continuing import RunRecord, digest
from pacboost.estimators.inputs import division
from pacboost.estimators.inputs.division import Apart, Division
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.models.answers import confidence
from pacboost.models.model import Model
from pacboost.models.schema import Schema
from pacboost.questions import certify
from pacboost.samples.row_hashes import row_hashes
from pacboost.samples.same_example import warn_uncounted
from pacboost.samples.sketch import HashCounts


def divide(estimator: Any, X: Any, y: Any, sample_weight: Any, seed: int) -> Division:
    """Hold out the rows that certify, before anything is learned."""
    return division.held_out(estimator, X, y, seed, sample_weight=sample_weight)


def watch_apart(estimator: Any, schema: Schema, apart: Apart, X_val: Any) -> Apart:
    """Number this evaluation on the held-out rows; refuse validation rows that are among them."""
    record: RunRecord = estimator._record
    looks = 1 + (record.looks or 0) if estimator.warm_start else 0
    estimator._record = replace(record, looks=looks)
    return apart if X_val is None else without_shared(schema, apart, X_val)


def apart_digest(schema: Schema, apart: Apart) -> str:
    """Return a digest of the held-out rows and their labels."""
    return digest(row_hashes(schema.comparable(apart.X)), repr(apart.y.tolist()))


def without_shared(schema: Schema, apart: Apart, X_val: Any) -> Apart:
    """Refuse if rows that certify are validation rows; with copies="distinct", leave them out.

    Independent rows may equal each other by chance: they are refused only if they do so more often
    than rows of either set equal each other. Few validation rows among many that certify show in
    one direction of the test, all certifying rows among many validation rows in the other.
    """
    hashes = row_hashes(schema.comparable(apart.X, X_val))
    validation_hashes = row_hashes(schema.comparable(X_val, apart.X))
    certifying, validation = map(HashCounts.from_hashes, (hashes, validation_hashes))
    shared = validation.contains(hashes)
    if apart.examples.distinct and not shared.all():
        count = int(np.count_nonzero(shared))
        warn_uncounted(count, shared.size, "they are validation rows, which have a part in the fit")
        return apart.without(shared)
    if validation.overlap(hashes).suspicious or certifying.overlap(validation_hashes).suspicious:
        raise ParameterError(
            f"{np.count_nonzero(shared):,} of the {shared.size:,} rows that certify='holdout' sets "
            "apart are among the rows of X_val or eval_set, so they would have a part in the fit. "
            "Give validation rows that are not in X, or leave them out and set "
            "early_stopping=True, which takes them from the rows learned from"
        )
    return apart


def certify_by(estimator: Any, apart: Apart) -> Model:
    """Certify by the mistakes on held-out rows, which are read as new rows are."""
    scores, wrong = estimator._judged(apart.X, apart.y)
    look = estimator._record.looks
    model: Model = estimator.model_
    model = deployed(model, model.vote, apart.certificate(wrong, estimator.delta, look))
    decided, chances = estimator._decide(scores), model.probabilities(scores)
    sure = confidence(decided, chances, estimator.classes_)
    share = holdout.share_of_delta(estimator.delta, look)
    found = certify.answering(sure, wrong, share, None, None)
    counted = HeldOut.of(apart.y, decided, model.classes, chances)
    return replace(model, answering=found, held_out=counted)


def deployed(model: Model, vote: Vote, certificate: Certificate) -> Model:
    """Return model with another vote and certificate; what is known of old answers is dropped."""
    ledger = replace(model.ledger, vote_digest=vote_digest(vote))
    certificate = certificate.of(ledger.digest())
    return replace(
        model,
        vote=vote,
        ledger=ledger,
        certificate=certificate,
        answering=None,
        held_out=None,
        coverage=None,
    )
