"""The confusion matrix: which classes are mistaken for which."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.held_out import RankCounts, rank_counts
from pacboost.numerics.percent import percent
from pacboost.reports.page.charts import (
    NARROW,
    Frame,
    Markup,
    Section,
    figure,
    key,
    numbers,
    paragraphs,
    table,
    tag,
    together,
)
from pacboost.reports.page.subject import TRAINED, Evidence, Subject

# The confusion matrix of many classes as a picture: a square for every pair of classes.

MOST_SQUARES = 2500
"""If more pairs of classes occur, the most common ones are drawn."""
SHADES = 9
MOST_TICKS = 30
"""Up to so many classes are named along the axes of the picture."""
LETTERS = 16
"""Longer names are cut at the axes; the tables have them whole."""
FEWER = 10
"""The same where there is little room."""
SIDE = 620
"""The most that the picture is wide."""
LEAST_CELL = 15.0
"""If the squares are smaller, classes have numbers at the lower axis in the place of names."""
ROOM_FOR_NUMBERS = 12.0
"""If the squares are smaller, every second number is left out."""

Counts = NDArray[np.int64]


def shade(share: float) -> int:
    """Return one of some shades, 0 for nothing; by the square root, so that small shares differ.

    >>> [shade(share) for share in (0.0, 0.001, 0.05, 0.25, 1.0)]
    [0, 1, 3, 5, 9]
    """
    return max(0, min(SHADES, int(np.ceil(np.sqrt(share) * SHADES))))


def picture(names: tuple[str, ...], counts: Counts, worst: list[tuple[int, int, int]]) -> Markup:
    """A square for every pair of classes that occurs, and a list of the most common mistakes."""
    totals = np.maximum(counts.sum(axis=1), 1)
    size = len(names)
    order = np.argsort(-counts, axis=None, kind="stable")[:MOST_SQUARES].tolist()
    pairs = [(k // size, k % size) for k in order if counts[k // size, k % size]]

    def draw(width: int) -> Markup:
        side = min(width, SIDE)
        ticks = [_short(name) for name in names] if size <= MOST_TICKS else []
        left = bottom = 26 + 7 * max(map(len, ticks), default=0)
        numbered = bool(ticks) and (side - left) / size < LEAST_CELL
        if numbered:
            ticks = [f"{_short(name, FEWER)} {k}" for k, name in enumerate(names, start=1)]
            left, bottom = 26 + int(5.6 * max(map(len, ticks))), 38
        height = side - left + bottom  # the squares are squares
        frame = Frame.of(side, height, (0, size), (0, size), left=left, bottom=bottom, right=2,
                         top=2)  # fmt: skip
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
                    class_=f"{kind} shade{shade(float(counts[i, j] / totals[i]))}")
            )  # fmt: skip
        edge = tag("rect", x=frame.x.start, y=frame.y.end, width=frame.x.end - frame.x.start,
                   height=frame.y.start - frame.y.end, class_="edge")  # fmt: skip
        low = frame.y.start + bottom - 6
        says = tag("text", "predicted class →", x=frame.x.start, y=low, class_="label")
        turned = f"translate(13 {frame.y.start:g}) rotate(-90)"
        is_ = tag("text", "true class →", transform=turned, class_="label")
        return frame.svg("Confusion matrix", f"{size} classes; squares on the diagonal are right",
                         edge, squares, says, is_, _ticks(frame, cell, ticks, numbered),
                         class_="confusion")  # fmt: skip

    listed = [(names[a], names[b], f"{n:,}", percent(n / int(totals[a]))) for a, b, n in worst]
    made = table(["true class", "predicted class", "rows", "share of the class"], listed,
                 caption="The most common mistakes", words=(0, 1))  # fmt: skip
    return together(figure(draw, key=_scale()), made)


def _ticks(frame: Frame, cell: float, names: list[str], numbered: bool) -> Markup:
    """The names of the classes at both axes, or their numbers at the lower one."""
    small = "tick small" if numbered else "tick"
    found = []
    for k, name in enumerate(names):
        middle = (k + 0.5) * cell
        at, low = frame.x.start + middle, frame.y.start + 6
        found.append(
            tag("text", name, x=float(frame.x.start - 5), y=float(frame.y.end + middle + 4),
                text_anchor="end", class_=small)
        )  # fmt: skip
        if not numbered:
            turned = f"translate({at + 4:g} {low:g}) rotate(-90)"
            found.append(tag("text", name, transform=turned, text_anchor="end", class_=small))
        elif k % 2 == 0 or cell > ROOM_FOR_NUMBERS:
            place = {"x": float(at), "y": float(low + 6)}
            found.append(tag("text", f"{k + 1}", **place, text_anchor="middle", class_=small))
    return together(found)


def _scale() -> Markup:
    """What the shades stand for: shares of the rows of a true class."""
    wide, parts = 30, []
    for k in range(SHADES):
        for line, kind in enumerate(("right", "wrong")):
            parts.append(tag("rect", x=60 + wide * k, y=15 * line, width=wide - 1, height=13,
                             class_=f"{kind} shade{k + 1}"))  # fmt: skip
        share = f"{100 * ((k + 1) / SHADES) ** 2:.0f} %"
        parts.append(tag("text", share, x=60 + wide * (k + 0.5), y=42, text_anchor="middle",
                         class_="tick small"))  # fmt: skip
    for line, kind in enumerate(("right", "wrong")):
        parts.append(tag("text", kind, x=54, y=15 * line + 11, text_anchor="end", class_="tick"))
    drawn = tag("svg", parts, viewBox=f"0 0 {60 + wide * SHADES} 46", class_="scale",
                aria_hidden="true")  # fmt: skip
    said = "Shades show the share of the rows of the true class, up to:"
    return tag("div", tag("p", said, class_="remark"), drawn, class_="shades")


def _short(name: str, most: int = LETTERS) -> str:
    """Cut a long name in the middle: many names differ at the end only.

    >>> _short("transfer_not_received_by_recipient")
    'transfer…ecipient'
    """
    half = most // 2
    return name if len(name) <= most + 1 else f"{name[:half]}…{name[-half:]}"


MOST_NAMED = 10
"""With more classes, a picture replaces the table."""
MOST_LISTED = 12


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
    body = _matrix(names, counts) if len(names) <= MOST_NAMED else picture(names, counts, worst)
    return Section("confusion", "Confusion matrix", paragraphs(*sentences),
                   together(body, numbers("Class by class", _classes(names, counts))))  # fmt: skip


def _worst(counts: Counts) -> list[tuple[int, int, int]]:
    """Return (true class, predicted class, how often), the most common mistake first."""
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
                class_=f"{'right' if i == j else 'wrong'} shade{shade(float(shares[i, j]))}")
            for j in range(len(names))
        ]  # fmt: skip
        lines.append(tag("tr", tag("th", name, scope="row"), cells))
    few = "confusion few" if len(names) <= 3 else "confusion"
    inner = tag("table", tag("thead", head), tag("tbody", lines), class_=few)
    return tag("div", inner, class_="scroll", tabindex="0", role="region",
               aria_label="Confusion matrix")  # fmt: skip


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


# ROC and precision-recall curves: how well the scores separate each class from the others.

MOST_CLASSES = 5
"""If there are more classes, those with the smallest areas under the ROC curve are drawn."""
HEIGHT = 300
FALSE_RATES = (0.01, 0.05, 0.1, 0.2)
"""The table says which share is found at these false positive rates."""

Ranks = Mapping[int, RankCounts]


def ranking(subject: Subject, rows: Evidence) -> Section | None:
    """Draw the curves of the rows given for the report."""
    ranks = rank_counts(rows.own, rows.probabilities, len(subject.classes))
    said = f"The {rows.rows:,} rows given for this report are sorted by the score of the class."
    return _ranking_section(subject, ranks, said, TRAINED if rows.seen else "")


def held_out_ranking(subject: Subject) -> Section | None:
    """Draw the curves of the held-out rows, from what the model file keeps."""
    if subject.held_out is None:
        return None
    said = (
        f"The {subject.held_out.rows:,} held-out rows are sorted by the score of the class; the "
        "curves are estimates."
    )
    return _ranking_section(subject, subject.held_out.ranks, said)


def _ranking_section(subject: Subject, ranks: Ranks, source: str, more: str = "") -> Section | None:
    names = {k: own for k, own in enumerate(subject.classes) if k in ranks}
    if not names:
        return None
    chosen = sorted(sorted(names, key=lambda k: (ranks[k].auc, k))[:MOST_CLASSES])
    only = chosen[0] if len(names) == 1 else None
    shown = f"The {len(chosen)} of {len(names)} classes with the smallest areas are drawn."
    lead = paragraphs(
        source,
        more,
        f"The area under the ROC curve of “{names[only]}” is {ranks[only].auc:.3f}: so often, a "
        "row of this class has a larger score than a row of another class."
        if only is not None
        else "The area under a ROC curve is how often a row of the class has a larger score than a "
        "row without it.",
        shown if len(names) > len(chosen) else None,
    )
    legend = key([(f"c{place}", names[k]) for place, k in enumerate(chosen)])
    drawn = [ranks[k] for k in chosen]
    pair = tag("div", _roc(drawn), _precision(drawn), class_="pair")
    made = numbers("The numbers", _table(names, ranks))
    return Section("ranking", "How well the scores rank", lead, together(legend, pair, made))


def _roc(ranks: list[RankCounts]) -> Markup:
    areas = ", ".join(f"{own.auc:.3f}" for own in ranks)
    frame = _frame()
    lines = [frame.line([0, 1], [0, 1], "diagonal")]
    lines += [frame.line(*own.rates, f"curve c{place}") for place, own in enumerate(ranks)]
    return _figure("ROC curve", "true positive rate", "false positive rate", frame,
                   f"areas under the curves: {areas}; the diagonal is chance", lines)  # fmt: skip


def _precision(ranks: list[RankCounts]) -> Markup:
    areas = ", ".join(f"{own.average_precision:.3f}" for own in ranks)
    frame, lines = _frame(), []
    for place, own in enumerate(ranks):
        if len(ranks) == 1:
            lines.append(frame.line([0, 1], [own.share, own.share], "diagonal"))
        recall, precision = own.precisions
        start = np.concatenate([[0.0], recall]), np.concatenate([precision[:1], precision])
        lines.append(frame.line(*start, f"curve c{place}"))
    return _figure("Precision and recall", "precision", "recall", frame,
                   f"average precisions: {areas}", lines)  # fmt: skip


def _frame() -> Frame:
    return Frame.of(NARROW, HEIGHT, (0, 1), (0, 1), left=46, right=14, top=26)


def _figure(
    title: str, up: str, across: str, frame: Frame, text: str, lines: list[Markup]
) -> Markup:
    label = tag("text", f"{up} ↑", x=2, y=12, class_="label")
    axes = frame.axes(f"{across} →", x_shares=True)
    return tag("figure", tag("h3", title), frame.svg(title, text, axes, label, lines))


def _table(names: Mapping[int, str], ranks: Ranks) -> Markup:
    rows = [
        (name, f"{int(own.positive.sum()):,}", f"{own.auc:.4f}", f"{own.average_precision:.4f}",
         *(percent(float(np.interp(rate, *own.rates))) for rate in FALSE_RATES))
        for name, own in ((name, ranks[k]) for k, name in names.items())
    ]  # fmt: skip
    found = [f"found at {rate:.0%} false positives".replace("%", " %") for rate in FALSE_RATES]
    head = ["class", "rows", "area (ROC)", "average precision", *found]
    return table(head, rows, caption="Areas under the curves")
