"""The small quadratic program, against all supports and the conditions of the best."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.numerics.ascent import best_votes

Floats = NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)
totals = st.sampled_from([None, 1.0, 40.0])


def program(size: int, seed: int, total: float | None) -> tuple[Floats, Floats, Floats]:
    generator = np.random.default_rng(seed)
    roots = generator.normal(size=(size, max(1, size - 1)))  # one direction is nearly flat
    start = generator.dirichlet(np.ones(size)) * (total or 1.0)
    start[generator.random(size) < 0.3] = 0.0
    if total is not None:
        start = start * total / start.sum() if start.any() else np.full(size, total / size)
    return roots @ roots.T + 1e-6 * np.eye(size), generator.normal(size=size), start


def least(H: Floats, f: Floats, total: float | None) -> float:
    """Try every support."""
    best = np.inf if total is not None else 0.0
    for count in range(1, f.size + 1):
        for support in combinations(range(f.size), count):
            rows = list(support)
            A, b = H[np.ix_(rows, rows)], f[rows]
            if total is not None:
                A = np.block([[A, np.ones((count, 1))], [np.ones((1, count)), np.zeros((1, 1))]])
                b = np.append(b, total)
            z = np.linalg.solve(A, b)[:count]
            if (z >= 0).all():
                best = min(best, float(0.5 * z @ H[np.ix_(rows, rows)] @ z - f[rows] @ z))
    return best


@given(st.integers(1, 6), totals, seeds)
@settings(max_examples=100, deadline=None)
def test_no_support_does_better(size: int, total: float | None, seed: int) -> None:
    H, f, start = program(size, seed, total)
    z = best_votes(H, f, start, total)
    assert (z >= 0).all()
    if total is not None:
        assert z.sum() == pytest.approx(total, rel=1e-9)
    value = float(0.5 * z @ H @ z - f @ z)
    assert value == pytest.approx(least(H, f, total), rel=1e-7, abs=1e-7)


@given(st.integers(20, 80), totals, seeds)
@settings(max_examples=25, deadline=None)
def test_the_conditions_of_the_best(size: int, total: float | None, seed: int) -> None:
    H, f, start = program(size, seed, total)
    z = best_votes(H, f, start, total)
    slope = f - H @ z
    price = 0.0 if total is None else float(slope[z > 0].mean())
    scale = 1e-6 * max(1.0, float(np.abs(H).max() * z.max()))
    assert slope[z > 0] == pytest.approx(price, abs=scale)
    assert (slope[z <= 0] <= price + scale).all()
