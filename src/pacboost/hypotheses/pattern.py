"""A table from patterns to answers: several rules are combined by a table, not by a sum.

The pattern of a row is what each rule answers on it. The table holds every pattern that the rows it
was made of had, with the weight of either sign; a row answers by its pattern, and one whose pattern
was never seen by the nearest that was: the one that differs in the fewest rules, of several the one
that weighs most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis, Names
from pacboost.hypotheses.tree import bins_of
from pacboost.samples.sample import Sample, Signs, unlabelled

AT_ONCE = 2**22
"""So many pairs of patterns are compared at once."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pattern(Hypothesis):
    """``patterns`` is (patterns, rules) of -1 and +1, ``masses`` (patterns, 2): of signs - and +.

    >>> from pacboost.hypotheses.stump import StumpRule
    >>> from pacboost.sources.arrays import ArrayTable
    >>> rules = [StumpRule(0, 0.5, 0, 1, 1), StumpRule(0, 1.5, 1, 1, 1)]
    >>> table = ArrayTable(np.array([[0.0], [1.0], [2.0], [2.0]]))
    >>> seen = np.stack([rule.answers(unlabelled(table)) for rule in rules])
    >>> made = Pattern.of(rules, seen, np.array([-1, 1, -1, 1], dtype=np.int8), np.ones(1))
    >>> made.values[made.cells(unlabelled(table)), 0].tolist()
    [-1.0, 1.0, 0.0, 0.0]
    """

    rules: Sequence[Hypothesis]
    patterns: Signs
    masses: Floats

    @classmethod
    def of(cls, rules: Sequence[Hypothesis], seen: Signs, signs: Signs, base: Floats) -> Pattern:
        """Make the table of rows: what each rule said on them, (rules, rows), and their signs."""
        packed = _packed(seen.T)
        _, first, cell = np.unique(packed, return_index=True, return_inverse=True)
        shares = np.broadcast_to(base, signs.shape)
        counts = [np.bincount(cell, shares * (signs == sign), first.size) for sign in (-1, 1)]
        masses: Floats = np.stack(counts, axis=1).astype(np.float64)
        order = np.argsort(-masses.sum(axis=1), kind="stable")  # the heaviest first
        return cls(rules, np.ascontiguousarray(seen.T[first[order]]), masses[order])

    @property
    def values(self) -> CellValues:  # type: ignore[override]
        """(W₊ - W₋)/(W₊ + W₋) of each pattern."""
        minus, plus = self.masses.T
        values: CellValues = ((plus - minus) / (plus + minus))[:, None]
        return values

    def cells(self, sample: Sample) -> Cells:
        if sample.bins is None:
            sample = unlabelled(sample.table, bins_of(self.rules))
        seen = np.empty((sample.n_rows, len(self.rules)), dtype=np.int8)
        for column, rule in zip(seen.T, self.rules, strict=True):
            column[:] = answers_of(rule.values[:, 0])[rule.cells(sample)]
        packed, first, cell = np.unique(_packed(seen), return_index=True, return_inverse=True)
        found = np.array([self._places.get(key.tobytes(), -1) for key in packed])
        new = found < 0
        found[new] = self._nearest(seen[first[new]])
        return found.astype(np.uint32)[cell]

    @cached_property
    def _places(self) -> dict[bytes, int]:
        """The line of each known pattern in ``patterns``."""
        return {key.tobytes(): place for place, key in enumerate(_packed(self.patterns))}

    def _nearest(self, patterns: Signs) -> NDArray[np.intp]:
        """Compare patterns with all that are known: products count agreements, exactly."""
        known = self.patterns.astype(np.float32)
        out = np.empty(len(patterns), dtype=np.intp)
        step = max(1, AT_ONCE // len(known))
        for start in range(0, out.size, step):
            part = patterns[start : start + step].astype(np.float32)
            out[start : start + step] = (part @ known.T).argmax(axis=1)
        return out

    def importances(self, vote: float, n_features: int) -> Floats:
        """Add up those of the rules, which all have the same vote."""
        return sum(
            (rule.importances(vote, n_features) for rule in self.rules), np.zeros(n_features)
        )

    def words(self, names: Names) -> str:
        rules = "; ".join(rule.words(names) for rule in self.rules)
        return f"table of {len(self.patterns)} patterns of {len(self.rules)} rules: {rules}"


def answers_of(values: NDArray[Any]) -> Signs:
    """Turn values into answers of -1 or +1; a value of 0 counts as -1."""
    return np.where(values > 0, np.int8(1), np.int8(-1))


def _packed(seen: Signs) -> NDArray[np.void]:
    """Return the pattern of every row as bytes, which can be compared at once."""
    bits = np.ascontiguousarray(np.packbits(seen > 0, axis=1))
    return bits.view(np.dtype((np.void, bits.shape[1])))[:, 0]
