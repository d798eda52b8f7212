"""The world that is weakly learnable under the uniform distribution only."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from pacboost.errors import ParameterError
from pacboost.learners.stump import Stump
from pacboost.theory.finite_worlds import UniformOnly
from tests.worlds import make_sample


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_third_bit_has_edge_three_quarters_whatever_the_coins(seed: int) -> None:
    world = UniformOnly(14, seed)
    edge = 1 - 2 * world.risk(lambda X: 2 * X[:, 2] - 1)
    assert edge == pytest.approx(0.75, abs=0.02)
    X = world.domain()
    visible = ~world.blind(X)
    assert visible.mean() == 0.75
    assert (world.truth(X)[visible] == 2 * X[visible, 2] - 1).all()


def test_no_stump_has_an_edge_on_the_blind_quarter() -> None:
    world = UniformOnly(14)
    X = world.domain()
    blind = world.blind(X)
    sample = make_sample(X, world.truth(X))
    rule = Stump().on(sample).find(blind.astype(np.int64), sample.signs[:, 0], 0)
    answers = rule.values[rule.cells(sample), 0]
    edge = float((answers * sample.signs[:, 0])[blind].mean())
    assert 0 <= edge < 0.06  # of 2^12 coins, the best of 29 stumps


def test_no_other_learner_errs_less_than_the_coins_allow() -> None:
    world, m = UniformOnly(16), 2000
    X, y = world.draw(m, 1)
    forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    blind = len(np.unique(X[world.blind(X)], axis=0))  # coins that are known
    min_risk = (1 - 4 * blind / 2**16) / 8
    assert world.risk(forest.predict) > min_risk - 0.01
    everything = dict(zip(map(bytes, X.astype(np.uint8)), y, strict=True))

    def rote(rows: np.ndarray) -> np.ndarray:
        labels_seen = [everything.get(bytes(row)) for row in rows.astype(np.uint8)]
        guess = np.where(world.blind(rows), 1, 2 * rows[:, 2] - 1)
        return np.array([g if k is None else k for k, g in zip(labels_seen, guess, strict=True)])

    assert world.risk(rote) == pytest.approx(min_risk, abs=0.01)  # the best there is


def test_too_few_features() -> None:
    with pytest.raises(ParameterError, match="3 to 20"):
        UniformOnly(2)
