"""The error among the answered: values, coverage for all thresholds at once, and a cheat."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta

from pacboost.bounds import certificate, holdout, selective
from pacboost.bounds.answering import Answering, at_thresholds, by_ranks
from pacboost.bounds.decision import Borders
from pacboost.bounds.selective import TESTS
from pacboost.errors import DataError, NotCertified, ParameterError
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs

RUNS, ROWS, DELTA = 400, 250, 0.05
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


@dataclass(frozen=True)
class Uneven:
    """An error curve that crosses the target several times, with or without equal confidences."""

    name: str
    masses: tuple[float, ...]
    rates: tuple[float, ...]
    tied: bool = False

    def draw(self, rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Blocks from the most confident to the least, each with its rate of mistakes."""
        generator = np.random.default_rng(seed)
        place = generator.random(rows)
        ends = np.cumsum(self.masses)
        block = np.minimum(np.searchsorted(ends, place, side="right"), ends.size - 1)
        wrong = generator.random(rows) < np.array(self.rates)[block]
        return 1 - (ends[block] if self.tied else place) * 0.999, wrong

    def truth(self, threshold: float) -> float:
        """P[wrong | answered]."""
        reach = (1 - threshold) / 0.999
        ends = np.cumsum(self.masses)
        starts = ends - np.array(self.masses)
        covered = np.clip(reach - starts, 0, self.masses)
        if self.tied:
            covered = np.where(ends < reach - 1e-12, self.masses, 0.0)  # above the threshold
        return float(covered @ np.array(self.rates) / covered.sum()) if covered.sum() else 0.0


TARGET = 0.1
UNEVEN = [
    Uneven("just above the target", (1.0,), (0.1001,)),
    Uneven("good rows first", (0.35, 0.65), (0.0, 0.16)),
    Uneven("a bad block between", (0.2, 0.15, 0.3, 0.35), (0.02, 0.21, 0.06, 0.2)),
    Uneven("tied, good rows first", (0.35, 0.3, 0.35), (0.0, 0.21, 0.12), tied=True),
    Uneven("tied, crossing twice", (0.3, 0.1, 0.3, 0.3), (0.07, 0.2, 0.07, 0.22), tied=True),
]


@several_runs(200, 600)
@pytest.mark.parametrize("world", UNEVEN, ids=lambda world: world.name)
def test_a_target_fixed_beforehand_is_kept(world: Uneven, runs: int) -> None:
    """No threshold that passes has an error above the target, except with probability delta."""
    violations, unstopped = 0, 0
    level = TESTS * DELTA
    for seed in range(runs):
        found = by_ranks(*world.draw(ROWS, seed), DELTA, target=TARGET)
        errors = zip(found.points, found.errors, strict=True)
        violations += any(world.truth(p.threshold) > error + 1e-12 for p, error in errors)
        unstopped += any(
            world.truth(p.threshold) > TARGET and bound(p.mistakes, p.answered, level, 1) <= TARGET
            for p in found.points
        )
    check_coverage(f"target tested in order, {world.name}", violations, runs, DELTA)
    if world.name == "just above the target":
        check_rejected("twin: tests that do not stop at a failure", unstopped, runs, DELTA)


def test_a_target_fixed_beforehand_lets_more_be_answered() -> None:
    more = []
    for seed in range(60):
        confidence, wrong = WORLDS[0].draw(1000, seed)
        fixed = by_ranks(confidence, wrong, DELTA, target=0.15).within(0.15)
        free = by_ranks(confidence, wrong, DELTA).within(0.15)
        answered = [0 if a.chosen is None else a.point.answered for a in (fixed, free)]
        more.append(answered[0] - answered[1])
    assert np.mean(more) > 30


