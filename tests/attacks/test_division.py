"""Nothing that is learned comes from rows that certify: no level, kind of column or class."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost.errors import PacboostError
from pacboost.learners.tree import Tree
from pacboost.sources.file_rows import read_csv
from tests.attacks.worlds import make, public_classifiers
from tests.bounds.coverage import allowed_violations
from tests.grids import each_value
from tests.runs import several_runs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ROWS, DELTA = 200, 0.05
UNIVERSE, FEW = 1_000_000, 400


def texts(numbers: NDArray[Any]) -> NDArray[Any]:
    return np.array([f"t{number:06d}" for number in numbers], dtype=object)


def draw(world: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Texts whose label is 1 in the upper half; hardly any text comes twice if all are possible."""
    size = FEW if world == "levels" else UNIVERSE
    numbers = np.random.default_rng(seed).integers(size, size=ROWS)
    return texts(numbers), (numbers >= size // 2).astype(int)


def everything(world: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """All texts of a small world; of a large one, as many new texts of either label."""
    size = FEW if world == "levels" else UNIVERSE
    numbers = np.arange(0, size, max(1, size // FEW)) + (0 if world == "levels" else 7)
    return texts(numbers), (numbers >= size // 2).astype(int)


def shaped(name: str, world: str, cells: NDArray[Any]) -> Any:
    if name == "TextBoostClassifier":
        return cells.tolist()
    if world == "frame":
        return pd.DataFrame({"said": cells})
    return cells[:, None]


def attack(name: str, certify: str, world: str, seed: int) -> bool:
    """Check whether the certificate of one fit is violated."""
    # scikit-learn's classifiers get texts as they came, and refuse them
    box = DecisionTreeClassifier(max_depth=2) if name == "BaggingClassifier" else None
    tree = Tree(max_leaves=4)
    model = make(name, certify=certify, random_state=seed, delta=DELTA, learner=tree, estimator=box)
    cells, labels = draw(world, seed)
    model.fit(shaped(name, world, cells), labels)
    value = model.certificate_.value
    cells, labels = everything(world)
    return bool(value < np.mean(model.predict(shaped(name, world, cells)) != labels))


WORLDS = ("array", "frame", "levels")
COVERS = {"holdout"}
EXPECTED: dict[str, set[str]] = {
    "AdaBoostClassifier": COVERS,
    "BaggedBoost": COVERS,
    "BaggingClassifier": set(),  # a scikit-learn classifier in bags is given numbers only
    "BoostByMajority": COVERS,
    "BoostClassifier": COVERS,
    "ExtraTreesClassifier": COVERS,
    "MajorityOfBoosters": COVERS,
    "RandomForestClassifier": {"holdout", "oob"},
    "SubsampledBoost": COVERS,
    "TextBoostClassifier": COVERS,
    "ThreeLearnerBoost": COVERS,
}
"""The values of certify that give a certificate; all others have to refuse texts in words."""


def test_every_classifier_is_listed() -> None:
    assert sorted(EXPECTED) == sorted(public_classifiers("certify"))


@each_value
@several_runs(6, 12)
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("certify", ["holdout", "oob"])
@pytest.mark.parametrize("name", EXPECTED)
def test_levels_of_certifying_rows_are_unknown(
    name: str, certify: str, world: str, runs: int
) -> None:
    violated = refused = 0
    for seed in range(runs):
        try:
            violated += attack(name, certify, world, seed)
        except PacboostError:
            refused += 1
    assert refused == (0 if certify in EXPECTED[name] else runs)
    assert violated <= allowed_violations(runs, DELTA)


@pytest.mark.parametrize("world", ["array", "frame", "levels"])
def test_levels_are_unknown_to_a_strong_classifier(world: str) -> None:
    violated = 0
    for seed in range(4):
        cells, labels = draw(world, seed)
        model = pacboost.StrongClassifier(n_estimators=3, random_state=seed, delta=DELTA, n_jobs=1)
        model.fit(shaped("", world, cells), labels)
        certified = model.certificate_.value
        cells, labels = everything(world)
        violated += certified < np.mean(model.predict(shaped("", world, cells)) != labels)
    assert violated <= 2
    assert set(model.levels_.columns[0]) < set(draw(world, 3)[0])


def test_trees_outside_bags_know_no_level_of_rows_that_certify() -> None:
    cells, labels = draw("array", 0)
    model = pacboost.RandomForestClassifier(5, certify="oob", random_state=0)
    model.fit(cells[:, None], labels)
    assert len(model.levels_.columns[0]) <= ROWS // 3


class Between(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Names the class whose number lies between those of the neighbours, seen or not."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> "Between":
        order = np.argsort(X[:, 0])
        self.x_, self.y_, self.classes_ = X[order, 0], y[order], np.unique(y)
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        named: NDArray[Any] = np.rint(np.interp(X[:, 0], self.x_, self.y_)).astype(int)
        return named


@pytest.mark.parametrize("certify", ["oob", "first_order", "holdout"])
def test_classes_outside_a_bag_have_no_numbers(certify: str) -> None:
    """Every row has a class of its own, so whatever is learned errs on all new rows."""
    X = np.random.default_rng(0).random((600, 1))
    y = np.char.mod("c%09d", (X[:, 0] * 1e9).astype(int))
    model = pacboost.BaggingClassifier(Between(), 40, certify=certify, random_state=0)
    assert model.fit(X, y).certificate_.value == 1


def test_a_class_of_certifying_rows_alone_is_a_mistake() -> None:
    X = np.random.default_rng(0).random((100, 2))
    seed = int(np.random.RandomState(0).randint(2**31)) + 1
    held = np.random.default_rng(seed).permutation(100)[:20]
    y = (X[:, 0] > 0.5).astype(int)
    y[held[:5]] = 7
    for name in public_classifiers("certify"):
        if name != "TextBoostClassifier":
            model = make(name, certify="holdout", random_state=0).fit(X, y)
            assert model.classes_.tolist() == [0, 1]
            assert model.certificate_.inputs["k"] >= 5


def test_kinds_of_columns_come_from_the_rows_learned_from(tmp_path: Path) -> None:
    """A typing error in a certifying row of a file does not turn a column into a category."""
    X = np.random.default_rng(0).random((100, 1))
    seed = int(np.random.RandomState(0).randint(2**31)) + 1
    held = int(np.random.default_rng(seed).permutation(100)[0])
    lines = [f"{'unknown' if row == held else x:},{int(x > 0.5)}" for row, x in enumerate(X[:, 0])]
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "\n".join(lines) + "\n")
    rows = read_csv(path, "y", categories=True)
    learned = rows.table.alone(np.delete(np.arange(100), held))
    assert not learned.levels
    np.testing.assert_array_equal(learned.rows(), np.delete(X, held, axis=0))
    with pytest.raises(PacboostError, match="line 90 holds 'unknown'"):
        make("BoostClassifier", certify="holdout", random_state=0).fit(rows.table, rows.labels)
