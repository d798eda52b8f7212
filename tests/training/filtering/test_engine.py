"""Runs of filtering: they stop when they may, say why, and keep within their theorems."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.boosters.filtering import FilterBoost, Mada, Measure, Smooth
from pacboost.boosters.logit import Logit
from pacboost.boosters.majority import Majority
from pacboost.boosters.projection import Projection
from pacboost.learners.learner import FunctionLearner, Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.ledgers.ledger import Refill, Round
from pacboost.samples.sample import unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.oracle import AbstractOracle
from pacboost.sources.oracles.stream import StreamOracle
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.theory.world_oracle import WorldOracle
from pacboost.theory.worlds import LabelNoise, World
from pacboost.training.filtering import candidates
from pacboost.training.filtering.engine import Filtering
from pacboost.training.filtering.faithful import Faithful
from pacboost.training.filtering.plan import FilteringPlan, MeanTest, draws_for
from pacboost.training.filtering.refilling import Refilling
from pacboost.training.filtering.rows import RowEncoder, ScoredBatch
from pacboost.training.filtering.stream import Stream
from pacboost.training.run.stop_reason import Stop, StopReason
from tests.bounds.coverage import check_coverage, check_rejected
from tests.training.filtering.setups import coded, cube, cube_bins

Floats = NDArray[np.float64]
SIGNS = np.array([-1, 1], dtype=np.int8)
EPSILON, EDGE = 0.3, 0.3


def majority(features: int = 3) -> BooleanConcept:
    """Of three bits: under every weighting, one of them has an edge of a third."""
    return BooleanConcept(features, lambda X: X[:, :3].sum(axis=1) >= 2)


def boosters(epsilon: float = EPSILON, edge: float = EDGE) -> list[FilteringBooster[Any]]:
    return [
        FilterBoost(),
        Mada(),
        Measure(edge=edge, epsilon=epsilon),
        Smooth(edge=edge, epsilon=epsilon),
        Projection(edge=edge, epsilon=epsilon),
    ]


NAMES = [type(booster).__name__ for booster in boosters()]
EACH = pytest.mark.parametrize("booster", boosters(), ids=NAMES)


@pytest.fixture(autouse=True)
def small_helpings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs on a cube need few draws; groups of 65,536 would make them slow."""
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 1024)
    monkeypatch.setattr(candidates, "MIN_ROWS_PER_OFFER", 64)


