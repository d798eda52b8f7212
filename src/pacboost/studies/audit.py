"""Audit: slices of the rows that nobody named, on which a model or a column of answers errs more.

One half of the rows fixes conditions (levels, cuts at quantiles) and searches all conjunctions of
at most ``depth`` of them for mistakes: a slice is named, its mistakes lose weight as rows do in
boosting, and the next one is searched. The other half certifies (docs/proofs/audit.md)

    findings    error in slice j ≥ BinInf(k, n, delta/(2·named)), at most ten named slices
    all-clear   error in every slice ≤ max BinInv(k, n, delta/(2S)), S slices that can be written

so both hold together, whatever the search looked at. Slices that are named and tested on the same
rows "differ significantly" on pure noise, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.holdout import clopper_pearson, clopper_pearson_lower
from pacboost.bounds.rounding import confidence
from pacboost.errors import DataError, ParameterError
from pacboost.numerics.checks import probability, whole
from pacboost.numerics.percent import percent, percent_above, percent_below
from pacboost.questions.answers import Answers
from pacboost.questions.labelled_rows import rows_and_labels
from pacboost.questions.mistakes import mistakes
from pacboost.questions.new_rows import NewRows
from pacboost.samples.groups import numbered
from pacboost.studies.texts import columns_of, text_of, typed

MAX_NAMED = 10
CUTS = 7
"""Cuts of a column of numbers, at its eighths: two conditions for each."""
MAX_LEVELS = 12
"""Levels of a column that become conditions, the commonest."""
MIN_ROWS = 100
MAX_DEPTH = 3
WEIGHT_LEFT = 0.25
"""Of the mistakes of a slice that was named: what it does not explain is searched next."""
NAMED_FROM = 3.0
"""Standard deviations by which a slice has to stand out to be named, after the first: each that
is named takes a part of delta from the others."""
Truths = NDArray[np.bool_]


class Condition(NamedTuple):
    """What a row of a slice fulfils: a level of a column, or a number on one side of a cut."""

    column: str
    sign: str
    value: str | float

    def holds(self, cells: NDArray[Any]) -> Truths:
        """Return for which cells it holds; missing ones fulfil no condition."""
        if self.sign == "is":
            return np.array([text_of(cell) == self.value for cell in cells], dtype=np.bool_)
        above = cells > self.value
        return np.asarray(above if self.sign == ">" else ~above & ~np.isnan(cells))

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else f"{self.value:g}"
        return f"{self.column} {self.sign} {value}"


@dataclass(frozen=True)
class Finding:
    """A slice that was named by one half of the rows, and what the other half says of it."""

    conditions: tuple[Condition, ...]
    rows: int
    wrong: int
    share: float
    """Of the certifying rows that lie in the slice."""
    at_least: float
    """The certified error in the slice, from below."""

    def __str__(self) -> str:
        where = " and ".join(map(str, self.conditions))
        return (
            f"error at least {percent_below(self.at_least)} where {where} ({self.wrong:,} of "
            f"{self.rows:,} certifying rows wrong; {percent(self.share)} of the rows)"
        )


@dataclass(frozen=True)
class Audit:
    """Findings and an all-clear, which hold together except with probability ``delta``."""

    findings: tuple[Finding, ...]
    """Named slices whose error is certified to be above that of all rows, the worst first."""
    named: int
    """How many slices were named and tested."""
    at_most: float
    """Bound on the error in every slice with at least ``share`` of the certifying rows."""
    worst: tuple[Condition, ...]
    """The slice with the largest bound."""
    slices: int
    """How many slices can be written with these conditions; all of them are paid for."""
    rows: int
    wrong: int
    share: float
    depth: int
    delta: float

    @property
    def sentence(self) -> str:
        """The findings and the all-clear in sentences."""
        mean = percent(self.wrong / self.rows)
        lines = [f"{str(finding)[:1].upper()}{str(finding)[1:]}." for finding in self.findings]
        if not lines:
            lines = [f"No slice was shown to err more than all rows do ({mean})."]
        conditions = f"{self.depth} condition{'s' * (self.depth > 1)}"
        return " ".join([
            *lines,
            f"None of {self.slices:,} slices of at most {conditions} with {percent(self.share)} of "
            f"the rows errs above {percent_above(self.at_most, 2)} ({confidence(self.delta)} "
            f"confidence for all; {self.rows:,} certifying rows, {self.wrong:,} wrong).",
        ])  # fmt: skip

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {**asdict(self), "sentence": self.sentence}

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)


def audit(
    model: Any,
    X: Any,
    y: Any,
    *,
    depth: int = 2,
    share: float = 0.05,
    columns: Any = None,
    groups: Any = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Audit:
    """Search slices of the rows on which a model errs, and certify what was found and what was not.

    This is not a test of fairness: it knows only the columns that it is given, and errors alone.

    Parameters
    ----------
    model : any fitted classifier with ``predict``, or ``pacboost.answers``
    X : data frame, or list of mappings from column names to values
        Rows that the model has not seen.
    y : labels of the rows, or the name of a column of X
    depth : int, default=2
        Maximum number of conditions of a slice, up to 3.
    share : float, default=0.05
        The all-clear is about slices with at least this share of the certifying rows.
    columns : data frame, default=None
        What slices may speak of, where it is not what the model reads; None: X.
    groups : array, default=None
        Rows with the same value depend on each other; they stay in one half.
    delta : float, default=0.05
        The probability with which a finding or the all-clear may fail.
    seed : int, default=0
        Which half searches.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> rows = [{"age": a, "region": r} for a, r in zip(generator.integers(20, 80, 4000),
    ...         generator.choice(["north", "south"], 4000))]
    >>> hard = np.array([row["age"] > 60 and row["region"] == "north" for row in rows])
    >>> truth = generator.integers(0, 2, 4000)
    >>> said = np.where(generator.random(4000) < np.where(hard, .4, .05), 1 - truth, truth)
    >>> from pacboost import answers
    >>> [str(one) for one in audit(answers(said), rows, truth).findings[0].conditions]
    ['age > 57', 'region is north']
    """
    probability("delta", delta)
    probability("share", share)
    if not 1 <= whole("depth", depth) <= MAX_DEPTH:
        raise ParameterError(f"depth is {depth}; it may be 1 to {MAX_DEPTH}", parameter="depth")
    X, truth = rows_and_labels(X, y)
    wrong = _wrong(model, X, truth)
    texts_by_name = columns_of(X if columns is None else columns)
    cells = {name: typed(texts) for name, texts in texts_by_name.items()}
    if wrong.size < MIN_ROWS:
        raise DataError(f"there are {wrong.size:,} rows; an audit needs {MIN_ROWS} or more")
    unit = np.arange(wrong.size) if groups is None else numbered(np.asarray(groups), wrong.size)
    searches = np.random.default_rng(whole("seed", seed)).permuted(
        np.arange(unit.max() + 1) % 2 == 0
    )[unit]
    conditions = conditions_of({name: column[searches] for name, column in cells.items()})
    if not conditions:
        raise DataError("no column has two levels or numbers to cut; there is nothing to search")
    holds = np.stack([condition.holds(cells[condition.column]) for condition in conditions])
    slices = sum(comb(len(conditions), j) for j in range(1, depth + 1))
    named = searched(holds[:, searches], wrong[searches], depth, share)
    known, mistaken = holds[:, ~searches], wrong[~searches]
    findings = []
    for places in named:
        inside = known[list(places)].all(axis=0)
        n, k = int(inside.sum()), int(mistaken[inside].sum())
        lower = clopper_pearson_lower(k, n, delta / 2, len(named)) if n else 0.0
        if lower > mistaken.mean():
            chosen = tuple(conditions[place] for place in places)
            findings.append(Finding(chosen, n, k, n / mistaken.size, lower))
    at_most, worst = all_clear(known, mistaken, depth, share, delta / 2, slices)
    return Audit(
        tuple(sorted(findings, key=lambda finding: -finding.at_least)), len(named), at_most,
        tuple(conditions[place] for place in worst), slices, mistaken.size, int(mistaken.sum()),
        share, depth, delta,
    )  # fmt: skip


def _wrong(model: Any, X: Any, y: Any) -> Truths:
    """Return which rows are wrong; a missing answer is."""
    if not isinstance(model, Answers):
        NewRows.select([model], X, y)  # raises if the model was trained on these rows
        return mistakes(model, X, y)
    said, truth = [*map(text_of, model.predict(X))], [*map(text_of, y)]
    if len(said) != len(truth):
        raise DataError(f"there are {len(said):,} answers for {len(truth):,} labels")
    return np.array([one != other for one, other in zip(said, truth, strict=True)])


def conditions_of(cells: dict[str, NDArray[Any]]) -> list[Condition]:
    """Return the conditions that the searching rows fix: common levels, and cuts at eighths."""
    conditions: list[Condition] = []
    for name, column in cells.items():
        texts = np.array([text_of(cell) for cell in column])
        levels, counts = np.unique(texts[texts != ""], return_counts=True)
        if column.dtype.kind == "f" and levels.size > MAX_LEVELS:
            values = np.sort(column[~np.isnan(column)])
            places = (np.arange(1, CUTS + 1) * values.size) // (CUTS + 1)
            cuts = [cut for cut in np.unique(values[places]).tolist() if cut < values[-1]]
            conditions += [Condition(name, sign, cut) for cut in cuts for sign in (">", "<=")]
        elif levels.size > 1:
            common = np.argsort(-counts, kind="stable")[:MAX_LEVELS]
            conditions += [Condition(name, "is", str(levels[place])) for place in common]
    return conditions


def searched(holds: Truths, wrong: Truths, depth: int, share: float) -> list[tuple[int, ...]]:
    """Name at most ten slices, each by the mistakes that those before it have left."""
    named: list[tuple[int, ...]] = []
    weights = wrong.astype(np.float64)
    for _ in range(MAX_NAMED):
        best: tuple[float, tuple[int, ...]] = (0.0, ())
        mean, deviation = weights.mean(), weights.std()
        for places, n, mistaken in _counts(holds, weights, depth):
            large = n >= share * wrong.size
            excess = np.where(large, (mistaken - mean * n) / np.sqrt(np.maximum(n, 1)), 0.0)
            place = int(np.argmax(excess))
            # a longer slice has to be better by more than rounding, so that the shortest is named
            if excess[place] > best[0] * (1 + 1e-9):
                best = float(excess[place]), (*places, place)
        slice_ = tuple(sorted(set(best[1])))
        if not slice_ or slice_ in named or (named and best[0] < NAMED_FROM * deviation):
            break
        named.append(slice_)
        weights[holds[list(slice_)].all(axis=0)] *= WEIGHT_LEFT
    return named


def all_clear(
    holds: Truths, wrong: Truths, depth: int, share: float, delta: float, slices: int
) -> tuple[float, tuple[int, ...]]:
    """Return the largest bound of a slice with at least a share of the rows, and the slice."""
    n, k = wrong.size, int(wrong.sum())
    largest: tuple[float, tuple[int, ...]] = (clopper_pearson(k, n, delta, slices), ())
    for places, rows, mistaken in _counts(holds, wrong.astype(np.float64), depth):
        large = np.flatnonzero(rows >= share * wrong.size)
        pairs = {(int(mistaken[j]), int(rows[j])): int(j) for j in large}
        for pair in _worst(pairs):
            bound = clopper_pearson(*pair, delta, slices)
            if bound > largest[0]:
                largest = bound, tuple(sorted({*places, pairs[pair]}))
    return largest


def _worst(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the counts of which no others have at least as many mistakes on at most as many rows.

    BinInv(k, n) rises in k and falls in n, so no others have a larger bound.
    """
    worst: list[tuple[int, int]] = []
    for k, n in sorted(pairs, key=lambda pair: (pair[1], -pair[0])):
        if not worst or k > worst[-1][0]:
            worst.append((k, n))
    return worst


def _counts(
    holds: Truths, weights: NDArray[np.float64], depth: int
) -> list[tuple[tuple[int, ...], NDArray[np.int64], NDArray[np.float64]]]:
    """Return, for each start of a slice, rows and weights with each condition added to it."""
    table = holds.astype(np.float64)
    starts: list[tuple[int, ...]] = [()]
    results = []
    for length in range(depth):
        following = []
        for places in starts:
            inside = holds[list(places)].all(axis=0) if places else np.ones(weights.size, np.bool_)
            counts = (table @ inside).astype(np.int64)
            results.append((places, counts, table @ (weights * inside)))
            first = places[-1] + 1 if places else 0
            following += [(*places, j) for j in range(first, len(holds)) if counts[j]]
        starts = following if length + 1 < depth else []
    return results
