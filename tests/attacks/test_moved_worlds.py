"""Attacks on certificates for a world that has moved: labels are coins, so the risk is 1/2."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from pacboost import BoostClassifier, certify, shift
from pacboost.errors import NotCertified
from pacboost.samples.plain_rows import plain_rows
from tests.attacks.worlds import coins
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs

DELTA = 0.1


class Threshold:
    """A classifier that was fixed beforehand."""

    classes_ = np.array([0, 1])

    def predict(self, X: Any) -> NDArray[np.int64]:
        return (np.asarray(X)[:, 0] > 0.5).astype(np.int64)


def false(world: int, **options: Any) -> bool:
    return certify(Threshold(), *coins(world, 400), delta=DELTA, **options).value < 0.5


@several_runs(12, 100)
def test_a_seed_that_was_searched_for_has_to_be_paid_for(runs: int) -> None:
    """The best of twenty choices of rows is too good, unless it pays like twenty models."""
    tries = 20

    def best(seed: int, models: int) -> bool:
        moves = [shift.ratio(np.ones(400), bound=4, seed=one) for one in range(tries)]
        return any(false(seed, shift=move, models=models) for move in moves)

    twin, paid = (sum(best(seed, models) for seed in range(runs)) for models in (1, tries))
    check_rejected("moved world, the best of twenty seeds", twin, runs, DELTA)
    check_coverage("moved world, twenty seeds that pay", paid, runs, DELTA)


@several_runs(50, 100)
@pytest.mark.parametrize("what", ["the rows themselves", "those that are right", "right, thrice"])
def test_new_rows_that_are_certifying_rows(what: str, runs: int) -> None:
    """New rows are copies of rows that certify: a copy is set apart if and only if its row is."""
    violations = 0
    for seed in range(runs):
        X, y = coins(seed, 900)
        right = np.flatnonzero(Threshold().predict(X) == y)
        chosen = {"the rows themselves": np.arange(900), "those that are right": right}
        new = X[chosen.get(what, right.repeat(3))]
        violations += certify(Threshold(), X, y, shift=shift.new_rows(new), delta=DELTA).value < 0.5
    check_coverage(f"moved world, new rows are {what}", violations, runs, DELTA)


def test_twin_whose_new_rows_are_weighed_by_the_rows_that_certify() -> None:
    """Without rows set apart, new rows that are right ones make weights of those alone."""
    runs, violations = 40, 0
    for seed in range(runs):
        X, y = coins(seed, 400)
        right = Threshold().predict(X) == y
        tree = DecisionTreeClassifier(random_state=0)
        tree.fit(np.r_[X, X[right]], np.repeat([0, 1], [400, right.sum()]))
        old, new = tree.predict_proba(X).T
        violations += false(seed, shift=shift.ratio(np.minimum(new / old, 10), bound=10))
    check_rejected("moved world, weights learned on the rows", violations, runs, DELTA)


@several_runs(60, 100)
@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_copies_that_coins_would_favour(runs: int) -> None:
    """Right rows come four times and wrong ones once: each is one example, with one coin."""
    violations = 0
    for seed in range(runs):
        X, y = coins(seed, 300)
        times = np.where(Threshold().predict(X) == y, 4, 1)
        rows, labels = X.repeat(times, 0), y.repeat(times)
        try:
            found = certify(
                Threshold(),
                rows,
                labels,
                shift=shift.ratio(np.ones(labels.size), bound=2),
                delta=DELTA,
                copies="distinct",
            )
        except NotCertified:
            continue
        violations += found.value < 0.5
    check_coverage("moved world, right rows copied", violations, runs, DELTA)


def test_training_rows_are_refused_before_coins_are_tossed() -> None:
    X, y = coins(0, 400)
    model = BoostClassifier(n_estimators=20, n_jobs=1).fit(X, y)
    for move in (shift.ratio(np.ones(400), bound=9), shift.new_rows(coins(1, 400)[0])):
        with pytest.raises(NotCertified, match="trained on"):
            certify(model, X, y, shift=move)


def test_rows_of_every_kind_are_told_apart() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2, 1], "b": ["u", "v", "u"], "c": [0.5, None, 0.5]})
    rows = plain_rows(frame).rows()
    assert (rows[0] == rows[2]).all()
    assert (rows[0] != rows[1]).all()