def test_the_certificate_of_a_target_says_so() -> None:
    confidence = np.linspace(0, 1, 1000)
    found = by_ranks(confidence, confidence < 0.12, 0.05, target=0.035).within(0.035)
    made = found.certificate
    assert found.error == made.value == 0.035
    assert (made.bound, made.delta) == ("selective.passed_error", 0.05)
    assert "target error" in made.independent_of
    assert selective.passed_error(**dict(made.inputs)) == made.value
    assert certificate.Certificate.from_json(made.to_json()) == made
    assert Answering.from_dict(found.to_dict()) == found
    assert "one of 20" in selective.certificate(3, 600, 0.05, 20, 0.9).independent_of
    assert "fixed before" in selective.certificate(3, 600, 0.05, 1, 0.9).independent_of
    other = found.within(0.2)  # looking again costs nothing: the others have their share of delta
    assert other.certificate.bound == "selective.answered_error"
    assert other.certificate.delta == 0.05
    assert other.error >= by_ranks(confidence, confidence < 0.12, 0.05).within(0.2).error


def test_nothing_passes_where_nothing_is_answered_first() -> None:
    """All but a few rows are equally sure: the first ranks answer nobody, so no test is made."""
    confidence = np.where(np.arange(400) < 380, 1.0, 0.5)
    found = by_ranks(confidence, np.zeros(400, dtype=np.bool_), 0.05, target=0.02)
    assert min(found.errors) > 0
    assert all(point.answered == 400 for point in found.points if point.threshold == 0)
    few = by_ranks([0.1, 0.2], [False, False], 0.05, target=0.02)
    assert few.within(0.02).chosen is None


def test_values() -> None:
    assert selective.answered_error(3, 600, 0.05, 20) == pytest.approx(
        beta.ppf(1 - 0.05 / 20, 4, 597), rel=1e-9
    )
    low, high = selective.answered_share(590, 600, 1000, 0.05, 20)
    assert low == pytest.approx(beta.ppf(0.05 / 40, 590, 411), rel=1e-9)
    assert high == pytest.approx(beta.ppf(1 - 0.05 / 40, 601, 400), rel=1e-9)
    assert selective.answered_error(0, 0, 0.05) == 1


# Thresholds by rank and by wish, and what is refused.


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.booleans()), min_size=1),
    st.integers(1, 30),
)
def test_counts_are_those_of_the_rows(rows: list[tuple[float, bool]], ranks: int) -> None:
    confidence, wrong = np.array([c for c, _ in rows]), np.array([w for _, w in rows])
    found = by_ranks(confidence, wrong, 0.05, ranks)
    assert found.points[0].threshold == 0
    assert found.points[0].answered == found.rows == len(rows)
    assert found.thresholds <= min(ranks, len(rows))
    for point in found.points:
        answered = confidence >= point.threshold
        assert (point.answered, point.mistakes) == (int(answered.sum()), int(wrong[answered].sum()))
        assert point.fewest <= point.answered <= point.most
    assert Answering.from_dict(found.to_dict()) == found
    again = at_thresholds(
        confidence, wrong, 0.05, [p.threshold for p in found.points if p.threshold <= 1]
    )
    assert [p.answered for p in again.points] == [p.answered for p in found.points]


@pytest.mark.parametrize(
    ("confidence", "wrong", "problem"),
    [
        ([], [], "at least one row"),
        ([0.5], [True, False], "one of each"),
        ([[0.5]], [[True]], "shape"),
        ([1.5], [True], "between 0 and 1"),
        ([float("nan")], [True], "between 0 and 1"),
    ],
)
def test_refuses_rows(confidence: Any, wrong: Any, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        by_ranks(confidence, wrong, 0.05)
    with pytest.raises(DataError, match=problem):
        at_thresholds(confidence, wrong, 0.05, [0.5])


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), "0.5", True, None])
def test_refuses_thresholds(threshold: Any) -> None:
    with pytest.raises(ParameterError, match="confidence lies between 0 and 1"):
        at_thresholds([0.5], [True], 0.05, [threshold])


