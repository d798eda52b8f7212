"""The capped entropic minimum: allowed, least, and the gradient of its value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pacboost.numerics.ascent import evenest

Floats = NDArray[np.float64]
seeds = st.integers(0, 2**32 - 1)
caps = st.one_of(st.just(0.0), st.floats(0.01, 0.95))


def objective(d: Floats, heights: Floats, base: Floats) -> float:
    some = d > 0
    return float((d * heights).sum() + (d[some] * np.log(d[some] / base[some])).sum())


def problem(rows: int, spread: float, seed: int) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    heights = spread * generator.normal(size=rows)
    heights[:: max(1, rows // 3)] = 0.0  # some ties
    return heights, generator.dirichlet(np.ones(rows)) * 0.9 + 0.1 / rows


def check_least(d: Floats, heights: Floats, base: Floats, share: float, seed: int) -> None:
    """Weights that are allowed all lie on a line to d; towards none of them does it get better."""
    generator = np.random.default_rng(seed)
    assert d.sum() == pytest.approx(1, abs=1e-12)
    if share > 0:
        assert (d <= base / share + 1e-15).all()
    here = objective(d, heights, base)
    for _ in range(10):
        other = generator.dirichlet(np.full(d.size, 0.3))
        if share > 0:
            over = (other - base).max() and float((other / base).max())
            part = min(1.0, (1 / share - 1) / max(over - 1, 1e-12))
            other = base + part * (other - base)
        for step in (1.0, 1e-2, 1e-4):
            assert objective(d + step * (other - d), heights, base) >= here - 1e-11 * max(
                1, abs(here)
            )


@given(st.integers(1, 60), st.sampled_from([0.01, 1.0, 30.0, 2000.0]), caps, seeds)
@settings(max_examples=150, deadline=None)
def test_the_least_of_all_that_is_allowed(
    rows: int, spread: float, share: float, seed: int
) -> None:
    heights, base = problem(rows, spread, seed)
    found = evenest(heights, base, share)
    check_least(found.weights, heights, base, share, seed)
    scale = max(1.0, float(np.abs(heights).max()))
    assert found.value == pytest.approx(objective(found.weights, heights, base), abs=1e-9 * scale)
    near = evenest(heights, base, share, found.level + 0.3)
    assert near.value == pytest.approx(found.value, abs=1e-11 * scale)
    if share > 0:
        held = found.weights[~found.free]
        assert held == pytest.approx(base[~found.free] / share, rel=1e-9)


def test_weights_that_are_cut_and_not_raised_again_are_caught() -> None:
    heights, base = problem(30, 3.0, 5)
    free = evenest(heights, base, 0.0).weights
    cut = np.minimum(free, base / 0.5)
    with pytest.raises(AssertionError):
        check_least(cut / cut.sum(), heights, base, 0.5, 0)


@given(st.integers(2, 30), caps, seeds)
@settings(max_examples=60, deadline=None)
def test_the_weights_are_the_gradient(rows: int, share: float, seed: int) -> None:
    heights, base = problem(rows, 2.0, seed)
    way = np.random.default_rng(seed + 1).normal(size=rows)
    slope = float((evenest(heights, base, share).weights * way).sum())
    after = evenest(heights + 1e-6 * way, base, share).value
    before = evenest(heights - 1e-6 * way, base, share).value
    assert (after - before) / 2e-6 == pytest.approx(slope, abs=1e-5)


@given(st.integers(2, 50), st.floats(0.02, 0.9), st.floats(1.0, 300.0), seeds)
@settings(max_examples=60, deadline=None)
def test_smoothing_hides_no_more_than_the_entropy_there_is(
    rows: int, share: float, eta: float, seed: int
) -> None:
    """soft margin ≤ G(η·m)/η ≤ soft margin + ln(1/share)/η."""
    generator = np.random.default_rng(seed)
    margins, base = generator.uniform(-1, 1, rows), np.full(rows, 1 / rows)
    smooth = evenest(eta * margins, base, share).value / eta
    order, left, soft = np.argsort(margins), 1.0, 0.0
    for i in order:  # fill the worst rows up
        taken = min(left, base[i] / share)
        soft, left = soft + taken * margins[i], left - taken
    assert soft - 1e-9 <= smooth <= soft + math.log(1 / share) / eta + 1e-9
