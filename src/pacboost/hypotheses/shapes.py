"""The shapes of a vote: the contribution of each feature, and of each pair, to the score.

A rule on one feature is a step function of it, so a vote of such rules is a constant plus one step
function for each feature. These add up to the score bit for bit (numerics/exact.py).

A tree is the sum of its leaves. If each leaf depends on two features at most, the vote is a
constant, a curve for each feature and a map for each pair. The part of a map that depends on one
feature only belongs to the curve of that feature: then every line of a map has mean 0, weighted by
the training rows with each value of the feature along it, and the decomposition is unique.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import FeaturePart, Names, bins_of
from pacboost.hypotheses.tree import Box, TreeRule
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.numerics.same_bits import product, total
from pacboost.samples.bins import Bins, upper_cuts
from pacboost.samples.sample import Sample
from pacboost.sources.dataframe import to_frame
from pacboost.sources.table import Table
from pacboost.sources.values import Values

Doubles = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Counts:
    """The number of training rows with each code of some features."""

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
        if any(array.dtype != np.int64 or array.min(initial=0) < 0 for array in (columns, rows)):
            raise ValueError("are not counts")
        if (columns.ndim, rows.ndim) != (1, 2) or columns.size != len(rows):
            raise ValueError("do not match the columns")
        return cls(columns, rows)


@dataclass(frozen=True, eq=False)
class Shape:
    """The contribution of one feature to the score of each output."""

    name: str
    thresholds: NDArray[np.float32]
    """Where the value changes; between all levels, if there are some."""
    values: Doubles
    """(steps, outputs): ``values[k]`` above k thresholds, which is level k of a category."""
    missing: Doubles
    """(outputs,): for a missing value, or a level that is not in the training set."""
    levels: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Shape(name={self.name!r}, steps={len(self.values)}, span={self.span:.4g})"

    def at(self, column: Values) -> Doubles:
        steps = np.searchsorted(upper_cuts(self.thresholds), column)
        return np.where(np.isnan(column)[:, None], self.missing, self.values[steps])

    @property
    def span(self) -> float:
        """The largest difference of two scores by this feature alone, missing values included."""
        return float(np.ptp(np.vstack([self.values, self.missing]), axis=0).max())


@dataclass(frozen=True, eq=False)
class Map:
    """The interaction of two features: their joint contribution beyond that of each alone."""

    names: tuple[str, str]
    thresholds: tuple[NDArray[np.float32], NDArray[np.float32]]
    """Where values change; for a category between every two levels, as in ``Shape``."""
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    values: Doubles
    """(steps, steps, outputs); the last step of each feature is for missing values."""
    size: float
    """The root mean square of the map over training rows."""

    def __repr__(self) -> str:
        return f"Map(names={self.names}, steps={self.values.shape[:2]}, size={self.size:.4g})"

    def at(self, first: Values, second: Values) -> Doubles:
        steps = (
            np.where(np.isnan(column), -1, np.searchsorted(upper_cuts(cuts), column))
            for cuts, column in zip(self.thresholds, (first, second), strict=True)
        )
        return self.values[*steps]


@dataclass(frozen=True, eq=False)
class Shapes:
    """A vote as a constant plus a step function for each feature, and a map for each pair."""

    intercept: Doubles
    features: Mapping[int, Shape]
    answers: tuple[str, ...]
    """The class of each output: the second of two classes, or each class."""
    maps: Mapping[tuple[int, int], Map] = field(default_factory=dict)
    say: InitVar[Names] = Names()  # noqa: RUF009 - a frozen record; no part of the answer

    def __post_init__(self, say: Names) -> None:
        self.__dict__["say"] = say

    @property
    def names(self) -> Names:
        names: Names = self.__dict__["say"]
        return names

    def __repr__(self) -> str:
        """Return the names of the columns; their curves are in ``features``."""
        names = [shape.name for shape in self.features.values()]
        maps = f", maps={[pair.names for pair in self.maps.values()]}" if self.maps else ""
        return f"Shapes(features={names}{maps}, answers={list(self.answers)})"

    def __str__(self) -> str:
        order = sorted(self.features.values(), key=lambda shape: -shape.span)
        lines = ((shape.values.min(), shape.values.max(), shape.name) for shape in order)
        return "\n".join(f"{low:+.4f} to {high:+.4f}  {name}" for low, high, name in lines)

    def where(self, column: int) -> list[str]:
        """Return for which values of a column each step of its curve holds, as text."""
        shape = self.features[column]
        cuts = [self.names.value(column, cut) for cut in shape.thresholds.tolist()]
        if shape.levels or not cuts:
            return list(shape.levels) or ["any"]
        between = [f"{low} to {high}" for low, high in pairwise(cuts)]
        return [f"up to {cuts[0]}", *between, f"above {cuts[-1]}"]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the steps of all curves as a data frame of pandas, polars or pyarrow."""
        rows = [
            (shape.name, values, *line)
            for j, shape in self.features.items()
            for values, line in zip(
                [*self.where(j), "missing"], [*shape.values.tolist(), shape.missing.tolist()],
                strict=True,
            )
        ]  # fmt: skip
        heads = ["column", "values", *(self.answers or ("score",))]
        return to_frame({head: [r[k] for r in rows] for k, head in enumerate(heads)}, backend)

    def scores(self, table: Table) -> Scores:
        scores = np.tile(self.intercept, (table.n_rows, 1))
        for feature, shape in self.features.items():
            scores += shape.at(table.column(feature))
        for (first, second), map_of_pair in self.maps.items():
            scores += map_of_pair.at(table.column(first), table.column(second))
        return scores[:, 0] if self.intercept.size == 1 else scores

    def __getitem__(self, column: int | str) -> Shape:
        """Return the shape of a column by its name or number."""
        for number, shape in self.features.items():
            if column in (number, shape.name):
                return shape
        asked = ", ".join(shape.name for shape in self.features.values())
        raise DataError(f"the vote does not use column {column!r}; it uses {asked or 'no column'}")

    def of(self, output: int) -> Shapes:
        one = slice(output, output + 1)
        features = {
            j: replace(part, values=part.values[:, one], missing=part.missing[one])
            for j, part in self.features.items()
        }
        maps = {pair: replace(m, values=m.values[..., one]) for pair, m in self.maps.items()}
        return Shapes(self.intercept[one], features, self.answers[one], maps, self.names)