@pytest.fixture
def larger_helpings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that draw many rows are faster."""
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 4096)


def run_on(
    source: World | AbstractOracle,
    booster: FilteringBooster[Any],
    seed: int = 0,
    learner: Learner | None = None,
    kind: type[Filtering] = Faithful,
    **plan: Any,
) -> Filtering:
    """A run on an oracle of bits, or on draws from a world of them."""
    oracle = source if isinstance(source, AbstractOracle) else WorldOracle(source, seed)
    codes = learner is None or learner.codes
    usual: dict[str, Any] = {
        "rounds": 60, "rows": 1200, "first_rows": 400, "epsilon": EPSILON, "edge": EDGE,
        "delta": 0.1, "seed": seed,
    }  # fmt: skip
    bins = cube_bins(oracle.n_columns) if codes else None
    return kind(
        Stream(oracle, seed, 0),
        RowEncoder(SIGNS, bins),
        learner or Stump(),
        booster,
        FilteringPlan(**{**usual, **plan}),
    )


def finish(run: Filtering) -> Filtering:
    list(run)
    return run


def risk(run: Filtering, world: World) -> float:
    vote = run.vote_so_far.vote()
    return float(world.risk(lambda X: vote.scores(ArrayTable(X))))


def exact_weights(run: Filtering, world: BooleanConcept) -> Floats:
    X = world.domain()
    return run.vote_so_far.score(coded(ArrayTable(X), world.truth(X)[:, None])).chances


# -- the certified stop


@EACH
def test_certified_stops_hold(booster: FilteringBooster[Any]) -> None:
    slow = isinstance(booster, Measure | Smooth)  # whose votes are small
    world, wrong, runs, certified = majority(), 0, 3 if slow else 6, 0
    goal = 0.15 if isinstance(booster, Projection) else EPSILON  # one bit has a risk of 1/4
    for seed in range(runs):
        run = finish(run_on(world, booster, seed, epsilon=goal))
        last = run.refills[-1]
        certified += run.certified
        if run.certified:
            assert last.error_upper <= goal
            assert last.rounds == len(run.vote_so_far)
            wrong += risk(run, world) > last.error_upper
    assert certified == runs
    check_coverage(f"certified stop of {type(booster).__name__}", wrong, runs, 0.05)


@pytest.mark.slow
@EACH
def test_tests_and_stops_hold_in_many_runs(booster: FilteringBooster[Any]) -> None:
    """μ is known exactly here: no interval of a run may miss it, and no stop may be false."""
    wrong, false_stops, runs = 0, 0, 300
    goal = 0.15 if isinstance(booster, Projection) else 0.4
    for seed in range(runs):
        world = majority()
        run = run_on(world, booster, seed, rounds=8, epsilon=goal)
        wrong += intervals_missed(run, world) > 0
        false_stops += run.certified and risk(run, world) > run.refills[-1].error_upper
    name = type(booster).__name__
    check_coverage(f"μ of all refills of {name}, many runs", wrong, runs, 0.05)
    check_coverage(f"certified stop of {name}, many runs", false_stops, runs, 0.05)


def intervals_missed(run: Filtering, world: BooleanConcept) -> int:
    """Go through a run, and count the refills whose interval does not hold the true μ."""
    missed, known = 0, exact_weights(run, world).mean()
    for event in run:
        if isinstance(event, Refill):
            missed += not event.lower <= known <= event.upper
        known = exact_weights(run, world).mean()
    return missed


class TrustsItsSample(Filtering):
    """A broken twin: tests μ on the sample it has just been trained on."""

    def boost(self, kept: ScoredBatch) -> Iterator[Any]:
        yield from super().boost(kept)
        stands = self.vote_so_far.score(kept)
        test = MeanTest(self.plan.delta / 2)
        test.add(stands.chances)
        if self._booster.error_factor * test.upper <= (self.plan.epsilon or 0):
            self.certified, self.stopped = True, StopReason(Stop.ERROR_REACHED, {"epsilon": 0.0})


def noise(features: int = 8) -> World:
    """Labels by the toss of a coin: the risk is one half whatever one does."""
    return LabelNoise(cube(features), 0.5)


def false_certificates(kind: type[Filtering], runs: int) -> int:
    """Let trees learn a coin's tosses by heart, and count those who believe them."""
    wrong = 0
    for seed in range(runs):
        run = run_on(
            noise(12), Mada(), seed, Tree(max_leaves=400, min_leaf_rows=1), kind,
            edge=None, rows=150, first_rows=150, rounds=40, keep=0.05,
        )  # fmt: skip
        wrong += finish(run).certified
    return wrong


def test_noise_is_never_certified() -> None:
    check_coverage("certified stop on a coin", false_certificates(Filtering, 12), 12, 0.05)


def test_trusting_the_sample_is_caught() -> None:
    check_rejected("stop by the training sample", false_certificates(TrustsItsSample, 12), 12, 0.05)


@EACH
def test_a_useless_learner_is_found_out(booster: FilteringBooster[Any]) -> None:
    for seed in range(2):
        run = finish(run_on(noise(), booster, seed, rounds=500))
        assert run.stopped is not None
        assert run.stopped.kind is Stop.NO_TESTED_EDGE
        assert run.stopped.values["floor"] == EDGE / 2
        assert not run.certified
        assert run.refills[-1].error_upper > 0.4


def test_the_mean_weight_is_inside_its_interval_in_all_refills_of_a_run() -> None:
    world, wrong, runs = majority(), 0, 12
    for seed in range(runs):
        wrong += intervals_missed(run_on(world, Mada(), seed), world) > 0
    check_coverage("μ of all refills of a run", wrong, runs, 0.05)


# -- rounds and smoothness


def adversary(world: BooleanConcept, edge: float, seed: int) -> Callable[..., Any]:
    """A learner that answers by point: wrong on as much weight as its promise allows."""
    generator = np.random.default_rng(seed)
    places = 1 << np.arange(world.features)
    truth = world.truth(world.domain())

    def find(X: Floats, y: NDArray[np.int8], weights: Floats) -> Callable[[Floats], Floats]:
        points = X.astype(np.int64) @ places
        mass = np.bincount(points, weights, minlength=truth.size)
        allowance, answers = (1 - edge) / 2 * mass.sum(), truth.astype(np.float64)
        for point in generator.permutation(truth.size):
            if mass[point] <= allowance:
                allowance -= mass[point]
                answers[point] *= -1
        return lambda rows: answers[rows.astype(np.int64) @ places]

    return find


LATE = 1 + 2 / 3
"""A tested edge may be so much smaller than the true one; the vote is then that of the smaller."""


