"""All totally corrective boosters: the margin there is, proven; and runs that can be taken up."""

import math
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost import BoostClassifier
from pacboost.boosters.booster import Agreement, Measured
from pacboost.boosters.corrective import CorrectiveState, best_factor, split_by_rule, weigh_rows
from pacboost.boosters.soft_margin import LP, Soft
from pacboost.learners.stump import Stump
from pacboost.numerics.ascent import Climb
from pacboost.samples.sample import Sample
from pacboost.theory.learners import Adversary
from pacboost.training.run.loop import Run
from tests.boosters.margins import NAMES, SOFT, advance, check_best, largest_margin, made
from tests.data import real_data
from tests.examples import examples
from tests.grids import each_value
from tests.worlds import make_sample, noisy

TOLERANCE = {"corrective_erlp": 0.2, "mlp": 0.04}
"""One vote a round takes long to close a gap; so do small steps."""


def world(seed: int, weighted: bool = False) -> Sample:
    X, signs = noisy(60, 3, seed, noise=0.1)
    base = np.random.default_rng(seed).uniform(0.2, 5.0, 60) if weighted else None
    return make_sample(X.round(1), signs, base)


def real_sample(name: str, target: str) -> Sample:
    labelled = real_data(name, target)
    signs = np.where(labelled.labels == labelled.labels[0], 1, -1).astype(np.int8)
    return make_sample(np.nan_to_num(labelled.table.rows().astype(float)), signs)


@each_value
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("seed", "share", "weighted"),
    [(0, 0.0, False), (1, 0.2, True), (2, 0.5, False), (3, None, True)],
)
def test_no_vote_of_stumps_has_a_larger_margin(
    name: str, seed: int, share: float | None, weighted: bool
) -> None:
    booster = made(name, share, TOLERANCE.get(name, 0.02))
    check_best(booster, world(seed, weighted), Stump(), 3000)


@pytest.mark.parametrize("name", ["lp", "erlp", "soft", "mlp"])
def test_no_vote_of_stumps_has_a_larger_margin_on_real_data(name: str) -> None:
    sample = real_sample("breast_cancer_wisconsin", "Class")
    run = check_best(made(name, 0.1, 0.01), sample, Stump(), 500)
    assert run.done[-1].entry.training_error < 0.05


@pytest.mark.slow
def test_on_many_rows_all_come_to_the_margin_of_one_plain_program() -> None:
    sample = real_sample("magic_telescope", "class")
    result = {}
    for name in ("lp", "soft", "erlp", "mlp"):
        run = Run(sample, Stump(), made(name, 0.5, 0.005))
        advance(run, 200, every=25)
        assert "within" in str(run.stopped)
        result[name] = run.done[-1].entry.margin
        if name == "lp":
            state = run.state
            best = largest_margin(state.columns, state.base, 0.5)
            assert result[name] == pytest.approx(best, abs=1e-5)
    assert result["lp"] is not None
    assert result == pytest.approx(dict.fromkeys(result, result["lp"]), abs=0.005)


class EqualVotes(LP):
    """Weighs as it should, and lets every rule vote alike."""

    def corrected(self, state: CorrectiveState) -> CorrectiveState:
        state = super().corrected(state)
        object.__setattr__(state, "votes", np.full(state.votes.size, 1 / state.votes.size))
        return state


class Uncapped(Soft):
    """Lets rows weigh what they will."""

    def climb(self, state: CorrectiveState) -> Climb:
        return Climb(state.columns, state.base, 0.0, 1e-5)


class LastEdge(LP):
    """Takes the last edge for the least, so that it stops on a proof that is none."""

    def step(self, state: CorrectiveState, agree: Agreement, measured: Measured) -> CorrectiveState:
        object.__setattr__(state, "least_edge", 1.0)
        return super().step(state, agree, measured)

    def stop(self, state: CorrectiveState) -> str | None:
        return "within" if state.gap <= 0.5 else None


@pytest.mark.parametrize("twin", [EqualVotes, Uncapped, LastEdge])
def test_broken_boosters_are_caught(twin: Any) -> None:
    with pytest.raises(AssertionError):
        check_best(twin(0.5, 0.02), world(2), Stump(), 40)


