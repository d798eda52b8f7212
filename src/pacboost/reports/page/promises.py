"""Certified claims with their rows and assumptions, and facts about the data and the run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from pacboost.bounds import wording
from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverage import SetRule
from pacboost.bounds.decision import ThresholdDecision
from pacboost.bounds.family import Family
from pacboost.bounds.rounding import confidence
from pacboost.bounds.training import margin_distribution
from pacboost.errors import NotCertified
from pacboost.models.file.parts import own_version
from pacboost.models.training_claim import learned_otherwise
from pacboost.numerics.percent import percent_above
from pacboost.numerics.same_bits import mean
from pacboost.reports.page import charts
from pacboost.reports.page.charts import Markup, Section, tag, together
from pacboost.reports.page.subject import Rows, Subject, mixed
from pacboost.reports.text import listed

TABLE_ROWS = 20
HEADS = ("recall", "recall_at_least", "false_positive_rate", "false_positive_rate_at_most")


def threshold_curves(decision: ThresholdDecision | None) -> Markup | None:
    """Draw recall and false alarms by the share of positive predictions, and against each other."""
    if decision is None or len(decision.curve.points) < 2:
        return None
    curves = {name: np.array(values) for name, values in decision.curve.columns.items()}
    recall, recall_least, alarms, alarms_most = (curves[name] for name in HEADS)
    n, m = decision.curve.positives, decision.curve.negatives
    called = (recall * n + alarms * m) / (n + m)
    here = int(np.argmin(np.abs(curves["threshold"] - decision.threshold)))

    def by_called(frame: charts.Frame) -> list[Markup]:
        return [
            frame.area(called, recall_least, recall),
            frame.area(called, alarms, alarms_most, "area two"),
            frame.line(called, recall, "curve"),
            frame.line(called, alarms, "curve two"),
            frame.upright(float(called[here])),
        ]

    def by_alarms(frame: charts.Frame) -> list[Markup]:
        order = np.lexsort((recall_least, alarms_most))
        upper, lower = alarms_most[order], np.maximum.accumulate(recall_least[order])
        return [
            frame.line([0, 1], [0, 1], "diagonal"),
            frame.area(upper, np.zeros(upper.size), lower),
            frame.line(alarms, recall, "curve"),
            frame.point(alarms[here], recall[here], "seen"),
        ]

    pair = tag(
        "div",
        charts.square("By the share that is called positive", "share", "rows called positive",
               "recall lies in the upper band and the false positive rate in the lower one, or "
               "better", by_called),
        charts.square("Recall against false alarms", "recall", "false positive rate",
               "the shaded region is reached by some threshold, with confidence", by_alarms),
        class_="pair",
    )  # fmt: skip
    legend = charts.key([("", "recall, seen"), ("two", "false alarms, seen"),
                  ("right", "guaranteed, for all thresholds at once"),
                  ("final", "the threshold")])  # fmt: skip
    rows = [
        (f"{curves['threshold'][k]:.4g}", *(f"{100 * curves[name][k]:.2f} %" for name in HEADS))
        for k in range(0, len(called), max(1, len(called) // TABLE_ROWS))
    ]
    head = ["threshold", *(name.replace("_", " ") for name in HEADS)]
    details = charts.numbers_table(head, rows, "Seen and guaranteed by threshold")
    return together(tag("h3", "The threshold and its neighbours"), legend, pair, details)


def answered_curve(answering: Answering | None) -> Markup | None:
    """Draw the measured and the certified error of answered rows by their share."""
    if answering is None or answering.chosen is None or len(answering.points) < 2:
        return None
    share = np.array([point.answered / answering.rows for point in answering.points])
    measured = np.array([point.mistakes / max(1, point.answered) for point in answering.points])
    certified, here = np.array(answering.errors), answering.chosen
    top = float(min(1.0, 1.2 * max(certified[here], measured.max(), np.median(certified)))) or 0.01
    frame = charts.Frame.of((0, 1), (0, top), top=26)
    drawing = frame.svg(
        "Error among the answered",
        "seen and certified",
        frame.axes("rows that are answered →", x_shares=True),
        frame.area(share, measured, np.minimum(certified, top)),
        frame.line(share, np.minimum(certified, top), "curve bound"),
        frame.line(share, measured, "curve"),
        frame.upright(float(share[here])),
        tag("text", "error among the answered ↑", x=2, y=12, class_="label"),
    )
    legend = charts.key([("", "seen"), ("bound", "certified: at most"), ("final", "chosen")])
    title = tag("h3", "Answering less, and being right more often")
    return together(title, charts.figure(drawing, key=legend))


HEAD = ["what you may count on", "certified", "rows", "confidence"]


def promises(subject: Subject, rows: Rows) -> Section | None:
    """List every claim about new examples, and draw the guarantees of a threshold."""
    parts = [part for part in _parts(subject) if part[1]]
    measures = [one.of_what for _, certificates, _ in parts for one in certificates]
    if not parts or measures == [wording.NEW_EXAMPLES]:
        return None  # the sentence at the top says it
    lead = [
        "Every number here is proved for new examples like those it was counted on, with the "
        "confidence in the last column. “Rows” is the number of rows that were counted.",
        "Claims in one table share their confidence: they hold together. Different tables are "
        "different claims.",
    ]
    tables = [_table(title, certificates, note) for title, certificates, note in parts]
    curves = threshold_curves(subject.decision), answered_curve(subject.answering)
    return Section("promises", "What you may count on", lead, together(tables, *curves))


Part = tuple[str, Sequence[Certificate], str]


def _parts(subject: Subject) -> Iterator[Part]:
    """Yield titles, certificates that hold together, and notes."""
    decision, answering, covers = subject.decision, subject.answering, subject.model.coverage
    if decision is not None:
        at = f"At the threshold {decision.threshold:.4g} for class “{decision.positive}”"
        yield at, [decision.certificate], "This is what the threshold was chosen for."
        yield "What it costs on the other side", list(decision.others), ""
    else:
        yield "All predictions", [entry for entry in subject.certificates if entry.delta > 0], ""
    if answering is not None and answering.chosen is not None:
        yield "Answers that are given", [answering.certificate], answering.answers()
    if covers is not None:
        if isinstance(covers, SetRule):
            title, size = "Prediction sets", f"hold {covers.mean_size:.4g} classes on average"
        else:
            title, size = "Prediction intervals", f"are {covers.mean_width:.4g} wide on average"
        yield title, covers.certificates, f"On the calibration rows they {size} (an estimate)."
    for entry in subject.certified:
        if isinstance(entry, Certificate):
            yield "Certified by further rows", [entry], ""
        else:
            yield "Certified by further rows, all at once", entry.certificates, _worst(entry)


def _worst(family: Family) -> str:
    """Name the worst group, if there are groups of one measure."""
    measures = {(one.of_what, one.details.get("class")) for one in family}
    if len(measures) > 1 or not any("group" in one.details for one in family):
        return ""
    return f"Worst group: {family.worst_group}. {family.worst.claim}"


def _table(title: str, certificates: Sequence[Certificate], note: str) -> Markup:
    rows = [
        (one.claim, number(one), f"{one.size:,}", f"{confidence(one.delta)}")
        for one in certificates
    ]
    claims = charts.table(HEAD, rows, caption=title, class_="promises")
    return tag("div", claims, charts.remark(note))


def number(certificate: Certificate) -> str:
    """Format the certified number with its direction, rounded to the safe side."""
    if certificate.vacuous:
        return "nothing"
    return f"{'≥' if wording.is_lower(certificate) else '≤'} {_value(certificate)}"


def _value(certificate: Certificate) -> str:
    kind = wording.quantity(certificate.of_what)
    if kind is None:
        return percent_above(certificate.value, 2)
    return wording.number_of(certificate, kind.in_per_cent)


DOES_NOT_SAY = (
    "that any single prediction is right: it bounds the share of many that is wrong",
    "anything about examples from another distribution: if customers, machines or habits change, "
    "certify again",
    "that errors are spread evenly: the error may be larger in some groups",
)


def certificates(subject: Subject, rows: Rows) -> Section | None:
    """Show each certificate with its assumptions and all its inputs."""
    if not subject.classes:
        return None
    decision = subject.decision
    chosen = () if decision is None else (decision.certificate, *decision.others)
    if not chosen and not any(one.delta > 0 for one in subject.certificates):
        chosen = () if subject.beside is None else (subject.beside,)
    fresh = [one for one in subject.certified if isinstance(one, Certificate)]
    claims = (*chosen, *fresh, *subject.certificates)
    about_new = any(certificate.delta > 0 for certificate in claims)
    folded = "The bound on the training error"
    cards = [_card(one) if one.delta > 0 else charts.numbers(folded, _card(one)) for one in claims]
    if not about_new:
        cards.insert(0, _without(subject))
    else:
        does_not = tag("ul", (tag("li", text) for text in DOES_NOT_SAY))
        cards.append(tag("div", tag("h3", "What it does not say"), does_not, class_="aside"))
    command, function = tag("code", "pacboost verify"), tag("code", "pacboost.verify")
    lead = [
        "Every bound, and what it rests on. All numbers are given, so it can be recomputed without "
        "the data.",
        together(command, " does so from a model file, and ", function, " from a certificate."),
    ]
    return Section("certificates", "What is proved", lead, together(cards, _margins(subject)))


def _card(certificate: Certificate) -> Markup:
    value = "vacuous" if certificate.vacuous else _value(certificate)
    end = "at least" if wording.is_lower(certificate) else "at most"
    unit = "groups" if certificate.of_what == wording.NEW_GROUPS else "rows"
    delta = certificate.delta
    sure = f"with {confidence(delta)} confidence" if delta else "with certainty"
    assumed = [tag("li", text) for text in certificate.assumptions] or [tag("li", "Nothing.")]
    facts = [
        ("Theorem", certificate.theorem),
        ("Reference", certificate.reference),
        ("Counted on", f"{certificate.size:,} {unit}: {certificate.rows_in_words}"),
        ("Independent of", certificate.independent_of),
        ("After it was looked at", _after(certificate)),
    ]
    inputs = [
        (name, f"{value:.6g}" if isinstance(value, float) else f"{value}")
        for name, value in sorted(certificate.inputs.items())
    ]
    inputs.append(("bound", f"{certificate.value:.10g}"))
    all_numbers = charts.table(["quantity", "value"], inputs, caption="All inputs of the bound")
    grounds = together(tag("h4", "It assumes"), tag("ul", assumed), charts.terms(facts))
    if certificate.delta == 0:  # it is about training rows only, so the details are folded away
        grounds = charts.numbers("What it rests on", together(grounds, all_numbers))
    else:
        grounds = together(grounds, charts.numbers("The numbers behind it", all_numbers))
    measure = tag("p", certificate.of_what.replace("_", " "), class_="tag")
    side = tag("p", sure if certificate.vacuous else f"{end}, {sure}", class_="sure")
    stamp = tag("div", measure, tag("p", value, class_="figure"), side, class_="stamp")
    claim = tag("div", tag("h3", str(wording.claim_beside_others(certificate))), grounds)
    plain = "" if certificate.delta else " plain"
    return tag("article", stamp, claim, class_=f"card certificate{plain}")


def _after(certificate: Certificate) -> str:
    if certificate.valid_after_looking:
        return "It remains valid."
    return (
        "Do not choose among models by it: if it is used to change the model, the new model needs "
        "a certificate by other rows."
    )


def _without(subject: Subject) -> Markup:
    refusal = "" if subject.certificates else subject.refusal
    reason = refusal or "no rows were held out"
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
    """Return what the theorem says about margins, if it applies."""
    if not len(subject.model.ledger) or learned_otherwise(subject.model):
        return None
    try:
        shares = margin_distribution(subject.model.ledger)
    except NotCertified:
        return None
    lines = [(f"{t:g}", "vacuous" if share >= 1 else percent_above(share)) for t, share in shares]
    margins = charts.table(["margin at most", "on at most this share of training rows"], lines,
                 caption="Margins of training rows, by the theorem")  # fmt: skip
    return charts.numbers("What the theorem says about margins", margins)


MAX_NAMES = 24

Fact = tuple[str, str]


def tiles(subject: Subject) -> Markup:
    """Return the most important numbers."""
    ledger, facts = subject.model.ledger, list[Fact]()
    if ledger.rows:
        facts.append((f"{ledger.rows:,}", "rows drawn" if ledger.refills else "training rows"))
    columns = "columns"
    if subject.model.text is not None:
        columns = "words and conditions" if mixed(subject.model) else "words and n-grams"
    facts.append((f"{subject.model.schema.n_columns:,}", columns))
    if subject.classes:
        labels = "labels" if ledger.several_labels or subject.model.labels else "classes"
        facts.append((f"{len(subject.classes):,}", labels))
    unit = "trees" if subject.model.forest else "rounds" if len(ledger) else "members"
    facts.append((f"{len(ledger) or len(subject.model.vote):,}", unit))
    return tag("ul", (tag("li", tag("b", number), tag("span", what)) for number, what in facts),
               class_="tiles")  # fmt: skip


def facts(subject: Subject, rows: Rows) -> Section:
    """List facts about the data and the run."""
    listed_facts = [("Method", subject.kind), *_run(subject), *_data(subject)]
    if rows is not None:
        note = "; many of them are training rows" if rows.has_training_rows else ""
        listed_facts.append(("Rows given for this report", f"{rows.rows:,}{note}"))
    listed_facts.append(("Written by", f"pacboost {own_version()}"))
    lead = [
        "The data and the settings. The fingerprint identifies the trees of a forest, or the "
        "record of the rounds: equal runs have equal fingerprints."
    ]
    return Section("facts", "Data and run", lead, charts.terms(listed_facts, class_="facts"))


def _run(subject: Subject) -> list[Fact]:
    ledger, facts = subject.model.ledger, []
    if ledger.rounds:
        edges = np.array([entry.edge for entry in ledger.rounds])
        facts.append(("Rounds", f"{len(ledger):,}"))
        if np.isfinite(edges).all() and not ledger.regression:
            text = f"{mean(edges):.3f} on average, {edges[-1]:.3f} in the last round"
            facts.append(("Edge of the rules", text))
        last = ledger.rounds[-1].effective_size
        if math.isfinite(last) and ledger.classes == 1 and not ledger.refills:
            facts.append(("Effective size at the end", f"{last:,.0f} of {ledger.rows:,} rows"))
        seconds = math.fsum(entry.seconds for entry in ledger.rounds)
        passed = f"{seconds:.2f} s" if seconds >= 0.01 else "below 10 ms"
        facts.append(("Time of the rounds", passed))
    if ledger.stopped:
        facts.append(("Why it stopped", ledger.stopped))
    if ledger.multiclass:
        facts.append(("Multiclass method", ledger.multiclass))
    if ledger.weighted:
        facts.append(("Weights", "the rows were weighted"))
    return [*facts, ("Fingerprint", subject.model.digest()[:32])]


def _data(subject: Subject) -> list[Fact]:
    facts, model = [], subject.model
    if subject.classes:
        facts.append(("Classes", listed(subject.classes, MAX_NAMES)))
    if model.text is None:
        facts.append(("Columns", listed(model.column_names, MAX_NAMES)))
    else:
        options = ", ".join(f"{key} {value}" for key, value in model.text.parameters().items()
                            if isinstance(value, str | int | bool | list | tuple))  # fmt: skip
        facts.append(("How texts are read", options))
    if model.calibration is not None:
        facts.append(("Probabilities", f"calibrated ({model.calibration.method})"))
    return facts