def shapes(vote: Vote, names: Names, counts: Counts | None = None) -> Shapes:
    """Add up the rules of a vote by feature; raise DataError if a leaf uses more than two features.

    Maps have mean 0 by ``counts``; without counts of a feature, all codes count equally.

    >>> from pacboost.hypotheses.stump import StumpRule
    >>> rules = [StumpRule(0, 2.5, 2, +1, -1), StumpRule(0, 4.5, 4, -1, -1), StumpRule.constant(1)]
    >>> parts = shapes(Vote(rules, np.array([0.5, 0.25, 1.0])), Names())
    >>> parts.intercept.tolist(), parts["x0"].values[:, 0].tolist(), parts["x0"].missing.tolist()
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
    features = {j: shape_of(names, FeaturePart.sum(parts[j])) for j in sorted(parts)}
    outputs = names.answers if vote.outputs > 1 else names.answers[-1:]
    return Shapes(intercept, features, outputs, maps, names)


def _maps(
    leaves: Sequence[tuple[Box, Doubles]], bins: Bins, names: Names, counts: Counts | None
) -> tuple[Doubles, dict[int, FeaturePart], dict[tuple[int, int], Map]]:
    """Return the constant, the curves and the maps of leaves that use one or two features."""
    outputs = leaves[0][1].size
    changes: dict[int, NDArray[np.bool_]] = {}
    for box, _ in leaves:
        for j, inside in box.items():
            changes[j] = changes.get(j, False) | (inside[1:] != inside[:-1])
    codes, cuts, shares = {}, {}, {}
    row_counts: dict[int, NDArray[np.int64]] = {}
    if counts is not None:
        row_counts |= zip(counts.columns.tolist(), counts.rows, strict=True)
    for j, changed in changes.items():
        size = bins.thresholds[j].size
        places = np.arange(size) if bins.levels[j] else np.flatnonzero(changed[:size])
        codes[j] = np.concatenate([[0], places + 1, [bins.missing]])
        cuts[j] = bins.thresholds[j][places]
        rows = row_counts.get(j, np.ones(bins.missing + 1, dtype=np.int64))
        steps = np.append(np.add.reduceat(rows[: size + 1], codes[j][:-1]), rows[-1])
        shares[j] = steps / max(1, int(steps.sum()))
    intercept = np.zeros(outputs)
    curves = {j: np.zeros((steps.size, outputs)) for j, steps in codes.items()}
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
    levels_of = bins.levels.tolist()
    parts = {j: FeaturePart(j, cuts[j], y[:-1], y[-1], levels_of[j]) for j, y in curves.items()}
    order = sorted(maps, key=lambda pair: (-maps[pair].size, pair))
    return intercept, parts, {pair: maps[pair] for pair in order}


def _levels(names: Names, column: int, count: int) -> tuple[str, ...]:
    return tuple(names.level(column, k) for k in range(count))


def shape_of(names: Names, part: FeaturePart) -> Shape:
    """Return the shape of a part: with names of levels, or with equal adjacent steps merged."""
    assert part.feature is not None
    name, thresholds, steps = names.column(part.feature), part.thresholds, part.steps
    if part.levels:
        levels = _levels(names, part.feature, part.levels)
        return Shape(name, thresholds, steps, part.missing, levels)
    first, integers = names.levels.kind(part.feature).named_integers
    if integers:
        places = np.arange(first, first + len(integers))
        steps = steps[np.searchsorted(upper_cuts(thresholds), places)]
        return Shape(name, (places[1:] - 0.5).astype(np.float32), steps, part.missing, integers)
    changes = (steps[1:] != steps[:-1]).any(axis=1)
    return Shape(name, thresholds[changes], steps[np.append(True, changes)], part.missing)
