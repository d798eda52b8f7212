"""Tables of patterns: every row has a place, known patterns their own, others the nearest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pacboost.hypotheses import pattern
from pacboost.hypotheses.hypothesis import Names
from pacboost.hypotheses.pattern import Pattern
from pacboost.hypotheses.stump import StumpRule
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable


def rules_of(features: int) -> list[StumpRule]:
    """One rule for the sign of each feature."""
    return [StumpRule(j, 0.0, 0, 1, 1) for j in range(features)]


def bits(generator: np.random.Generator, rows: int, features: int) -> Sample:
    """Rows whose pattern is their own values."""
    return unlabelled(ArrayTable(generator.choice([-1.0, 1.0], size=(rows, features))))


@given(st.integers(0, 10**6), st.integers(1, 20), st.sampled_from([3, 7, 2**22]))
@settings(max_examples=80, deadline=None)
def test_against_counting_by_hand(seed: int, features: int, at_once: int) -> None:
    generator = np.random.default_rng(seed)
    rules = rules_of(features)
    seen, new = bits(generator, 30, features), bits(generator, 40, features)
    signs = generator.choice([-1, 1], size=30).astype(np.int8)
    base = generator.integers(1, 4, size=30).astype(float)
    said = np.stack([rule.answers(seen) for rule in rules])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pattern, "AT_ONCE", at_once)
        table = Pattern.of(rules, said, signs, base)
        cells = table.cells(new)
        assert (table.values[table.cells(seen), 0] == _by_hand(said.T, signs, base)).all()
    assert np.unique(table.patterns, axis=0).shape == table.patterns.shape
    for row, cell in zip(new.table.rows(), cells, strict=True):
        distances = (table.patterns != row).sum(axis=1)
        near = np.flatnonzero(distances == distances.min())
        assert cell in near
        masses = table.masses.sum(axis=1)
        assert masses[cell] == masses[near].max()


def _by_hand(said: np.ndarray, signs: np.ndarray, base: np.ndarray) -> np.ndarray:
    values = []
    for row in said:
        same = (said == row).all(axis=1)
        plus, minus = base[same & (signs > 0)].sum(), base[same & (signs < 0)].sum()
        values.append((plus - minus) / (plus + minus))
    return np.array(values)


def test_words() -> None:
    table = Pattern(rules_of(1), np.array([[1], [-1]], dtype=np.int8), np.array([[0.0, 2], [1, 0]]))
    assert (
        table.words(Names(lambda j: f"x{j}"))
        == "table of 2 patterns of 1 rules: x0 > 0 → +, else −"
    )