@each_value
@pytest.mark.parametrize("name", [name for name in NAMES if name != "lp"])
@pytest.mark.parametrize("share", [0.0, 0.1])
@pytest.mark.parametrize(("edge", "order"), [(0.15, "random"), (0.3, "heavy"), (0.6, "light")])
def test_on_an_adversary_the_margin_is_its_edge(
    name: str, share: float, edge: float, order: str
) -> None:
    """Rules that keep a promised edge bring rows that far, in no more rounds than promised."""
    booster = made(name, share, 0.25 if name == "corrective_erlp" else 0.2)
    run = Run(make_sample(*noisy(50, 2, seed=2)), Adversary(edge, order), booster, seed=7)
    largest_entropy = booster.largest_entropy(replace(run.state, share=share))
    advance(run, math.floor(booster.most_rounds(largest_entropy)), every=20)  # type: ignore[attr-defined]
    assert "within" in str(run.stopped)
    margin = run.done[-1].entry.margin
    assert margin is not None
    assert margin >= edge - booster.tolerance - 1e-9


@pytest.mark.parametrize("name", sorted(SOFT))
def test_the_first_rule_says_what_share_to_go_by(name: str) -> None:
    run = Run(make_sample(*noisy(100, 3, seed=1, noise=0.3)), Stump(), made(name, None, 0.02))
    first = next(iter(run)).entry
    assert run.state.share == pytest.approx(2 * first.error, abs=1e-15)
    assert first.margin == pytest.approx(0, abs=1e-12)
    advance(run, 20)
    assert run.done[-1].entry.training_error <= first.error + 0.02


def test_with_too_small_a_share_rules_cancel_each_other() -> None:
    """Why a share is chosen: of the worst tenth of noisy rows no vote has a positive margin."""
    run = Run(make_sample(*noisy(400, 3, seed=1, noise=0.3)), Stump(), LP(0.1, 0.02))
    advance(run, 30)
    assert run.done[-1].entry.margin == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "corrective_erlp"])
def test_the_votes_of_the_best_round_are_kept(name: str) -> None:
    """Not those that its rules had later."""
    generator = np.random.default_rng(2)
    X = generator.normal(size=(300, 3))
    score = X[:, 0] + 0.4 * X[:, 1] ** 2 + 0.3 * generator.normal(size=300)
    y = (score > np.median(score)).astype(int)
    options: dict[str, Any] = {"learner": "stump", "random_state": 0, "early_stopping": 6}
    booster = made(name, 0.3, 0.001)
    options_of_fit: dict[str, Any] = {"X_val": X[200:], "y_val": y[200:]}
    model = BoostClassifier(booster, n_estimators=60, **options).fit(
        X[:200], y[:200], **options_of_fit
    )
    best = len(model.ledger_)
    assert best < 60
    short = BoostClassifier(booster, n_estimators=best, **options).fit(
        X[:200], y[:200], **options_of_fit
    )
    votes = [entry.vote for entry in model.ledger_.rounds]
    assert votes == [entry.vote for entry in short.ledger_.rounds]
    assert np.array_equal(model.decision_function(X), short.decision_function(X))


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_repeated_rows(name: str) -> None:
    X, signs = noisy(50, 3, seed=4)
    times = np.random.default_rng(0).integers(1, 4, 50)
    booster = made(name, 0.3, 0.01)
    weighted = Run(make_sample(X, signs, times.astype(float)), Stump(), booster)
    repeated = Run(make_sample(X.repeat(times, 0), signs.repeat(times)), Stump(), booster)
    for one, other in zip(islice(weighted, 6), islice(repeated, 6), strict=True):
        assert one.entry.edge == pytest.approx(other.entry.edge, abs=1e-9)
        # the room for entropy, and so the smoothing, differs without a cap
        if name != "total":
            assert one.entry.margin == pytest.approx(other.entry.margin, abs=1e-7)


def test_a_cap_that_no_row_reaches_is_none() -> None:
    """At a share below that of every single row, soft margins are hard ones."""
    result = [
        [done.entry.margin for done in islice(Run(world(1), Stump(), LP(share, 0.01)), 8)]
        for share in (0.0, 1 / 60)
    ]
    assert result[0] == pytest.approx(result[1], abs=1e-9)


seeds = st.integers(0, 2**32 - 1)


