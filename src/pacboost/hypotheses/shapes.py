"""The shapes of a vote of stumps: what each feature adds to the score, as a step function.

A rule that asks for one feature adds one number up to its cut, one above it and one where the value
is missing; a set of categories, one number for each level. So a vote of such rules is a constant
plus one step function for each feature, and no two features interact. Votes and values are
multiples of a fixed unit (numerics/exact.py): the shapes add up to the score bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import FeaturePart, Names
from pacboost.hypotheses.vote import Scores, Vote
from pacboost.samples.bins import upper_cuts
from pacboost.sources.table import Table, Values

Doubles = NDArray[np.float64]


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
        """Give the size only."""
        return f"Shape(name={self.name!r}, steps={len(self.values)}, span={self.span:.4g})"

    def at(self, column: Values) -> Doubles:
        """Give what is added for each value of a column, (rows, outputs)."""
        steps = np.searchsorted(upper_cuts(self.thresholds), column)
        return np.where(np.isnan(column)[:, None], self.missing, self.values[steps])

    @property
    def span(self) -> float:
        """How far apart two rows can be by this feature alone, missing values included."""
        return float(np.ptp(np.vstack([self.values, self.missing]), axis=0).max())


@dataclass(frozen=True, eq=False)
class Shapes:
    """A vote as a constant plus a step function for each feature that it asks for."""

    intercept: Doubles
    """(outputs,): what every row gets."""
    features: Mapping[int, Shape]
    """By the number of the column."""
    answers: tuple[str, ...]
    """What each output speaks for: the second of two classes, else one class each."""

    def __repr__(self) -> str:
        """Name the columns only; their curves are in ``features``."""
        names = [shape.name for shape in self.features.values()]
        return f"Shapes(features={names}, answers={list(self.answers)})"

    def scores(self, table: Table) -> Scores:
        """Give the score of every row, as ``Vote.scores`` does: (rows,) or (rows, outputs)."""
        scores = np.tile(self.intercept, (table.n_rows, 1))
        for feature, shape in self.features.items():
            scores += shape.at(table.block(feature, feature + 1)[:, 0])
        return scores[:, 0] if self.intercept.size == 1 else scores

    def __getitem__(self, column: int | str) -> Shape:
        """Give the shape of a column by its name or number."""
        for number, shape in self.features.items():
            if column in (number, shape.name):
                return shape
        asked = ", ".join(shape.name for shape in self.features.values())
        raise DataError(f"the vote does not ask for column {column!r}; it asks for {asked or '-'}")

    def of(self, output: int) -> Shapes:
        """Keep one output."""
        one = slice(output, output + 1)
        features = {
            j: replace(own, values=own.values[:, one], missing=own.missing[one])
            for j, own in self.features.items()
        }
        return Shapes(self.intercept[one], features, self.answers[one])


def shapes(vote: Vote, names: Names) -> Shapes:
    """Add up the rules of a vote, feature by feature; refuse rules that ask for several.

    >>> from pacboost.hypotheses.stump import StumpRule
    >>> rules = [StumpRule(0, 2.5, 2, +1, -1), StumpRule(0, 4.5, 4, -1, -1), StumpRule.constant(1)]
    >>> found = shapes(Vote(rules, np.array([0.5, 0.25, 1.0])), Names(lambda j: f"x{j}"))
    >>> found.intercept.tolist(), found["x0"].values[:, 0].tolist(), found["x0"].missing.tolist()
    ([1.0], [-0.25, 0.75, 0.25], [-0.75])
    """
    intercept = np.zeros(vote.outputs)
    parts: dict[int, list[FeaturePart]] = {}
    for hypothesis, weight in zip(vote.hypotheses, vote.votes, strict=True):
        part = hypothesis.unvalued.feature_part(float(weight) * hypothesis.values)
        if part.feature is None:
            intercept += part.missing
        else:
            parts.setdefault(part.feature, []).append(part)
    features = {j: _add_up(j, parts[j], names, vote.outputs) for j in sorted(parts)}
    outputs = names.answers if vote.outputs > 1 else names.answers[-1:]
    return Shapes(intercept, features, outputs)


def _add_up(feature: int, parts: list[FeaturePart], names: Names, outputs: int) -> Shape:
    """Add up the parts of one feature, and drop the thresholds at which nothing changes."""
    levels = max(part.levels for part in parts)
    thresholds = np.unique(np.concatenate([part.thresholds for part in parts]))
    values, missing = np.zeros((thresholds.size + 1, outputs)), np.zeros(outputs)
    for part in parts:
        above = np.searchsorted(part.thresholds, thresholds, side="right")
        values += part.steps[np.concatenate([[0], above])]
        missing += part.missing
    name = names.column(feature)
    if levels:
        own = tuple(names.level(feature, k) for k in range(levels))
        return Shape(name, thresholds, values, missing, own)
    changes = (values[1:] != values[:-1]).any(axis=1)
    kept = np.concatenate([[True], changes])
    return Shape(name, thresholds[changes], values[kept], missing)
