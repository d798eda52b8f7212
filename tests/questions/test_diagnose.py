"""diagnose: edges with intervals that hold, and a sentence that fits them."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost.errors import DataError, ParameterError
from pacboost.questions.diagnose import SMALL_EDGE, STAGES, diagnose
from pacboost.sources.toy import lecture_points
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs
from tests.worlds import noisy

Rows = NDArray[np.float64]


def world(rows: int, seed: int, noise: float = 0.2) -> tuple[Rows, NDArray[np.int64]]:
    """One feature decides, up to noise: the rule x0 > 0 has an edge of 1 - 2·noise."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    return X, np.where(generator.random(rows) < noise, -y, y)


def first_feature(X: Rows, y: Any, weights: Any) -> Callable[[Rows], Rows]:
    """A learner that does not learn: its rule is known beforehand."""
    return lambda Z: np.where(Z[:, 0] > 0, 1.0, -1.0)


def always_yes(X: Rows, y: Any, weights: Any) -> Callable[[Rows], Rows]:
    return lambda Z: np.ones(len(Z))


def guess(X: Rows, y: Any, weights: Any) -> Callable[[Rows], Rows]:
    """Answer by the digits of a feature that say nothing."""
    return lambda Z: np.where(np.floor(Z[:, 1] * 1e6) % 2 == 0, 1.0, -1.0)


def test_a_real_edge_is_found() -> None:
    found = diagnose(*world(4000, 1))
    assert [stage.rounds for stage in found.stages] == list(STAGES)
    start = found.stages[0]
    assert start.rows == 2000
    assert start.kept == 1.0
    assert start.lower <= 0.6 <= start.upper
    for stage in found.stages:
        assert -1 <= stage.lower <= stage.edge <= stage.upper <= 1
        assert stage.rows / 2000 == pytest.approx(stage.kept, abs=0.05)
    assert min(stage.lower for stage in found.stages) > 0
    assert "edge of at least" in found.sentence
    assert str(found).startswith(found.sentence)
    assert pacboost.diagnose is diagnose


def test_the_rounds_it_names_are_those_of_the_theorem() -> None:
    found = diagnose(*world(4000, 1))
    certain = min(stage.lower for stage in found.stages)
    rounds = next(
        int(w.replace(",", "")) for w in found.sentence.split() if w[0].isdigit() and "." not in w
    )
    assert (1 - certain**2) ** (rounds / 2) <= 0.01 < (1 - certain**2) ** ((rounds - 1) / 2)


@pytest.mark.parametrize("learner", [always_yes, guess])
def test_a_useless_learner_is_not_praised(learner: Any) -> None:
    found = diagnose(*world(4000, 2), learner)
    start = found.stages[0]
    assert start.lower <= 0 <= start.upper
    assert "at least" not in found.sentence
    assert start.upper < SMALL_EDGE
    assert "expect little" in found.sentence


def test_coin_flips_give_no_edge() -> None:
    X, _ = world(4000, 4)
    y = np.random.default_rng(9).choice([0, 1], size=4000)
    found = diagnose(X, y)
    assert all(stage.lower <= 0 for stage in found.stages)
    assert "expect little" in found.sentence


def test_few_rows_are_not_called_hopeless_and_the_rows_that_tell_do() -> None:
    """The majority of five bits has an edge of .2 or more under every distribution."""
    bits = np.array(list(product([0.0, 1.0], repeat=5)))
    for X, y in (lecture_points(), (bits, bits.sum(axis=1) > 2.5)):
        found = diagnose(X, y, "stump")
        assert "expect little" not in found.sentence
        assert f"{found.rows_to_tell:,} rows" in found.sentence
    copies = found.rows_to_tell // 32 + 1
    enough = diagnose(np.tile(bits, (copies, 1)), np.tile(bits.sum(axis=1) > 2.5, copies), "stump")
    assert enough.stages[0].lower > 0


def test_a_perfect_learner_is_not_called_hopeless() -> None:
    """After one round nothing is left to learn; that is no reason to expect little."""
    found = diagnose(*world(2000, 5, noise=0.0), first_feature)
    assert found.stages[0].lower > 0.9
    assert "expect little" not in found.sentence


def test_any_learner_and_frame() -> None:
    X, y = world(1000, 6)
    tree = diagnose(X, y, DecisionTreeClassifier(max_depth=1))
    assert tree.stages[0].lower > 0.3
    names = np.where(y > 0, "yes", "no")
    frame = diagnose(pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(names))
    assert frame == diagnose(X, y)


def test_more_doubt_narrower_intervals() -> None:
    X, y = noisy(600, 3, seed=1)
    wide, narrow = diagnose(X, y, delta=0.001), diagnose(X, y, delta=0.3)
    for a, b in zip(wide.stages, narrow.stages, strict=True):
        assert a.lower <= b.lower
        assert a.upper >= b.upper


@several_runs(120, 400)
def test_the_interval_holds_on_the_original_distribution(runs: int) -> None:
    """Stage 0 gets a quarter of delta; the rule's true edge is 0.6."""
    delta = 0.4
    missed = narrow = 0
    for seed in range(runs):
        start = diagnose(*world(160, seed), first_feature, delta=delta, seed=seed).stages[0]
        missed += not start.lower <= 0.6 <= start.upper
        narrow += abs(start.edge - 0.6) > (start.upper - start.lower) / 8
    check_coverage("diagnose, stage 0", missed, runs, delta / len(STAGES))
    check_rejected("twin: a quarter of diagnose's interval", narrow, runs, delta / len(STAGES))


def test_the_intervals_hold_on_reweighted_distributions() -> None:
    """After rounds with the one rule, rows it gets wrong keep weight 1, others lose e^-2F.

    With vote v the clipped weights give the rule an edge of (0.8 e^-v - 0.2)/(0.8 e^-v + 0.2).
    """
    runs, delta = 300, 0.4
    missed = 0
    for seed in range(runs):
        X, y = world(400, seed)
        found = diagnose(X, y, first_feature, delta=delta, seed=seed)
        if len(found.stages) < 2:
            continue
        stage = found.stages[1]
        # The vote is that of the training half, as diagnose splits it.
        order = np.random.default_rng(seed).permutation(400)[:200]
        error = float(np.mean(np.where(X[order, 0] > 0, 1, -1) != y[order]))
        decay = np.sqrt(error / (1 - error))
        true = (0.8 * decay - 0.2) / (0.8 * decay + 0.2)
        missed += not stage.lower <= true <= stage.upper
    check_coverage("diagnose, stage 1", missed, runs, delta / len(STAGES))


def test_refuses_other_input() -> None:
    X, y = world(100, 1)
    with pytest.raises(DataError, match="two classes"):
        diagnose(X, np.arange(100) % 3)
    with pytest.raises(DataError, match="two classes"):
        diagnose(X, np.ones(100))
    with pytest.raises(DataError, match="one label a row"):
        diagnose(X, y[:-1])
    with pytest.raises(ParameterError, match="learner"):
        diagnose(X, y, "stumps")


@pytest.mark.parametrize("rows", [np.zeros(10), np.zeros((10, 0)), np.full((10, 2), np.inf)])
def test_rows_that_are_no_table_are_refused_in_words(rows: Rows) -> None:
    with pytest.raises(DataError):
        diagnose(rows, np.arange(10) % 2)
