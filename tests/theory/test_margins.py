"""Margins of fitted votes; on real data the hardest rows are mislabelled, and mistakes even out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import hypergeom
from sklearn.datasets import load_breast_cancer

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.errors import DataError, NoEdgeWarning
from pacboost.models.file.format import model_bytes
from tests.data import real_data
from tests.worlds import noisy

Rows = NDArray[np.float64]


def two_classes(rows: int = 300) -> tuple[Rows, NDArray[np.str_]]:
    X, signs = noisy(rows, 4, seed=1)
    return X, np.where(signs > 0, "yes", "no")


@pytest.fixture(scope="module")
def model() -> AdaBoostClassifier:
    return AdaBoostClassifier(n_estimators=25).fit(*two_classes())


def test_margins_by_hand(model: AdaBoostClassifier) -> None:
    X, y = two_classes()
    by_hand = np.where(y == "yes", 1, -1) * model.decision_function(X) / model.votes_.sum()
    np.testing.assert_allclose(model.margins(X, y), by_hand, rtol=0, atol=1e-12)
    assert ((model.margins(X, y) <= 0) == model.mistakes(X, y)).all()
    with pytest.raises(DataError, match="not among the classes"):
        model.margins(X, np.where(y == "yes", "perhaps", y))


def test_staged_margins_end_with_the_margins(model: AdaBoostClassifier) -> None:
    X, y = two_classes()
    stages = list(pacboost.theory.staged_margins(model, X, y))
    assert len(stages) == 25
    assert set(np.unique(stages[0])) == {-1, 1}
    np.testing.assert_allclose(stages[-1], model.margins(X, y), rtol=0, atol=1e-12)
    for number, (scores, own) in enumerate(
        zip(model.staged_decision_function(X), stages, strict=True), start=1
    ):
        by_hand = np.where(y == "yes", 1, -1) * scores / model.votes_[:number].sum()
        np.testing.assert_allclose(own, by_hand, rtol=0, atol=1e-12)


def test_a_vote_of_nothing_decides_nothing() -> None:
    X, y = np.zeros((6, 1)), np.array([0, 1] * 3)
    X[0] = 1.0
    with pytest.warns(NoEdgeWarning):
        empty = AdaBoostClassifier(lambda X, y, w: lambda Z: np.ones(len(Z)), 3).fit(X, y)
    assert empty.margins(X, y).tolist() == [0.0] * 6
    with pytest.raises(DataError, match="vote is empty"):
        pacboost.plots.equaliser(empty, X, y)
    with pytest.raises(DataError, match="the vote is empty"):
        pacboost.plots.hardest(empty)


def test_the_hardest_rows_are_saved_and_taken_up_again(tmp_path: Any) -> None:
    X, y = two_classes()
    whole = AdaBoostClassifier(n_estimators=20).fit(X, y)
    parts = AdaBoostClassifier(n_estimators=8, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=20).fit(X, y)
    assert parts.ledger_.hard == whole.ledger_.hard
    assert model_bytes(parts.model_) == model_bytes(whole.model_)
    whole.save(tmp_path / "m.json")
    loaded = pacboost.load(tmp_path / "m.json")
    assert loaded.ledger_.hardest(7) == whole.ledger_.hardest(7)
    assert all(check.holds for check in pacboost.verify(tmp_path / "m.json"))


def flipped(labels: NDArray[Any], count: int, seed: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return some rows another label than their own."""
    generator = np.random.default_rng(seed)
    rows = generator.choice(labels.size, count, replace=False)
    y, classes = labels.copy(), np.unique(labels)
    for row in rows:
        y[row] = generator.choice(classes[classes != labels[row]])
    return y, rows


def chance_of(found: int, rows: int, planted: int, looked_at: int) -> float:
    """How likely as many would be found among rows that were picked blindly."""
    return float(hypergeom.sf(found - 1, rows, planted, looked_at))


@pytest.mark.parametrize(
    ("name", "target", "count"),
    [
        ("breast_cancer_wisconsin", "Class", 20),
        ("spambase", "class", 100),
        ("pendigits", "class", 100),
    ],
)
@pytest.mark.parametrize("make", [AdaBoostClassifier, BoostClassifier], ids=["stumps", "trees"])
def test_planted_label_errors_are_among_the_hardest(
    name: str, target: str, count: int, make: Any
) -> None:
    """Half of what is shown are planted errors, where blind picks would find 1 to 3 in 100."""
    data = real_data(name, target)
    y, planted = flipped(data.labels, count, seed=0)
    model = make(n_estimators=30, early_stopping=False).fit(data.table, y)
    shown = [entry.row for entry in model.ledger_.hardest(count)]
    found = int(np.isin(shown, planted).sum())
    assert found / count > 0.5
    assert chance_of(found, y.size, count, count) < 1e-12
    # The twin: margins that belong to other rows point nowhere.
    margins = np.random.default_rng(1).permutation(model.margins(data.table, y))
    blind = int(np.isin(np.argsort(margins, kind="stable")[:count], planted).sum())
    assert blind / count < 0.2
    assert chance_of(blind, y.size, count, count) > 1e-4


def spread(margins: Rows) -> float:
    """How much the weighted share of wrong rules differs between rows."""
    return float(((1 - margins) / 2).std())


def bagged(X: Rows, y: NDArray[Any], bags: int, seed: int = 0) -> Rows:
    """Margins of a vote of stumps that were found on draws of the rows, without weights."""
    generator = np.random.default_rng(seed)
    right = np.zeros(y.size)
    for _ in range(bags):
        drawn = generator.integers(y.size, size=y.size)
        stump = AdaBoostClassifier(n_estimators=1).fit(X[drawn], y[drawn])
        right += np.where(stump.predict(X) == y, 1, -1)
    return right / bags


def read(name: str) -> tuple[Rows, NDArray[Any]]:
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X, y
    data = real_data(name, "class" if name == "ionosphere" else "Class")
    return np.asarray(data.table.rows(), dtype=np.float64), data.labels


@pytest.mark.parametrize("name", ["breast cancer", "sonar", "ionosphere"])
def test_boosting_is_an_equaliser(name: str) -> None:
    """The weighted proportion of rounds that misclassify a row becomes alike for all rows.

    That is so on sets that stumps can separate. Its spread keeps falling, long after no row is
    wrong any more; bagging the same stumps leaves it nearly where one stump has it.
    """
    X, y = read(name)
    model = AdaBoostClassifier(n_estimators=1000).fit(X, y)
    assert model.ledger_.rounds[-1].training_error == 0
    stages = {
        t: m
        for t, m in enumerate(pacboost.theory.staged_margins(model, X, y), 1)
        if t in (1, 10, 100, 1000)
    }
    spreads = [spread(margins) for margins in stages.values()]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[-1] < 0.3 * spreads[0]
    assert spreads[-1] < 0.9 * spreads[-2]
    hardest = np.sort((1 - stages[1000]) / 2)[y.size // 2 :]  # the half that is wrong more often
    early = np.sort((1 - stages[10]) / 2)[y.size // 2 :]
    assert np.ptp(hardest) < 0.4 * np.ptp(early)
    assert hardest.max() < 0.5
    assert spread(bagged(X, y, 40)) > 0.6 * spreads[0]  # the twin
