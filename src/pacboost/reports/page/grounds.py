"""The certificates, with their assumptions and all numbers that enter them."""

from __future__ import annotations

import math

import numpy as np

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.rounding import confidence
from pacboost.bounds.training import margin_distribution
from pacboost.bounds.wording import KINDS, NEW_GROUPS, is_lower, number_of
from pacboost.errors import NotCertified
from pacboost.ledgers.ledger import Ledger
from pacboost.models.file.parts import own_version
from pacboost.numerics.percent import percent_above
from pacboost.numerics.same_bits import mean
from pacboost.reports.page.charts import Markup, Section, numbers, paragraphs, table, tag, together
from pacboost.reports.page.subject import Evidence, Numbers, Subject, mixed
from pacboost.reports.text import listed

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


# Facts about the data and the run.

MOST_NAMED = 24

Fact = tuple[str, str]


def tiles(subject: Subject) -> Markup:
    """The most important numbers."""
    ledger, found = subject.ledger, list[Fact]()
    if ledger is not None and ledger.rows:
        found.append((f"{ledger.rows:,}", "rows drawn" if ledger.refills else "training rows"))
    found.append((f"{len(subject.names):,}", _columns(subject)))
    if subject.classes:
        labels = "labels" if ledger is not None and ledger.several_labels else "classes"
        found.append((f"{len(subject.classes):,}", labels))
    unit = "trees" if ledger is None else subject.unit
    found.append((f"{subject.members:,}", unit))
    return tag("ul", (tag("li", tag("b", number), tag("span", what)) for number, what in found),
               class_="tiles")  # fmt: skip


def facts(subject: Subject, rows: Evidence | Numbers | None) -> Section:
    """List what is known about the data and the run."""
    known = [("Method", subject.kind), *_run(subject.ledger), *_data(subject)]
    if rows is not None:
        seen = "; many of them are training rows" if rows.seen else ""
        known.append(("Rows given for this report", f"{rows.rows:,}{seen}"))
    known.append(("Written by", f"pacboost {own_version()}"))
    body = tag("dl", (tag("div", tag("dt", n), tag("dd", v)) for n, v in known), class_="facts")
    lead = paragraphs("The data and the settings. The fingerprint identifies the record of "
                      "the rounds: equal runs have equal fingerprints.")  # fmt: skip
    return Section("facts", "Data and run", lead, together(body))


def _columns(subject: Subject) -> str:
    if subject.model is None or not subject.text:
        return "columns"
    return "words and conditions" if mixed(subject.model) else "words and n-grams"


def _run(ledger: Ledger | None) -> list[Fact]:
    if ledger is None:
        return []
    found = []
    if ledger.rounds:
        edges = np.array([entry.edge for entry in ledger.rounds])
        found.append(("Rounds", f"{len(ledger):,}"))
        if np.isfinite(edges).all() and not ledger.regression:
            said = f"{mean(edges):.3f} on average, {edges[-1]:.3f} in the last round"
            found.append(("Edge of the rules", said))
        last = ledger.rounds[-1].effective_size
        if math.isfinite(last) and ledger.classes == 1 and not ledger.refills:
            found.append(("Effective size at the end", f"{last:,.0f} of {ledger.rows:,} rows"))
        seconds = math.fsum(entry.seconds for entry in ledger.rounds)
        found.append(
            ("Time of the rounds", f"{seconds:.2f} s" if seconds >= 0.01 else "below 10 ms")
        )
    if ledger.stopped:
        found.append(("Why it stopped", ledger.stopped))
    if ledger.multiclass:
        found.append(("Multiclass method", ledger.multiclass))
    if ledger.weighted:
        found.append(("Weights", "the rows were weighted"))
    return [*found, ("Fingerprint", ledger.digest()[:32])]


def _data(subject: Subject) -> list[Fact]:
    found = []
    if subject.classes:
        found.append(("Classes", listed(subject.classes, MOST_NAMED)))
    if not subject.text:
        found.append(("Columns", listed(subject.names, MOST_NAMED)))
    model = subject.model
    if model is None:
        return found
    if model.text is not None:
        options = ", ".join(f"{key} {value}" for key, value in model.text.parameters().items()
                            if isinstance(value, str | int | bool | list | tuple))  # fmt: skip
        found.append(("How texts are read", options))
    if model.calibration is not None:
        found.append(("Probabilities", f"calibrated ({model.calibration.method})"))
    return found
