"""The error among the answered: values, coverage for all thresholds at once, and a cheat."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta

from pacboost.bounds import selective
from pacboost.bounds.answering import Answering
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.thresholds import at_thresholds, by_ranks
from pacboost.errors import ParameterError
from tests.bounds.coverage import check_coverage, check_rejected

RUNS, ROWS, DELTA = 1000, 250, 0.05
bound = cache(selective.answered_error)
share = cache(selective.answered_share)


@dataclass(frozen=True)
class World:
    """A confidence with few or many values, and the chance of a mistake at each."""

    name: str
    values: tuple[float, ...] = ()
    """The confidences there are, equally likely; none: uniform on [0, 1]."""
    flat: bool = False

    def chance(self, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.full_like(confidence, 0.2) if self.flat else 0.5 * (1 - confidence)

    def draw(self, rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        generator = np.random.default_rng(seed)
        confidence = generator.random(rows)
        if self.values:
            confidence = generator.choice(self.values, size=rows)
        return confidence, generator.random(rows) < self.chance(confidence)

    def truth(self, threshold: float) -> tuple[float, float]:
        """P[wrong | answered] and P[answered]."""
        if not self.values:
            share = max(0.0, 1 - max(threshold, 0.0))
            return (0.2 if self.flat else 0.25 * share), share
        held = np.array([value for value in self.values if value >= threshold])
        return float(self.chance(held).mean()), held.size / len(self.values)


WORLDS = [
    World("confidence that tells"),
    World("confidence that says nothing", flat=True),
    World("three confidences", (0.2, 0.6, 0.9)),
    World("nine confidences, flat", tuple(np.linspace(0.1, 0.9, 9)), flat=True),
]
in_worlds = pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)


@cache
def runs(world: World) -> list[Answering]:
    return [by_ranks(*world.draw(ROWS, seed), DELTA) for seed in range(RUNS)]


def errors(found: Answering, thresholds: int) -> list[float]:
    return [bound(p.mistakes, p.answered, DELTA, thresholds) for p in found.points]


def missed(world: World, found: Answering) -> bool:
    """Whether the bound of any threshold is below the truth."""
    pairs = zip(found.points, errors(found, found.thresholds), strict=True)
    return any(error < world.truth(point.threshold)[0] for point, error in pairs)


@in_worlds
def test_all_errors_hold_together(world: World) -> None:
    violations = sum(missed(world, found) for found in runs(world))
    check_coverage(f"selective.answered_error, {world.name}", violations, RUNS, DELTA)


def outside(world: World, found: Answering) -> bool:
    """Whether the share answered at any threshold lies outside its interval."""
    for p in found.points[1:]:  # the first threshold is 0
        low, high = share(p.fewest, p.most, found.rows, DELTA, found.thresholds)
        if not low <= world.truth(p.threshold)[1] <= high:
            return True
    return False


@in_worlds
def test_all_shares_hold_together(world: World) -> None:
    violations = sum(outside(world, found) for found in runs(world))
    check_coverage(f"selective.answered_share, {world.name}", violations, RUNS, DELTA)


def test_where_confidences_are_equal_the_rank_counts_not_the_rows() -> None:
    """Three confidences, and the threshold at the sixth row of 1,000: which it is, chance decides.

    The count of the answered would do for a threshold fixed beforehand. Here it is too small
    whenever it makes the threshold what it is.
    """
    ends, rank, number = np.array([0.003, 0.00915, 1.0]), 5, 5000
    drawn = np.random.default_rng(0).multinomial(1000, np.diff(ends, prepend=0), size=number)
    above = np.cumsum(drawn, axis=1)
    held = [int(np.argmax(row > rank)) for row in above]  # the block of the sixth row
    answered = [int(row[j - 1]) if j else 0 for j, row in zip(held, above, strict=True)]
    truth = [float(ends[j - 1]) if j else 0.0 for j in held]
    highs = [share(0, count, 1000, 0.1)[1] for count in answered]
    violations = sum(true > high for true, high in zip(truth, highs, strict=True))
    check_rejected("twin: counts for ranks, equal confidences", violations, number, 0.05)
    violations = sum(true > share(0, rank, 1000, 0.1)[1] for true in truth)
    check_coverage("selective.answered_share, equal confidences", violations, number, 0.05)


def test_the_chosen_threshold_keeps_its_promise() -> None:
    """Of a target just below the truth: whatever threshold is chosen breaks it."""
    flat = WORLDS[1]
    violations = sum(found.within(0.1999).chosen is not None for found in runs(flat)[:300])
    check_coverage("selective, a target just missed", violations, 300, DELTA)


def test_twin_the_best_threshold_without_the_union() -> None:
    """Twenty thresholds are looked at, and the one that looks best is taken for the only one."""
    violations = sum(min(errors(found, 1)) < 0.2 for found in runs(WORLDS[1]))
    check_rejected("twin: best of 20 thresholds, no union", violations, RUNS, DELTA)


def test_one_threshold_fixed_beforehand_pays_for_one() -> None:
    for world in WORLDS:
        violations = 0
        for seed in range(RUNS):
            found = at_thresholds(*world.draw(ROWS, seed), DELTA, [0.55])
            assert found.thresholds == 1
            violations += missed(world, found)
        check_coverage(f"selective, one threshold, {world.name}", violations, RUNS, DELTA)


def test_values() -> None:
    assert selective.answered_error(3, 600, 0.05, 20) == pytest.approx(
        beta.ppf(1 - 0.05 / 20, 4, 597), rel=1e-9
    )
    low, high = selective.answered_share(590, 600, 1000, 0.05, 20)
    assert low == pytest.approx(beta.ppf(0.05 / 40, 590, 411), rel=1e-9)
    assert high == pytest.approx(beta.ppf(1 - 0.05 / 40, 601, 400), rel=1e-9)
    assert selective.answered_error(0, 0, 0.05) == 1


def test_certificate_can_be_computed_again() -> None:
    made = selective.certificate(3, 600, 0.05, 20, 0.9)
    assert Certificate.from_json(made.to_json()) == made
    module, function = made.bound.split(".")
    assert module == "selective"
    assert getattr(selective, function)(**made.inputs) == made.value
    assert "one of 20" in made.independent_of
    assert "fixed before" in selective.certificate(3, 600, 0.05, 1, 0.9).independent_of


@pytest.mark.parametrize(("k", "n", "delta"), [(4, 3, 0.05), (-1, 3, 0.05), (1, 3, 0.0)])
def test_refuses(k: int, n: int, delta: float) -> None:
    with pytest.raises(ParameterError):
        selective.answered_error(k, n, delta, 2)
