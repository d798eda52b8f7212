"""The tightest box: vectors, shape, and coverage close to equality."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, binom

from pacboost.errors import NotCertified, ParameterError
from pacboost.theory.sample_sizes import (
    box_certificate,
    examples_for_sharp,
    examples_for_strip,
    sharp,
    strip,
    strip_exact,
)
from tests.bounds.coverage import check_coverage, check_rejected

Risks = NDArray[np.float64]


@pytest.mark.parametrize(
    ("features", "by_strips", "by_peeling"),
    [(2, 0.017528, 0.0077352), (5, 0.052983, 0.0156526), (10, 0.119829, 0.0277553)],
)
def test_vectors(features: int, by_strips: float, by_peeling: float) -> None:
    assert strip(1000, 0.05, features) == pytest.approx(by_strips, abs=5e-7)
    assert sharp(1000, 0.05, features) == pytest.approx(by_peeling, abs=5e-8)
    quantile = beta.isf(0.05, 2 * features, 1000 - 2 * features + 1)
    assert sharp(1000, 0.05, features) == pytest.approx(quantile, rel=1e-9)


def test_examples() -> None:
    assert 4 / 0.1 * math.log(4 / 0.05) == pytest.approx(175.3, abs=0.05)
    assert examples_for_strip(0.1, 0.05, 2) == 176
    assert examples_for_strip(0.1, 0.05, 5) == 530
    for features in (1, 2, 7):
        n = examples_for_sharp(0.1, 0.05, features)
        assert sharp(n, 0.05, features) <= 0.1 < sharp(n - 1, 0.05, features)
        n = examples_for_strip(0.1, 0.05, features)
        assert strip(n, 0.05, features) <= 0.1 < strip(n - 1, 0.05, features)


def test_shape() -> None:
    for features in (1, 2, 5):
        for n in (1, 9, 50, 400):
            values = [bound(n, 0.05, features) for bound in (sharp, strip_exact, strip)]
            assert values == sorted(values)
            for bound in (sharp, strip_exact, strip):
                assert bound(n + 1, 0.05, features) <= bound(n, 0.05, features)
                assert bound(n, 0.01, features) >= bound(n, 0.05, features)
                assert bound(n, 0.05, features + 1) >= bound(n, 0.05, features)
    assert sharp(3, 0.05, 2) == 1
    assert sharp(4, 0.05, 2) == pytest.approx(0.95**0.25)


def uniform_box(runs: int, n: int, features: int, share: float, seed: int) -> Risks:
    """Risks of tightest boxes; the target has a share of the mass, in which points are uniform."""
    generator = np.random.default_rng(seed)
    positives = generator.binomial(n, share, size=runs)
    points = generator.random((runs, n, features), dtype=np.float32)
    inside = np.less(np.arange(n)[None, :, None], positives[:, None, None])
    low = np.where(inside, points, 1).min(axis=1)
    high = np.where(inside, points, 0).max(axis=1)
    kept = np.clip(high - low, 0, 1).astype(np.float64).prod(axis=1)
    return np.asarray(share * (1 - kept))


def atoms(runs: int, n: int, levels: int, share: float, seed: int) -> Risks:
    """The same on a grid of two features, full of ties; the target is the first levels of each."""
    generator = np.random.default_rng(seed)
    points = generator.integers(levels, size=(runs, n, 2))
    target = round(share * levels)
    inside = np.less(points, target).all(axis=2, keepdims=True)
    low = np.where(inside, points, levels).min(axis=1)
    high = np.where(inside, points, -1).max(axis=1)
    kept = np.clip(high - low + 1, 0, None).prod(axis=1)
    return np.asarray((target**2 - kept) / levels**2)


def test_sharp_is_close_to_equality() -> None:
    """200 examples on a uniform square: it fails as often as it may, no more and not much less."""
    risks = uniform_box(20_000, 200, 2, 1.0, seed=1)
    for delta in (0.05, 0.01):
        violations = int((risks > sharp(200, delta, 2)).sum())
        check_coverage(f"rectangle.sharp, uniform square, delta {delta}", violations, 20_000, delta)
        assert 1 - violations / 20_000 <= 1 - 0.6 * delta
    violations = int((risks > strip(200, 0.05, 2)).sum())
    check_coverage("rectangle.strip, uniform square", violations, 20_000, 0.05)
    one_side = binom_inverse(1, 200, 0.05)  # one side a feature instead of two
    check_rejected("twin: rectangle, half the sides", int((risks > one_side).sum()), 20_000, 0.05)
    mean = 4 / 201  # the mean mass removed: delta dropped
    check_rejected("twin: rectangle, delta dropped", int((risks > mean).sum()), 20_000, 0.05)


def binom_inverse(k: int, n: int, delta: float) -> float:
    return float(beta.isf(delta, k + 1, n - k))


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_negatives_and_few_positives(share: float) -> None:
    risks = uniform_box(10_000, 60, 2, share, seed=2)
    violations = int((risks > sharp(60, 0.05, 2)).sum())
    check_coverage(f"rectangle.sharp, positives {share}", violations, 10_000, 0.05)


@pytest.mark.parametrize(("levels", "share"), [(2, 1.0), (2, 0.5), (5, 0.6), (20, 1.0), (100, 0.9)])
def test_atoms_and_ties(levels: int, share: float) -> None:
    for n in (4, 8, 40):
        risks = atoms(5000, n, levels, share, seed=3)
        violations = int((risks > sharp(n, 0.05, 2)).sum())
        check_coverage(
            f"rectangle.sharp, {levels} levels, box {share}, n={n}", violations, 5000, 0.05
        )


@pytest.mark.parametrize("mass", [0.02, 0.1, 0.3])
def test_a_single_atom_exactly(mass: float) -> None:
    """A target of one atom is missed with probability (1 - mass)^n; the theorem allows more."""
    for n in (2, 10, 100):
        for features in (1, 3):
            allowed = binom.cdf(2 * features - 1, n, mass)
            assert (1 - mass) ** n <= allowed * (1 + 1e-12)


@pytest.mark.slow
def test_coverage_in_full() -> None:
    for features in (1, 2, 3, 5):
        for n in (20, 200):
            risks = np.concatenate(
                [uniform_box(20_000, n, features, 1.0, seed) for seed in range(10)]
            )
            violations = int((risks > sharp(n, 0.05, features)).sum())
            name = f"rectangle.sharp, {features} features, n={n}"
            check_coverage(name, violations, len(risks), 0.05)


def test_refuses() -> None:
    with pytest.raises(NotCertified, match="2 negative examples"):
        box_certificate(200, 0.05, 2, mistakes=2)
    with pytest.raises(ParameterError, match="delta"):
        strip(200, 0.0, 2)
    with pytest.raises(ParameterError, match="epsilon"):
        examples_for_sharp(0.0, 0.05, 2)
