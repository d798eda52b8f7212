"""The rules in words, and the importance of columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Names, value_words
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.tree import TreeRule
from pacboost.ledgers.ledger import HardRow
from pacboost.models.explain import explanation
from pacboost.models.model import Model
from pacboost.numerics.percent import percent
from pacboost.reports.page.charts import (
    Markup,
    Section,
    bars,
    meter,
    numbers,
    paragraphs,
    tag,
    terms,
    together,
)
from pacboost.reports.page.subject import TRAINED, Numbers, Rows, Shown, Subject, mixed

MOST_RULES = 12
MOST_ROUNDS = 200
MOST_COLUMNS = 14
MOST_CLASSES = 12
CLASSES_KEPT = 160
"""If there are more classes, ``rules(label=...)`` gives the others."""
WORDS_PER_CLASS = 7
MOST_NODES = 63


def rules(subject: Subject, rows: Rows) -> Section | None:
    """Show what the model uses."""
    model = subject.model
    if model is not None and subject.text:
        return _words(model, subject.classes)
    parts = [_importances(subject)]
    if model is not None and model.vote.hypotheses:
        parts += [_strongest(model), _first_tree(model), _all(model)]
    if not any(parts):
        return None
    asked = int((subject.importances > 0).sum())
    lead = paragraphs(
        f"The model uses {asked:,} of {len(subject.names):,} columns." if asked else None,
        "Bars show the importance of each column." if asked else None,
    )
    return Section("rules", "What the model uses", lead, together(*parts))


def _importances(subject: Subject) -> Markup | None:
    shares = subject.importances
    order = np.argsort(-shares, kind="stable")[:MOST_COLUMNS]
    order = order[shares[order] > 0]
    if not order.size:
        return None
    most = float(shares[order[0]])
    lines = (
        (subject.names[j], meter(float(shares[j]) / most), percent(float(shares[j])))
        for j in order.tolist()
    )
    rest = int((shares > 0).sum()) - order.size
    more = tag("p", f"{rest:,} more columns are less important.", class_="remark") if rest else None
    return together(bars(lines, "Columns by importance"), more)


def _strongest(model: Model) -> Markup | None:
    """Rules that have one vote each, equal ones put together."""
    if model.ledger.cells or model.ledger.potential == "none":
        return None
    names, votes, often = model.say(), dict[Hashable, float](), dict[Hashable, int]()
    for rule, vote in zip(model.vote.hypotheses, model.vote.votes.tolist(), strict=True):
        if not isinstance(rule, StumpRule):
            return None
        votes[rule] = votes.get(rule, 0.0) + vote
        often[rule] = often.get(rule, 0) + 1
    best = sorted(votes, key=lambda rule: -abs(votes[rule]))[:MOST_RULES]
    most = max((abs(votes[rule]) for rule in best), default=1.0) or 1.0
    lines = (
        (
            rule.words(names),  # type: ignore[attr-defined]
            meter(abs(votes[rule]) / most),
            f"{votes[rule]:.3f}" + (f" ×{often[rule]}" if often[rule] > 1 else ""),
        )
        for rule in best
    )
    return bars(lines, f"The strongest of {len(votes):,} rules, with their votes", "bars rules")


def _first_tree(model: Model) -> Markup | None:
    """The first tree that splits, as nested questions; later trees correct its errors."""
    trees = (rule for rule in model.vote.hypotheses if isinstance(rule, TreeRule))
    tree = next((rule for rule in trees if rule.feature.size), None)
    if tree is None or tree.feature.size == 1 or tree.feature.size > MOST_NODES:
        return None
    drawn = tag("ul", _branch(tree, 0, model.say()), class_="tree")
    return numbers("The first tree, question by question", drawn)


def _branch(tree: TreeRule, node: int, names: Names) -> Markup:
    """Write both sides of a split: what sends a row there, and what follows."""
    sides = []
    for left, child in ((True, int(tree.left[node])), (False, int(tree.right[node]))):
        said = tree.condition(node, names, left=left)
        if child < 0:
            sides.append(tag("li", said, " → ", tag("b", value_words(tree.values[~child], names))))
        else:
            sides.append(tag("li", said, tag("ul", _branch(tree, child, names))))
    return together(sides)


def _all(model: Model) -> Markup:
    words = model.words()
    shown = tag("ol", (tag("li", text) for text in words[:MOST_ROUNDS]), class_="all")
    more = len(words) - MOST_ROUNDS
    rest = tag("p", f"{more:,} more; model.rules() gives all of them.", class_="remark")
    return numbers("All rules, in the order of rounds", together(shown, rest if more > 0 else None))


def _words(model: Model, classes: tuple[str, ...]) -> Section | None:
    """For each class, the words that add most to its score."""
    asked, added = explanation.totals(model.vote)
    if not asked.size:
        return None
    if added.shape[1] == 1:  # one score, which speaks for the second class
        added = np.concatenate([-added, added], axis=1)
    order = np.argsort(-added.max(axis=0), kind="stable")
    cards = [_card(model, classes[k], asked, added[:, k]) for k in order[:CLASSES_KEPT].tolist()]
    grid = tag("div", cards[:MOST_CLASSES], class_="words-grid")
    rest = cards[MOST_CLASSES:]
    more = numbers(f"{len(rest):,} more classes", tag("div", rest, class_="words-grid"))
    what = "words and conditions" if mixed(model) else "words and n-grams"
    lead = paragraphs(
        f"The rules use {asked.size:,} {what}. For each class, those that add most to its score.",
        "The contribution of a word is summed over all rules that use it; beside other words of "
        "the same rules it is smaller.",
    )
    return Section("rules", "What the model uses", lead, together(grid, more if rest else None))


def _card(model: Model, name: str, asked: NDArray[np.int32], added: NDArray[np.float64]) -> Markup:
    best = np.argsort(-added, kind="stable")[:WORDS_PER_CLASS]
    best = best[added[best] > 0]
    most = float(added[best[0]]) if best.size else 1.0
    lines = (
        (model.column_names[asked[k]], meter(float(added[k]) / most, width=60), f"+{added[k]:.2f}")
        for k in best.tolist()
    )
    return tag("article", tag("h3", name), bars(lines))


# The hardest examples: outliers, and labels that may be wrong.

MOST_ROWS = 12
LEAD = (
    "The rows with the smallest margins. Look at these first: they are outliers, exceptions, and "
    "often rows with wrong labels."
)


def hardest(subject: Subject, rows: Rows) -> Section | None:
    """Show the rows with the smallest margins."""
    shown = () if rows is None else rows.shown
    fitted: Sequence[HardRow] = () if subject.ledger is None else subject.ledger.hard[:MOST_ROWS]
    if not shown and not fitted:
        return None
    numbers = isinstance(rows, Numbers)
    lead = paragraphs("The rows with the largest errors." if numbers else LEAD)
    parts = []
    if shown:
        cards = (_hardest_card(entry, numbers) for entry in shown)
        parts.append(tag("h3", "Among the rows given for this report"))
        if rows is not None and rows.seen:
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
    if entry.label != entry.said:
        verdict = [", predicted as ", tag("b", entry.said)]
    return tag(
        "article",
        tag("p", f"row {entry.row:,} · {how} {entry.margin:+.3g}".replace("-", "−"), class_="tag"),
        tag("blockquote", text[0]) if text else None,
        tag("p", "is ", tag("b", entry.label), *verdict, class_="verdict"),
        terms(named) if named else None,
    )


def _fitted(rows: Sequence[HardRow]) -> Markup:
    lines = (
        tag("tr", tag("td", f"{own.row:,}", class_="number"),
            tag("th", own.label, scope="row", class_="words"),
            tag("td", meter(own.wrong, "wrong"), class_="bar"),
            tag("td", percent(own.wrong), class_="number"),
            tag("td", f"{own.margin:+.3f}".replace("-", "−"), class_="number"))
        for own in rows
    )  # fmt: skip
    head = tag("tr", (tag("th", name, scope="col", class_=kind) for name, kind in (
        ("row", "number"), ("label", "words"), ("votes against the label", "words"), ("", "number"),
        ("margin", "number"))))  # fmt: skip
    caption = tag("caption", "Rows are numbered from 0, in the order given to fit")
    return tag("table", caption, tag("thead", head), tag("tbody", lines), class_="bars")
