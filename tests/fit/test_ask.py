"""What a fit is asked for: which rows are held back to stop early."""

import numpy as np
import pytest

from pacboost import BoostClassifier
from tests.estimators.boosting.worlds import line


@pytest.mark.parametrize(
    ("rows", "held"), [(20_000, 0), (20_010, 2), (25_000, 1250), (30_000, 3000), (40_000, 4000)]
)
def test_many_rows_are_held_back_unasked(rows: int, held: int) -> None:
    X, y = line(rows=rows)
    ledger = BoostClassifier("gentle", n_estimators=2, random_state=0).fit(X, y).ledger_
    assert abs(rows - held - ledger.rows) <= 1
    assert ledger.metric == ("log_loss" if held else "")


def test_fewer_rounds_are_certain_the_more_rows_can_be_spared() -> None:
    """On noise the validation rows stop at once, if they may: the rounds go down step by step."""
    X = np.random.default_rng(0).normal(size=(30_000, 2))
    y = np.random.default_rng(1).random(30_000) < 0.5
    model = BoostClassifier(quality="fast", n_estimators=40, max_leaves=4, random_state=0)
    done = []
    for rows in (20_000, 22_500, 25_000, 27_500, 30_000):
        done.append(len(model.fit(X[:rows], y[:rows]).ledger_))
    assert done[:4] == [40, 30, 20, 10]
    assert done[4] < 10
    stopped = model.fit(X[:27_500], y[:27_500]).ledger_.stopped
    assert "the first 10, the least" in stopped
