"""Is the certificate in a model file right? Everything is recomputed, without the data.

What is checked: that the certificate was made for the whole model in the file, that the numbers
agree with each other and with the theorem, and that the theorem gives the number again. What no
check without data can find: mistakes that were counted wrongly from the start, and a file that
somebody made from scratch with a digest of its own. A digest is no signature.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from pacboost.bounds import estimates
from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverage import IntervalRule, SetRule, coverage_words
from pacboost.bounds.decision import ThresholdDecision
from pacboost.bounds.family import Family
from pacboost.bounds.holdout import read_shares
from pacboost.bounds.measures import read_parts
from pacboost.bounds.registry import bound_of, makers
from pacboost.bounds.wording import (
    DISTINCT_ROWS,
    SHARE_LEARNED,
    UNANSWERED,
    WITHOUT_WEIGHTS,
)
from pacboost.hypotheses.majority import rules_behind
from pacboost.hypotheses.vote import vote_digest
from pacboost.ledgers.ledger import Ledger
from pacboost.models.file import container
from pacboost.models.file import format as model_file
from pacboost.models.model import Model, without_rounds
from pacboost.numerics.percent import percent_above

__all__ = ["Check", "recompute", "verify"]


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    name: str
    holds: bool
    words: str


NO_CERTIFICATE = Check("bound", False, "the file holds no certificate: none applies to this model")
CONSISTENT = (
    "This shows that the file is consistent, not who wrote it or how its rows were counted."
)
PARTS = {
    "model": "rules, votes, bins, column names, levels, classes, calibration, words and ledger",
    "forest": "trees, bins, column names, levels and classes",
}
"""What the digest of a claim covers, by the kind of the file."""
FREE = ("ledger_digest", "model_digest", "rows_checked", "assumptions")
"""Fields that other checks look at, or of which a certificate may have more than its bound says."""


def verify(path: str | Path | Certificate | Family) -> list[Check]:
    """Check a model file: that its certificate belongs to the model, and every number in it.

    A certificate, or a family of them, as ``certify_all`` gives it, is made again from its
    counts.

    The certificate stands if every check holds. This shows that a file is consistent, not who wrote
    it: somebody who swaps the labels and computes the digests anew has written another consistent
    file.
    """
    if isinstance(path, Certificate | Family):
        return [_alone(own) for own in (path if isinstance(path, Family) else [path])]
    return checks(model_file.read(path), Path(path))


def sentence(path: str | Path) -> str:
    """Return what the certificate of a file claims; "" if it has none."""
    model = model_file.load(path)
    covers = "" if model.coverage is None else coverage_words(model.coverage.certificate)
    if model.decision is not None:
        return f"{model.decision.sentence} {covers}".strip()
    if model.certificate is None:
        return covers
    said = estimates.in_words(model.certificate, model.held_out, model.label_names)
    return f"{said} {covers}".strip()


def checks(content: container.Content, path: Path) -> list[Check]:
    """Check what a file holds; ``path`` is named where it could not have been written."""
    model = model_file.opened(content, path)
    document, kind = content.document, content.kind
    covers = _covers(model.coverage, document, kind)
    rounds = [] if model.forest else [_tried("rounds", lambda: _rounds(model))]
    if model.decision is not None:
        return [*rounds, *_decided(model.decision, document, kind), *covers]
    found = [*_certified(model, document, rounds), *_answers(model.answering, document)]
    return [*(own for own in found if not covers or own is not NO_CERTIFICATE), *covers]


def _certified(model: Model, document: Mapping[str, Any], rounds: list[Check]) -> list[Check]:
    """Check that the certificate is that of this vote, and its number what its inputs give."""
    given, kind = model.certificate, model_file.kind_of(model)
    if given is None:
        return [*rounds, NO_CERTIFICATE]
    what, these = ("trees", "these are") if model.forest else ("ledger", "this one is")
    digest, made_for, count = model.digest(), given.ledger_digest, len(model.vote)
    words = f"the certificate was made for {what} {made_for[:16]}, {these} {digest[:16]}"
    whose = Check(what, made_for == digest, words)
    if model.forest and given.details.get("members", count) != count:
        whose = Check(what, False, f"there are {count} trees, not as many as named")
    number = _tried("bound", lambda: _number(given, model.ledger, kind))
    return [_bound(document, "certificate", kind), whose, *rounds, number]


def _answers(answering: Answering | None, document: Mapping[str, Any]) -> list[Check]:
    """Check how wrong answers may be: the bounds are made from counts that belong to the model."""
    if answering is None:
        return []
    tied = _bound(document, "answering", "model")
    if not tied.holds:
        return [Check("answers", False, tied.words)]
    wanted = answering.target_error
    if wanted is not None and answering.within(wanted).chosen != answering.chosen:
        said = f"the threshold is not the one that keeps an error of {wanted:g}"
        return [Check("answers", False, said)]
    least = percent_above(min(answering.errors))
    said = f"{len(answering.points)} thresholds give their bounds again, the least {least}"
    return [Check("answers", True, said)]


def _decided(decision: ThresholdDecision, document: Mapping[str, Any], kind: str) -> list[Check]:
    """Check a threshold: that it belongs to the model, and that its claims are made again."""
    tied = _bound(document, "decision", kind)
    certificates = (decision.certificate, *decision.others)
    for own in certificates:
        if own.details.get("threshold") != decision.threshold:
            return [tied, Check("bound", False, "a claim was made for another threshold")]
    return [tied, *(_alone(own) for own in certificates), *_overspent(decision.others)]


def _covers(
    rule: SetRule | IntervalRule | None, document: Mapping[str, Any], kind: str
) -> list[Check]:
    """Check sets or intervals: that they belong to the model, and that claims are made again."""
    if rule is None:
        return []
    cutoffs = tuple(own.details.get("cutoff") for own in rule.certificates)
    if cutoffs != rule.cutoffs:
        return [Check("coverage", False, "a claim of coverage was made for another cutoff")]
    made = [_bound(document, "coverage", kind), *(_alone(own) for own in rule.certificates)]
    return made + _overspent(getattr(rule, "certificate", None))


def _overspent(family: Certificate | Family | None) -> list[Check]:
    """Return a check that fails if several claims fail more often than the delta they share."""
    if not isinstance(family, Family):
        return []

    def spent() -> Check:
        shares = sum(Fraction(1, int(own.inputs["claims"])) for own in family)
        fits = shares <= 1 and all(own.delta == family.delta for own in family)
        return Check("bound", fits, f"the claims together may fail with more than {family.delta}")

    found = _tried("bound", spent)
    return [] if found.holds else [found]


def _bound(document: Mapping[str, Any], claim: str, kind: str) -> Check:
    """Check that a claim was made for everything that the file holds."""
    names = {"answering": "table of answers", "coverage": "calibration of sets or intervals"}
    what = names.get(claim, claim)
    if not container.binds(document, claim):
        said = (
            f"the {what} was not made for what this file holds: one of the two was changed "
            f"afterwards ({PARTS[kind]}, or the {what} itself)"
        )
        return Check("model", False, said)
    said = f"the {what} was made for these {PARTS[kind]}, by whomever wrote the file"
    return Check("model", True, said)


def _number(given: Certificate, ledger: Ledger, *kinds: str) -> Check:
    """Make the certificate again, from the ledger or from its inputs, and compare all of it."""
    found = _difference(given, ledger, *kinds)
    return Check("bound", not found, found or f"{given.bound} gives {given.value:.6g} again")


def _difference(given: Certificate, ledger: Ledger, *kinds: str) -> str:
    """Return how a certificate differs from the one that its bound gives; "" if it does not."""
    known = makers(*kinds)
    if given.bound not in known:
        return f"bound {given.bound!r} is not among {', '.join(known)}"
    made = known[given.bound](given, ledger)
    if WITHOUT_WEIGHTS in given.details:
        made = made.counted_without_weights()
    named = (DISTINCT_ROWS, SHARE_LEARNED, *UNANSWERED)
    made = made.detailed({n: given.details[n] for n in named if n in given.details})
    made = made.filtered(given.details)
    if given.size > int(given.details.get("offered", given.size)):
        return f"{given.size} rows were counted, more than coins were tossed for"
    counted = _counted_rows(given)
    if counted is not None and given.size != counted:
        return f"size says {given.size:,}, but its inputs count {counted:,}"
    for name in [field.name for field in fields(Certificate) if field.name not in FREE]:
        old, new = getattr(given, name), getattr(made, name)
        if old != new:
            return f"{name} says {old}, but it is {new}"
    absent = [text for text in made.assumptions if text not in given.assumptions]
    return f"the certificate leaves out that {absent[0]}" if absent else ""


def _counted_rows(certificate: Certificate) -> int | None:
    """Return the number of rows or groups that the inputs count; None if they count none.

    A measure is made again with the size it names, so that only its inputs can contradict it.
    """
    inputs = certificate.inputs
    bound = bound_of(str(inputs.get("bound", certificate.bound)))  # the one before a move, if any
    if bound is not None and bound.size in inputs:
        return int(inputs[bound.size])
    if "parts" in inputs:
        return sum(n for _, n in read_parts(inputs["parts"]))
    if "positives" in inputs:
        return int(inputs["positives"]) + int(inputs["negatives"])
    if losses := inputs.get("losses", inputs.get("savings")):
        blocks = [read_shares(block)[0] for block in str(losses).split("|")]
        return int(inputs.get("others", 0)) + sum(int(times.sum()) for times in blocks)
    return None


def recompute(certificate: Certificate, ledger: Ledger) -> float:
    """Compute the number of any certificate of ours again, from its inputs or from the ledger."""
    bound = bound_of(certificate.bound)
    if bound is None:
        raise LookupError(f"no bound is registered as {certificate.bound!r}")
    if certificate.bound == "training.product_bound":
        return bound.compute(ledger)
    return float(bound.compute(**certificate.inputs))


def _alone(given: Certificate) -> Check:
    """Check a certificate that lies in no file."""
    return _tried("bound", lambda: _number(given, without_rounds(""), "model", "measure"))


def _tried(name: str, look: Callable[[], Check]) -> Check:
    """Run a check; if impossible numbers make arithmetic fail, the check does not hold."""
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
    bound = None if model.certificate is None else bound_of(model.certificate.bound)
    whole = ledger.revised or not ledger.cells
    votes = [entry.vote if whole else 1.0 for entry in ledger.rounds]
    if ledger.potential == "none":  # members that have one vote each
        votes = [1.0] * len(model.vote.hypotheses)
    cast = rules_behind(model.vote).votes.tolist()
    if not (bound and bound.rounded) and cast != votes:
        return Check("rounds", False, "the votes are not those of the rounds")
    if vote_digest(model.vote) != ledger.vote_digest:
        return Check("rounds", False, "the rules or their votes are not those that were found")
    what = "themselves and the votes" if ledger.refills else "the theorem"
    return Check("rounds", True, f"{len(ledger)} rounds agree with {what}")
