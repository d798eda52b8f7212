"""The grounds of one row: what each column, or each rule in words, added to the score.

Rules that say the same of the row are put together. All numbers are multiples of a fixed unit
(numerics/exact.py): what the lines say adds up to the score bit for bit. Of all rows, permutation
importances say which columns matter.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.vote_digest import asked
from pacboost.hypotheses.word_list import WordList
from pacboost.models.explain import attribution
from pacboost.models.model import Model
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.numerics.markup import bold, table
from pacboost.numerics.same_bits import row_totals
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.levels import Levels
from pacboost.sources.sparse import WordTable
from pacboost.sources.table import Table, Values
from pacboost.sources.written import TRUE_FALSE, WEEKDAYS, YES_NO
from pacboost.training.metrics import Metric

Doubles = NDArray[np.float64]
Ground = tuple[str, Doubles, int]
"""A condition in words, what the rules add that say so, and how many those are."""


@dataclass(frozen=True)
class Entry:
    """A value of the row, or a condition that it meets, and what that adds to the score."""

    words: str
    contribution: float
    contributions: tuple[float, ...]
    """What they add to every output: one for two classes, else one for each class."""
    rules: int
    """How many rules say so, or ask for the column."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """The grounds of one row: ``base``, contributions of entries, and ``rest`` are the score."""

    prediction: Any
    for_class: Any
    """The class that contributions, score and probability speak for; None in regression."""
    probability: float | None
    score: float
    entries: tuple[Entry, ...]
    """The largest contributions first."""
    rest: float
    """What the columns or rules add that are not among the entries."""
    rest_rules: int
    """How many those are."""
    base: float = 0.0
    """The score of an average row, from which the contributions of columns lead to this one."""
    unit: str = "rule"
    """What an entry speaks of: a "rule", or a "column"."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the entries as plain data, for a data frame or JSON."""
        return [asdict(entry) for entry in self.entries]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the entries as a data frame of pandas, polars or pyarrow."""
        import narwhals as nw

        entries = self.to_dicts()
        columns = {f.name: [entry[f.name] for entry in entries] for f in fields(Entry)}
        return nw.from_dict(columns, backend=backend).to_native()  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return bold(self._head()) + table(["contribution", "because"], self._lines())

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
    model: Model, table: Table, prediction: Any, top: int, for_class: Any = None, by: str = "column"
) -> Explanation:
    """Explain the score of a table's only row, for a class or, of a regression, as a number.

    A ``for_class`` of None means the usual one. Of texts, words are the grounds.
    """
    if by not in ("column", "rule"):
        raise ParameterError(f"by is {by!r}; it may be 'column' or 'rule'")
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
    entries = [
        Entry(words, sign * float(added[output]), tuple((sign * added).tolist()), rules)
        for words, added, rules in grounds
    ]
    entries.sort(key=lambda entry: (entry.words != NO_KNOWN_WORD, -abs(entry.contribution)))
    rest = entries[top:]
    return Explanation(
        prediction,
        None if number is None else classes[number],
        chance,
        total,
        tuple(entries[:top]),
        sum((entry.contribution for entry in rest), start=0.0),
        sum(entry.rules for entry in rest) if by == "rule" else len(rest),
        total - sum(entry.contribution for entry in entries) if by == "column" else 0.0,
        by,
    )


def class_number(classes: list[Any], for_class: Any) -> int | None:
    """Find a class by its name; None for None."""
    if for_class is None:
        return None
    if getattr(for_class, "ndim", 0) or for_class not in classes:
        raise ParameterError(
            f"for_class is {for_class!r}; the classes are {', '.join(map(repr, classes))}"
        )
    return classes.index(for_class)


def _columns(model: Model, table: Table) -> list[Ground] | None:
    """Return what every column adds to the score of an average row; None if rules do not tell.

    Of trees that are SHAP values; of stumps and the like, what their rules say.
    """
    vote, names, row = model.vote, model.column_names, table.rows()[0]
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

    def said(j: int) -> str:
        missing = np.isnan(row[j])
        cell = " is missing" if missing else f" = {model.levels.cell(j, float(row[j]), names)}"
        return f"{names[j]}{cell}"

    return [(said(j), added[j], int(count[j])) for j in np.flatnonzero(added.any(axis=1)).tolist()]


def called(levels: Levels, column: int) -> tuple[float, tuple[str, ...]] | None:
    """Return the first of the whole numbers of a column, and what they are called; None if not.

    >>> called(Levels({}, {0: "yes/no"}), 0), called(Levels({}, {}), 0)
    ((0.0, ('no', 'yes')), None)
    """
    way = levels.written.get(column, "")
    if way in (YES_NO, TRUE_FALSE):
        return 0.0, tuple(reversed(way.split("/")))
    return (1.0, WEEKDAYS) if way.partition(";")[0] == "weekday" else None


def _grounds(model: Model, table: Table) -> list[Ground]:
    """Return every condition that rules say of a table's only row."""
    vote, names = model.vote, model.say()
    row = table.rows()
    bins = vote.trees[0][0].bins if vote.trees else None
    sample = unlabelled(ArrayTable(row, table.names, table.levels), bins)
    words: dict[Hashable, str] = {}
    added: dict[Hashable, Doubles] = {}
    count: dict[Hashable, int] = {}
    for rule, cast in zip(vote.hypotheses, vote.votes, strict=True):
        cell = int(rule.cells(sample)[0])
        applied = rule.applied(cell, row[0], names)
        # black boxes with the same name are not the same rule
        key: Hashable = (applied, id(rule.unvalued)) if rule.features() is None else applied
        words[key] = applied
        added[key] = added.get(key, 0.0) + float(cast) * rule.values[cell]
        count[key] = count.get(key, 0) + 1
    return [(words[key], added[key], count[key]) for key in words]


