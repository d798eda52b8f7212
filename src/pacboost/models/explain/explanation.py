"""The explanation of one row: the contribution of each column, or of each rule, to its score.

Rules with the same condition are combined. Contributions add up to the score bit for bit.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError, invalid
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.word_list import WordList
from pacboost.models.explain import attribution
from pacboost.models.model import Model
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.numerics.markup import bold, table
from pacboost.samples.sample import unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.dataframe import to_frame
from pacboost.sources.given import GivenTable
from pacboost.sources.sparse import WordTable
from pacboost.sources.table import Table
from pacboost.sources.text import TextFeatures, condition_words
from pacboost.sources.values import is_missing

Doubles = NDArray[np.float64]


class Ground(NamedTuple):
    """A condition in words, the contribution of its rules, and their number."""

    words: str
    added: Doubles
    rules: int
    column: str = ""
    is_first: bool = False
    """Whether it is listed before larger contributions."""


@dataclass(frozen=True)
class Entry:
    """A value of the row, or a condition that it meets, with its contribution to the score."""

    words: str
    contribution: float
    contributions: tuple[float, ...]
    """Contributions to every output: one for two classes, else one for each class."""
    rules: int
    """Number of rules with this condition, or that use the column."""
    column: str = ""
    """The column whose value it is; empty for other conditions, and for missing values."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """The explanation of one row: its score is ``base`` + all contributions + ``rest``."""

    prediction: Any
    for_class: Any
    """The class of the contributions, score and probability; None in regression."""
    probability: float | None
    score: float
    entries: tuple[Entry, ...]
    """The largest contributions first."""
    rest: float
    """Contribution of the columns or rules that are not among the entries."""
    rest_rules: int
    """Number of those columns or rules."""
    base: float = 0.0
    """The score of an average row, from which the contributions of columns lead to this one."""
    unit: str = "rule"
    """The kind of an entry: a "rule", or a "column"."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the entries as plain data, for a data frame or JSON."""
        return [asdict(entry) for entry in self.entries]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the entries as a data frame of pandas, polars or pyarrow."""
        entries = self.to_dicts()
        return to_frame({f.name: [e[f.name] for e in entries] for f in fields(Entry)}, backend)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return bold(self._head()) + table(
            ["because", "contribution"], [line[::-1] for line in self._lines()]
        )

    def _head(self) -> str:
        if self.probability is None:
            return f"predicted: {self.prediction:.6g}"
        chance = f"probability of {self.for_class}: {self.probability:.4g}"
        return f"predicted: {self.prediction} ({chance})"

    def _foot(self) -> str:
        if self.probability is not None:
            return f"score of {self.for_class}"
        return "prediction" if self.prediction == self.score else "score"

    def __str__(self) -> str:
        lines = (f"{added:>10}  {words}" for added, words in self._lines())
        return "\n".join([self._head(), *lines])

    def _lines(self) -> list[tuple[str, str]]:
        lines = [(self.base, "an average row")] if self.base else []
        for entry in self.entries:
            often = f"  ({entry.rules} rules)" if entry.rules > 1 and self.unit == "rule" else ""
            lines.append((entry.contribution, f"{entry.words}{often}"))
        if self.rest_rules:
            many = "s" if self.rest_rules > 1 else ""
            lines.append((self.rest, f"{self.rest_rules} other {self.unit}{many}"))
        return [(f"{added:+.4f}", words) for added, words in [*lines, (self.score, self._foot())]]


def explain(
    model: Model,
    table: Table,
    prediction: object,
    top: int,
    for_class: object = None,
    by: str = "column",
) -> Explanation:
    """Explain the score of a table's only row, for a class or, in regression, for the number.

    By default the class is the one with the largest score, or the second of two. A text is
    explained by its words.
    """
    if by not in ("column", "rule"):
        raise invalid("by", by, "may be 'column' or 'rule'")
    scores, classes = model.vote.scores(table), model.classes.tolist()
    number, output, sign, chance = class_number(classes, for_class), 0, 1.0, None
    if classes:
        if scores.ndim == 2:
            number = output = int(scores[0].argmax()) if number is None else number
        elif number is not None and number < len(classes) - 1:
            sign = -1.0  # the one score speaks for the second class
        number = len(classes) - 1 if number is None else number
        chance = float(model.probabilities(scores)[0, number])
    if isinstance(table, WordTable):
        grounds, by = _words(model, table), "rule"
    else:
        columns = _columns(model, table) if by == "column" else None
        grounds, by = (_grounds(model, table), "rule") if columns is None else (columns, by)
    total = sign * float(scores.reshape(-1)[output])
    grounds.sort(key=lambda ground: (not ground.is_first, -abs(float(ground.added[output]))))
    entries = [
        Entry(words, sign * float(added[output]), tuple((sign * added).tolist()), rules, column)
        for words, added, rules, column, _ in grounds
    ]
    rest = entries[top:]
    return Explanation(
        prediction, None if number is None else classes[number], chance, total,
        tuple(entries[:top]), sum((entry.contribution for entry in rest), start=0.0),
        sum(entry.rules for entry in rest) if by == "rule" else len(rest),
        total - sum(entry.contribution for entry in entries) if by == "column" else 0.0, by,
    )  # fmt: skip


def class_number(classes: list[Any], for_class: object) -> int | None:
    """Find a class by its name; None for None."""
    if for_class is None:
        return None
    if getattr(for_class, "ndim", 0) or for_class not in classes:
        names = ", ".join(map(repr, classes))
        raise ParameterError(f"for_class is {for_class!r}; the classes are {names}")
    return classes.index(for_class)


def _columns(model: Model, table: Table) -> list[Ground] | None:
    """Return the contribution of every column; None if some rule has no contributions by column.

    For trees these are SHAP values; for rules of one column, the values of the rules.
    """
    vote, names = model.vote, model.column_names
    features = [rule.features() for rule in vote.hypotheses]
    count = np.zeros(table.n_columns, dtype=np.int64)
    for columns in features:
        if columns is None:
            return None
        count[list(columns)] += 1
    added = np.zeros((table.n_columns, vote.outputs))
    if len(vote.trees) == len(features) > 0:
        trees = [tree for tree, _ in vote.trees]
        codes = trees[0].bins.encode(table).astype(np.uint8, copy=False)
        added += attribution.shap_values(trees, vote.votes, codes)[0][0]
        added = np.rint(added / VOTE_UNIT) * VOTE_UNIT
    elif all(len(columns or ()) < 2 for columns in features):
        sample = unlabelled(ArrayTable(table.rows(), table.names, table.levels))
        for rule, cast, columns in zip(vote.hypotheses, vote.votes, features, strict=True):
            added[list(columns or ())] += float(cast) * rule.values[int(rule.cells(sample)[0])]
    else:
        return None

    return [
        Ground(
            _cell(table, names, j), added[j], int(count[j]),
            "" if is_missing(table.given(j, 0)) else names[j],
        )
        for j in np.flatnonzero(added.any(axis=1)).tolist()
    ]  # fmt: skip


def _cell(table: Table, names: Sequence[str], column: int) -> str:
    missing = is_missing(table.given(column, 0))
    return f"{names[column]} {'is missing' if missing else f'= {table.text(column, 0)}'}"


def _grounds(model: Model, table: Table) -> list[Ground]:
    """Return every condition of the rules that a table's only row meets."""
    vote, row = model.vote, table.block(0, table.n_columns)
    unknown = np.flatnonzero(np.isnan(row[0])).tolist()
    cells = {j: _cell(table, model.column_names, j) for j in unknown}
    names = replace(model.say(), unknown=cells)
    bins = vote.trees[0][0].bins if vote.trees else None
    as_given = isinstance(table, GivenTable)
    one = table if as_given else ArrayTable(row, table.names, table.levels)
    sample = unlabelled(one, bins)
    grounds: dict[Hashable, Ground] = {}
    for rule, cast in zip(vote.hypotheses, vote.votes, strict=True):
        cell = int(rule.cells(sample)[0])
        applied = rule.applied(cell, row[0], names)
        # Black boxes with the same name are different rules.
        key: Hashable = (applied, id(rule.unvalued)) if rule.features() is None else applied
        _, added, count, *_ = grounds.get(key, Ground("", np.zeros(vote.outputs), 0))
        grounds[key] = Ground(applied, added + float(cast) * rule.values[cell], count + 1)
    return list(grounds.values())