class ByWeight(Faithful):
    """Stops by the mean weight alone, which is what the theorems on rounds are about."""

    def _good_enough(self, refilling: Refilling) -> bool:
        factor, epsilon = self._booster.error_factor, self.plan.epsilon
        return len(self.vote_so_far) > 0 and factor * refilling.test.upper <= (epsilon or 0)


@pytest.mark.usefixtures("larger_helpings")
@pytest.mark.parametrize(
    ("booster", "slack", "late"),
    [
        (FilterBoost(), 0.75, LATE),
        (Mada(), 0.75, LATE),
        (Measure(edge=EDGE, epsilon=EPSILON), 1.0, 1.0),
        (Smooth(edge=EDGE, epsilon=EPSILON), 0.75, 1.0),
    ],
    ids=NAMES[:4],
)
def test_rounds_stay_within_the_theorem_against_an_adversary(
    booster: FilteringBooster[Any], slack: float, late: float
) -> None:
    world = cube(6)
    learner = FunctionLearner(adversary(world, EDGE + 0.12, 3))
    run = run_on(world, booster, 1, learner, ByWeight, rounds=10_000)
    edges: list[float] = []
    X, y = world.domain(), world.truth(world.domain())
    before = exact_weights(run, world)
    for event in run:
        if isinstance(event, Refill):
            continue
        said = run.vote_so_far.rules[-1].values[
            run.vote_so_far.rules[-1].cells(unlabelled(ArrayTable(X)))
        ][:, 0]
        edges.append(float((before * said * y).sum() / before.sum()))
        after = exact_weights(run, world)
        assert after.max() / after.mean() <= 1 / after.mean()  # D_M ≤ D/μ
        before = after
    assert run.certified
    assert min(edges) >= EDGE  # the promise was kept on the whole world
    most = booster.most_rounds(EDGE / late, slack * EPSILON)
    assert 3 <= len(run.vote_so_far) <= most
    assert risk(run, world) <= EPSILON


@EACH
def test_smoothness_is_what_the_draws_say(booster: FilteringBooster[Any]) -> None:
    world = majority()
    run = run_on(world, booster, 2, rounds=9)
    known = exact_weights(run, world)
    for event in run:
        if isinstance(event, Refill):
            assert 1 / event.upper <= event.smoothness <= 1 / max(event.lower, 1e-9)
            assert event.lower <= known.mean() <= event.upper
            assert known.max() / known.mean() <= 1 / event.lower
        known = exact_weights(run, world)


def test_draws_stay_within_the_formula() -> None:
    """A sample of wanted rows takes at most draws_for(wanted, μ, delta) draws and one group."""
    world, over, total = majority(), 0, 0
    for seed in range(6):
        run = run_on(world, Mada(), seed, epsilon=None)
        known = exact_weights(run, world).mean()
        for event in run:
            if isinstance(event, Refill):
                wanted = run._wanted(event.delta)
                total += 1
                over += event.draws > draws_for(wanted, known, 0.05) + 1024
                if event.number > 6:
                    break
            known = exact_weights(run, world).mean()
    check_coverage("draws for a sample", over, total, 0.05)


# -- how runs end


def test_the_rounds_are_done() -> None:
    run = finish(run_on(LabelNoise(cube(), 0.2), Logit(), rounds=3, epsilon=None, kind=Filtering))
    assert str(run.stopped) == "all 3 rounds are done"
    assert len(run.rounds) == len(run.vote_so_far) == 3
    assert [entry.number for entry in run.rounds] == [1, 2, 3]


@pytest.mark.usefixtures("larger_helpings")
def test_a_filter_that_starves_says_so() -> None:
    """Weights of a solved world fall below anything the plan wants to wait for."""
    booster = Measure(edge=0.3, epsilon=0.9)
    run = finish(run_on(majority(), booster, rounds=10_000, epsilon=None))
    assert run.stopped is not None
    assert run.stopped.kind is Stop.STARVED
    assert run.stopped.values["error"] == run.refills[-1].error_upper
    assert not run.certified
    assert run.refills[-1].accepted < 1200
    assert run.refills[-1].error_upper < 0.05


def test_a_stream_that_ends() -> None:
    X, y = cube().draw(4000, 0)
    for kind in (Faithful, Filtering):
        oracle = StreamOracle(iter([(X[:1000], y[:1000]), (X[1000:], y[1000:])]))
        run = run_on(oracle, FilterBoost(), kind=kind, epsilon=0.001, rounds=100)
        finish(run)
        assert str(run.stopped) == "the stream has ended"
        assert sum(refill.draws for refill in run.refills) <= 4000


