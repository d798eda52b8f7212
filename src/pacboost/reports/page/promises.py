"""What you may count on: every certified number with its sentence, its rows and its confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import wording
from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverage import SetRule
from pacboost.bounds.decision import ThresholdDecision
from pacboost.bounds.family import Family
from pacboost.bounds.rounding import confidence
from pacboost.numerics.percent import percent_above
from pacboost.reports.page.charts import (
    NARROW,
    Frame,
    Markup,
    Section,
    figure,
    key,
    numbers,
    paragraphs,
    short,
    table,
    tag,
    together,
)
from pacboost.reports.page.subject import Subject

# The curves around a threshold, with the region that is guaranteed for all thresholds at once.

HEIGHT = 300
LINES = 20
"""So many thresholds the table of numbers shows."""
Doubles = NDArray[np.float64]


def threshold_curves(decision: ThresholdDecision | None) -> Markup | None:
    """Draw recall and false alarms by how many rows are called positive, and against each other."""
    if decision is None or len(decision.curve.points) < 2:
        return None
    found = {name: np.array(own) for name, own in decision.curve.columns.items()}
    n, m = decision.curve.positives, decision.curve.negatives
    called = (found["recall"] * n + found["false_positive_rate"] * m) / (n + m)
    here = int(np.argmin(np.abs(found["threshold"] - decision.threshold)))
    legend = key([("", "recall, seen"), ("two", "false alarms, seen"),
                  ("right", "guaranteed, for all thresholds at once"),
                  ("final", "the threshold")])  # fmt: skip
    pair = tag("div", _by_called(found, called, here), _by_alarms(found, here), class_="pair")
    step = max(1, len(called) // LINES)
    rows = [
        (f"{found['threshold'][k]:.4g}", *(f"{100 * found[name][k]:.2f} %" for name in HEADS))
        for k in range(0, len(called), step)
    ]
    head = ["threshold", *(name.replace("_", " ") for name in HEADS)]
    made = numbers("The numbers", table(head, rows, caption="Seen and guaranteed by threshold"))
    return together(tag("h3", "The threshold and its neighbours"), legend, pair, made)


HEADS = ("recall", "recall_at_least", "false_positive_rate", "false_positive_rate_at_most")


def _by_called(found: dict[str, Doubles], called: Doubles, here: int) -> Markup:
    frame = Frame.of(NARROW, HEIGHT, (0, 1), (0, 1), right=14, top=26)
    parts = [
        filled(frame, called, found["recall_at_least"], found["recall"], "area"),
        filled(frame, called, found["false_positive_rate"],
              found["false_positive_rate_at_most"], "area two"),
        frame.line(called, found["recall"], "curve"),
        frame.line(called, found["false_positive_rate"], "curve two"),
        _upright(frame, float(called[here])),
    ]  # fmt: skip
    said = "recall lies in the upper band and the false positive rate in the lower one, or better"
    return _figure("By the share that is called positive", "share ↑", "rows called positive →",
                   frame, said, parts)  # fmt: skip


def _by_alarms(found: dict[str, Doubles], here: int) -> Markup:
    frame = Frame.of(NARROW, HEIGHT, (0, 1), (0, 1), right=14, top=26)
    most, least = found["false_positive_rate_at_most"], found["recall_at_least"]
    order = np.lexsort((least, most))
    most, least = most[order], np.maximum.accumulate(least[order])
    x, y = float(frame.x.at(found["false_positive_rate"][here])), found["recall"][here]
    parts = [
        frame.line([0, 1], [0, 1], "diagonal"),
        filled(frame, most, np.zeros(most.size), least, "area"),
        frame.line(found["false_positive_rate"], found["recall"], "curve"),
        tag("circle", cx=x, cy=float(frame.y.at(y)), r=6, class_="seen"),
    ]
    said = "the shaded region is reached by some threshold, with confidence"
    return _figure("Recall against false alarms", "recall ↑", "false positive rate →", frame, said,
                   parts)  # fmt: skip


def answered_curve(answering: Answering | None) -> Markup | None:
    """Draw the error among the answered, seen and certified, by the share that is answered."""
    if answering is None or answering.chosen is None or len(answering.points) < 2:
        return None
    share = np.array([own.answered / answering.rows for own in answering.points])
    seen = np.array([own.mistakes / max(1, own.answered) for own in answering.points])
    most, here = np.array(answering.errors), answering.chosen
    top = float(min(1.0, 1.2 * max(most[here], seen.max(), np.median(most)))) or 0.01

    def draw(width: int) -> Markup:
        frame = Frame.of(width, HEIGHT, (0, 1), (0, top), top=26)
        parts = [
            filled(frame, share, seen, np.minimum(most, top), "area"),
            frame.line(share, np.minimum(most, top), "curve bound"),
            frame.line(share, seen, "curve"),
            _upright(frame, float(share[here])),
            tag("text", "error among the answered ↑", x=2, y=12, class_="label"),
        ]
        axes = frame.axes("rows that are answered →", x_shares=True)
        return frame.svg("Error among the answered", "seen and certified", axes, parts)

    legend = key([("", "seen"), ("bound", "certified: at most"), ("final", "chosen")])
    return together(tag("h3", "Answering less, and being right more often"),
                    figure(draw, key=legend))  # fmt: skip


def filled(frame: Frame, x: Doubles, low: Doubles, high: Doubles, class_: str) -> Markup:
    """Fill what lies between two lines."""
    across, below, above = frame.x.at(x), frame.y.at(low), frame.y.at(high)
    there = [f"{short(a)} {short(b)}" for a, b in zip(across, above, strict=True)]
    back = [f"{short(a)} {short(b)}" for a, b in zip(across[::-1], below[::-1], strict=True)]
    return tag("path", d="M" + "L".join([*there, *back]) + "Z", class_=class_)


def _upright(frame: Frame, x: float) -> Markup:
    at = float(frame.x.at(x))
    return tag("line", x1=at, x2=at, y1=frame.y.start, y2=frame.y.end, class_="zero")


def _figure(
    title: str, up: str, across: str, frame: Frame, text: str, parts: list[Markup]
) -> Markup:
    label = tag("text", up, x=2, y=12, class_="label")
    axes = frame.axes(across, x_shares=True)
    return tag("figure", tag("h3", title), frame.svg(title, text, axes, label, parts))


HEAD = ["what you may count on", "certified", "rows", "confidence"]


def promises(subject: Subject) -> Section | None:
    """List every claim about new examples, and draw what a threshold guarantees."""
    parts = [part for part in _parts(subject) if part[1]]
    if not parts:
        return None
    lead = paragraphs(
        "Every number here is proved for new examples like those it was counted on, with the "
        "confidence that stands beside it. “Rows” are those that the number was counted on.",
        "Claims in one table share their confidence: they hold together. Different tables are "
        "different claims.",
    )
    tables = [_table(title, certificates, note) for title, certificates, note in parts]
    return Section(
        "promises",
        "What you may count on",
        lead,
        together(tables, threshold_curves(subject.decision), answered_curve(subject.answering)),
    )


Part = tuple[str, Sequence[Certificate], str]


def _parts(subject: Subject) -> Iterator[Part]:
    """Return a title, certificates that belong together, and a note."""
    decision, answering, covers = subject.decision, subject.answering, subject.coverage
    if decision is not None:
        at = f"At the threshold {decision.threshold:.4g} for class “{decision.positive}”"
        yield at, [decision.certificate], "This is what the threshold was chosen for."
        yield "What it costs on the other side", list(decision.others), ""
    else:
        yield "All predictions", [own for own in subject.certificates if own.delta > 0], ""
    if answering is not None and answering.chosen is not None:
        yield "Answers that are given", [answering.certificate], answering.answers()
    if covers is not None:
        sets = isinstance(covers, SetRule)
        mean = covers.mean_size if isinstance(covers, SetRule) else covers.mean_width
        unit = "classes on average" if sets else "wide on average"
        note = f"On the calibration rows they are {mean:.4g} {unit} (an estimate)."
        note = note.replace("they are", "they hold") if sets else note
        title = "Prediction sets" if sets else "Prediction intervals"
        yield title, covers.certificates, note
    for own in subject.certified:
        if isinstance(own, Certificate):
            yield "Certified by further rows", [own], ""
        else:
            yield "Certified by further rows, all at once", own.certificates, _worst(own)


def _worst(family: Family) -> str:
    """Name the worst group, if there are groups of one measure."""
    groups = [own for own in family if "group" in own.details]
    if not groups or len({(own.of_what, own.details.get("class")) for own in family}) > 1:
        return ""
    return f"Worst group: {family.worst_group}. {family.worst.claim}"


def _table(title: str, certificates: Sequence[Certificate], note: str) -> Markup:
    rows = [
        (own.claim, number(own), f"{own.size:,}", f"{confidence(own.delta)}")
        for own in certificates
    ]
    made = table(HEAD, rows, caption=title, class_="promises")
    return tag("div", made, tag("p", note, class_="remark") if note else None)


def number(certificate: Certificate) -> str:
    """Write the certified number with its direction, so that the claim is not made stronger."""
    if certificate.vacuous:
        return "nothing"
    sign = "≥" if wording.is_lower(certificate) else "≤"
    if certificate.of_what not in wording.KINDS:
        return f"{sign} {percent_above(certificate.value, 2)}"
    kind = wording.KINDS[certificate.of_what]
    return f"{sign} {wording.number_of(certificate, kind.rate)}"
