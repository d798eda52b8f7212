"""The sentence that a page begins with, and a line of what was seen and what is proved."""

from __future__ import annotations

from dataclasses import dataclass

from pacboost.bounds import estimates, wording
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import named
from pacboost.bounds.rounding import confidence
from pacboost.numerics.percent import percent, percent_above, percent_digits
from pacboost.numerics.same_bits import mean
from pacboost.reports.page.charts import Frame, Markup, figure, round_numbers, tag, together
from pacboost.reports.page.subject import Evidence, Numbers, Subject

UNSEEN = (
    'That takes rows that the model was not trained on: fit with certify="holdout", or pass such '
    "rows to pacboost.certify."
)


@dataclass(frozen=True)
class Sentence:
    """A claim in three parts; ``strong`` is the number, printed in bold."""

    before: str
    strong: str
    after: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.before}{self.strong}{self.after}"


def sentence(subject: Subject, rows: Evidence | Numbers | None = None) -> Sentence:
    """State the strongest claim that is proved, or that there is none and why."""
    if not subject.classes and subject.coverage is None:
        return _of_numbers(rows)
    best = next((c for c in subject.certificates if c.delta > 0), None)
    if best is None and subject.beside is not None:
        return Sentence(*wording.sentence(subject.beside))
    if best is None:
        trained = next(iter(subject.certificates), None)
        if trained is not None and not trained.vacuous:
            claim, note = estimates.in_full(trained)
            return Sentence(*claim, note)
        return Sentence("Nothing is certified about this model yet.", "", "", UNSEEN)
    claim, note = estimates.in_full(best, subject.held_out, subject.classes)
    return Sentence(*claim, note)


def _of_numbers(rows: Evidence | Numbers | None) -> Sentence:
    why = (
        "A fit certifies nothing for regression, because a number is rarely exactly right. "
        "Intervals are certified by new rows: pacboost.intervals."
    )
    if not isinstance(rows, Numbers):
        return Sentence("It predicts ", "a number", ".", why)
    off = mean(abs(rows.own - rows.said))
    return Sentence(
        "On the rows given for this report, the mean absolute error is ", f"{off:.4g}", ".", why
    )


def line(subject: Subject, rows: Evidence | Numbers | None) -> Markup | None:
    """Draw the measured and the proved errors on one line that starts at 0."""
    best = next((c for c in subject.certificates if not c.vacuous), None)
    marks: list[tuple[str, float, str, str]] = []
    if best is not None:
        seen = _seen(best)
        if seen is not None:
            marks.append(("seen", *seen))
        marks.append(("proved", best.value, percent_above(best.value), _proved(best)))
    if isinstance(rows, Evidence):
        labels = rows.several and best is not None and best.delta == 0  # it counts labels too
        error = float((rows.own != rows.said).mean()) if labels else rows.error
        what = "labels of the" if labels else "" if not rows.several else "sets of labels of the"
        said = f"measured on the {what} {rows.rows:,} rows given for this report"
        marks.append(("given", error, percent(error), said.replace("  ", " ")))
        if not rows.several and subject.classes:
            number, error = rows.commonest
            name = subject.classes[number]
            marks.append(("naive", error, percent(error), f"if “{name}” were always predicted"))
    held_out = subject.held_out
    if rows is None and held_out is not None:
        said = f"if {named(held_out, subject.classes)} were always predicted, on held-out rows"
        marks.append(("naive", held_out.baseline, percent(held_out.baseline), said))
    if not marks:
        return None
    high = round_numbers(0, 1.15 * max(m[1] for m in marks) or 0.01, 6)
    top = high[-1] + (high[1] - high[0] if len(high) > 1 else high[-1])

    def draw(width: int) -> Markup:
        frame = Frame.of(width, 66, (0, min(1.0, top)), (0, 1), left=8, right=14, bottom=24, top=8)
        return frame.svg("Errors on one line", "; ".join(f"{m[3]}: {m[2]}" for m in marks),
                         _track(frame, marks), class_="gauge")  # fmt: skip

    words = (
        tag("li", tag("i", class_=f"mark {kind}"), tag("b", said), " ", text)
        for kind, _, said, text in marks
    )
    return figure(draw, tag("ul", words, class_="marks"), class_="line")


def _track(frame: Frame, marks: list[tuple[str, float, str, str]]) -> Markup:
    """The line with a tick at round numbers, the stretch that is allowed, and all marks."""
    middle, x = 22.0, frame.x
    parts = [tag("line", x1=x.start, x2=x.end, y1=middle, y2=middle, class_="track")]
    for kind, value, _, _ in marks:
        if kind == "proved":
            parts.append(
                tag(
                    "line",
                    x1=x.start,
                    x2=float(x.at(value)),
                    y1=middle,
                    y2=middle,
                    class_="allowed",
                )
            )
    ticks = x.ticks(6 if frame.width < 500 else 9)
    for value, place in zip(ticks, x.at(ticks).tolist(), strict=True):
        anchor = "start" if value == 0 else "middle"
        said = percent_digits(value)
        parts.append(tag("text", said, x=place, y=56, text_anchor=anchor, class_="tick"))
    for kind, value, _, _ in marks:
        at = float(x.at(value))
        if kind == "proved":
            parts.append(
                tag("rect", x=at - 2.5, y=middle - 15, width=5, height=30, rx=2.5, class_=kind)
            )
        else:
            parts.append(tag("circle", cx=at, cy=middle, r=7, class_=kind))
    return together(parts)


def _seen(certificate: Certificate) -> tuple[float, str, str] | None:
    """Return the error that was measured on the rows of a certificate, if it is known."""
    inputs = certificate.inputs
    mistakes, rows = inputs.get("k", inputs.get("mistakes")), inputs.get("n")
    if isinstance(mistakes, int) and isinstance(rows, int) and rows > 0:
        kind = "held-out" if "k" in inputs else "training"
        kind = f"{wording.distinct(certificate)}{kind}"
        return (
            mistakes / rows,
            percent(mistakes / rows),
            f"measured: {mistakes:,} of {rows:,} {kind} rows are wrong",
        )
    measured = inputs.get("measured")
    if isinstance(measured, float):
        return measured, percent(measured), f"measured on the {certificate.size:,} training rows"
    return None


def _proved(certificate: Certificate) -> str:
    if certificate.delta == 0:
        return "proved for the training rows, with certainty"
    return f"proved for {certificate.of_what}, with {confidence(certificate.delta)} confidence"
