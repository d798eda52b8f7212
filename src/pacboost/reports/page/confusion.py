"""Confusion matrices, and ROC and precision-recall curves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.held_out import RankCounts, rank_counts
from pacboost.numerics.percent import percent
from pacboost.reports.page import charts
from pacboost.reports.page.charts import Markup, Section, tag, together
from pacboost.reports.page.subject import TRAINED, Evidence, Rows, Subject

MAX_SQUARES = 2500
SHADES = 9
MAX_TICKS = 30
MAX_LETTERS = 16
"""Maximum length of names at the axes; the tables have full names."""

Counts = NDArray[np.int64]


def shade(share: float) -> int:
    """Return the shade of a share, 0 for none; the square root separates small shares.

    >>> [shade(share) for share in (0.0, 0.001, 0.05, 0.25, 1.0)]
    [0, 1, 3, 5, 9]
    """
    return max(0, min(SHADES, int(np.ceil(np.sqrt(share) * SHADES))))


def picture(names: tuple[str, ...], counts: Counts, worst: list[tuple[int, int, int]]) -> Markup:
    """Draw a square for every pair of classes that occurs, and list the most common mistakes."""
    totals = np.maximum(counts.sum(axis=1), 1)
    size = len(names)
    # each square is an element of the page, and thousands of classes have millions of pairs
    order = np.argsort(-counts, axis=None, kind="stable")[:MAX_SQUARES].tolist()
    pairs = [(k // size, k % size) for k in order if counts[k // size, k % size]]

    ticks = [_short(name) for name in names] if size <= MAX_TICKS else []
    room = 26 + 7 * max(map(len, ticks), default=0)
    frame = charts.Frame.of((0, size), (0, size), height=charts.WIDTH, left=room,
                            bottom=room, right=2, top=2)  # fmt: skip
    x, y, cell = frame.x.start, frame.y.end, (frame.x.end - frame.x.start) / size
    squares = [tag("rect", x=x, y=y, width=cell * size, height=cell * size, class_="edge")]
    for i, j in pairs:
        kind, share = "right" if i == j else "wrong", float(counts[i, j] / totals[i])
        text = f"{names[i]} → {names[j]}: {counts[i, j]:,} rows, {percent(share)} of “{names[i]}”"
        squares.append(
            tag("rect", tag("title", text), x=float(x + j * cell), y=float(y + i * cell),
                width=float(cell * 0.94), height=float(cell * 0.94),
                class_=f"{kind} shade{shade(share)}")
        )  # fmt: skip
    labels = [("predicted class →", f"translate({x:g} {charts.WIDTH - 6})"),
              ("true class →", f"translate(13 {frame.y.start:g}) rotate(-90)")]  # fmt: skip
    axes = [tag("text", text, transform=place, class_="label") for text, place in labels]
    for k, name in enumerate(ticks):
        middle = (k + 0.5) * cell + 4
        for place in (f"translate({x - 5:g} {y + middle:g})",
                      f"translate({x + middle:g} {frame.y.start + 6:g}) rotate(-90)"):  # fmt: skip
            axes.append(tag("text", name, transform=place, text_anchor="end", class_="tick"))
    drawing = frame.svg("Confusion matrix", f"{size} classes; squares on the diagonal are right",
                        squares, axes, class_="confusion")  # fmt: skip
    listed = [(names[a], names[b], f"{n:,}", percent(n / int(totals[a]))) for a, b, n in worst]
    mistakes = charts.table(["true class", "predicted class", "rows", "share of the class"], listed,
                 caption="The most common mistakes", words=(0, 1))  # fmt: skip
    return together(charts.figure(drawing, key=_scale()), mistakes)


def _scale() -> Markup:
    """Draw the legend of the shades, which are shares of the rows of a true class."""
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
    text = "Shades show the share of the rows of the true class, up to:"
    return tag("div", charts.remark(text), drawn, class_="shades")


def _short(name: str) -> str:
    """Cut a long name in the middle, because many names differ only at the end.

    >>> _short("transfer_not_received_by_recipient")
    'transfer…ecipient'
    """
    half = MAX_LETTERS // 2
    return name if len(name) <= MAX_LETTERS + 1 else f"{name[:half]}…{name[-half:]}"


MAX_TABLE_CLASSES = 10
MAX_MISTAKES_LISTED = 12


def confusion(subject: Subject, rows: Rows) -> Section | None:
    """Count rows by class and prediction: the rows of the report, or the held-out rows."""
    names, held_out = subject.classes, subject.held_out
    if isinstance(rows, Evidence) and rows.several:
        lead = [
            "Each label separately. Recall: the share of rows with the label for which it is "
            "predicted. Precision: the share of rows with the prediction that have the label.",
        ]
        return Section("confusion", "Label by label", lead, _labels(names, rows))
    if len(names) < 2:
        return None
    if isinstance(rows, Evidence):
        counts = np.zeros((len(names), len(names)), dtype=np.int64)
        np.add.at(counts, (rows.labels, rows.predictions), 1)
        return _section(names, counts, TRAINED if rows.has_training_rows else "")
    if rows is not None or held_out is None or held_out.labels:
        return None
    note = "These are the held-out rows that certify; the shares are estimates."
    counts = held_out.matrix(len(names))
    if n_left := held_out.rows - int(counts.sum()):
        note += (
            f" {n_left:,} with a tie or a label that is no class count as wrong, and are left out."
        )
    return _section(names, counts, note)


def _section(names: tuple[str, ...], counts: Counts, note: str) -> Section:
    right, rows = int(np.trace(counts)), int(counts.sum())
    sentences = [f"{right:,} of {rows:,} rows are predicted correctly. Lines are true "
                 "classes, columns are predicted ones.", *([note] if note else [])]  # fmt: skip
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MAX_MISTAKES_LISTED]
    pairs = [(int(k) // len(counts), int(k) % len(counts)) for k in order]
    worst = [(a, b, int(wrong[a, b])) for a, b in pairs if wrong[a, b]]
    if worst:
        of, to, count = worst[0]
        sentences.append(
            f"The most common mistake: {count:,} rows of “{names[of]}” predicted as “{names[to]}”."
        )
    few = len(names) <= MAX_TABLE_CLASSES
    body = _matrix(names, counts) if few else picture(names, counts, worst)
    classes = charts.numbers("Class by class", _classes(names, counts))
    return Section("confusion", "Confusion matrix", sentences, together(body, classes))


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
    css_class = "confusion few" if len(names) <= 3 else "confusion"
    inner = tag("table", tag("thead", head), tag("tbody", lines), class_=css_class)
    return tag("div", inner, class_="scroll", tabindex="0", role="region",
               aria_label="Confusion matrix")  # fmt: skip


def _classes(names: tuple[str, ...], counts: Counts) -> Markup:
    right, of_class, predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    counted = zip(names, right.tolist(), of_class.tolist(), predicted.tolist(), strict=True)
    rows = [(name, f"{n:,}", _rate(k, n), _rate(k, said)) for name, k, n, said in counted]
    head = ["class", "rows", "recall", "precision"]
    return charts.table(head, rows, caption="Class by class")


def _labels(names: tuple[str, ...], rows: Evidence) -> Markup:
    lines = []
    for k, name in enumerate(names):
        has, predicted = rows.labels[:, k] > 0, rows.predictions[:, k] > 0
        both = int((has & predicted).sum())
        lines.append(
            (name, f"{int(has.sum()):,}", f"{int(predicted.sum()):,}", _rate(both, int(has.sum())),
             _rate(both, int(predicted.sum())))
        )  # fmt: skip
    head = ["label", "rows with it", "predicted", "recall", "precision"]
    return charts.table(head, lines, caption="Label by label")


def _rate(part: int, total: int) -> str:
    return percent(part / total) if total else "–"


MAX_CURVES = 5
FALSE_RATES = (0.01, 0.05, 0.1, 0.2)
"""The table has the true positive rates at these false positive rates."""

Ranks = Mapping[int, RankCounts]


def ranking(subject: Subject, rows: Rows) -> Section | None:
    """Draw the curves of the rows of the report, or of the held-out rows."""
    note = ""
    if isinstance(rows, Evidence):
        ranks: Ranks = rank_counts(rows.labels, rows.probabilities, len(subject.classes))
        source = f"The {rows.rows:,} rows given for this report"
        source += " are sorted by the score of the class."
        note = TRAINED if rows.has_training_rows else ""
    elif rows is None and subject.held_out is not None:
        ranks = subject.held_out.ranks
        source = (
            f"The {subject.held_out.rows:,} held-out rows are sorted by the score of the class; "
            "the curves are estimates."
        )
    else:
        return None
    names = {k: name for k, name in enumerate(subject.classes) if k in ranks}
    if not names:
        return None
    # the classes that are ranked worst are those to look at; in the order of the legend
    chosen = sorted(sorted(names, key=lambda k: (ranks[k].auc, k))[:MAX_CURVES])
    only = chosen[0] if len(names) == 1 else None
    shown = f"The {len(chosen)} of {len(names)} classes with the smallest areas are drawn."
    lead = [
        source,
        note,
        f"The area under the ROC curve of “{names[only]}” is {ranks[only].auc:.3f}: the chance "
        "that a row of this class has a larger score than a row of another class."
        if only is not None
        else "The area under a ROC curve is the chance that a row of the class has a larger score "
        "than a row of another class.",
        shown if len(names) > len(chosen) else None,
    ]
    legend = charts.key([(f"c{place}", names[k]) for place, k in enumerate(chosen)])
    drawn = [ranks[k] for k in chosen]
    pair = tag("div", _roc(drawn), _precision(drawn), class_="pair")
    lines = [
        (name, f"{int(rank.positive.sum()):,}", f"{rank.auc:.4f}", f"{rank.average_precision:.4f}",
         *(percent(float(np.interp(rate, *rank.rates))) for rate in FALSE_RATES))
        for name, rank in ((name, ranks[k]) for k, name in names.items())
    ]  # fmt: skip
    rate_names = [f"found at {rate:.0%} false positives".replace("%", " %") for rate in FALSE_RATES]
    head = ["class", "rows", "area (ROC)", "average precision", *rate_names]
    details = charts.numbers_table(head, lines, "Areas under the curves")
    return Section("ranking", "How well the scores rank", lead, together(legend, pair, details))


def _roc(ranks: list[RankCounts]) -> Markup:
    def draw(frame: charts.Frame) -> list[Markup]:
        lines = [frame.line(*rank.rates, f"curve c{place}") for place, rank in enumerate(ranks)]
        return [frame.line([0, 1], [0, 1], "diagonal"), *lines]

    areas = ", ".join(f"{rank.auc:.3f}" for rank in ranks)
    return charts.square("ROC curve", "true positive rate", "false positive rate",
                  f"areas under the curves: {areas}; the diagonal is chance", draw)  # fmt: skip


def _precision(ranks: list[RankCounts]) -> Markup:
    def draw(frame: charts.Frame) -> list[Markup]:
        share = ranks[0].share
        # chance has the precision of the class's share, which differs between classes
        lines = [frame.line([0, 1], [share, share], "diagonal")] if len(ranks) == 1 else []
        for place, rank in enumerate(ranks):
            recall, precision = rank.precisions
            # no threshold has a recall of 0: the first precision is drawn to the axis
            start = np.concatenate([[0.0], recall]), np.concatenate([precision[:1], precision])
            lines.append(frame.line(*start, f"curve c{place}"))
        return lines

    areas = ", ".join(f"{rank.average_precision:.3f}" for rank in ranks)
    text = f"average precisions: {areas}"
    return charts.square("Precision and recall", "precision", "recall", text, draw)