def test_borders_are_fixed_and_lie_between_close_scores() -> None:
    generator = np.random.default_rng(0)
    scores = np.concatenate([
        generator.random(100), np.exp(-1000 * generator.random(100)), generator.normal(size=100),
        np.arange(-100, 101) / 60, [0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308],
    ])  # fmt: skip
    for borders in (Borders(), Borders(38)):
        below = borders.below(scores)
        assert (below <= scores).all()
        assert (borders.below(below) == below).all()
        above = np.array([borders.above(score) for score in scores])
        assert (above > scores).all()
        assert (np.diff(below[np.argsort(scores, kind="stable")]) >= 0).all()
        assert (
            below >= np.array([borders.above(own) for own in np.nextafter(below, -np.inf)])
        ).all()
    tenths = np.arange(1, 1001) / 1000
    for step in range(-50, 51):
        assert (
            Borders().below(tenths + step * np.spacing(tenths)) == Borders().below(tenths)
        ).all()


# What is kept of held-out rows: choices, words, and files that lie.

CONFIDENCE = np.linspace(0, 1, 2000)
WRONG = np.random.default_rng(0).random(2000) < 0.4 * (1 - CONFIDENCE)


@pytest.fixture
def found() -> Answering:
    return by_ranks(CONFIDENCE, WRONG, 0.05)


def test_the_smallest_threshold_that_is_good_enough(found: Answering) -> None:
    chosen = found.within(0.1)
    place = chosen.chosen
    assert place is not None
    assert 0 < place < len(found.points) - 1
    assert chosen.error == found.errors[place] <= 0.1
    assert all(error > 0.1 for error in found.errors[:place])
    point = chosen.point
    assert chosen.error == holdout.clopper_pearson(point.mistakes, point.answered, 0.05, 20)
    assert chosen.certificate.value == chosen.error
    assert chosen.certificate.size == point.answered
    assert chosen.share[0] < point.answered / 2000 < chosen.share[1]
    assert chosen.within(0.5).chosen == 0  # looking again costs nothing


def test_what_cannot_be_reached_is_said(found: Answering) -> None:
    chosen = found.within(1e-4)
    assert chosen.chosen is None
    for ask in ("point", "error", "share", "certificate"):
        with pytest.raises(NotCertified, match=r"to 0\.0001; the least is 0\.\d+"):
            getattr(chosen, ask)
    assert "the least is" in str(chosen)


@pytest.mark.parametrize("choice", [None, 0.1, 1e-4])
def test_files_keep_everything(found: Answering, choice: float | None) -> None:
    known = found if choice is None else found.within(choice)
    assert Answering.from_dict(json.loads(json.dumps(known.to_dict()))) == known


@pytest.mark.parametrize(
    "change",
    [
        {"delta": 2.0},
        {"thresholds": 3},
        {"thresholds": 0},
        {"chosen": 20},
        {"chosen": -1},
        {"chosen": True},
        {"target_error": 7.0},
        {"points": []},
        {"rows": 100},
        {"points": [[0.0, 2000, 2001, 2000, 2000]]},
        {"points": [[0.0, 2000, 1, 2001, 2000]]},
        {"points": [[0.0, 2000, -1, 2000, 2000]]},
        {"points": [[2.0, 2000, 1, 2000, 2000]]},
        {"points": [[float("nan"), 2000, 1, 2000, 2000]]},
        {"points": [[0.5, 2000, 1.0, 2000, 2000]]},
        {"points": [["0.5", 2000, 1, 2000, 2000]]},
        {"points": [[0.5, 2000, 1, 2000]]},
        {"points": [[0.5, 100, 1, 100, 100], [0.4, 10, 1, 10, 10]]},
        {"points": [[0.4, 100, 1, 100, 100], [0.5, 110, 1, 110, 110]]},
        {"strange": 1},
    ],
)
def test_counts_that_no_rows_give_are_refused(found: Answering, change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Answering.from_dict({**found.to_dict(), **change})


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_thresholds_are_apart_from_confidences_by_their_type(kind: Any) -> None:
    confidence = np.repeat(np.array([0.6, 0.74, 0.82], dtype=kind), 100)
    found = by_ranks(confidence, confidence < 0.1, DELTA)
    borders = Borders.of(confidence)
    wanted = {0.0} | {borders.above(float(own)) for own in confidence[::100]}
    assert {point.threshold for point in found.points} <= wanted
