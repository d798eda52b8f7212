"""What each column does to the score, in small panels side by side.

For stumps these are step functions that add up to the score; for trees and forests, partial
dependence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.partial_dependence import (
    forest_partial_dependence,
    partial_dependence,
)
from pacboost.hypotheses.shapes import Map, Shape, Shapes
from pacboost.models.explain import explanation
from pacboost.models.model import Model
from pacboost.reports.page.charts import (
    Frame,
    Markup,
    Scale,
    Section,
    bars,
    key,
    meter,
    number_words,
    numbers,
    paragraphs,
    short,
    signed,
    table,
    tag,
    together,
)
from pacboost.reports.page.subject import Rows, Subject
from pacboost.reports.text import listed
from pacboost.sources.levels import Levels

PANELS = 12
MOST_COLUMNS = 24
"""For trees, the curves of so many columns are computed, the most important ones."""
EXACT = (
    "Every rule uses one column, so the score is exactly a sum of step functions, one for each "
    "column."
)
PAIRS = (
    "No rule asks for more than two columns, so the score is exactly a constant, a step function "
    "for each column, and a map for each pair: what the two do together beyond what each does "
    "alone. By the training rows, every line of a map has mean 0."
)
AVERAGED = (
    "How the mean score changes with one column: trees are averaged over the other columns, by "
    "their training rows (partial dependence). The curves do not add up to the score if columns "
    "interact."
)
OF_ROWS = (
    "How the mean prediction of the forest changes if one column is set to a value in all of the "
    "rows given for this report (partial dependence; 60 of them at most). The curves do not add up "
    "to the prediction if columns interact."
)
OF_BINS = (
    "How the mean prediction of the forest changes with one column. A forest keeps no rows, so the "
    "other columns are drawn independently of each other, evenly over their bins; a report with "
    "rows uses these. The curves do not add up to the prediction if columns interact."
)
FLAT = 0.03
"""Columns that change the score by less of the scale are folded away."""
MOST_CLASSES = 5
"""If there are more classes, those with the largest effects are drawn."""
MOST_LEVELS = 8
LEVELS_NAMED = 3
"""If more levels are treated alike, some of them are named."""
MAPS, MAP_STEPS, SHADES = 6, 20, 10
"""So many maps are drawn, of so many steps to a side, in so many shades of each colour."""
WIDTH, HEIGHT = 300, 176
SKEWED = 8.0
"""If thresholds reach this many times further than half of them, the scale is compressed."""

Doubles = NDArray[np.float64]
Answers = tuple[str, ...]


def shapes(subject: Subject, rows: Rows) -> Section | None:
    """Draw the curve of each column, for votes of stumps or trees, and forests."""
    model = subject.model
    if subject.text or not len(model.vote):
        return None
    find = _of_forest if model.forest else _of_vote
    found, how = find(model, subject)
    if found is None or not found.features:
        return None
    if not found.answers:
        found = replace(found, answers=("the prediction",))

    def cell(column: int, value: float) -> str:
        return model.levels.cell(column, value, subject.names)

    named = {j: _called(own, model.levels, j) for j, own in found.features.items()}
    found = replace(found, features=named)
    order = sorted(found.features, key=lambda j: (-subject.importances[j], j))
    chosen = _chosen(found)
    low, high = _span([found.features[j] for j in order[:PANELS]], chosen)
    shown = {
        j: _panel(found.features[j], chosen, (low, high), partial(cell, j)) for j in order[:PANELS]
    }
    flat = [j for j in shown if found.features[j].span < FLAT * (high - low)]
    panels = tag("div", (shown[j] for j in shown if j not in flat), class_="panels")
    folded = tag("div", (shown[j] for j in flat), class_="panels")
    more = f"{len(flat)} more column{'s change' if len(flat) > 1 else ' changes'} little"
    used = max(len(order), int((subject.importances > 0).sum()))
    lead = paragraphs(
        how,
        _meaning(subject, found),
        f"The {PANELS} most important columns are shown, out of {used}."
        if len(order) > PANELS
        else None,
    )
    legend = None
    if len(found.answers) > 1:
        legend = key([(f"c{place}", found.answers[k]) for place, k in enumerate(chosen)])
    body = together(
        legend,
        panels,
        numbers(more, folded) if flat else None,
        _maps(found, cell) if found.maps else None,
        _table(found, order, cell),
    )
    return Section("shapes", "Column by column", lead, body)


def _called(shape: Shape, levels: Levels, column: int) -> Shape:
    """Return the shape of a column whose numbers have names, such as days of the week, by these."""
    found = None if shape.levels else explanation.called(levels, column)
    if found is None:
        return shape
    first, names = found
    whole = np.arange(first, first + len(names))
    return replace(shape, values=shape.at(whole), levels=names)


def _of_vote(model: Model, subject: Subject) -> tuple[Shapes | None, str]:
    """Return the curves of a vote and how to read them; None if its rules have none."""
    try:
        found = model.shapes()
        return found, PAIRS if found.maps else EXACT
    except DataError:  # rules that ask for several columns at once
        order = np.argsort(-subject.importances, kind="stable")[:MOST_COLUMNS].tolist()
    try:
        return partial_dependence(model.vote, model.say(), order), AVERAGED
    except DataError:
        return None, ""


def _of_forest(model: Model, subject: Subject) -> tuple[Shapes | None, str]:
    """Return the curves of a forest; none where its classes are sets of labels."""
    if model.labels:
        return None, ""
    order = np.argsort(-subject.importances, kind="stable")[:PANELS].tolist()
    found = forest_partial_dependence(model.vote, model.say(), order, subject.table)
    return found, OF_BINS if subject.table is None else OF_ROWS


def _meaning(subject: Subject, found: Shapes) -> str:
    if not subject.classes:
        return "Values above 0 raise the prediction, values below 0 lower it."
    if subject.model.forest:
        whose = f"of “{found.answers[0]}”" if len(found.answers) == 1 else "of a class"
        return f"Values are what is added to the mean share {whose}, as predict_proba gives it."
    if len(found.answers) == 1:
        return f"Values above 0 are evidence for “{found.answers[0]}”, values below 0 against it."
    return "Values above 0 are evidence for a class, values below 0 against it."


def _chosen(found: Shapes) -> list[int]:
    """The outputs that are drawn, in their order."""
    if len(found.answers) <= MOST_CLASSES:
        return list(range(len(found.answers)))
    spans = sum(np.ptp(own.values, axis=0) for own in found.features.values())
    return sorted(np.argsort(-np.asarray(spans), kind="stable")[:MOST_CLASSES].tolist())


def _span(panels: list[Shape], chosen: list[int]) -> tuple[float, float]:
    """One scale for all panels: their heights compare."""
    lows = [min(own.values[:, chosen].min(), own.missing[chosen].min()) for own in panels]
    highs = [max(own.values[:, chosen].max(), own.missing[chosen].max()) for own in panels]
    low, high = min(0.0, *lows), max(0.0, *highs)
    room = 0.06 * (high - low) or 1.0
    return float(low - room), float(high + room)


def _panel(
    shape: Shape, chosen: list[int], ends: tuple[float, float], cell: Callable[[float], str]
) -> Markup:
    heading = tag("h3", shape.name)
    if shape.levels:
        return tag("article", heading, _levels(shape, chosen, ends))
    x, bent = _across(shape)
    frame = Frame(WIDTH, HEIGHT, x, Scale(*ends, HEIGHT - 24, 8))
    edges = np.concatenate([[x.low], shape.thresholds.astype(np.float64), [x.high]])
    parts = []
    for place, k in enumerate(chosen):
        values = shape.values[:, k]
        x_steps, y_steps = np.repeat(edges, 2)[1:-1], np.repeat(values, 2)
        if len(chosen) == 1:  # what lies between the steps and 0
            around = [x.low, *x_steps, x.high], [0.0, *y_steps, 0.0]
            parts.append(frame.line(*around, "area"))
        parts.append(frame.line(x_steps, y_steps, f"curve c{place}"))
    zero = float(frame.y.at(0.0))
    line = tag("line", x1=x.start, x2=x.end, y1=zero, y2=zero, class_="axis")
    ticks = [
        tag("text", _tick(cell(value), value), x=float(x.at(value)), y=HEIGHT - 6, class_="tick",
            text_anchor="middle")
        for value in _apart(x, 3 if bent else 4)
    ]  # fmt: skip
    ticks += [
        tag("text", number_words(value), x=x.start - 5, y=float(frame.y.at(value)) + 4,
            class_="tick", text_anchor="end")
        for value in frame.y.ticks(4)
    ]  # fmt: skip
    span = f"from {shape.values.min():+.3g} to {shape.values.max():+.3g}"
    drawn = frame.svg(f"What {shape.name} adds to the score", span, line, ticks, parts)
    notes = [_missing(shape, chosen)] if len(chosen) == 1 else []
    notes += ["the scale is compressed at the ends"] if bent else []
    return tag(
        "article", heading, drawn, tag("p", "; ".join(n for n in notes if n), class_="remark")
    )


def _maps(found: Shapes, cell: Callable[[int, float], str]) -> Markup:
    """Draw the maps that move the score most, each with the output that it moves furthest."""
    largest = dict(list(found.maps.items())[:MAPS])
    most = max(float(np.abs(own.values).max()) for own in largest.values()) or 1.0
    panels = [
        _map(own, most, [partial(cell, j) for j in pair], found.answers)
        for pair, own in largest.items()
    ]
    more = len(found.maps) - len(largest)
    note = f"; {more} smaller map{'s are' if more > 1 else ' is'} not shown" if more else ""
    marks = key([("right", f"up to {signed(most)}"), ("wrong", f"up to {signed(-most)}")])
    words = f"What two columns add together, beyond their curves; no colour is 0{note}."
    return together(
        tag("h3", "Pairs of columns"), tag("p", words), marks, tag("div", panels, class_="panels")
    )


def _map(
    own: Map, most: float, cells: Sequence[Callable[[float], str]], answers: Answers
) -> Markup:
    """Draw a map in steps of equal width: of many steps, some that lie evenly among them."""
    output = int(np.abs(own.values).max(axis=(0, 1)).argmax())
    whose = f", for {answers[output]}" if len(answers) > 1 else ""
    shown = [
        np.unique(np.linspace(0, size - 2, min(MAP_STEPS, size - 1)).astype(np.intp))
        for size in own.values.shape[:2]
    ]
    shades = np.rint(SHADES * own.values[..., output][np.ix_(*shown)] / most).astype(int)
    left, bottom, top = 58, HEIGHT - 24, 20
    wide, high = (WIDTH - 6 - left) / shown[0].size, (bottom - top) / shown[1].size
    parts = []
    for shade in np.unique(shades[shades != 0]).tolist():
        corners = [
            (left + a * wide, bottom - (b + 1) * high) for a, b in np.argwhere(shades == shade)
        ]
        path = "".join(
            f"M{short(x)} {short(y)}h{short(wide)}v{short(high)}h-{short(wide)}z"
            for x, y in corners
        )
        kind = "right" if shade > 0 else "wrong"
        parts.append(tag("path", d=path, class_=f"heat {kind}", fill_opacity=abs(shade) / SHADES))
    for share, words in _marks(own, 0, shown[0], cells[0], 3):
        at = left + share * (WIDTH - 6 - left)
        parts.append(tag("text", words, x=at, y=HEIGHT - 8, class_="tick", text_anchor="middle"))
    for share, words in _marks(own, 1, shown[1], cells[1], 5):
        at = bottom - share * (bottom - top)
        parts.append(tag("text", words, x=left - 5, y=at + 4, class_="tick", text_anchor="end"))
    first, second = own.names
    parts.append(tag("text", f"{second} ↑", x=2, y=12, class_="label"))
    frame = Frame(WIDTH, HEIGHT, Scale(0, 1, left, WIDTH - 6), Scale(0, 1, bottom, top))
    said = f"from {own.values.min():+.3g} to {own.values.max():+.3g}"
    drawn = frame.svg(f"What {first} and {second} add together", said, parts)
    size = f"{first} →; moves the score by {own.size:.2g} (root mean square){whose}"
    heading = tag("h3", f"{first} × {second}")
    return tag("article", heading, drawn, tag("p", size, class_="remark"))


def _marks(
    own: Map, side: int, shown: NDArray[np.intp], cell: Callable[[float], str], most: int
) -> list[tuple[float, str]]:
    """Name some levels, or some of the cuts between steps, with their place along a side."""
    count = shown.size
    places = np.unique(np.linspace(0, count, min(most, count) + 2)[1:-1].astype(np.intp))
    if own.levels[side]:
        return [((p + 0.5) / count, own.levels[side][shown[p]][:8]) for p in places.tolist()]
    cuts = [(p, float(own.thresholds[side][shown[p] - 1])) for p in places.tolist() if p]
    return [(p / count, _tick(cell(cut), cut)) for p, cut in cuts]


def _across(shape: Shape) -> tuple[Scale, bool]:
    """A scale that shows all steps; bent where a few of them lie far out."""
    cuts = shape.thresholds.astype(np.float64)
    if not cuts.size:
        return Scale(0.0, 1.0, 40, WIDTH - 6), False
    middle = float(np.median(cuts))
    unit = float(np.quantile(np.abs(cuts - middle), 0.5))
    bent = bool(unit > 0 and np.abs(cuts - middle).max() > SKEWED * unit)
    gap = (cuts[-1] - cuts[0]) / max(4, cuts.size - 1) or abs(float(cuts[0])) or 1.0
    low, high = float(cuts[0] - gap), float(cuts[-1] + gap)
    if cuts[0] >= 0:  # most columns of such cuts have no value below 0
        low = max(0.0, low)
    return Scale(low, high, 40, WIDTH - 6, "bent" if bent else "even", middle, unit or 1.0), bent


def _tick(words: str, value: float) -> str:
    return words[:7] if words.count("-") == 2 else number_words(value)


def _apart(x: Scale, most: int) -> list[float]:
    """Ticks that leave room for the words of their neighbours."""
    kept: list[float] = []
    for value in x.ticks(most + 2 if x.kind == "bent" else most):
        at = float(x.at(value))
        if (not kept or at - float(x.at(kept[-1])) > 44) and x.start + 8 < at < x.end - 8:
            kept.append(value)
    return kept


def _levels(shape: Shape, chosen: list[int], ends: tuple[float, float]) -> Markup:
    """A bar for each level of a category; those that say most, of many."""
    values = shape.values[:, chosen]
    alike: dict[tuple[float, ...], list[str]] = {}
    for name, line in zip(shape.levels, values.tolist(), strict=True):
        alike.setdefault(tuple(line), []).append(name)
    loudest = sorted(alike, key=lambda line: -max(map(abs, line)))[:MOST_LEVELS]
    most = max(abs(ends[0]), abs(ends[1]))
    lines = []
    for said in sorted(loudest, key=lambda line: -line[0]):
        place = int(np.abs(said).argmax())
        own = said[place]
        kind = f"c{place}" if len(chosen) > 1 else "right" if own >= 0 else "wrong"
        drawn = meter(own / most, kind, signed=True)
        lines.append((listed(alike[said], LEVELS_NAMED), drawn, signed(own)))
    rest = sum(len(alike[line]) for line in alike if line not in loudest)
    notes = [_missing(shape, chosen)] if len(chosen) == 1 else []
    notes += (
        [f"{rest} more level{'s have' if rest > 1 else ' has'} smaller effects"] if rest else []
    )
    return together(
        bars(lines),
        tag("p", "; ".join(n for n in notes if n), class_="remark"),
    )


def _missing(shape: Shape, chosen: list[int]) -> str:
    value = float(shape.missing[chosen[0]])
    return f"if missing: {signed(value)}" if value else ""


def _table(found: Shapes, order: list[int], cell: Callable[[int, float], str]) -> Markup:
    """The steps of the columns that are drawn, as numbers."""
    rows = []
    for j in order[:PANELS]:
        shape = found.features[j]
        for k, values in enumerate(shape.values[:24]):
            where = (
                shape.levels[k]
                if shape.levels
                else _interval([cell(j, cut) for cut in shape.thresholds.tolist()], k)
            )
            rows.append((shape.name, where, *(f"{v:+.4g}" for v in values[:MOST_CLASSES])))
    head = ["column", "value", *found.answers[:MOST_CLASSES]]
    made = table(head, rows, caption="What values add to the score", words=(0, 1))
    return numbers("The numbers", made)


def _interval(cuts: list[str], k: int) -> str:
    if not cuts:
        return "any"
    if k == 0:
        return f"up to {cuts[0]}"
    return f"above {cuts[-1]}" if k == len(cuts) else f"{cuts[k - 1]} to {cuts[k]}"
