"""The confusion matrix: which classes are mistaken for which."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pacboost.numerics.percent import percent
from pacboost.reports.page.confusion_map import picture, shade
from pacboost.reports.page.evidence import TRAINED, Evidence
from pacboost.reports.page.markup import Markup, numbers, table, tag, together
from pacboost.reports.page.section import Section, paragraphs
from pacboost.reports.page.subject import Subject

MOST_NAMED = 10
"""With more classes, a picture replaces the table."""
MOST_LISTED = 12

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
    body = _matrix(names, counts) if len(names) <= MOST_NAMED else picture(names, counts, worst)
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
