"""A table from the answers of rules to one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.decision import importances_of
from pacboost.hypotheses.fields import Column, Field, FieldLines, Parts, RuleRun
from pacboost.hypotheses.hypothesis import Cells, CellValues, Hypothesis, Names, bins_of
from pacboost.hypotheses.vote import Vote
from pacboost.samples.sample import Sample, Signs, unlabelled

Floats = NDArray[np.float64]

PAIRS_PER_BLOCK = 2**22


@dataclass(frozen=True, eq=False)
class Pattern(Hypothesis):
    """A table from patterns to answers, which combines rules without a sum.

    The pattern of a row is the answer of each rule on it. The table holds every pattern of the
    training rows with the weight of each sign. The pattern of a row selects its answer; a new
    pattern selects the nearest one, which differs in the fewest rules, and of several the
    heaviest. ``patterns`` is (patterns, rules) of -1 and +1, ``masses`` is (patterns, 2), for the
    signs - and +.
    """

    tag: ClassVar[str] = "pattern"
    FIELDS: ClassVar[Mapping[str, Field]] = {
        "rules": Parts(),
        "patterns": Column(np.int8, FieldLines("lines"), "rules", bits=(-1, 1)),
        "masses": Column(np.float64, FieldLines("lines"), 2, within=(0, 1e150)),
    }

    rules: Sequence[Hypothesis]
    patterns: Signs
    masses: Floats

    @classmethod
    def problem(cls, run: RuleRun) -> tuple[str, str] | None:
        masses = run.arrays["masses"]
        if not len(masses) or not (masses.sum(axis=1) > 0).all():
            return "masses", "give a pattern that no row had"
        return None

    @classmethod
    def of(cls, rules: Sequence[Hypothesis], answers: Signs, signs: Signs, base: Floats) -> Pattern:
        """Create the table from the answers of rules on rows, (rules, rows), and the signs."""
        packed = _packed(answers.T)
        _, first, cell = np.unique(packed, return_index=True, return_inverse=True)
        shares = np.broadcast_to(base, signs.shape)
        counts = [np.bincount(cell, shares * (signs == sign), first.size) for sign in (-1, 1)]
        masses: Floats = np.stack(counts, axis=1).astype(np.float64)
        order = np.argsort(-masses.sum(axis=1), kind="stable")  # the heaviest first
        return cls(rules, np.ascontiguousarray(answers.T[first[order]]), masses[order])

    @property
    def values(self) -> CellValues:  # type: ignore[override]
        """The value (W₊ - W₋)/(W₊ + W₋) of each pattern."""
        minus, plus = self.masses.T
        values: CellValues = ((plus - minus) / (plus + minus))[:, None]
        return values

    def cells(self, sample: Sample) -> Cells:
        if sample.bins is None:
            sample = unlabelled(sample.table, bins_of(self.rules))
        answers = np.empty((sample.n_rows, len(self.rules)), dtype=np.int8)
        for column, rule in zip(answers.T, self.rules, strict=True):
            column[:] = answers_of(rule.values[:, 0])[rule.cells(sample)]
        packed, first, cell = np.unique(_packed(answers), return_index=True, return_inverse=True)
        places = np.array([self._places.get(key.tobytes(), -1) for key in packed])
        new = places < 0
        places[new] = self._nearest(answers[first[new]])
        return places.astype(np.uint32)[cell]

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {key.tobytes(): place for place, key in enumerate(_packed(self.patterns))}

    def _nearest(self, patterns: Signs) -> NDArray[np.intp]:
        """Return the nearest line of the table for each pattern, by exact counts of agreements."""
        rows_of_table = self.patterns.astype(np.float32)
        places = np.empty(len(patterns), dtype=np.intp)
        # the table of all agreements would take rows times patterns of memory
        step = max(1, PAIRS_PER_BLOCK // len(rows_of_table))
        for start in range(0, places.size, step):
            part = patterns[start : start + step].astype(np.float32)
            # products of ±1 are exact in 32 bits up to 16 million rules; argmax takes
            # the heaviest of ties
            places[start : start + step] = (part @ rows_of_table.T).argmax(axis=1)
        return places

    def importances(self, vote: float, n_features: int) -> Floats:
        return importances_of(self.rules, np.full(len(self.rules), vote), n_features)

    def words(self, names: Names) -> str:
        rules = "; ".join(rule.words(names) for rule in self.rules)
        return f"table of {len(self.patterns)} patterns of {len(self.rules)} rules: {rules}"


def answers_of(values: NDArray[Any]) -> Signs:
    """Turn values into answers of -1 or +1; a value of 0 counts as -1."""
    return np.where(values > 0, np.int8(1), np.int8(-1))


def _packed(answers: Signs) -> NDArray[np.void]:
    """Return the pattern of every row as bytes, so that patterns can be compared quickly."""
    bits = np.ascontiguousarray(np.packbits(answers > 0, axis=1))
    return bits.view(np.dtype((np.void, bits.shape[1])))[:, 0]


def rules_behind(vote: Vote) -> Vote:
    """Return the rules of a table, each with a vote of 1; any other vote is returned unchanged."""
    if len(vote.hypotheses) != 1 or not isinstance(vote.hypotheses[0], Pattern):
        return vote
    rules = list(vote.hypotheses[0].rules)
    return Vote(rules, np.ones(len(rules)))