Wholes = NDArray[np.int32]

PRIOR = "whatever the text"
NO_KNOWN_WORD = "no known word, so only the constant counts"


def totals(vote: Vote) -> tuple[Wholes, Doubles]:
    """Return every word of the lists, and the sum of its values for each output.

    In a text with other words of the same lists it adds less: only the first word of a list counts.
    """
    index = vote.index
    if index is None:
        return np.empty(0, dtype=np.int32), np.zeros((0, vote.outputs))
    counts = np.diff(index.entries)
    words = np.flatnonzero(counts)
    lines = index.values[index.lines]
    sums = np.add.reduceat(lines, index.entries[words]) if words.size else lines
    return words.astype(np.int32), sums


def spoken(vote: Vote, words_of_text: set[int]) -> dict[int, tuple[Doubles, int]]:
    """Return the contribution of each word of a text to the score of a text without words.

    With it comes the number of lists in which it is the first word, the one that counts.
    """
    added: dict[int, tuple[Doubles, int]] = {}
    for rule, cast in zip(vote.hypotheses, vote.votes, strict=True):
        if not isinstance(rule, WordList):
            continue
        words = rule.asked.tolist()
        places = [place for place, word in enumerate(words) if word in words_of_text]
        for place in places if rule.every else places[:1]:
            contribution = cast * rule.added[place]
            before, rules = added.get(words[place], (np.zeros(vote.outputs), 0))
            added[words[place]] = before + contribution, rules + 1
    return added


def _words(model: Model, table: WordTable) -> list[Ground]:
    """Return the words of a text as explanation, and the score of an empty text."""
    wordless = WordTable(np.zeros(2, dtype=np.int64), table.words[:0], table.n_columns)
    silent = model.vote.scores(wordless).reshape(-1)
    added = spoken(model.vote, set(table.words.tolist()))
    grounds = [Ground(_condition(model, word), *ground) for word, ground in added.items()]
    alone = not grounds
    return [*grounds, Ground(NO_KNOWN_WORD if alone else PRIOR, silent, 1, is_first=alone)]


def _condition(model: Model, word: int) -> str:
    """Return the condition that a word stands for; its subject is omitted if it is the text."""
    text = model.text
    if isinstance(text, TextFeatures):
        return condition_words(text.vocabulary[word])
    return f"contains {model.column_names[word]!r}" if text is None else text.say(word)