@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 8), st.booleans(), seeds)
@examples(80)
def test_rows_of_a_kind_are_those_that_no_rule_tells_apart(
    rows: int, outputs: int, rules: int, weighted: bool, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    signs = generator.choice(np.array([-1, 1], dtype=np.int8), size=(rows, outputs))
    base = generator.uniform(0.1, 9, rows) if weighted else np.ones(1)
    state = LP().init(signs, base)
    heavy = state.weights.copy()
    observed = generator.integers(-1, 2, size=(rules, rows, outputs)).astype(np.int8)
    for agree in observed:
        state = split_by_rule(state, agree)
    lines = observed.reshape(rules, -1)
    assert np.array_equal(state.columns[:, state.kinds], lines)
    assert state.base.size == len(np.unique(lines.T, axis=0))
    expected = np.repeat(base if weighted else np.ones(rows), outputs)
    first = state.first / state.first.sum()
    assert first == pytest.approx(expected / expected.sum(), rel=1e-12)
    assert np.bincount(state.kinds, first) == pytest.approx(state.base, rel=1e-12)
    assert state.votes.tolist() == [1.0] + [0.0] * (rules - 1)
    weigh_rows(state)  # splitting kinds moves no weight
    assert state.weights == pytest.approx(heavy, rel=1e-10)


def test_no_row_weighs_nothing() -> None:
    state = split_by_rule(
        LP().init(np.ones((3, 1), dtype=np.int8), np.ones(1)),
        np.array([[1], [-1], [1]], dtype=np.int8),
    )
    object.__setattr__(state, "shares", np.array([1.0, 0.0]))
    weigh_rows(state)
    assert state.weights[:, 0].tolist() == [1, 2**52, 1]


def test_base_weights_of_any_size_are_met() -> None:
    base = np.array([1e-300, 1.0, 3.0, 1e9])
    weights = LP().init(np.ones((4, 1), dtype=np.int8), base).weights[:, 0]
    assert weights[0] == 1
    assert weights / weights.sum() == pytest.approx(base / base.sum(), abs=2**-50)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), seeds)
@examples(60)
def test_a_row_of_weight_three_is_three_rows(times: list[int], seed: int) -> None:
    generator, rows = np.random.default_rng(seed), len(times)
    agree = generator.integers(-1, 2, size=(4, rows, 1)).astype(np.int8)
    signs = np.ones((rows, 1), dtype=np.int8)
    one, all_ = (
        LP().init(signs, np.array(times, dtype=float)),
        LP().init(signs.repeat(times, 0), np.ones(1)),
    )
    for column in agree:
        one, all_ = split_by_rule(one, column), split_by_rule(all_, column.repeat(times, 0))
    assert np.array_equal(one.base, all_.base)
    assert np.array_equal(one.columns, all_.columns)
    shares = generator.dirichlet(np.full(one.base.size, 0.1))
    for state in (one, all_):
        object.__setattr__(state, "shares", shares)
        weigh_rows(state)
    sums = np.add.reduceat(all_.weights[:, 0], np.cumsum([0, *times[:-1]]))
    assert np.array_equal(one.weights[:, 0], sums)


def hinge(factor: float, margins: np.ndarray, base: np.ndarray) -> float:
    return float((base * np.maximum(1 - factor * margins, 0)).sum())


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=30), seeds)
@examples(150)
def test_no_other_factor_costs_less(numbers: list[int], seed: int) -> None:
    """The cost is convex and piecewise straight, with corners where some margin comes to 1."""
    margins = np.array(numbers) / 20
    base = np.random.default_rng(seed).dirichlet(np.ones(margins.size))
    factor = best_factor(margins, base)
    corners = [1 / m for m in margins if m > 0]
    if float((base * margins).sum()) > 0:
        smallest = min(hinge(corner, margins, base) for corner in corners)
        assert hinge(factor, margins, base) == pytest.approx(smallest, abs=1e-12)
    else:
        assert factor in [1.0, *corners]


def test_the_threshold_of_half_the_rows_costs_more() -> None:
    margins, base = np.array([-0.2, 0.1, 0.4, 0.8]), np.full(4, 0.25)
    smallest = hinge(best_factor(margins, base), margins, base)
    with pytest.raises(AssertionError):
        assert hinge(1 / 0.1, margins, base) == pytest.approx(smallest)


def test_factors_stay_where_scores_are_exact() -> None:
    assert best_factor(np.full(5, 1e-9), np.full(5, 0.2)) == 2**7
