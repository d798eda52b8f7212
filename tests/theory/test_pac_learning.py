"""P[risk > epsilon] by simulation: known probabilities lie in it, a broken learner does not."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import theory
from pacboost.errors import DataError, ParameterError
from pacboost.learners import Stump
from pacboost.numerics.growth import log_stump_growth
from pacboost.theory import RectangleClassifier
from pacboost.theory.finite_worlds import BooleanConcept
from pacboost.theory.learners import Rectangle
from pacboost.theory.pac_learning import Shattering
from pacboost.theory.worlds import Boxes, Intervals, LabelNoise

SQUARE = Boxes((0.1, 0.1), (0.9, 0.9))
SEGMENT = Boxes((0.0,), (0.5,))


def test_the_exact_probability_is_in_the_interval() -> None:
    """What is missed at one end alone has (1 - e)^m, what is missed at both at most the bound."""
    answer = theory.pac(SEGMENT, 20, Rectangle(), epsilon=0.1, trials=600, seed=1)
    ends = (1 - 0.1) ** 20, float(binom.cdf(1, 20, 0.1))
    assert answer.lower <= ends[1]
    assert answer.upper >= ends[0]
    assert answer.undecided == 0
    assert answer.bounds[0].value == pytest.approx(ends[1])


def test_peeling_bound_holds_and_a_broken_learner_exceeds_it() -> None:
    good = theory.pac(SQUARE, 60, RectangleClassifier(), epsilon=0.1, trials=100)
    assert [bound.name.split()[0] for bound in good.bounds] == ["peeling", "strips"]
    assert good.lower <= good.bounds[0].value <= good.bounds[1].value

    def shrunk(X: Any, y: Any) -> Callable[[Any], Any]:
        box = RectangleClassifier().fit(X, y)
        middle, half = (box.lower_ + box.upper_) / 2, 0.45 * (box.upper_ - box.lower_)
        return lambda rows: np.where((np.abs(rows - middle) <= half).all(axis=1), 1, -1)

    twin = theory.pac(SQUARE, 60, shrunk, epsilon=0.1, trials=100)
    assert twin.lower > good.bounds[0].value
    assert twin.bounds == ()


def test_finite_worlds_are_exact_and_classes_may_be_stated() -> None:
    world = BooleanConcept(4, lambda X: X[:, 0] > 0)
    answer = theory.pac(world, 90, Stump(), epsilon=0.1, trials=50, log_size=2.0, vc_dimension=3)
    assert answer.failures == 0
    assert [bound.name.split()[0] for bound in answer.bounds] == ["finite", "VC"]
    assert answer.bounds[0].value == pytest.approx(np.exp(2.0) * 0.9**90, rel=1e-6)
    assert "Bounds that apply" in str(answer)


def test_fresh_examples_measure_where_the_world_cannot() -> None:
    world = Intervals(((0.25, 0.75),))
    answer = theory.pac(world, 30, DecisionTreeClassifier(), epsilon=0.05, trials=40)
    assert answer.undecided > 0
    assert answer.lower < answer.failures / 40 < answer.upper
    assert "lies between" in answer.sentence


def test_noise_and_training_mistakes_exclude_bounds() -> None:
    noisy = LabelNoise(BooleanConcept(3, lambda X: X[:, 0] > 0), 0.1)
    parity = BooleanConcept(3, lambda X: X.sum(axis=1) % 2 == 1)
    for world in (noisy, parity):
        assert theory.pac(world, 50, Stump(), trials=20, log_size=2.0).bounds == ()


def test_samples_of_one_class() -> None:
    tiny = Boxes((0.4, 0.4), (0.5, 0.5))
    answer = theory.pac(tiny, 20, RectangleClassifier(), epsilon=0.02, trials=60)
    assert answer.failures == 0
    assert answer.bounds[0].name.startswith("peeling")
    assert theory.pac(Boxes((0.0,), (1.0,)), 5, RectangleClassifier(), trials=10).bounds == ()


def test_what_is_refused() -> None:
    cases: list[tuple[str, tuple[Any, ...]]] = [
        ("world is int", (3, 10, Stump())),
        ("not a class", (SQUARE, 10, RectangleClassifier)),
        ("m is", (SQUARE, 0, Stump())),
    ]
    for words, arguments in cases:
        with pytest.raises(ParameterError, match=words):
            theory.pac(*arguments)
    with pytest.raises(ParameterError, match="trials is"):
        theory.pac(SQUARE, 5, Stump(), trials=10**6)
    with pytest.raises(DataError, match="2\\^15 labelings"):
        theory.shatters(np.zeros((15, 1)), "stump")
    with pytest.raises(ParameterError, match="do not answer"):
        theory.shatters([[0.0], [1.0]], "tree")


@pytest.mark.parametrize("learner", [Rectangle(), RectangleClassifier()])
def test_four_points_are_shattered_by_boxes_and_five_are_not(learner: Any) -> None:
    """A classifier that takes no weights is fitted to the rows themselves, not to draws of them."""
    cross = [[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]]
    assert len(theory.shatters(cross, learner).found) == 16
    missed = theory.shatters([*cross, [0.0, 0.0]], Rectangle())
    assert not missed
    assert missed.certified
    assert [1, 1, 1, 1, -1] in missed.missed.tolist()


def agrees_with_all_stumps(answer: Shattering, X: NDArray[np.float64]) -> bool:
    """Compare with the labelings of every stump: each feature, each cut and both signs."""
    labelings = set()
    for column in X.T:
        for cut in (-np.inf, *column):
            above = np.where(column > cut, 1, -1)
            labelings |= {tuple(above.tolist()), tuple((-above).tolist())}
    named = {tuple(signs) for signs in answer.found.tolist()}
    missed = {tuple(signs) for signs in answer.missed.tolist()}
    return named == labelings and not named & missed and len(named) + len(missed) == 2 ** len(X)


def test_labelings_are_those_of_all_stumps_and_a_twin_that_claims_one_more_is_rejected() -> None:
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(5, 2)).round(1)
        answer = theory.shatters(X, "stump")
        assert agrees_with_all_stumps(answer, X)
        assert len(answer.found) <= math.exp(log_stump_growth(5, 2)) * (1 + 1e-9)
        more, fewer = np.vstack([answer.found, answer.missed[:1]]), answer.found[1:]
        assert not agrees_with_all_stumps(replace(answer, found=more, missed=answer.missed[1:]), X)
        missed = np.vstack([answer.missed, answer.found[:1]])
        assert not agrees_with_all_stumps(replace(answer, found=fewer, missed=missed), X)


def test_black_boxes_are_asked_and_not_certified() -> None:
    answer = theory.shatters([[0.0], [1.0], [2.0]], DecisionTreeClassifier(max_depth=1))
    assert len(answer.found) == 6
    assert not answer.certified
    assert "no rule was found for" in str(answer)


def first_above_half(X: Any, y: Any) -> Callable[[Any], Any]:
    sign = 1 if (np.where(X[:, 0] > 0.5, 1, -1) * y).sum() >= 0 else -1
    return lambda rows: np.where(rows[:, 0] > 0.5, sign, -sign)


@pytest.mark.parametrize(
    "learner",
    [
        None, "stump", Stump(), DecisionTreeClassifier(max_depth=1), first_above_half,
        lambda X, y, weights: first_above_half(X, weights * y),
    ],
    ids=["none", "name", "learner", "classifier", "function", "weighted"],
)  # fmt: skip
def test_all_questions_take_the_same_forms_of_a_learner(learner: Any) -> None:
    world = Intervals(((0.5, 1.0),))
    X, y = world.draw(400, 0)
    assert pacboost.diagnose(X, y, learner).stages[0].edge > 0.95
    assert theory.pac(world, 100, learner, trials=10, epsilon=0.1).failures == 0
    assert len(theory.shatters([[0.25], [0.75]], learner).found) >= 2


@pytest.mark.parametrize("ask", [theory.pac, theory.shatters, pacboost.diagnose])
def test_a_class_is_no_learner_and_the_parameter_is_named(ask: Callable[..., Any]) -> None:
    world = Intervals(((0.5, 1.0),))
    data = {theory.pac: (world, 20), theory.shatters: ([[0.25]],)}.get(ask, world.draw(50, 0))
    with pytest.raises(ParameterError, match="not a class") as caught:
        ask(*data, learner=DecisionTreeClassifier)
    assert caught.value.parameter == "learner"
