"""The shapes of a vote: what each feature adds to the score, as a step function, and each pair.

A rule that asks for one feature adds one number up to its cut, one above it and one where the value
is missing; a set of categories, one number for each level. So a vote of such rules is a constant
plus one step function for each feature, and no two features interact. Votes and values are
multiples of a fixed unit (numerics/exact.py): the shapes add up to the score bit for bit.

A tree is the sum of its leaves. If each leaf asks for two features at most, the vote is a constant,
a curve for each feature and a map for each pair. What a map adds whatever one of its features is
belongs to the curve of the other: then every line of a map has mean 0, by how many training rows
have each value of the feature along it, and there is only one such sum.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.forest import Forest
from pacboost.hypotheses.hypothesis import FeaturePart, Names
from pacboost.hypotheses.tree import Box, TreeRule, bins_of
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.numerics.same_bits import mean_of, product, total
from pacboost.samples.bins import Bins, upper_cuts
from pacboost.samples.sample import Sample
from pacboost.sources.table import Table, Values

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Counts:
    """How many training rows have each code of some features."""

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    """(columns, codes), the last code for missing values."""

    @classmethod
    def of(cls, sample: Sample, columns: Sequence[int]) -> Counts:
        assert sample.bins is not None
        codes = sample.bins.missing + 1
        rows = np.array([np.bincount(sample.column(j), minlength=codes) for j in columns])
        return cls(np.array(columns, dtype=np.int64), rows.reshape(-1, codes))

    def to_dict(self) -> dict[str, Any]:
        return {"columns": self.columns, "rows": self.rows}

    @classmethod
    def from_dict(cls, part: dict[str, Any]) -> Counts:
        columns, rows = part["columns"], part["rows"]
        if any(own.dtype != np.int64 or own.min(initial=0) < 0 for own in (columns, rows)):
            raise ValueError("are no counts")
        if (columns.ndim, rows.ndim) != (1, 2) or columns.size != len(rows):
            raise ValueError("are not those of as many columns")
        return cls(columns, rows)


@dataclass(frozen=True, eq=False)
class Shape:
    """What one feature adds to the score of each output."""

    name: str
    thresholds: NDArray[np.float32]
    """Where the value changes; of a category with L levels, 0.5 to L - 1.5: between every two."""
    values: Doubles
    """(steps, outputs): ``values[k]`` above k thresholds, which is level k of a category."""
    missing: Doubles
    """(outputs,): for a missing value, or a level that fit has not seen."""
    levels: tuple[str, ...] = ()
    """The names of the levels, if the feature is a category."""

    def __repr__(self) -> str:
        return f"Shape(name={self.name!r}, steps={len(self.values)}, span={self.span:.4g})"

    def at(self, column: Values) -> Doubles:
        """Return what is added for each value of a column, (rows, outputs)."""
        steps = np.searchsorted(upper_cuts(self.thresholds), column)
        return np.where(np.isnan(column)[:, None], self.missing, self.values[steps])

    @property
    def span(self) -> float:
        """How far apart two rows can be by this feature alone, missing values included."""
        return float(np.ptp(np.vstack([self.values, self.missing]), axis=0).max())


@dataclass(frozen=True, eq=False)
class Map:
    """What two features together add to the score of each output, beyond what each adds alone."""

    names: tuple[str, str]
    thresholds: tuple[NDArray[np.float32], NDArray[np.float32]]
    """Where values change; of a category between every two levels, as in ``Shape``."""
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    values: Doubles
    """(steps, steps, outputs), of each feature one more than in ``Shape``: a missing value."""
    size: float
    """How far the map moves the score: the root of its mean square over training rows."""

    def __repr__(self) -> str:
        return f"Map(names={self.names}, steps={self.values.shape[:2]}, size={self.size:.4g})"

    def at(self, first: Values, second: Values) -> Doubles:
        """Return what is added for each pair of values, (rows, outputs)."""
        steps = (
            np.where(np.isnan(column), -1, np.searchsorted(upper_cuts(cuts), column))
            for cuts, column in zip(self.thresholds, (first, second), strict=True)
        )
        return self.values[*steps]


@dataclass(frozen=True, eq=False)
class Shapes:
    """A vote as a constant plus a step function for each feature, and a map for each pair."""

    intercept: Doubles
    """(outputs,): what every row gets."""
    features: Mapping[int, Shape]
    """By the number of the column."""
    answers: tuple[str, ...]
    """What each output speaks for: the second of two classes, else one class each."""
    maps: Mapping[tuple[int, int], Map] = field(default_factory=dict)
    """By the numbers of both columns, the largest first."""

    def __repr__(self) -> str:
        """Name the columns only; their curves are in ``features``."""
        names = [shape.name for shape in self.features.values()]
        maps = f", maps={[own.names for own in self.maps.values()]}" if self.maps else ""
        return f"Shapes(features={names}{maps}, answers={list(self.answers)})"

    def scores(self, table: Table) -> Scores:
        """Return the score of every row, as ``Vote.scores`` does: (rows,) or (rows, outputs)."""
        scores = np.tile(self.intercept, (table.n_rows, 1))
        for feature, shape in self.features.items():
            scores += shape.at(table.column(feature))
        for (first, second), own in self.maps.items():
            scores += own.at(table.column(first), table.column(second))
        return scores[:, 0] if self.intercept.size == 1 else scores

    def __getitem__(self, column: int | str) -> Shape:
        """Return the shape of a column by its name or number."""
        for number, shape in self.features.items():
            if column in (number, shape.name):
                return shape
        asked = ", ".join(shape.name for shape in self.features.values())
        raise DataError(f"the vote does not ask for column {column!r}; it asks for {asked or '-'}")

    def of(self, output: int) -> Shapes:
        one = slice(output, output + 1)
        features = {
            j: replace(own, values=own.values[:, one], missing=own.missing[one])
            for j, own in self.features.items()
        }
        maps = {pair: replace(own, values=own.values[..., one]) for pair, own in self.maps.items()}
        return Shapes(self.intercept[one], features, self.answers[one], maps)


def shapes(vote: Vote, names: Names, counts: Counts | None = None) -> Shapes:
    """Add up the rules of a vote, feature by feature; refuse leaves that ask for more than two.

    Maps have mean 0 by ``counts``; of features without counts, all codes count alike.

    >>> from pacboost.hypotheses.stump import StumpRule
    >>> rules = [StumpRule(0, 2.5, 2, +1, -1), StumpRule(0, 4.5, 4, -1, -1), StumpRule.constant(1)]
    >>> found = shapes(Vote(rules, np.array([0.5, 0.25, 1.0])), Names(lambda j: f"x{j}"))
    >>> found.intercept.tolist(), found["x0"].values[:, 0].tolist(), found["x0"].missing.tolist()
    ([1.0], [-0.25, 0.75, 0.25], [-0.75])
    """
    intercept = np.zeros(vote.outputs)
    parts: dict[int, list[FeaturePart]] = {}
    leaves: list[tuple[Box, Doubles]] = []
    for hypothesis, weight in zip(vote.hypotheses, vote.votes, strict=True):
        rule, values = hypothesis.unvalued, float(weight) * hypothesis.values
        if isinstance(rule, TreeRule) and len(rule.features()) > 1:
            boxes = rule.boxes()
            if max(map(len, boxes)) <= 2:
                leaves += zip(boxes, values, strict=True)
                continue
        part = rule.feature_part(values)
        if part.feature is None:
            intercept += part.missing
        else:
            parts.setdefault(part.feature, []).append(part)
    bins = bins_of(vote.hypotheses)
    maps: dict[tuple[int, int], Map] = {}
    if leaves and bins is not None:
        constant, curves, maps = _maps(leaves, bins, names, counts)
        intercept += constant
        for j, curve in curves.items():
            parts.setdefault(j, []).append(curve)
    features = {j: _shape(names, FeaturePart.sum(parts[j])) for j in sorted(parts)}
    outputs = names.answers if vote.outputs > 1 else names.answers[-1:]
    return Shapes(intercept, features, outputs, maps)


def _maps(
    leaves: Sequence[tuple[Box, Doubles]], bins: Bins, names: Names, counts: Counts | None
) -> tuple[Doubles, dict[int, FeaturePart], dict[tuple[int, int], Map]]:
    """Return the constant, the curves and the maps of leaves that ask for one or two features."""
    outputs = leaves[0][1].size
    changes: dict[int, NDArray[np.bool_]] = {}
    for box, _ in leaves:
        for j, inside in box.items():
            changes[j] = changes.get(j, False) | (inside[1:] != inside[:-1])
    codes, cuts, shares = {}, {}, {}
    known = {} if counts is None else dict(zip(counts.columns.tolist(), counts.rows, strict=True))
    for j, changed in changes.items():
        size = bins.thresholds[j].size
        places = np.arange(size) if bins.levels[j] else np.flatnonzero(changed[:size])
        codes[j] = np.concatenate([[0], places + 1, [bins.missing]])
        cuts[j] = bins.thresholds[j][places]
        rows = known.get(j, np.ones(bins.missing + 1, dtype=np.int64))
        steps = np.append(np.add.reduceat(rows[: size + 1], codes[j][:-1]), rows[-1])
        shares[j] = steps / max(1, int(steps.sum()))
    intercept = np.zeros(outputs)
    curves = {j: np.zeros((own.size, outputs)) for j, own in codes.items()}
    grids: dict[tuple[int, int], Doubles] = {}
    for box, value in leaves:
        reached = {j: inside[codes[j]] for j, inside in sorted(box.items())}
        if len(reached) == 1:
            ((j, steps),) = reached.items()
            curves[j][steps] += value
            continue
        a, b = reached
        grid = grids.setdefault((a, b), np.zeros((codes[a].size, codes[b].size, outputs)))
        grid[np.ix_(reached[a], reached[b])] += value
    maps = {}
    for (a, b), grid in grids.items():
        square = 0.0
        for k in range(outputs):
            sheet = grid[:, :, k]
            down, across = product(sheet, shares[b]), product(sheet.T, shares[a])
            mean = total(down * shares[a])
            sheet += mean - down[:, None] - across
            intercept[k] += mean
            curves[a][:, k] += down - mean
            curves[b][:, k] += across - mean
            square = max(square, total(product(sheet * sheet, shares[b]) * shares[a]))
        levels = _levels(names, a, int(bins.levels[a])), _levels(names, b, int(bins.levels[b]))
        called = names.column(a), names.column(b)
        maps[a, b] = Map(called, (cuts[a], cuts[b]), levels, grid, math.sqrt(square))
    parts = {
        j: FeaturePart(j, cuts[j], curve[:-1], curve[-1], int(bins.levels[j]))
        for j, curve in curves.items()
    }
    order = sorted(maps, key=lambda pair: (-maps[pair].size, pair))
    return intercept, parts, {pair: maps[pair] for pair in order}


def _levels(names: Names, column: int, count: int) -> tuple[str, ...]:
    return tuple(names.level(column, k) for k in range(count))


def _shape(names: Names, part: FeaturePart) -> Shape:
    """Name the levels of a category; of a number, put equal neighbours together."""
    assert part.feature is not None
    name, thresholds, steps = names.column(part.feature), part.thresholds, part.steps
    if part.levels:
        return Shape(
            name, thresholds, steps, part.missing, _levels(names, part.feature, part.levels)
        )
    changes = (steps[1:] != steps[:-1]).any(axis=1)
    return Shape(name, thresholds[changes], steps[np.append(True, changes)], part.missing)


# Partial dependence of a vote of trees: how the mean score changes with one feature.
#
# Where a tree asks for another feature, both ways are followed, each by its share of the weight of
# training rows in that node (the ``cover`` of trees). So no rows are needed, and the curve is a
# step function on the codes of the feature. It shows the average over the other features, and
# unlike the shapes of stumps it does not add up to the score.


class _Weighed:
    """A tree, what its leaves add to the score, and the mean of that over training rows."""

    def __init__(self, rule: TreeRule, values: Doubles) -> None:
        self.rule, self.values = rule, values
        self.mean: Doubles = product(values.T, _shares_of_leaves(rule, None)[:, 0])


def partial_dependence(vote: Vote, names: Names, features: Sequence[int]) -> Shapes:
    """Return the curve of each of these features, as deviations from the mean score.

    Features that no tree asks for are left out; rules that are not trees are refused.
    """
    trees = [_Weighed(rule, rule.values * cast) for rule, cast in vote.trees]
    mean = np.zeros(vote.outputs)
    for tree in trees:
        mean += tree.mean
    for other, cast in zip(vote.hypotheses, vote.votes, strict=True):
        if not isinstance(other, TreeRule):
            part = other.unvalued.feature_part(float(cast) * other.values)
            if part.feature is not None:
                raise DataError("the vote mixes trees with other rules; trees alone have curves")
            mean += part.missing
    found = {}
    for feature in features:
        own = [tree for tree in trees if (tree.rule.feature == feature).any()]
        if own:
            found[feature] = _curve(own, feature, names)
    return Shapes(mean, found, names.answers if vote.outputs > 1 else names.answers[-1:])


def _curve(trees: Sequence[_Weighed], feature: int, names: Names) -> Shape:
    bins = trees[0].rule.bins
    total = np.zeros((bins.thresholds[feature].size + 2, trees[0].values.shape[1]))
    for tree in trees:
        total += product(_shares_of_leaves(tree.rule, feature).T, tree.values) - tree.mean
    thresholds, levels = bins.thresholds[feature], int(bins.levels[feature])
    return _shape(names, FeaturePart(feature, thresholds, total[:-1], total[-1], levels))


def _shares_of_leaves(rule: TreeRule, feature: int | None) -> Doubles:
    """Return the share of rows that comes to each leaf, (leaves, codes); missing is the last code.

    Without a feature there is one column, for all rows.
    """
    splits, leaves = rule.feature.size, len(rule.values)
    codes = np.zeros(1, dtype=np.intp)
    if feature is not None:
        codes = np.append(np.arange(rule.bins.thresholds[feature].size + 1), rule.bins.missing)
    reach = np.zeros((splits + leaves, codes.size))
    reach[0] = 1.0
    lefts, rights = (
        np.where(child >= 0, child, splits + ~child).tolist() for child in (rule.left, rule.right)
    )
    asked, cover, sides = rule.feature.tolist(), rule.cover.tolist(), rule.sides()
    share: Doubles | float
    for split, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        if asked[split] == feature:
            share = sides[split, codes].astype(np.float64)
        else:
            weight = cover[left] + cover[right]
            share = cover[left] / weight if weight > 0 else 0.5
        reach[left] = reach[split] * share
        reach[right] = reach[split] * (1 - share)
    return reach[splits:]


# Partial dependence of a forest: how its mean answer changes with one feature.
#
# Nodes of a forest do not keep how many rows went which way, so rows stand for the other features:
# a table that is given, or rows made up of bins, each feature drawn by itself and evenly over its
# bins. A curve is a step function on the codes of a feature, in at most 24 steps; it is a deviation
# from the mean answer.

Lines = NDArray[np.uint8]
ROWS, STEPS = 60, 24


def forest_partial_dependence(
    forest: Forest, names: Names, features: Sequence[int], table: Table | None = None
) -> Shapes:
    """Return the curve of each of these features; those that no tree asks for are left out."""
    rows = _made_up(forest.bins) if table is None else _taken(forest.bins, table)
    mean = mean_of(_answers(forest, rows))
    asked = [j for j in features if forest.importances[j] > 0]
    found = {j: _forest_curve(forest, rows, mean, j, names) for j in asked}
    return Shapes(mean, found, names.answers if forest.many else names.answers[-1:])


def _taken(bins: Bins, table: Table) -> Lines:
    """Code some rows of a table, evenly spread over it."""
    chosen = np.unique(np.linspace(0, table.n_rows - 1, min(ROWS, table.n_rows)).astype(np.intp))
    lines: Lines = np.ascontiguousarray(bins.encode(table.take(chosen)).T)
    return lines


def _made_up(bins: Bins) -> Lines:
    """Draw codes, each feature by itself; every code of a feature as often as any other."""
    generator = np.random.default_rng(0)
    lines = np.empty((ROWS, len(bins.thresholds)), dtype=np.uint8)
    for j, thresholds in enumerate(bins.thresholds):
        lines[:, j] = generator.permutation(np.arange(ROWS) * (thresholds.size + 1) // ROWS)
    return lines


def _answers(forest: Forest, lines: Lines) -> Doubles:
    """Return what the forest says of coded rows: shares of classes (of two, the second) or numbers.

    (rows, outputs)
    """
    mean = forest.sums_of_codes(lines.T) / max(1, len(forest))
    return mean if forest.classes else forest.middle + forest.scale * mean


def _forest_curve(forest: Forest, rows: Lines, mean: Doubles, feature: int, names: Names) -> Shape:
    """Set a feature to one code after the other, in all rows at once."""
    bins = forest.bins
    thresholds, levels = bins.thresholds[feature], int(bins.levels[feature])
    parts = np.array_split(np.arange(thresholds.size + 1), STEPS if not levels else 1024)
    parts = [part for part in parts if part.size]
    codes = [int(part[part.size // 2]) for part in parts] + [bins.missing]
    lines = np.tile(rows, (len(codes), 1))
    lines[:, feature] = np.repeat(codes, len(rows))
    said = mean_of(_answers(forest, lines).reshape(len(codes), len(rows), -1).swapaxes(0, 1)) - mean
    cuts = thresholds if levels else thresholds[[int(part[-1]) for part in parts[:-1]]]
    return _shape(names, FeaturePart(feature, cuts, said[:-1], said[-1], levels))
