"""The rounds, the rules in words, the importance of columns, and the hardest examples."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.boosters.multiclass import method_of
from pacboost.hypotheses.hypothesis import Names, value_words
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.ledgers.ledger import HardRow, Ledger
from pacboost.models.explain import explanation
from pacboost.models.model import Model
from pacboost.numerics.percent import percent
from pacboost.reports.page import charts
from pacboost.reports.page.charts import Markup, Section, tag, together
from pacboost.reports.page.subject import TRAINED, Numbers, Rows, Shown, Subject, mixed

Doubles = NDArray[np.float64]

MAX_POINTS = 240
MAX_TABLE_ROWS = 24
LOG_FROM_RATIO = 30  # ratio of the largest to the smallest value
MAX_BOUND_RATIO = 2.0
"""A bound is drawn up to this multiple of the largest measured value."""


@dataclass(frozen=True, eq=False)
class Line:
    """One curve."""

    name: str
    kind: str
    values: Doubles


def rounds(subject: Subject, rows: Rows) -> Section | None:
    """Draw the record of the rounds; return None if there is none."""
    ledger = subject.model.ledger
    if not (len(ledger) > 1 or ledger.refills):
        return None
    if ledger.refills:
        return _refills(ledger)
    columns = ledger.columns()
    numbers_ = np.array(columns["number"], dtype=np.float64)
    loss = not subject.classes  # the ledger of a regression has losses instead of errors
    what = "mean loss" if loss else "error"
    lines = [Line(f"{what} on training rows", "one", np.array(columns["training_error"]))]
    if not loss and not method_of(ledger.multiclass).guesses:
        lines.append(Line("bound of the theorem", "bound", np.array(columns["bound"])))
    watched = np.array(columns["validation"], dtype=np.float64)
    if (loss or (ledger.metric or "error") == "error") and not np.isnan(watched).all():
        name = "on validation rows" if loss else f"{what} on validation rows"
        lines.append(Line(name, "two", watched))
    body = curves(lines, numbers_, "round", f"{what.capitalize()} by round", shares=not loss)
    for label, values in ledger.shown().items():
        line = Line(label, "two", np.array(values, dtype=np.float64))
        other = curves([line], numbers_, "round", f"{label.capitalize()} by round", shares=False)
        body = together(body, other)
    if loss:
        lead: list[str | None] = ["The mean loss after every round."]
        return Section("rounds", "Round by round", lead, body)
    if ledger.metric not in ("", "error") and not np.isnan(watched).all():
        name = ledger.metric.replace("_", " ")
        metric = [Line(f"{name} on validation rows", "two", watched)]
        other = curves(metric, numbers_, "round", f"{name} by round", shares=False)
        body = together(body, other)
    last = ledger.rounds[-1]
    lead = [
        f"After {len(ledger):,} rounds the vote is wrong on {percent(last.training_error)} of the "
        "training rows.",
        "The bound is the product of the normalisers of all rounds; the error is never above it."
        if len(lines) > 1
        else None,
        f"Why it stopped: {ledger.stopped}." if ledger.stopped else None,
    ]
    return Section("rounds", "Round by round", lead, body)


def _refills(ledger: Ledger) -> Section:
    draws = np.cumsum([refill.draws for refill in ledger.refills]).astype(np.float64)
    columns = [(r.error, r.error_upper, r.acceptance) for r in ledger.refills]
    error, upper, acceptance = np.array(columns, dtype=np.float64).T
    lines = [Line("error on new rows", "one", error), Line("upper bound", "bound", upper)]
    lines.append(Line("share of rows kept", "two", acceptance))
    lead = [
        f"{int(draws[-1]):,} rows were drawn and scored by the vote at that time; the hard ones "
        "were kept for training.",
        f"Why it stopped: {ledger.stopped}." if ledger.stopped else None,
    ]
    body = curves(lines, draws, "rows drawn", "Error while rows are drawn")
    return Section("rounds", "Draw by draw", lead, body)


def curves(
    lines: list[Line], at: Doubles, x_label: str, title: str, *, shares: bool = True
) -> Markup:
    """Draw curves over rounds, with a line at the pointer and a table of numbers."""
    indices = chosen(at.size, MAX_POINTS)
    at = at[indices]
    drawn = [Line(line.name, line.kind, line.values[indices]) for line in lines]
    top = 1.0 if shares else np.inf
    measured = [np.minimum(line.values, top) for line in drawn if line.kind != "bound"]
    # A bound far above the curves would squeeze them, so it is drawn where it comes near.
    limit = MAX_BOUND_RATIO * float(np.nanmax(np.concatenate(measured))) or top
    every = np.concatenate([line.values for line in drawn])
    beyond = bool((every > limit).any())
    inside = every[~(every > limit)]
    positive = inside[inside > 0]
    log = bool(positive.size and np.nanmax(positive) >= LOG_FROM_RATIO * np.nanmin(positive))
    low = float(np.nanmin(positive)) * 0.8 if log else 0.0
    high = float(np.nanmax(inside)) * (1.25 if log else 1.06) or 1.0
    ends = (float(at[0]), float(at[-1])) if at.size > 1 else (0.0, float(at[-1]) + 1)
    zeros = " Points at the lower edge stand for 0." if log and (inside == 0).any() else ""
    zeros += " Where a line is missing, the bound is above the picture." if beyond else ""
    text = "; ".join(f"{line.name} ends at {_format(line.values[-1], shares)}" for line in drawn)

    frame = charts.Frame.of(ends, (low, high), log=log)
    heights = [np.where(x.values > limit, np.nan, np.maximum(x.values, low)) for x in drawn]
    paths = [frame.line(at, y, f"curve {x.kind}") for x, y in zip(drawn, heights, strict=True)]
    places = json.dumps([round(float(x), 1) for x in frame.x.at(at)])
    axes = frame.axes(x_label, shares=shares, integers=True)
    reader = frame.upright(ends[0], "reader")
    drawing = frame.svg(title, text + zeros, axes, paths, reader, data_places=places)
    rows = [
        [f"{int(at[k]):,}", *(_format(line.values[k], shares) for line in drawn)]
        for k in chosen(at.size, MAX_TABLE_ROWS)
    ]
    names = [line.name for line in drawn]
    values = [[_format(v, shares) for v in line.values] for line in drawn]
    data = {"x": [int(v) for v in at], "unit": x_label, "names": names, "values": values}
    # so that no text can close the script element
    text_of_data = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    script = tag("script", Markup(text_of_data), type="application/json")
    details = charts.numbers_table([x_label, *names], rows, title)
    marks = charts.key([(line.kind, line.name) for line in drawn])
    key = together(marks, tag("output", class_="reading"))
    note = charts.remark(zeros.strip())
    return charts.figure(drawing, script, note, details, key=key, class_="curves")


def chosen(count: int, limit: int) -> NDArray[np.intp]:
    """Choose up to ``limit`` of ``count`` indices, densest at the beginning.

    >>> chosen(5, 10).tolist(), chosen(1000, 6).tolist()
    ([0, 1, 2, 3, 4], [0, 3, 15, 62, 250, 999])
    """
    if count <= limit:
        return np.arange(count)
    return np.unique(np.geomspace(1, count, limit).round().astype(np.intp)) - 1


def _format(value: float, shares: bool) -> str:
    if np.isnan(value):
        return "–"
    return percent(float(value)) if shares else f"{value:.4g}"


MAX_RULES = 12
MAX_ROUNDS = 200
MAX_COLUMNS = 14
MAX_OPEN_CLASSES = 12
MAX_CLASSES = 160
"""Maximum number of classes; ``rules(label=...)`` gives the others."""
WORDS_PER_CLASS = 7
MAX_NODES = 63


def rules(subject: Subject, rows: Rows) -> Section | None:
    """Show the columns or words, and the rules, of the model."""
    model = subject.model
    if subject.model.text is not None:
        return _words(model, subject.classes)
    parts = [_importances(subject)]
    if not model.forest and len(model.vote):
        parts += [_strongest(model), _first_tree(model), _all(model)]
    if not any(parts):
        return None
    asked = int((subject.importances > 0).sum())
    uses = f"The model uses {asked:,} of {len(subject.model.column_names):,} columns."
    lead = [uses, "Bars show the importance of each column."] if asked else []
    return Section("rules", "What the model uses", lead, together(*parts))


def _importances(subject: Subject) -> Markup | None:
    shares = subject.importances
    order = np.argsort(-shares, kind="stable")[:MAX_COLUMNS]
    order = order[shares[order] > 0]
    if not order.size:
        return None
    best = [(subject.model.column_names[j], float(shares[j])) for j in order.tolist()]
    lines = [(name, share, percent(share)) for name, share in best]
    rest = int((shares > 0).sum()) - order.size
    note = charts.remark(f"{rest:,} more columns are less important." if rest else "")
    return together(charts.ranked_bars(lines, "Columns by importance"), note)


def _strongest(model: Model) -> Markup | None:
    """List the rules with the largest votes; votes of equal rules are added up."""
    if model.ledger.cells or model.ledger.potential == "none":
        return None
    names, votes, often = model.say(), dict[StumpRule, float](), Counter[StumpRule]()
    for rule, vote in zip(model.vote.hypotheses, model.vote.votes.tolist(), strict=True):
        if not isinstance(rule, StumpRule):
            return None
        votes[rule] = votes.get(rule, 0.0) + vote
        often[rule] += 1
    lines = []
    for rule in sorted(votes, key=lambda rule: -abs(votes[rule]))[:MAX_RULES]:
        times = f" ×{often[rule]}" if often[rule] > 1 else ""
        lines.append((rule.words(names), abs(votes[rule]), f"{votes[rule]:.3f}{times}"))
    caption = f"The strongest of {len(votes):,} rules, with their votes"
    return charts.ranked_bars(lines, caption, "bars rules")


def _first_tree(model: Model) -> Markup | None:
    """Show the first tree with splits as nested questions."""
    trees = (rule for rule in model.vote.hypotheses if isinstance(rule, TreeRule))
    tree = next((rule for rule in trees if rule.feature.size), None)
    if tree is None or tree.feature.size == 1 or tree.feature.size > MAX_NODES:
        return None
    drawn = tag("ul", _branch(tree, 0, model.say()), class_="tree")
    return charts.numbers("The first tree, question by question", drawn)


def _branch(tree: TreeRule, node: int, names: Names) -> Markup:
    """Return both sides of a split: the condition and what follows."""
    sides = []
    for is_left, child in ((True, int(tree.left[node])), (False, int(tree.right[node]))):
        condition = tree.condition(node, names, left=is_left)
        if child < 0:
            answer = tag("b", value_words(tree.values[~child], names))
            sides.append(tag("li", condition, " → ", answer))
        else:
            sides.append(tag("li", condition, tag("ul", _branch(tree, child, names))))
    return together(sides)


def _all(model: Model) -> Markup:
    words = model.words()
    shown = tag("ol", (tag("li", text) for text in words[:MAX_ROUNDS]), class_="all")
    n_more = len(words) - MAX_ROUNDS
    rest = f"{n_more:,} more; model.rules() gives all of them." if n_more > 0 else ""
    return charts.numbers("All rules, in the order of rounds", together(shown, charts.remark(rest)))


def _words(model: Model, classes: tuple[str, ...]) -> Section | None:
    """List, for each class, the words that add most to its score."""
    asked, added = explanation.totals(model.vote)
    if not asked.size:
        return None
    if added.shape[1] == 1:  # one score, of the second class
        added = np.concatenate([-added, added], axis=1)
    order = np.argsort(-added.max(axis=0), kind="stable")
    cards = [_card(model, classes[k], asked, added[:, k]) for k in order[:MAX_CLASSES].tolist()]
    grid = tag("div", cards[:MAX_OPEN_CLASSES], class_="words-grid")
    rest = cards[MAX_OPEN_CLASSES:]
    others = charts.numbers(f"{len(rest):,} more classes", tag("div", rest, class_="words-grid"))
    what = "words and conditions" if mixed(model) else "words and n-grams"
    lead = [
        f"The rules use {asked.size:,} {what}. For each class, those that add most to its score.",
        "The contribution of a word is summed over all rules that use it; beside other words of "
        "the same rules it is smaller.",
    ]
    return Section("rules", "What the model uses", lead, together(grid, others if rest else None))


def _card(model: Model, name: str, asked: NDArray[np.int32], added: NDArray[np.float64]) -> Markup:
    best = np.argsort(-added, kind="stable")[:WORDS_PER_CLASS]
    lines = [
        (model.column_names[asked[k]], float(added[k]), f"+{added[k]:.2f}")
        for k in best[added[best] > 0].tolist()
    ]
    return tag("article", tag("h3", name), charts.ranked_bars(lines, width=60))


MAX_ROWS = 12
LEAD = (
    "The rows with the smallest margins. Look at these first: they are outliers, exceptions, and "
    "often rows with wrong labels."
)


def hardest(subject: Subject, rows: Rows) -> Section | None:
    """Show the rows with the smallest margins."""
    shown = () if rows is None else rows.shown
    fitted: Sequence[HardRow] = subject.model.ledger.hard[:MAX_ROWS]
    if not shown and not fitted:
        return None
    numbers = isinstance(rows, Numbers)
    lead = ["The rows with the largest errors." if numbers else LEAD]
    parts = []
    if shown:
        cards = (_hardest_card(entry, numbers) for entry in shown)
        parts.append(tag("h3", "Among the rows given for this report"))
        if rows is not None and rows.has_training_rows:
            parts.append(tag("p", TRAINED, class_="remark"))
        parts.append(tag("div", cards, class_="cases"))
    if fitted:
        parts += [tag("h3", "Among the training rows"), _fitted(fitted)]
    return Section("hardest", "Hardest examples", lead, together(parts))


def _hardest_card(entry: Shown, numbers: bool) -> Markup:
    text = [value for name, value in entry.cells if not name]
    named = [(name, value) for name, value in entry.cells if name]
    how = "error" if numbers else "margin"
    verdict = [", predicted correctly"]
    if entry.label != entry.predicted:
        verdict = [", predicted as ", tag("b", entry.predicted)]
    return tag(
        "article",
        tag("p", f"row {entry.row:,} · {how} {entry.margin:+.3g}".replace("-", "−"), class_="tag"),
        tag("blockquote", text[0]) if text else None,
        tag("p", "is ", tag("b", entry.label), *verdict, class_="verdict"),
        charts.terms(named) if named else None,
    )


def _fitted(rows: Sequence[HardRow]) -> Markup:
    lines = (
        tag("tr", tag("td", f"{entry.row:,}", class_="number"),
            tag("th", entry.label, scope="row", class_="words"),
            tag("td", charts.meter(entry.wrong, "wrong"), class_="bar"),
            tag("td", percent(entry.wrong), class_="number"),
            tag("td", f"{entry.margin:+.3f}".replace("-", "−"), class_="number"))
        for entry in rows
    )  # fmt: skip
    head = tag("tr", (tag("th", name, scope="col", class_=kind) for name, kind in (
        ("row", "number"), ("label", "words"), ("votes against the label", "words"), ("", "number"),
        ("margin", "number"))))  # fmt: skip
    caption = tag("caption", "Rows are numbered from 0, in the order given to fit")
    return tag("table", caption, tag("thead", head), tag("tbody", lines), class_="bars")
