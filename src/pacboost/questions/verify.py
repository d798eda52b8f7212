"""Is the certificate in a model file right? Everything is recomputed, without the data.

What is checked: that the certificate was made for the whole model in the file, that the numbers
agree with each other and with the theorem, and that the theorem gives the number again. What no
check without data can find: mistakes that were counted wrongly from the start, and a file that
somebody made from scratch, with its digest. A digest is no signature.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from pacboost.boosters.multiclass import method_of
from pacboost.bounds import counted_rows, estimates, table_facts, wording
from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate, makers
from pacboost.bounds.coverage import IntervalRule, SetRule, coverage_words
from pacboost.bounds.decision import ThresholdDecision
from pacboost.bounds.family import Family
from pacboost.bounds.holdout import CLASSES, read_shares
from pacboost.bounds.rates import read_parts
from pacboost.bounds.registry import bound_of
from pacboost.hypotheses.pattern import rules_behind
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.ledgers.counterexample import Counterexample
from pacboost.ledgers.ledger import Ledger
from pacboost.models.file import container
from pacboost.models.file.format import kind_of, load, opened, read
from pacboost.models.model import Model, without_rounds
from pacboost.models.training_claim import learned_otherwise
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
TRAINING_BOUND = "training.product_bound"
DIGEST_PARTS = {
    "model": "rules, votes, bins, column names, levels, classes, calibration, words and ledger",
    "forest": "trees, bins, column names, levels and classes",
}
"""What the digest of a claim covers, by the kind of the file."""
FIELDS_CHECKED_ELSEWHERE = (
    "ledger_digest", "model_digest", "rows_checked", "assumptions", "beside",
)  # fmt: skip
"""Fields that other checks compare, that may say more than the bound does, or that no file has."""
FLAGS = (wording.DISTINCT_ROWS, wording.HAVE_TIMES, wording.WITHOUT_WEIGHTS)
"""Details that are 1, or left out."""


def verify(path: str | Path | Certificate | Family, *, memory: int = 0) -> list[Check]:
    """Check a model file: that its certificate belongs to the model, and every number in it.

    A certificate, or a family of them, as ``certify_all`` gives it, is recomputed from its
    counts.

    The certificate stands if every check holds. This shows that a file is consistent, not who wrote
    it: somebody who swaps the labels and computes the digests anew has written another consistent
    file. Reading a file may take ``memory`` bytes, if that is more than its size allows.
    """
    if isinstance(path, Certificate | Family):
        return [*map(_alone, path if isinstance(path, Family) else [path])]
    return checks(read(path, memory), Path(path))


def sentence(path: str | Path, *, memory: int = 0) -> str:
    """Return what the certificate of a file claims; "" if it has none."""
    model = load(path, memory)
    covers = "" if model.coverage is None else coverage_words(model.coverage.certificate)
    if model.decision is not None:
        return f"{model.decision.sentence} {covers}".strip()
    if model.certificate is None:
        return covers
    words = estimates.in_words(model.certificate, model.held_out, model.label_names)
    return f"{words} {covers}".strip()


def of_training(path: str | Path, *, memory: int = 0) -> bool:
    """Check whether a file certifies nothing but its training error."""
    model = load(path, memory)
    of_new = model.decision is not None or model.coverage is not None
    certificate = None if of_new else model.certificate
    return certificate is not None and certificate.of_what in wording.OF_TRAINING


def checks(content: container.Content, path: Path) -> list[Check]:
    """Check the content of a file; errors name ``path``."""
    model = opened(content, path)
    document, kind = content.document, content.kind
    covers = _covers(model, document, kind)
    rounds = [] if model.forest else [_tried("rounds", lambda: _rounds(model))]
    if model.ledger.counterexample is not None:
        rounds.append(_counterexample(model.ledger.counterexample, len(model.ledger)))
    if model.decision is not None:
        return [*rounds, *_decided(model.decision, document, kind), *covers]
    results = [*_certified(model, document, rounds), *_answers(model.answering, document)]
    return [*(check for check in results if not covers or check is not NO_CERTIFICATE), *covers]


def _counterexample(counter: Counterexample, rounds: int) -> Check:
    """Add up the edges of all rules again."""
    problem, rules = counter.problem(rounds), len(counter.agreement)
    words = (
        f"under the weights of {len(counter.rows):,} rows none of {rules:,} rules has an edge "
        f"above {counter.edge:.4g}, and {counter.promised:g} was promised"
    )
    return Check("counterexample", problem is None, problem or words)


def _certified(model: Model, document: Mapping[str, Any], rounds: list[Check]) -> list[Check]:
    """Check that the certificate belongs to this vote, and that its inputs give its number."""
    certificate, kind = model.certificate, kind_of(model)
    if certificate is None:
        return [*rounds, NO_CERTIFICATE]
    what, these = ("trees", "these are") if model.forest else ("ledger", "this one is")
    digest, made_for, count = model.digest(), certificate.ledger_digest, len(model.vote)
    words = f"the certificate was made for {what} {made_for[:16]}, {these} {digest[:16]}"
    whose = Check(what, made_for == digest, words)
    if model.forest and certificate.details.get("members", count) != count:
        whose = Check(what, False, f"there are {count} trees, not as many as the claim says")
    number = _tried("bound", lambda: _number(certificate, model.ledger, kind))
    if certificate.bound == TRAINING_BOUND and (names := learned_otherwise(model)):
        column = names[0]
        words = f"the rows of the fit had other values of '{column}' than predict gives them"
        number = Check("bound", False, words)
    if number.holds and (difference := next(_contradictions(certificate, model), "")):
        number = Check("bound", False, difference)
    return [_bound(document, "certificate", kind), whose, *rounds, number]


def _contradictions(certificate: Certificate, model: Model) -> Iterator[str]:
    """Return how a certificate differs from what else the file says of its rows."""
    held_out, inputs, ledger = model.held_out, certificate.inputs, model.ledger
    of_rows = certificate.bound == "holdout.clopper_pearson"
    if of_rows and ledger.weighted and wording.WITHOUT_WEIGHTS not in certificate.details:
        yield "training rows had weights, and the certificate does not say that it counts without"
    if of_rows and (CLASSES in certificate.assumptions) != bool(ledger.refills):
        yield "only rows that are set apart while a source is read assume that classes are known"
    if held_out is None:
        # A fit keeps its predictions, unless all labels of these rows are new, so that all are
        # wrong; bags, which load as forests, keep none.
        if of_rows and not model.forest and inputs["k"] < inputs["n"]:
            yield "the predictions of the rows that were counted are left out"
        return
    if of_rows or certificate.bound == "dependent.ordered_mixture":
        rows, wrong = held_out.rows, held_out.wrong
        if inputs["n"] != rows:
            yield f"the certificate counts {inputs['n']:,} rows, the table of predictions {rows:,}"
        if not held_out.labels and inputs["k"] != wrong:
            yield f"the certificate counts {inputs['k']:,} mistakes, the predictions {wrong:,}"
    labels = model.labels if model.forest else model.classes.size * ledger.several_labels
    yield from table_facts.contradictions(held_out, model.classes.size, labels)


def _answers(answering: Answering | None, document: Mapping[str, Any]) -> list[Check]:
    if answering is None:
        return []
    tied = _bound(document, "answering", "model")
    if not tied.holds:
        return [Check("answers", False, tied.words)]
    target = answering.target_error
    # each threshold has a true bound, so a file could name another one than the target has chosen
    if target is not None and answering.within(target).chosen != answering.chosen:
        words = f"the threshold is not the one that keeps an error of {target:g}"
        return [Check("answers", False, words)]
    lowest = percent_above(min(answering.errors))
    words = f"{len(answering.points)} thresholds give their bounds again, the least {lowest}"
    return [Check("answers", True, words)]


def _decided(decision: ThresholdDecision, document: Mapping[str, Any], kind: str) -> list[Check]:
    tied = _bound(document, "decision", kind)
    certificates = (decision.certificate, *decision.others)

    def contradiction() -> Check:
        difference = decision.contradiction()
        return Check("bound", not difference, difference)

    consistent = _tried("bound", contradiction)
    if not consistent.holds:
        return [tied, consistent]
    return [tied, *map(_alone, certificates), *_overspent(decision.others)]


def _covers(model: Model, document: Mapping[str, Any], kind: str) -> list[Check]:
    rule = model.coverage
    if rule is None:
        return []

    def consistent() -> Check:
        difference = next(_other_coverage(rule, model.label_names), "")
        return Check("coverage", not difference, difference)

    check = _tried("coverage", consistent)
    if not check.holds:
        return [check]
    results = [_bound(document, "coverage", kind), *map(_alone, rule.certificates)]
    return results + _overspent(getattr(rule, "certificate", None))


def _other_coverage(rule: SetRule | IntervalRule, names: list[str]) -> Iterator[str]:
    """Return how claims of coverage differ from the sets or intervals that they are about."""
    details = [certificate.details for certificate in rule.certificates]
    of = [certificate.of_what for certificate in rule.certificates]
    about = [one.get("class", one.get("group")) for one in details]
    if rule.parts(names) != [*zip(of, about, strict=True)]:
        yield "a claim of coverage is about another class or group"
    if rule.cutoffs != tuple(one.get("cutoff") for one in details):
        yield "a claim of coverage was made for another cutoff"
    method = rule.method if isinstance(rule, IntervalRule) else rule.score.method
    alone = isinstance(rule.certificate, Certificate)
    if any(one.get("method") != (method if alone else None) for one in details):
        yield "a claim of coverage was made for another method"
    for certificate in rule.certificates:  # all scores up to that of the rank are covered
        n, seen = int(certificate.inputs["n"]), float(certificate.details["seen"])
        if not int(certificate.inputs["rank"]) <= round(seen * n) <= n:
            yield f"{seen} is not the share of these rows that is covered"


def _overspent(family: Certificate | Family | None) -> list[Check]:
    """Return a check that fails if the claims together may fail with more than their delta."""
    if not isinstance(family, Family):
        return []

    def spent() -> Check:
        shares = sum(Fraction(1, int(certificate.inputs["claims"])) for certificate in family)
        fits = shares <= 1 and all(certificate.delta == family.delta for certificate in family)
        return Check("bound", fits, f"the claims together may fail with more than {family.delta}")

    check = _tried("bound", spent)
    return [] if check.holds else [check]


def _bound(document: Mapping[str, Any], claim: str, kind: str) -> Check:
    names = {"answering": "table of answers", "coverage": "calibration of sets or intervals"}
    what = names.get(claim, claim)
    if not container.binds(document, claim):
        changed = (
            f"one of the two was changed afterwards ({DIGEST_PARTS[kind]}, or the {what} itself)"
        )
        return Check("model", False, f"the {what} was not made for what this file holds: {changed}")
    return Check("model", True, f"the model is the one that the {what} was made for")


def _number(certificate: Certificate, ledger: Ledger, *kinds: str) -> Check:
    """Recompute the certificate, from the ledger or from its inputs, and compare all of it."""
    difference = _difference(certificate, ledger, *kinds)
    words = difference or f"{certificate.bound} gives {certificate.value:.6g} again"
    return Check("bound", not difference, words)


def _difference(certificate: Certificate, ledger: Ledger, *kinds: str) -> str:
    """Return how a certificate differs from the one that its bound computes; "" if it does not."""
    makers_by_bound = makers(*kinds)
    if certificate.bound not in makers_by_bound:
        return f"bound {certificate.bound!r} is not among {', '.join(makers_by_bound)}"
    recomputed = makers_by_bound[certificate.bound](certificate, ledger)
    details = certificate.details
    recomputed = recomputed.detailed({n: details[n] for n in wording.ABOUT_ROWS if n in details})
    recomputed = recomputed.filtered(certificate.details)
    if difference := _impossible(certificate):
        return difference
    if certificate.size > int(certificate.details.get("offered", certificate.size)):
        return f"{certificate.size} rows were counted, more than coins were tossed for"
    counted = _counted_rows(certificate)
    if counted is not None and certificate.size != counted:
        return f"size says {certificate.size:,}, but its inputs count {counted:,}"
    for name in [f.name for f in fields(Certificate) if f.name not in FIELDS_CHECKED_ELSEWHERE]:
        old, new = getattr(certificate, name), getattr(recomputed, name)
        if old != new:
            return f"{name} says {old}, but it is {new}"
    return next(_other_words(certificate, recomputed), "")


def _other_words(certificate: Certificate, recomputed: Certificate) -> Iterator[str]:
    """Return how the texts differ from those of the bound and of the details."""
    if counted_rows.are_free(certificate):
        yield from counted_rows.contradictions(certificate)
    expected = {*recomputed.assumptions}
    expected |= set() if certificate.rows_checked else {wording.UNCHECKED}
    expected |= {CLASSES} & {*certificate.assumptions}  # compared with the ledger, if there is one
    stated = certificate.assumptions
    if absent := [text for text in recomputed.assumptions if text not in stated]:
        yield f"the certificate leaves out that {absent[0]}"
    if unknown := [text for text in stated if text not in expected]:
        yield f"the certificate assumes that {unknown[0]}, which nothing in it says"
    if len(set(stated)) < len(stated):
        yield "an assumption is repeated"


def _impossible(certificate: Certificate) -> str:
    """Return which detail is impossible or contradicts an assumption; "" if none does."""
    details, kind = certificate.details, wording.quantity(certificate.of_what)
    for name in (*wording.UNANSWERED, wording.SHARE_LEARNED, wording.SHARE_BUT_ONE, *FLAGS):
        value = float(details.get(name, 1))
        if not 0 < value <= 1 or (name in FLAGS and value < 1):
            return f"{name} is {details[name]}, which no rows give"
    if not 0 <= float(details.get("seen", 0)) <= wording.largest_of(certificate):
        return f"seen is {details['seen']}, which no rows can give"
    if not int(details.get(wording.UNMOVED_PAIRS, 0)) >= 0:
        return f"{wording.UNMOVED_PAIRS} is {details[wording.UNMOVED_PAIRS]}, which is not a count"
    if kind is not None and kind.of_class != ("class" in details):
        return f"{certificate.of_what} is {'' if kind.of_class else 'not '}a measure of one class"
    if certificate.rows_checked == (wording.UNCHECKED in certificate.assumptions):
        return f"rows_checked says {certificate.rows_checked}, and the assumptions contradict it"
    return ""


def _counted_rows(certificate: Certificate) -> int | None:
    """Return the number of rows or groups that the inputs count; None if they count none.

    A measure is recomputed with the size it names, so that only its inputs can contradict it.
    """
    inputs = certificate.inputs
    bound = wording.bound_before(certificate)
    if bound is not None and bound.size in inputs:
        return int(inputs[bound.size])
    if "parts" in inputs:
        return sum(n for _, n in read_parts(inputs["parts"]))
    if "positives" in inputs:
        return int(inputs["positives"]) + int(inputs["negatives"])
    if losses := inputs.get("losses", inputs.get("savings")):
        blocks = [read_shares(block)[0] for block in losses]
        return int(inputs.get("others", 0)) + sum(int(times.sum()) for times in blocks)
    return None


def recompute(certificate: Certificate, ledger: Ledger) -> float:
    """Recompute the number of any certificate of pacboost, from its inputs or from the ledger."""
    bound = bound_of(certificate.bound)
    if bound is None:
        raise LookupError(f"no bound is registered as {certificate.bound!r}")
    if certificate.bound == TRAINING_BOUND:
        return bound.compute(ledger)
    return float(bound.compute(**certificate.inputs))


def _alone(certificate: Certificate) -> Check:
    return _tried("bound", lambda: _number(certificate, without_rounds(""), "model", "measure"))


def _tried(name: str, look: Callable[[], Check]) -> Check:
    """Run a check; if its arithmetic fails, the check does not hold."""
    try:
        return look()
    except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
        return Check(name, False, f"the numbers make no sense ({problem})")


def _rounds(model: Model) -> Check:
    """Check that the numbers of all rounds agree with each other, the votes and the theorem."""
    ledger, product = model.ledger, 1.0
    is_plain = ledger.potential == "exponential" and not ledger.cells
    for entry in ledger.rounds:
        z = entry.error * math.exp(entry.vote) + (1 - entry.error) * math.exp(-entry.vote)
        product *= entry.normaliser
        fits = not is_plain or math.isclose(z, entry.normaliser, rel_tol=1e-9)
        # numbers of a round determine each other: a stranger who changes one has to change all, and
        # the digest of the ledger
        fits &= math.isclose(entry.edge, 1 - 2 * entry.error, abs_tol=1e-12)
        fits &= entry.weight > 0
        # SAMME's factors bound no error, and rows of a refill are other rows than those of the
        # round before
        if not method_of(ledger.multiclass).guesses and not ledger.refills:
            fits &= entry.training_error <= ledger.factor * product * (1 + 1e-6) + 1e-9
        if not fits:
            return Check("rounds", False, f"round {entry.number} contradicts itself")
    bound = None if model.certificate is None else bound_of(model.certificate.bound)
    has_votes = ledger.revised or not ledger.cells
    votes = [entry.vote if has_votes else 1.0 for entry in ledger.rounds]
    if ledger.potential == "none":  # members that have one vote each
        votes = [1.0] * len(model.vote.hypotheses)
    cast = rules_behind(model.vote).votes.tolist()
    if not (bound and bound.rounded) and cast != votes:
        return Check("rounds", False, "the votes are not those of the rounds")
    if vote_digest(model.vote) != ledger.vote_digest:
        return Check("rounds", False, "the rules or their votes are not those of the fit")
    what = "themselves and the votes" if ledger.refills else "the theorem"
    return Check("rounds", True, f"{len(ledger)} rounds agree with {what}")
