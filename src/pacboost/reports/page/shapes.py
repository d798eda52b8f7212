"""The effect of each column on the score, in small panels.

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
from pacboost.models.model import Model
from pacboost.reports.page import charts
from pacboost.reports.page.charts import Markup, Section, tag, together
from pacboost.reports.page.subject import Rows, Subject
from pacboost.reports.text import listed

PANELS = 12
MAX_COLUMNS = 24
EXACT = (
    "Every rule uses one column, so the score is exactly a sum of step functions, one for each "
    "column."
)
PAIRS = (
    "No rule uses more than two columns, so the score is exactly a constant, a step function "
    "for each column, and a map for each pair: the joint effect beyond the single effects. Over "
    "the training rows, every line of a map has mean 0."
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
MIN_SPAN_SHARE = 0.03
"""Columns whose effect is a smaller share of the scale are folded away."""
MAX_CLASSES = 5
MAX_LEVELS = 8
MAX_LEVEL_NAMES = 3
MAPS, MAP_STEPS, SHADES = 6, 20, 10
"""Maximum number of maps, steps per side, and shades of each colour."""
WIDTH, HEIGHT = 300, 176
MAX_SKEW = 8.0
"""The scale is compressed if the largest distance exceeds the median distance by this factor."""

Doubles = NDArray[np.float64]
Answers = tuple[str, ...]


def shapes(subject: Subject, rows: Rows) -> Section | None:
    """Draw the curve of each column, for votes of stumps or trees, and forests."""
    model = subject.model
    if subject.model.text is not None or not len(model.vote):
        return None
    find = _of_forest if model.forest else _of_vote
    curves, how = find(model, subject)
    if curves is None or not curves.features:
        return None
    if not curves.answers:
        curves = replace(curves, answers=("the prediction",), say=curves.names)

    cell = curves.names.value
    order = sorted(curves.features, key=lambda j: (-subject.importances[j], j))
    chosen = _chosen(curves)
    low, high = _span([curves.features[j] for j in order[:PANELS]], chosen)
    ends = low, high
    shown = {j: _panel(curves.features[j], chosen, ends, partial(cell, j)) for j in order[:PANELS]}
    flat = [j for j in shown if curves.features[j].span < MIN_SPAN_SHARE * (high - low)]
    panels = tag("div", (shown[j] for j in shown if j not in flat), class_="panels")
    folded = tag("div", (shown[j] for j in flat), class_="panels")
    note = f"{len(flat)} more column{'s change' if len(flat) > 1 else ' changes'} little"
    used = max(len(order), int((subject.importances > 0).sum()))
    lead = [
        how,
        _meaning(subject, curves),
        f"The {PANELS} most important columns are shown, out of {used}."
        if len(order) > PANELS
        else None,
    ]
    legend = None
    if len(curves.answers) > 1:
        legend = charts.key([(f"c{place}", curves.answers[k]) for place, k in enumerate(chosen)])
    rest = charts.numbers(note, folded) if flat else None
    maps = _maps(curves) if curves.maps else None
    body = together(legend, panels, rest, maps, _table(curves, order))
    return Section("shapes", "Column by column", lead, body)


def _of_vote(model: Model, subject: Subject) -> tuple[Shapes | None, str]:
    """Return the curves of a vote and their explanation; None if its rules have no curves."""
    try:
        curves = model.shapes()
        return curves, PAIRS if curves.maps else EXACT
    except DataError:  # some rules use several columns
        order = np.argsort(-subject.importances, kind="stable")[:MAX_COLUMNS].tolist()
    try:
        return partial_dependence(model.vote, model.say(), order), AVERAGED
    except DataError:
        return None, ""


def _of_forest(model: Model, subject: Subject) -> tuple[Shapes | None, str]:
    """Return the curves of a forest; None if its classes are sets of labels."""
    if model.labels:
        return None, ""
    order = np.argsort(-subject.importances, kind="stable")[:PANELS].tolist()
    curves = forest_partial_dependence(model.vote, model.say(), order, subject.table)
    return curves, OF_BINS if subject.table is None else OF_ROWS


def _meaning(subject: Subject, curves: Shapes) -> str:
    if not subject.classes:
        return "Values above 0 raise the prediction, values below 0 lower it."
    if subject.model.forest:
        whose = f"of “{curves.answers[0]}”" if len(curves.answers) == 1 else "of a class"
        return f"Values are added to the mean share {whose} in predict_proba."
    if len(curves.answers) == 1:
        return f"Values above 0 are evidence for “{curves.answers[0]}”, values below 0 against it."
    return "Values above 0 are evidence for a class, values below 0 against it."


def _chosen(curves: Shapes) -> list[int]:
    if len(curves.answers) <= MAX_CLASSES:
        return list(range(len(curves.answers)))
    spans = sum(np.ptp(shape.values, axis=0) for shape in curves.features.values())
    return sorted(np.argsort(-np.asarray(spans), kind="stable")[:MAX_CLASSES].tolist())


def _span(panels: list[Shape], chosen: list[int]) -> tuple[float, float]:
    """Return one scale for all panels, so that they can be compared."""
    lows = [min(shape.values[:, chosen].min(), shape.missing[chosen].min()) for shape in panels]
    highs = [max(shape.values[:, chosen].max(), shape.missing[chosen].max()) for shape in panels]
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
    frame = charts.Frame(WIDTH, HEIGHT, x, charts.Scale(*ends, HEIGHT - 24, 8))
    edges = np.concatenate([[x.low], shape.thresholds.astype(np.float64), [x.high]])
    parts = []
    for place, k in enumerate(chosen):
        values = shape.values[:, k]
        x_steps, y_steps = np.repeat(edges, 2)[1:-1], np.repeat(values, 2)
        if len(chosen) == 1:  # the area between the steps and 0
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
        tag("text", charts.number_words(value), x=x.start - 5, y=float(frame.y.at(value)) + 4,
            class_="tick", text_anchor="end")
        for value in frame.y.ticks(4)
    ]  # fmt: skip
    span = f"from {shape.values.min():+.3g} to {shape.values.max():+.3g}"
    drawn = frame.svg(f"What {shape.name} adds to the score", span, line, ticks, parts)
    notes = [_missing(shape, chosen)] if len(chosen) == 1 else []
    notes += ["the scale is compressed at the ends"] if bent else []
    return tag("article", heading, drawn, charts.remark(*notes))


def _maps(curves: Shapes) -> Markup:
    """Draw the maps with the largest effects, each for the output with the largest effect."""
    largest = dict(list(curves.maps.items())[:MAPS])
    extreme = max(float(np.abs(pair_map.values).max()) for pair_map in largest.values()) or 1.0
    panels = [
        _map(pair_map, extreme, [partial(curves.names.value, j) for j in pair], curves.answers)
        for pair, pair_map in largest.items()
    ]
    n_more = len(curves.maps) - len(largest)
    note = f"; {n_more} smaller map{'s are' if n_more > 1 else ' is'} not shown" if n_more else ""
    ends = [("right", extreme), ("wrong", -extreme)]
    marks = charts.key([(kind, f"up to {charts.signed(end)}") for kind, end in ends])
    words = f"What two columns add together, beyond their curves; no colour is 0{note}."
    return together(
        tag("h3", "Pairs of columns"), tag("p", words), marks, tag("div", panels, class_="panels")
    )


def _map(
    pair_map: Map, extreme: float, cells: Sequence[Callable[[float], str]], answers: Answers
) -> Markup:
    """Draw a map in steps of equal width; many steps are thinned out evenly."""
    output = int(np.abs(pair_map.values).max(axis=(0, 1)).argmax())
    whose = f", for {answers[output]}" if len(answers) > 1 else ""
    shown = [
        np.unique(np.linspace(0, size - 2, min(MAP_STEPS, size - 1)).astype(np.intp))
        for size in pair_map.values.shape[:2]
    ]
    shades = np.rint(SHADES * pair_map.values[..., output][np.ix_(*shown)] / extreme).astype(int)
    x_min, bottom, top = 58, HEIGHT - 24, 20
    wide, high = (WIDTH - 6 - x_min) / shown[0].size, (bottom - top) / shown[1].size
    parts = []
    for shade in np.unique(shades[shades != 0]).tolist():
        corners = [
            (x_min + a * wide, bottom - (b + 1) * high) for a, b in np.argwhere(shades == shade)
        ]
        w, h = charts.short(wide), charts.short(high)
        moves = (f"M{charts.short(x)} {charts.short(y)}" for x, y in corners)
        path = "".join(f"{move}h{w}v{h}h-{w}z" for move in moves)
        kind = "right" if shade > 0 else "wrong"
        parts.append(tag("path", d=path, class_=f"heat {kind}", fill_opacity=abs(shade) / SHADES))
    for share, words in _marks(pair_map, 0, shown[0], cells[0], 3):
        at = x_min + share * (WIDTH - 6 - x_min)
        parts.append(tag("text", words, x=at, y=HEIGHT - 8, class_="tick", text_anchor="middle"))
    for share, words in _marks(pair_map, 1, shown[1], cells[1], 5):
        at = bottom - share * (bottom - top)
        parts.append(tag("text", words, x=x_min - 5, y=at + 4, class_="tick", text_anchor="end"))
    first, second = pair_map.names
    parts.append(tag("text", f"{second} ↑", x=2, y=12, class_="label"))
    frame = charts.Frame(
        WIDTH, HEIGHT, charts.Scale(0, 1, x_min, WIDTH - 6), charts.Scale(0, 1, bottom, top)
    )
    span = f"from {pair_map.values.min():+.3g} to {pair_map.values.max():+.3g}"
    drawn = frame.svg(f"What {first} and {second} add together", span, parts)
    size = f"{first} →; moves the score by {pair_map.size:.2g} (root mean square){whose}"
    heading = tag("h3", f"{first} × {second}")
    return tag("article", heading, drawn, charts.remark(size))


def _marks(
    pair_map: Map, side: int, shown: NDArray[np.intp], cell: Callable[[float], str], limit: int
) -> list[tuple[float, str]]:
    count = shown.size
    places = np.unique(np.linspace(0, count, min(limit, count) + 2)[1:-1].astype(np.intp))
    if pair_map.levels[side]:
        return [((p + 0.5) / count, pair_map.levels[side][shown[p]][:8]) for p in places.tolist()]
    cuts = [(p, float(pair_map.thresholds[side][shown[p] - 1])) for p in places.tolist() if p]
    return [(p / count, _tick(cell(cut), cut)) for p, cut in cuts]


def _across(shape: Shape) -> tuple[charts.Scale, bool]:
    """Return a scale that shows all steps, bent if a few of them are outliers."""
    cuts = shape.thresholds.astype(np.float64)
    if not cuts.size:
        return charts.Scale(0.0, 1.0, 40, WIDTH - 6), False
    middle = float(np.median(cuts))
    unit = float(np.quantile(np.abs(cuts - middle), 0.5))
    bent = bool(unit > 0 and np.abs(cuts - middle).max() > MAX_SKEW * unit)
    gap = (cuts[-1] - cuts[0]) / max(4, cuts.size - 1) or abs(float(cuts[0])) or 1.0
    low, high = float(cuts[0] - gap), float(cuts[-1] + gap)
    if cuts[0] >= 0:  # most columns of such cuts have no value below 0
        low = max(0.0, low)
    return charts.Scale(
        low, high, 40, WIDTH - 6, "bent" if bent else "even", middle, unit or 1.0
    ), bent


def _tick(words: str, value: float) -> str:
    return words[:7] if words.count("-") == 2 else charts.number_words(value)


def _apart(x: charts.Scale, limit: int) -> list[float]:
    """Return ticks that leave room for their labels."""
    ticks: list[float] = []
    for value in x.ticks(limit + 2 if x.kind == "bent" else limit):
        at = float(x.at(value))
        if (not ticks or at - float(x.at(ticks[-1])) > 44) and x.start + 8 < at < x.end - 8:
            ticks.append(value)
    return ticks


def _levels(shape: Shape, chosen: list[int], ends: tuple[float, float]) -> Markup:
    """Draw a bar for each level of a category; if there are many, for the largest effects."""
    values = shape.values[:, chosen]
    alike: dict[tuple[float, ...], list[str]] = {}
    for name, line in zip(shape.levels, values.tolist(), strict=True):
        alike.setdefault(tuple(line), []).append(name)
    loudest = sorted(alike, key=lambda line: -max(map(abs, line)))[:MAX_LEVELS]
    extreme = max(abs(ends[0]), abs(ends[1]))
    lines = []
    for effects in sorted(loudest, key=lambda line: -line[0]):
        place = int(np.abs(effects).argmax())
        effect = effects[place]
        kind = f"c{place}" if len(chosen) > 1 else "right" if effect >= 0 else "wrong"
        drawn = charts.meter(effect / extreme, kind, signed=True)
        lines.append((listed(alike[effects], MAX_LEVEL_NAMES), drawn, charts.signed(effect)))
    rest = sum(len(alike[line]) for line in alike if line not in loudest)
    notes = [_missing(shape, chosen)] if len(chosen) == 1 else []
    verb = "s have" if rest > 1 else " has"
    notes += [f"{rest} more level{verb} smaller effects"] if rest else []
    return together(charts.bars(lines), charts.remark(*notes))


def _missing(shape: Shape, chosen: list[int]) -> str:
    value = float(shape.missing[chosen[0]])
    return f"if missing: {charts.signed(value)}" if value else ""


def _table(curves: Shapes, order: list[int]) -> Markup:
    rows = []
    for j in order[:PANELS]:
        shape = curves.features[j]
        for where, values in zip(curves.where(j)[:24], shape.values[:24], strict=True):
            rows.append((shape.name, where, *(f"{v:+.4g}" for v in values[:MAX_CLASSES])))
    head = ["column", "value", *curves.answers[:MAX_CLASSES]]
    return charts.numbers_table(head, rows, "What values add to the score", words=(0, 1))
