"""Hard cores and votes, each checked by itself; both sides against a program over all stumps."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import pacboost
from pacboost.errors import PacboostError, ParameterError
from pacboost.questions.two_classes import whole_sample
from pacboost.samples.sample import Sample
from pacboost.theory.games import CappedGame
from pacboost.theory.hardness import HardCore
from tests.boosters.margins import all_stumps, best_of_stumps


def noisy(seed: int, rows: int = 60) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
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
    X, y = noisy(0)
    found = pacboost.theory.hard_core("stump", X, y, edge, density)
    value = best_of_stumps(plain(X, y), density)
    assert (found.measure is None) == (value >= edge)
    assert found.lower <= value + 1e-7
    assert found.upper >= value - 1e-7
    assert holds(found, X, y)
    assert found.certified


def test_a_measure_of_another_sample_is_rejected() -> None:
    """The broken twin: the check above fails for a uniform measure that claims the same."""
    X, y = noisy(0)
    found = pacboost.theory.hard_core("stump", X, y, 0.2, 0.3)
    assert found.measure is not None
    twin = HardCore(0.2, 0.3, np.ones(len(X)), None, 0.0, 0.19, 1.0, True)
    assert not holds(twin, X, y)


def test_weights_above_the_cap_do_not_lower_the_end() -> None:
    X, y = noisy(0)
    match = CappedGame(plain(X, y), pacboost.learners.Stump(), 0.5)
    single = np.zeros(60)
    single[:2] = 0.5
    match.ask(single)
    assert match.upper == 1
    assert not match.weights.size


def test_sentences() -> None:
    X, y = noisy(0)
    assert str(pacboost.theory.hard_core(None, X, y, 0.5, 0.3)).startswith("There is a hard core")
    clean = X[:, 0] > 0
    none = pacboost.theory.hard_core(None, X, clean, 0.5, 0.3)
    assert "no hard core of density 0.3" in none.sentence
    assert none.rows.size == 0
    assert none.error == 0


def test_what_is_refused() -> None:
    X, y = noisy(0)
    for edge, density in ((0, 0.5), (0.5, 1.5), (0.5, 0.0001), (0.5, 0.9999)):
        with pytest.raises(ParameterError, match=r"edge|density"):
            pacboost.theory.hard_core("stump", X, y, edge, density)
    with pytest.raises(PacboostError, match="undecided after 2 rules"):
        pacboost.theory.hard_core("stump", X, y, 0.25, 0.3, max_rounds=1)