# What the words of a vote of lists say: of all texts, and of a single one.

Wholes = NDArray[np.int32]

PRIOR = "whatever the text"
NO_KNOWN_WORD = "no known word: the prior speaks"


def totals(vote: Vote) -> tuple[Wholes, Doubles]:
    """Return every word that a list asks for, and what it adds to each output if it always speaks.

    In a text with other words of the same lists it adds less: of each list the first word speaks.
    """
    index = vote.index
    if index is None:
        return np.empty(0, dtype=np.int32), np.zeros((0, vote.outputs))
    counts = np.diff(index.entries)
    words = np.flatnonzero(counts)
    lines = index.values[index.lines]
    sums = np.add.reduceat(lines, index.entries[words]) if words.size else lines
    return words.astype(np.int32), sums


def spoken(vote: Vote, held: set[int]) -> dict[int, tuple[Doubles, int]]:
    """Return what each word of a text really adds to what is said of a text without words.

    Also give in how many lists it is the first, and so the one that speaks.
    """
    added: dict[int, tuple[Doubles, int]] = {}
    for rule, cast in zip(vote.hypotheses, vote.votes, strict=True):
        if not isinstance(rule, WordList):
            continue
        words = rule.asked.tolist()
        places = [place for place, word in enumerate(words) if word in held]
        for place in places if rule.every else places[:1]:
            own = cast * rule.added[place]
            before, rules = added.get(words[place], (np.zeros(vote.outputs), 0))
            added[words[place]] = before + own, rules + 1
    return added


def _words(model: Model, table: WordTable) -> list[Ground]:
    """Return which words of a table's only row spoke, and what is said of a text without words."""
    wordless = WordTable(np.zeros(2, dtype=np.int64), table.words[:0], table.n_columns)
    silent = model.vote.scores(wordless).reshape(-1)
    say = model.say().holds
    added = spoken(model.vote, set(table.words.tolist()))
    grounds = [(say(word).removeprefix("it "), *ground) for word, ground in added.items()]
    return [*grounds, (PRIOR if grounds else NO_KNOWN_WORD, silent, 1)]


