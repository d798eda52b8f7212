"""The certificates, with their assumptions and all numbers that enter them."""

from __future__ import annotations

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.measures import KINDS, is_lower, number_of
from pacboost.bounds.rounding import confidence
from pacboost.bounds.training import margin_distribution
from pacboost.bounds.wording import NEW_GROUPS
from pacboost.errors import NotCertified
from pacboost.numerics.percent import percent_above
from pacboost.reports.page.markup import Markup, numbers, table, tag, together
from pacboost.reports.page.section import Section, paragraphs
from pacboost.reports.page.subject import Subject

DOES_NOT_SAY = (
    "that any single prediction is right: it bounds the share of many that is wrong",
    "anything about examples from another distribution: if customers, machines or habits change, "
    "certify again",
    "that errors are spread evenly: the error may be larger in some groups",
)


def certificates(subject: Subject) -> Section:
    """One card for each certificate, with its assumptions and all numbers that went into it."""
    decision = subject.decision
    chosen = () if decision is None else (decision.certificate, *decision.others)
    if not chosen and not any(own.delta > 0 for own in subject.certificates):
        chosen = () if subject.beside is None else (subject.beside,)
    claims = (*chosen, *subject.certificates)
    about_new = any(certificate.delta > 0 for certificate in claims)
    cards = [
        numbers("The bound on the training error", _card(certificate))
        if about_new and certificate.delta == 0
        else _card(certificate)
        for certificate in claims
    ]
    if not about_new:
        cards.append(_without(subject))
    else:
        does_not = tag("ul", (tag("li", text) for text in DOES_NOT_SAY))
        cards.append(tag("div", tag("h3", "What it does not say"), does_not, class_="aside"))
    lead = paragraphs(
        "Every bound, and what it rests on. All numbers are given, so it can be "
        "recomputed without the data.",
        together(tag("code", "pacboost verify"), " does so from the model file."),
    )
    return Section("certificates", "What is proved", lead, together(cards, _margins(subject)))


def _card(certificate: Certificate) -> Markup:
    value = "vacuous" if certificate.vacuous else _figure(certificate)
    end = "at least" if is_lower(certificate) else "at most"
    unit = "groups" if certificate.of_what == NEW_GROUPS else "rows"
    sure = (
        f"with {confidence(certificate.delta)} confidence"
        if certificate.delta
        else "with certainty"
    )
    assumed = [tag("li", text) for text in certificate.assumptions] or [tag("li", "Nothing.")]
    facts = [
        ("Theorem", certificate.theorem),
        ("Reference", certificate.reference),
        ("Counted on", f"{certificate.size:,} {unit}: {certificate.sample}"),
        ("Independent of", certificate.independent_of),
        ("After it was looked at", _after(certificate)),
    ]
    inputs = [
        (name, f"{value:.6g}" if isinstance(value, float) else f"{value}")
        for name, value in sorted(certificate.inputs.items())
    ]
    terms = tag("dl", (tag("div", tag("dt", name), tag("dd", text)) for name, text in facts))
    all_numbers = table(["quantity", "value"], [*inputs, ("bound", f"{certificate.value:.10g}")],
                        caption="All inputs of the bound")  # fmt: skip
    grounds = together(tag("h4", "It assumes"), tag("ul", assumed), terms)
    if certificate.delta == 0:  # it is about training rows only, so the details are folded away
        grounds = numbers("What it rests on", together(grounds, all_numbers))
    else:
        grounds = together(grounds, numbers("The numbers behind it", all_numbers))
    return tag(
        "article",
        tag(
            "div",
            tag("p", certificate.of_what.replace("_", " "), class_="tag"),
            tag("p", value, class_="figure"),
            tag("p", f"{end}, {sure}" if not certificate.vacuous else sure, class_="sure"),
            class_="stamp",
        ),
        tag("div", tag("h3", certificate.claim), grounds),
        class_="card certificate" if certificate.delta else "card certificate plain",
    )


def _figure(certificate: Certificate) -> str:
    """Write the number of a certificate, rounded so that the claim does not become stronger."""
    if certificate.of_what not in KINDS:
        return percent_above(certificate.value, 2)
    return number_of(certificate, KINDS[certificate.of_what].rate)


def _after(certificate: Certificate) -> str:
    if certificate.valid_after_looking:
        return "It remains valid."
    return (
        "Do not choose among models by it: if it is used to change the model, the new model needs "
        "a certificate by other rows."
    )


def _without(subject: Subject) -> Markup:
    reason = (
        subject.refusal
        if not subject.certificates and subject.refusal
        else ("no rows were held out")
    )
    way = together(
        "Fit with ", tag("code", 'certify="holdout"'), ", or pass rows that the model was not "
        "trained on to ", tag("code", "pacboost.certify(model, X, y)"), "."
    )  # fmt: skip
    return tag(
        "div",
        tag("h3", "Nothing is proved about new examples"),
        tag("p", f"{reason[:1].upper()}{reason[1:].rstrip('.')}."),
        tag("p", way) if subject.classes else None,
        class_="aside",
    )


def _margins(subject: Subject) -> Markup | None:
    """What the theorem says about margins, where it does."""
    if subject.ledger is None or not len(subject.ledger):
        return None
    try:
        known = margin_distribution(subject.ledger)
    except NotCertified:
        return None
    said = [
        (f"{theta:g}", "vacuous" if share >= 1 else percent_above(share)) for theta, share in known
    ]
    made = table(["margin at most", "on at most this share of training rows"], said,
                 caption="Margins of training rows, by the theorem")  # fmt: skip
    return numbers("What the theorem says about margins", made)
