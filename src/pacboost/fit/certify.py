"""Certificates about new examples that a fit makes, by the rows that were set apart for them.

These rows are read as ``predict`` reads new rows, their mistakes are counted once, and a label that
is not among the classes is a mistake.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified
from pacboost.fit.division import Apart, Certifying
from pacboost.fit.judging import JudgedRows
from pacboost.fit.noticing import noticed
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.models.answers import confidence
from pacboost.models.model import Model
from pacboost.models.training_claim import training_certificate


def certified(model: Model, apart: Apart | None, asked: Certifying) -> Model:
    """Certify the training error, or with rows set apart the error on new examples."""
    # SAMME, for example, has no theorem about its training error, and means of levels have none
    with suppress(NotCertified):
        model = replace(model, certificate=training_certificate(model))
    if apart is None:
        return model
    # few fits certify, and the theorems on answers are a large part of the code
    from pacboost.bounds.answering import by_ranks
    from pacboost.bounds.held_out import HeldOut

    # the only look of this fit at these rows
    rows = JudgedRows.read(model, model.schema.read(apart.X), apart.y)
    scores = model.vote.scores(rows.table)
    wrong = rows.wrong(model, scores)
    model = deployed(model, model.vote, apart.certificate(wrong, asked.delta, asked.look))
    decided, chances = model.decide(scores), model.probabilities(scores)
    # the bound on confident answers shares delta with those of earlier looks
    share = holdout.share_of_delta(asked.delta, asked.look)
    sure = confidence(decided, chances, model.classes)
    counted = HeldOut.of(apart.y, decided, model.classes, chances, wrong)
    answering = replace(
        by_ranks(sure, wrong, share),
        assumptions=apart.examples.assumptions,
        details=noticed(apart.examples),
    )
    return replace(model, answering=answering, held_out=counted)


def deployed(model: Model, vote: Vote, certificate: Certificate) -> Model:
    """Return the model with another vote and certificate, without earlier claims on answers."""
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
