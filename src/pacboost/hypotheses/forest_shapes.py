"""Partial dependence of a forest: how its mean answer changes with one feature.

Nodes of a forest do not keep how many rows went which way, so rows stand for the other features: a
table that is given, or rows made up of bins, each feature drawn by itself and evenly over its bins.
A curve is a step function on the codes of a feature, in at most 24 steps; it is a deviation from
the mean answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.forest import Forest
from pacboost.hypotheses.hypothesis import Names
from pacboost.hypotheses.shapes import Shape, Shapes
from pacboost.numerics.same_bits import mean_of
from pacboost.samples.bins import Bins
from pacboost.sources.table import Table

Doubles = NDArray[np.float64]
Lines = NDArray[np.uint8]
ROWS, STEPS = 60, 24


def partial_dependence(
    forest: Forest, names: Names, features: Sequence[int], table: Table | None = None
) -> Shapes:
    """Give the curve of each of these features; those that no tree asks for are left out."""
    rows = _made_up(forest.bins) if table is None else _taken(forest.bins, table)
    mean = mean_of(_answers(forest, rows))
    asked = [j for j in features if forest.importances[j] > 0]
    found = {j: _curve(forest, rows, mean, j, names) for j in asked}
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
    """Give what the forest says of coded rows: shares of classes (of two, the second) or numbers.

    (rows, outputs)
    """
    mean = forest.sums_of_codes(lines) / max(1, len(forest))
    return mean if forest.classes else forest.middle + forest.scale * mean


def _curve(forest: Forest, rows: Lines, mean: Doubles, feature: int, names: Names) -> Shape:
    """Set a feature to one code after the other, in all rows at once."""
    bins, name = forest.bins, names.column(feature)
    thresholds, levels = bins.thresholds[feature], int(bins.levels[feature])
    parts = np.array_split(np.arange(thresholds.size + 1), STEPS if not levels else 1024)
    parts = [part for part in parts if part.size]
    codes = [int(part[part.size // 2]) for part in parts] + [bins.missing]
    lines = np.tile(rows, (len(codes), 1))
    lines[:, feature] = np.repeat(codes, len(rows))
    said = mean_of(_answers(forest, lines).reshape(len(codes), len(rows), -1).swapaxes(0, 1)) - mean
    steps, missing = said[:-1], said[-1]
    if levels:
        words = tuple(names.level(feature, k) for k in range(levels))
        return Shape(name, thresholds, steps, missing, words)
    cuts = thresholds[[int(part[-1]) for part in parts[:-1]]]
    changes = (steps[1:] != steps[:-1]).any(axis=1)
    return Shape(name, cuts[changes], steps[np.append(True, changes)], missing)
