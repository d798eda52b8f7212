"""Margins of fitted votes; on real data the hardest rows are mislabelled, and mistakes even out."""

from collections.abc import Callable
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
from tests.grids import each_value
from tests.worlds import noisy

Rows = NDArray[np.float64]
X, SIGNS = noisy(300, 4, seed=1)
Y = np.where(SIGNS > 0, "yes", "no")


@pytest.fixture(scope="module")
def model() -> AdaBoostClassifier:
    return AdaBoostClassifier(n_estimators=25).fit(X, Y)


def test_margins_by_hand(model: AdaBoostClassifier) -> None:
    by_hand = SIGNS * model.decision_function(X) / model.votes_.sum()
    np.testing.assert_allclose(model.margins(X, Y), by_hand, rtol=0, atol=1e-12)
    assert ((model.margins(X, Y) <= 0) == model.mistakes(X, Y)).all()
    with pytest.raises(DataError, match="not among the classes"):
        model.margins(X, np.where(Y == "yes", "perhaps", Y))


def test_staged_margins_end_with_the_margins(model: AdaBoostClassifier) -> None:
    stages = list(pacboost.theory.staged_margins(model, X, Y))
    assert set(np.unique(stages[0])) == {-1, 1}
    np.testing.assert_allclose(stages[-1], model.margins(X, Y), rtol=0, atol=1e-12)
    scores = np.array(list(model.staged_decision_function(X)))
    by_hand = SIGNS * scores / np.cumsum(model.votes_)[:, None]
    np.testing.assert_allclose(stages, by_hand, rtol=0, atol=1e-12)


def test_a_vote_of_nothing_decides_nothing() -> None:
    rows, labels = np.eye(6)[:, :1], np.array([0, 1] * 3)
    with pytest.warns(NoEdgeWarning):
        empty = AdaBoostClassifier(lambda X, y, w: lambda Z: np.ones(len(Z)), 3).fit(rows, labels)
    assert empty.margins(rows, labels).tolist() == [0.0] * 6
    with pytest.raises(DataError, match="vote is empty"):
        pacboost.plots.equaliser(empty, rows, labels)
    with pytest.raises(DataError, match="the vote is empty"):
        pacboost.plots.hardest(empty)


def test_the_hardest_rows_are_saved_and_taken_up_again(tmp_path: Any) -> None:
    whole = AdaBoostClassifier(n_estimators=20).fit(X, Y)
    parts = AdaBoostClassifier(n_estimators=8, warm_start=True).fit(X, Y)
    parts.set_params(n_estimators=20).fit(X, Y)
    assert parts.ledger_.hard == whole.ledger_.hard
    assert model_bytes(parts.model_) == model_bytes(whole.model_)
    whole.save(tmp_path / "m.json")
    loaded = pacboost.load(tmp_path / "m.json")
    assert loaded.ledger_.hardest(7) == whole.ledger_.hardest(7)
    assert all(check.holds for check in pacboost.verify(tmp_path / "m.json"))


@each_value
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
    data, generator = real_data(name, target), np.random.default_rng(0)
    y, classes = data.labels.copy(), np.unique(data.labels)
    planted = generator.choice(y.size, count, replace=False)
    for row in planted:
        y[row] = generator.choice(classes[classes != y[row]])
    model = make(n_estimators=30, early_stopping=False, random_state=0).fit(data.table, y)
    shown = [entry.row for entry in model.ledger_.hardest(count)]
    found = int(np.isin(shown, planted).sum())
    assert found / count > 0.5
    assert hypergeom.sf(found - 1, y.size, count, count) < 1e-12  # of blind picks
    # The twin: margins that belong to other rows point nowhere.
    margins = np.random.default_rng(1).permutation(model.margins(data.table, y))
    blind = int(np.isin(np.argsort(margins, kind="stable")[:count], planted).sum())
    assert blind / count < 0.2
    assert hypergeom.sf(blind - 1, y.size, count, count) > 1e-4


def bagged(X: Rows, y: NDArray[Any]) -> Rows:
    """Margins of a vote of stumps that were found on 40 draws of the rows, without weights."""
    generator = np.random.default_rng(0)
    right = np.zeros(y.size)
    for _ in range(40):
        drawn = generator.integers(y.size, size=y.size)
        stump = AdaBoostClassifier(n_estimators=1).fit(X[drawn], y[drawn])
        right += np.where(stump.predict(X) == y, 1, -1)
    return right / 40


def rows_of(name: str, target: str) -> tuple[Rows, NDArray[Any]]:
    data = real_data(name, target)
    return np.asarray(data.table.rows(), dtype=np.float64), data.labels


SETS = [
    lambda: load_breast_cancer(return_X_y=True),
    lambda: rows_of("sonar", "Class"),
    lambda: rows_of("ionosphere", "class"),
]


@pytest.mark.parametrize("read", SETS, ids=["breast cancer", "sonar", "ionosphere"])
def test_boosting_is_an_equaliser(read: Callable[[], tuple[Rows, NDArray[Any]]]) -> None:
    """The weighted proportion of rounds that misclassify a row becomes alike for all rows.

    That is so on sets that stumps can separate. Its spread keeps falling, long after no row is
    wrong any more; bagging the same stumps leaves it nearly where one stump has it.
    """
    X, y = read()
    model = AdaBoostClassifier(n_estimators=1000).fit(X, y)
    assert model.ledger_.rounds[-1].training_error == 0
    margins = list(pacboost.theory.staged_margins(model, X, y))
    stages = {number: margins[number - 1] for number in (1, 10, 100, 1000)}
    spreads = [stage.std() for stage in stages.values()]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[-1] < 0.3 * spreads[0]
    assert spreads[-1] < 0.9 * spreads[-2]
    hardest = np.sort((1 - stages[1000]) / 2)[y.size // 2 :]  # the half that is wrong more often
    early = np.sort((1 - stages[10]) / 2)[y.size // 2 :]
    assert np.ptp(hardest) < 0.4 * np.ptp(early)
    assert hardest.max() < 0.5
    assert bagged(X, y).std() > 0.6 * spreads[0]  # the twin
