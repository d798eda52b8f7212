"""What the counts of certifying rows say of each other, so that none can be changed alone.

The table of classes and predictions (bounds/held_out.py) determines the most frequent class and the
error of always predicting it, and how many rows each ROC curve counts. In return, the curve of two
classes says which predictions a threshold can give.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pacboost.bounds.held_out import (
    MAX_CLASSES_WITH_CURVES,
    MAX_ROWS_COUNTED,
    Counts,
    HeldOut,
    RankCounts,
)

AREA_SLACK = 1e-9
"""How far rounding may move an area."""


def contradictions(held_out: HeldOut, classes: int, labels: int = 0) -> Iterator[str]:
    """Return how the counts contradict each other.

    ``labels`` is the number of labels that a row of the model may have at once.
    """
    for k, curve in held_out.ranks.items():
        yield from _of_areas(k, curve)
    if held_out.labels != labels:
        yield f"rows have {held_out.labels} labels at once, and {labels} in the model"
    elif labels:
        yield from _of_labels(held_out)
    else:
        yield from _of_classes(held_out, classes)


def _of_classes(held_out: HeldOut, classes: int) -> Iterator[str]:
    own, said, rows = held_out.own, held_out.said, held_out.rows
    if max(own.max(initial=0), said.max(initial=0)) > classes:
        yield f"the table has more than {classes} classes"
        return
    if np.unique(own * (classes + 1) + said).size != own.size or (held_out.count < 1).any():
        yield "the table counts the same rows twice, or no rows"
    sizes = np.bincount(own, weights=held_out.count, minlength=classes + 1)[:classes]
    commonest = int(sizes.argmax())
    others = rows - int(sizes[commonest])
    if held_out.commonest != (commonest,):
        yield f"the most frequent class is number {commonest}, not {held_out.commonest}"
    if held_out.baseline_wrong != others or others == rows:
        yield f"{others} rows are not of the most frequent class, not {held_out.baseline_wrong}"
    # a stranger's file could show a curve of other rows than its table; where all rows are counted,
    # one determines the sizes in the other
    if rows <= MAX_ROWS_COUNTED:  # else curves count some of the rows
        yield from _of_curves(held_out, sizes.astype(np.int64))


def _of_curves(held_out: HeldOut, sizes: Counts) -> Iterator[str]:
    rows, ranks = held_out.rows, held_out.ranks
    most = np.argsort(-sizes, kind="stable")[:MAX_CLASSES_WITH_CURVES].tolist()
    expected = {k for k in ([1] if sizes.size == 2 else most) if 0 < sizes[k] < rows}
    if set(ranks) != expected:
        yield f"there are curves of the classes {sorted(ranks)}, not of {sorted(expected)}"
        return
    for k, curve in ranks.items():
        if curve.sizes != (sizes[k], rows - sizes[k]):
            yield f"the curve of class number {k} counts other rows than the table"
            return
    if sizes.size == 2 and expected and not _is_on(ranks[1], held_out):
        yield "no threshold on the curve gives the predictions in the table"


def _of_areas(k: int, curve: RankCounts) -> Iterator[str]:
    """Compare the areas below a curve with its counts.

    Between two points that a curve keeps, rows of the class may lie before all others, or after.
    """
    positive, negative = curve.positive, curve.negative
    hits, misses = np.cumsum(positive), np.cumsum(negative)
    most = float((negative * hits).sum() / (hits[-1] * misses[-1]))
    within = float((negative * positive).sum() / (hits[-1] * misses[-1]))
    if not most - within - AREA_SLACK <= curve.auc <= most + AREA_SLACK:
        yield f"the area below the curve of class number {k} is not {curve.auc}"
    number = np.arange(1, hits[-1] + 1)
    before, after = (np.repeat(part, positive) for part in (misses - negative, misses))
    worst = float((number / (number + after)).mean())
    # rows of one score count at the end of their tie, which may be that of all between two points
    ends = np.repeat(hits, positive)
    best = float((ends / (ends + before)).mean())
    if not worst - AREA_SLACK <= curve.average_precision <= best + AREA_SLACK:
        yield f"the average precision of class number {k} is not {curve.average_precision}"


def _is_on(curve: RankCounts, held_out: HeldOut) -> bool:
    """Check that the rows predicted to be of the second class are those above some score.

    Between two points that a curve keeps, any number of rows of both kinds may lie.
    """
    own, count = held_out.own[held_out.said == 1], held_out.count[held_out.said == 1]
    inside = True
    for part, above in ((curve.positive, own == 1), (curve.negative, own != 1)):
        ends = np.concatenate([[0], np.cumsum(part)])
        inside = inside & (ends[:-1] <= count[above].sum()) & (count[above].sum() <= ends[1:])
    return bool(np.any(inside))


def _of_labels(held_out: HeldOut) -> Iterator[str]:
    """Compare the most frequent set of labels with the rows of each label; there is no table."""
    rows, wrong, common = held_out.rows, held_out.baseline_wrong, held_out.commonest
    if held_out.own.size or list(common) != sorted(set(common)):
        yield "there is a table for rows with several labels, or labels are not in order"
    if max(common, default=0) >= held_out.labels:
        yield f"a label of the most frequent set is not among {held_out.labels}"
    if rows > MAX_ROWS_COUNTED:
        return
    sizes = {k: curve.sizes for k, curve in held_out.ranks.items()}
    if any(sum(pair) != rows for pair in sizes.values()):
        yield "the curve of a label counts other rows than there are"
    # Rows that differ from a set in one label are not of that set. Rows of the set of all labels
    # that most rows have are no more than those of the most frequent set.
    differ = max((sizes[k][k in common] for k in sizes), default=0)
    rarer = sum(map(min, sizes.values()))
    if wrong < differ or (len(sizes) == held_out.labels and wrong > rarer):
        yield f"{differ} to {rarer} rows are not of the most frequent set of labels, not {wrong}"