# Permutation importances: how much worse a vote gets when one column is shuffled.
#
# A shuffled column has the same values, but says nothing of its rows any more (Breiman, Random
# forests, 2001, section 10). Any rule can be asked so, black boxes too. Columns that say the same
# stand in for one another, so each of them looks unimportant.

SHOWN = 3
"""So many columns are named in a sentence."""


@dataclass(frozen=True, eq=False)
class Importances:
    """By how much a vote gets worse, in terms of ``metric``, when a column is shuffled."""

    names: tuple[str, ...]
    metric: str
    base: float
    """The metric on the rows as they are."""
    each: Doubles
    """(features, repeats); above 0 where the vote got worse."""

    @property
    def mean(self) -> Doubles:
        """The mean over repeats."""
        return np.asarray(row_totals(self.each) / self.each.shape[1])

    @property
    def std(self) -> Doubles:
        """The standard deviation over repeats."""
        off = self.each - self.mean[:, None]
        return np.asarray(np.sqrt(row_totals(off * off) / self.each.shape[1]))

    @property
    def sentence(self) -> str:
        """Which columns matter most, in words."""
        order = np.argsort(-self.mean, kind="stable")[:SHOWN]
        named = [f"'{self.names[j]}' ({self.mean[j]:+.4g})" for j in order if self.mean[j] > 0]
        if not named:
            return f"No column matters: {self.metric} is {self.base:.4g} with any of them shuffled."
        return (
            f"{self.metric} is {self.base:.4g}; shuffling a column makes it worse most by "
            f"{', '.join(named)}."
        )

    def __str__(self) -> str:
        return "\n".join([self.sentence, *("  ".join(line) for line in self._lines())])

    def _lines(self) -> list[list[str]]:
        order = np.argsort(-self.mean, kind="stable")
        return [[self.names[j], f"{self.mean[j]:.4g} ± {self.std[j]:.2g}"] for j in order]

    def _repr_html_(self) -> str:
        return bold(self.sentence) + table(["column", f"worse {self.metric}"], self._lines())


class Shuffled(Table):
    """Another table with one column in another order.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> table = ArrayTable(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]))
    >>> Shuffled(table, 1, np.array([2, 0, 1])).rows().tolist()
    [[1.0, 7.0], [2.0, 5.0], [3.0, 6.0]]
    """

    def __init__(self, table: Table, column: int, order: NDArray[np.intp]) -> None:
        self._table, self._column, self._order = table, column, order
        self.n_rows, self.n_columns = table.n_rows, table.n_columns
        self.names, self.levels = table.names, table.levels
        self.width = min(table.width, 8)  # so few columns are copied along with the one

    def block(self, first: int, last: int) -> Values:
        """Copy these columns if the shuffled one is among them."""
        values = self._table.block(first, last)
        if first <= self._column < last:
            place = self._column - first
            values = values.copy()
            values[:, place] = values[self._order, place]
        return values


def permutation_importances(
    model: Model, sample: Sample, metric: Metric, repeats: int, seed: int
) -> Importances:
    """Shuffle every column that some rule asks for; the others are worth exactly 0.

    How a column is shuffled depends on the seed, its number and the repeat alone.
    """
    vote = model.vote

    def value(table: Table) -> float:
        scores = vote.scores(table)
        if model.forest and vote.classes == 2:  # above 0 for the second class
            scores = scores[:, 1] - scores[:, 0]
        return float(metric(sample, scores.reshape(sample.n_rows, -1)))

    table, base = sample.table, value(sample.table)
    each = np.zeros((table.n_columns, repeats))
    columns = None if model.forest else asked(vote.hypotheses)
    for column in range(table.n_columns) if columns is None else columns:
        for repeat in range(repeats):
            order = np.random.default_rng((seed, column, repeat)).permutation(sample.n_rows)
            lost = value(Shuffled(table, column, order)) - base
            each[column, repeat] = -lost if metric.more_is_better else lost
    return Importances(model.column_names, metric.name, base, each)
