"""The value of games that is known, by other means, and what a broken game would give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pacboost
from pacboost import learners
from pacboost.errors import DataError, PacboostError, ParameterError
from pacboost.hypotheses.function import Recorded
from pacboost.questions.mistakes import whole_sample
from pacboost.samples.sample import Sample
from pacboost.sources.toy import cycling_matrix, lecture_points
from pacboost.theory import games as module
from pacboost.theory.games import CappedGame, worst_mean
from pacboost.theory.hardness import HardCore
from tests.boosters.margins import all_stumps, best_of_stumps

ROWS = 12
LABELS = np.arange(ROWS) % 2


def adversary(wrong: int) -> Any:
    """The best of all rules that are wrong on so many rows: on the lightest ones."""

    def find(X: Any, y: NDArray[Any], weights: NDArray[Any]) -> Recorded:
        given = y.copy()
        lightest = np.argsort(weights, kind="stable")[:wrong]
        given[lightest] = -given[lightest]
        return Recorded(given.astype(np.int8), "all but the lightest")

    return find


def columns(matrix: NDArray[np.int8]) -> Any:
    """The best column of a matrix of y·h(x)."""

    def find(X: Any, y: NDArray[Any], weights: NDArray[Any]) -> Recorded:
        best = int((weights @ matrix).argmax())
        return Recorded((matrix[:, best] * y).astype(np.int8), f"column {best}")

    return find


def noisy(rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 3)).round(1)
    return X, X.sum(axis=1) > 0


@pytest.mark.parametrize("wrong", [1, 3, 5])
def test_adversary_of_known_value(wrong: int) -> None:
    found = pacboost.theory.game(adversary(wrong), np.zeros((ROWS, 1)), LABELS)
    value = (ROWS - 2 * wrong) / ROWS
    assert found.lower <= value <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6
    assert not found.certified
    assert np.allclose(found.weights, 1 / ROWS, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_stumps_against_a_program_over_all_of_them(seed: int) -> None:
    X, y = noisy(40, seed)
    found = pacboost.theory.game("stump", X, y)
    signs = np.where(y, np.int8(1), np.int8(-1))[:, None]
    sample = Sample(whole_sample(learners.Stump(), X, y).table, signs)
    value = best_of_stumps(sample, 0.0)
    assert found.certified
    assert found.lower <= value + 1e-9
    assert found.upper >= value - 1e-9
    assert found.upper - found.lower < 1e-6


def test_both_strategies_prove_their_end() -> None:
    X, y = lecture_points()
    found = pacboost.theory.game(None, X, y)
    sample = whole_sample(learners.Stump(), X, y)
    margins = found.vote.scores(sample.table) * y
    assert margins.min() == pytest.approx(found.lower, abs=1e-9)
    match = CappedGame(sample, learners.Stump(), 0.0)
    assert match.ask(found.weights) <= found.upper
    assert found.weights.sum() == pytest.approx(1)


def test_the_matrix_on_which_adaboost_may_cycle_has_value_three_eighths() -> None:
    found = pacboost.theory.game(columns(cycling_matrix()), np.zeros((8, 1)), np.arange(8) % 2)
    assert found.lower <= 3 / 8 + 1e-12
    assert found.upper == pytest.approx(3 / 8, abs=1e-6)


def test_contradicting_rows_have_value_zero() -> None:
    found = pacboost.theory.game("stump", [[0.0], [0.0], [1.0]], [0, 1, 1])
    assert found.lower <= 0 <= found.upper < 1e-6
    assert "cannot be boosted" in found.sentence


def test_a_rule_without_mistakes_has_value_one() -> None:
    found = pacboost.theory.game("stump", [[0.0], [1.0], [2.0]], [0, 1, 1])
    assert (found.lower, found.upper) == (1.0, 1.0)


@pytest.mark.parametrize("rounds", [10, 100, 400])
def test_hedge_keeps_its_promise(rounds: int) -> None:
    path = pacboost.theory.game("stump", *noisy(60, 1), hedge_rounds=rounds).path
    assert path.bound == math.sqrt(2 * math.log(60) / rounds)
    assert path.upper[-1] - path.lower[-1] <= path.bound
    assert (np.diff(path.upper) <= 0).all()


def test_a_broken_hedge_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin gives weight to rows that were right; the same promise has to fail."""
    ask = CappedGame.ask

    def turned(self: CappedGame, weights: NDArray[np.float64]) -> float:
        edge = ask(self, weights)
        self.agree[-1] = -self.agree[-1]
        return edge

    monkeypatch.setattr(CappedGame, "ask", turned)
    match = CappedGame(whole_sample(learners.Stump(), *noisy(60, 1)), learners.Stump(), 0.0)
    path = module._hedge(match, 400)
    assert path.upper[-1] - path.lower[-1] > path.bound