@pytest.mark.parametrize("mean", ["undecided", "decided"])
def test_a_second_pass_ends_what_fresh_draws_left_undecided(mean: str) -> None:
    """On a later pass nothing is fresh, so the test of μ cannot go on for ever."""
    X, y = cube().draw(1500, 0)
    run = run_on(
        ArrayOracle(X, y, 0), FilterBoost(), rounds=6, rows=900,
        epsilon=0.31 if mean == "undecided" else 0.05,
    )  # fmt: skip
    finish(run)
    assert run.stopped
    assert run.refills[-1].fresh == 0 or run.certified


def test_the_time_is_up_in_the_middle_of_a_sample() -> None:
    run = run_on(cube(), FilterBoost(), rows=10**6, epsilon=None, edge=0.001)
    looks = iter([False, False, True])
    run.over = lambda: next(looks)
    finish(run)
    assert str(run.stopped) == "the time is up"
    assert run.refills[-1].draws == 3 * 1024
    assert len(run.vote_so_far) == 0


def test_the_time_is_up_while_an_edge_is_tested() -> None:
    run = run_on(noise(), FilterBoost(), edge=0.02, rows=100)
    steps = iter(range(10**6))
    run.over = lambda: next(steps) > 5
    finish(run)
    assert str(run.stopped) == "the time is up"
    assert len(run.vote_so_far) == 0


def test_votes_of_the_record_are_those_that_were_cast() -> None:
    for booster in boosters():
        run = finish(run_on(majority(), booster, rounds=4, epsilon=0.01))
        assert [entry.vote for entry in run.rounds] == run.vote_so_far.votes


def test_the_vote_of_a_tested_edge_is_below_that_of_the_sample() -> None:
    run = run_on(cube(), FilterBoost(), 5, epsilon=0.01, rounds=1)
    world = cube()
    weights = exact_weights(run, world)
    finish(run)
    X, y = world.domain(), world.truth(world.domain())
    said = run.vote_so_far.rules[0].values[
        run.vote_so_far.rules[0].cells(unlabelled(ArrayTable(X)))
    ][:, 0]
    edge = float((weights * said * y).sum() / weights.sum())
    assert 0.5 * math.log((1 + edge / LATE) / (1 - edge / LATE)) <= run.vote_so_far.votes[0]
    assert run.vote_so_far.votes[0] <= 0.5 * math.log((1 + edge) / (1 - edge))


def test_samples_that_are_boosted_on_are_drawn_anew_when_used_up() -> None:
    world = LabelNoise(cube(), 0.1)
    run = finish(run_on(world, Logit(), kind=Filtering, epsilon=None, rounds=30, learner=Tree()))
    assert 2 <= len(run.refills) <= 30
    assert [refill.number for refill in run.refills] == list(range(len(run.refills)))
    assert [refill.rounds for refill in run.refills] == sorted({r.rounds for r in run.refills})
    assert abs(risk(run, world) - 0.1) < 1e-9  # everything there is to learn


def test_the_budget_of_all_tests_is_half_of_delta() -> None:
    run = finish(run_on(majority(), Mada(), epsilon=0.02, rounds=20))
    assert math.fsum(refill.delta for refill in run.refills) < run.plan.delta / 2
    assert run.refills[0].delta == run.plan.delta / 4


# Boosting by majority on draws from a world whose risk is known.


def test_certified_stops_of_majority_hold() -> None:
    """Of three bits one has an edge of a third under all weights: the promise can be kept."""
    rules, wrong, runs, certified = Majority(edge=0.3, epsilon=0.15), 0, 12, 0
    for seed in range(runs):
        run = finish(run_on(majority(), rules, seed, epsilon=0.15, rounds=rules.rounds))
        assert len(run.vote_so_far) <= rules.rounds
        certified += run.certified
        wrong += run.certified and risk(run, majority()) > run.refills[-1].error_upper
    assert certified == runs
    check_coverage("certified stop of Majority", wrong, runs, 0.05)


@pytest.mark.usefixtures("larger_helpings")
def test_the_vote_of_all_rounds_has_the_promised_risk() -> None:
    """Without a stop at ε; and coins come only where nearly all rows are decided."""
    rules = Majority(edge=0.3, epsilon=0.1)
    run = run_on(majority(), rules, 3, epsilon=None, rounds=rules.rounds)
    small, coins, mean = True, 0, 1.0
    for event in run:
        if isinstance(event, Round) and event.edge == 0:
            coins += 1
            small = small and mean <= rules.coin_below(event.number - 1)
        if len(run.vote_so_far) < rules.rounds:
            mean = float(exact_weights(run, majority()).mean())
    assert len(run.vote_so_far) == rules.rounds
    assert risk(run, majority()) <= 0.1
    assert coins > 0
    assert small
