"""The confusion matrix: which classes are mistaken for which."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.percent import percent
from pacboost.reports.page.drawing import Frame, figure
from pacboost.reports.page.evidence import TRAINED, Evidence
from pacboost.reports.page.markup import Markup, numbers, table, tag, together
from pacboost.reports.page.section import Section, paragraphs
from pacboost.reports.page.subject import Subject

MOST_NAMED = 10
"""With more classes, a picture replaces the table."""
MOST_LISTED = 12
MOST_SQUARES = 2500
"""If more pairs of classes occur, the most common ones are drawn."""
SHADES = 9
MOST_TICKS = 30
"""Up to so many classes are named along the axes of the picture."""
LETTERS = 14
"""Longer names are cut at the axes; the tables have them whole."""

Counts = NDArray[np.int64]


def confusion(subject: Subject, rows: Evidence) -> Section | None:
    """Count the given rows by their class and the predicted class."""
    names = subject.classes
    if rows.several:
        lead = paragraphs(
            "Each label by itself. Recall: the share of rows with the label for which it is "
            "predicted. Precision: the share of rows with the prediction that have the label.",
        )
        return Section("confusion", "Label by label", lead, _labels(names, rows))
    if len(names) < 2:
        return None
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(counts, (rows.own, rows.said), 1)
    return _section(names, counts, rows.rows, TRAINED if rows.seen else "")


def held_out_confusion(subject: Subject) -> Section | None:
    """Count the certifying rows by class and predicted class, from what the model file keeps."""
    held_out, names = subject.held_out, subject.classes
    if held_out is None or held_out.labels or len(names) < 2:
        return None
    said = "These are the held-out rows that certify; the shares are estimates."
    return _section(names, held_out.matrix(len(names)), held_out.rows, said)


def _section(names: tuple[str, ...], counts: Counts, rows: int, more: str) -> Section:
    right = int(np.trace(counts))
    sentences = [f"{right:,} of {rows:,} rows are predicted correctly. Lines are true "
                 "classes, columns are predicted ones.", *([more] if more else [])]  # fmt: skip
    worst = _worst(counts)
    if worst:
        of, to, count = worst[0]
        sentences.append(
            f"The most common mistake: {count:,} rows of “{names[of]}” predicted as “{names[to]}”."
        )
    body = _matrix(names, counts) if len(names) <= MOST_NAMED else _picture(names, counts, worst)
    return Section("confusion", "Confusion matrix", paragraphs(*sentences),
                   together(body, numbers("Class by class", _classes(names, counts))))  # fmt: skip


def _worst(counts: Counts) -> list[tuple[int, int, int]]:
    """Give (true class, predicted class, how often), the most common mistake first."""
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_LISTED]
    pairs = [(int(k) // len(counts), int(k) % len(counts)) for k in order]
    return [(a, b, int(wrong[a, b])) for a, b in pairs if wrong[a, b]]


def _matrix(names: tuple[str, ...], counts: Counts) -> Markup:
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares = counts / totals
    head = tag("tr", tag("td"), (tag("th", name, scope="col") for name in names))
    lines = []
    for i, name in enumerate(names):
        cells = [
            tag("td", tag("b", f"{counts[i, j]:,}"), tag("span", percent(float(shares[i, j]))),
                class_=f"{'right' if i == j else 'wrong'} shade{_shade(float(shares[i, j]))}")
            for j in range(len(names))
        ]  # fmt: skip
        lines.append(tag("tr", tag("th", name, scope="row"), cells))
    few = "confusion few" if len(names) <= 3 else "confusion"
    inner = tag("table", tag("thead", head), tag("tbody", lines), class_=few)
    return tag("div", inner, class_="scroll", tabindex="0", role="region",
               aria_label="Confusion matrix")  # fmt: skip


def _shade(share: float) -> int:
    """Give one of some shades, 0 for nothing.

    >>> [_shade(share) for share in (0.0, 0.001, 0.5, 1.0)]
    [0, 1, 5, 9]
    """
    return 0 if share == 0 else max(1, min(SHADES, int(np.ceil(share * SHADES))))


def _picture(names: tuple[str, ...], counts: Counts, worst: list[tuple[int, int, int]]) -> Markup:
    """A square for every pair of classes that occurs, and a list of the most common mistakes."""
    totals = np.maximum(counts.sum(axis=1), 1)
    size = len(names)
    order = np.argsort(-counts, axis=None, kind="stable")[:MOST_SQUARES].tolist()
    pairs = [(k // size, k % size) for k in order if counts[k // size, k % size]]

    def draw(width: int) -> Markup:
        side = min(width, 520)
        ticks = [_short(name) for name in names] if size <= MOST_TICKS else []
        room = 24 + 7 * max(map(len, ticks), default=0)
        frame = Frame.of(side, side, (0, size), (0, size), left=room, bottom=room, right=2, top=2)
        cell = (frame.x.end - frame.x.start) / size
        squares = []
        for i, j in pairs:
            kind = "right" if i == j else "wrong"
            share = percent(float(counts[i, j] / totals[i]))
            said = f"{names[i]} → {names[j]}: {counts[i, j]:,} rows, {share} of “{names[i]}”"
            squares.append(
                tag("rect", tag("title", said), x=float(frame.x.start + j * cell),
                    y=float(frame.y.end + i * cell), width=float(cell * 0.94),
                    height=float(cell * 0.94),
                    class_=f"{kind} shade{_shade(float(counts[i, j] / totals[i]))}")
            )  # fmt: skip
        edge = tag("rect", x=frame.x.start, y=frame.y.end, width=frame.x.end - frame.x.start,
                   height=frame.y.start - frame.y.end, class_="edge")  # fmt: skip
        says = tag(
            "text", "predicted class →", x=frame.x.start, y=frame.y.start + room - 6, class_="label"
        )
        turned = f"translate(13 {frame.y.start:g}) rotate(-90)"
        is_ = tag("text", "true class →", transform=turned, class_="label")
        return frame.svg("Confusion matrix", f"{size} classes; squares on the diagonal are right",
                         edge, squares, says, is_, _ticks(frame, cell, ticks),
                         class_="confusion")  # fmt: skip

    listed = [(names[a], names[b], f"{n:,}", percent(n / int(totals[a]))) for a, b, n in worst]
    made = table(["true class", "predicted class", "rows", "share of the class"], listed,
                 caption="The most common mistakes", words=(0, 1))  # fmt: skip
    return together(figure(draw, key=_scale()), made)


def _ticks(frame: Frame, cell: float, names: list[str]) -> Markup:
    """The names of the classes at both axes."""
    found = []
    for k, name in enumerate(names):
        middle = (k + 0.5) * cell
        at, low = frame.x.start + middle, frame.y.start + 6
        found += [
            tag("text", name, x=float(frame.x.start - 5), y=float(frame.y.end + middle + 4),
                text_anchor="end", class_="tick"),
            tag("text", name, transform=f"translate({at + 4:g} {low:g}) rotate(-90)",
                text_anchor="end", class_="tick"),
        ]  # fmt: skip
    return together(found)


def _scale() -> Markup:
    """What the shades stand for: shares of the rows of a true class."""
    squares = (
        tag("rect", x=13 * k, y=0, width=12, height=12, class_=f"wrong shade{k + 1}")
        for k in range(SHADES)
    )
    drawn = tag("svg", squares, viewBox=f"0 0 {13 * SHADES} 12", class_="scale",
                aria_hidden="true")  # fmt: skip
    said = "The shade is the share of the rows of the true class, from 0 % to 100 %: "
    return tag("p", said, drawn, class_="remark")


def _short(name: str) -> str:
    """Cut a long name.

    >>> _short("transfer_not_received_by_recipient")
    'transfer_not_…'
    """
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"


def _classes(names: tuple[str, ...], counts: Counts) -> Markup:
    rows = [
        (
            names[k],
            f"{int(counts[k].sum()):,}",
            _rate(int(counts[k, k]), int(counts[k].sum())),
            _rate(int(counts[k, k]), int(counts[:, k].sum())),
        )
        for k in range(len(names))
    ]
    head = ["class", "rows", "recall", "precision"]
    return table(head, rows, caption="Class by class")


def _labels(names: tuple[str, ...], rows: Evidence) -> Markup:
    said = []
    for k, name in enumerate(names):
        has, given = rows.own[:, k] > 0, rows.said[:, k] > 0
        both = int((has & given).sum())
        said.append(
            (name, f"{int(has.sum()):,}", f"{int(given.sum()):,}", _rate(both, int(has.sum())),
             _rate(both, int(given.sum())))
        )  # fmt: skip
    head = ["label", "rows with it", "predicted", "recall", "precision"]
    return table(head, said, caption="Label by label")


def _rate(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "–"