def test_worst_mean_takes_part_of_a_row() -> None:
    assert worst_mean(np.array([0, 4, 8, 100]), 0.375) == pytest.approx((0 + 0.5 * 4) / 1.5)


def test_what_is_refused() -> None:
    X, y = lecture_points()
    with pytest.raises(DataError, match="two classes"):
        pacboost.theory.game("stump", X, np.arange(10))
    with pytest.raises(ParameterError, match="tolerance"):
        pacboost.theory.game("stump", X, y, tolerance=0)
    with pytest.raises(ParameterError, match="does not answer"):
        pacboost.theory.game("tree", X, y)
    with pytest.raises(ParameterError, match="learner is 'stamp'"):
        pacboost.theory.game("stamp", X, y)


# Hard cores and votes, each checked by itself; both sides against a program over all stumps.


def noisy_halves(seed: int, rows: int = 60) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 2)).round(1)
    return X, (X[:, 0] > 0) ^ (generator.random(rows) < 0.2)


def plain(X: NDArray[np.float64], y: NDArray[np.bool_]) -> Sample:
    return whole_sample(pacboost.learners.Stump(), X, y)


def holds(found: HardCore, X: NDArray[np.float64], y: NDArray[np.bool_]) -> bool:
    """Check what is claimed by all stumps there are."""
    sample = plain(X, y)
    if found.measure is not None:
        edges = all_stumps(sample) @ found.measure / found.measure.sum()
        small = bool((found.measure >= 0).all() and (found.measure <= 1).all())
        dense = bool(found.measure.mean() >= found.density)
        return small and dense and bool(edges.max() < found.edge)
    assert found.vote is not None
    wrong = found.vote.scores(sample.table) * sample.signs[:, 0] <= 1e-12
    return bool(wrong.mean() == found.error < found.density)


@pytest.mark.parametrize("density", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("edge", [0.05, 0.2, 0.5])
def test_measure_or_vote(edge: float, density: float) -> None:
    X, y = noisy_halves(0)
    found = pacboost.theory.hard_core("stump", X, y, edge, density)
    value = best_of_stumps(plain(X, y), density)
    assert (found.measure is None) == (value >= edge)
    assert found.lower <= value + 1e-7
    assert found.upper >= value - 1e-7
    assert holds(found, X, y)
    assert found.certified


def test_a_measure_of_another_sample_is_rejected() -> None:
    """The broken twin: the check above fails for a uniform measure that claims the same."""
    X, y = noisy_halves(0)
    found = pacboost.theory.hard_core("stump", X, y, 0.2, 0.3)
    assert found.measure is not None
    twin = HardCore(0.2, 0.3, np.ones(len(X)), None, 0.0, 0.19, 1.0, True)
    assert not holds(twin, X, y)


def test_weights_above_the_cap_do_not_lower_the_end() -> None:
    X, y = noisy_halves(0)
    match = CappedGame(plain(X, y), pacboost.learners.Stump(), 0.5)
    single = np.zeros(60)
    single[:2] = 0.5
    match.ask(single)
    assert match.upper == 1
    assert not match.weights.size


def test_what_hard_core_refuses() -> None:
    X, y = noisy_halves(0)
    for edge, density in ((0, 0.5), (0.5, 1.5), (0.5, 0.0001), (0.5, 0.9999)):
        with pytest.raises(ParameterError, match=r"edge|density"):
            pacboost.theory.hard_core("stump", X, y, edge, density)
    with pytest.raises(PacboostError, match="undecided after 2 rules"):
        pacboost.theory.hard_core("stump", X, y, 0.25, 0.3, max_rounds=1)
