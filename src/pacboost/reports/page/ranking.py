"""ROC and precision-recall curves: how well the scores separate each class from the others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pacboost.bounds.rank_counts import RankCounts, rank_counts
from pacboost.numerics.percent import percent
from pacboost.reports.page.drawing import NARROW, Frame, key
from pacboost.reports.page.evidence import TRAINED, Evidence
from pacboost.reports.page.markup import Markup, numbers, table, tag, together
from pacboost.reports.page.section import Section, paragraphs
from pacboost.reports.page.subject import Subject

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
    return _section(subject, ranks, said, TRAINED if rows.seen else "")


def held_out_ranking(subject: Subject) -> Section | None:
    """Draw the curves of the held-out rows, from what the model file keeps."""
    if subject.held_out is None:
        return None
    said = (
        f"The {subject.held_out.rows:,} held-out rows are sorted by the score of the class; the "
        "curves are estimates."
    )
    return _section(subject, subject.held_out.ranks, said)


def _section(subject: Subject, ranks: Ranks, source: str, more: str = "") -> Section | None:
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
