"""Which features of trees may meet: sets of them, single columns, and chosen pairs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from pacboost import BoostClassifier, BoostRegressor, load
from pacboost.errors import ParameterError
from pacboost.hypotheses.shapes import Counts
from pacboost.hypotheses.tree import TreeRule
from pacboost.models.file.format import model_bytes
from pacboost.models.file.parts import check_model
from tests.grids import each_value
from tests.tree_paths import may_interact, paths

PAIR = ("left", "right")


def some_rows(rows: int = 600, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Two columns that say something only together, one that does alone, a category and noise."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(generator.normal(size=(rows, 4)), columns=["left", "right", "alone", "noise"])
    X["kind"] = pd.Categorical(generator.choice(list("abcd"), rows))
    score = 2 * np.sign(X["left"] * X["right"]) + X["alone"] + (X["kind"] == "a")
    X.loc[generator.random(rows) < 0.1, "left"] = np.nan
    return X, score.fillna(0).to_numpy() + 0.3 * generator.normal(size=rows)


@pytest.fixture(scope="module")
def classifier() -> BoostClassifier:
    X, y = some_rows()
    return BoostClassifier(interactions=3, n_estimators=150, random_state=0).fit(X, y > 0)


def test_the_pair_that_matters_is_found(classifier: BoostClassifier) -> None:
    X, y = some_rows(seed=1)
    pairs = classifier.settings_["interactions"]
    assert len(pairs) == 3
    assert pairs[0] == PAIR
    single = BoostClassifier(interactions=0, n_estimators=150, random_state=0).fit(
        *_signs(some_rows())
    )
    assert single.settings_["interactions"] == []
    assert classifier.score(X, y > 0) > single.score(X, y > 0) + 0.1


def _signs(rows: tuple[pd.DataFrame, Any]) -> tuple[pd.DataFrame, Any]:
    return rows[0], rows[1] > 0


def test_no_leaf_asks_for_other_columns_than_a_pair(classifier: BoostClassifier) -> None:
    names = list(classifier.feature_names_in_)
    allowed = [
        {names.index(name) for name in pair} for pair in classifier.settings_["interactions"]
    ]
    for rule in classifier.model_.vote.hypotheses:
        assert isinstance(rule, TreeRule)
        for box in rule.boxes():
            assert len(box) <= 1 or set(box) in allowed


def three_classes(y: Any) -> Any:
    return np.digitize(y, [-1, 1])


QUICK: dict[str, Any] = {"n_estimators": 40, "random_state": 0}
FITS: dict[str, Any] = {
    "two classes": lambda X, y: BoostClassifier(interactions=3, **QUICK).fit(X, y > 0),
    "single columns": lambda X, y: BoostClassifier(interactions=0, **QUICK).fit(X, y > 0),
    "three classes": lambda X, y: BoostClassifier(interactions=4, **QUICK).fit(X, three_classes(y)),
    "adaboost": lambda X, y: BoostClassifier("adaboost", interactions=2, n_estimators=40).fit(
        X, y > 0
    ),
    "numbers": lambda X, y: BoostRegressor(interactions=2, **QUICK).fit(X, y),
    "medians": lambda X, y: BoostRegressor("absolute_error", interactions=2, **QUICK).fit(X, y),
    "two leaves of a set": lambda X, y: BoostClassifier(
        interaction_constraints="pairwise", n_estimators=20, random_state=0
    ).fit(X, y > 0),
}


@pytest.mark.parametrize("name", FITS)
def test_constant_curves_and_maps_add_up_to_the_score(name: str) -> None:
    model = FITS[name](*some_rows())
    X, _ = some_rows(300, seed=2)
    X["kind"] = X["kind"].astype(str).replace("d", "not seen")
    scores = model.predict(X) if isinstance(model, BoostRegressor) else model.decision_function(X)
    found = model.shapes()
    assert bool(found.maps) == (name != "single columns")
    assert np.abs(found.scores(model._open(X)) - scores).max() < 1e-9


def test_every_line_of_a_map_has_mean_0_by_the_training_rows(classifier: BoostClassifier) -> None:
    X, _ = some_rows()
    table, names = classifier._open(X), list(classifier.feature_names_in_)
    for pair in classifier.shapes().maps.values():
        for one, other in ((0, 1), (1, 0)):
            column = table.column(names.index(pair.names[one]))
            for value in (np.nan, *np.unique(column[~np.isnan(column)])[::50]):
                line = table.column(names.index(pair.names[other]))
                values = [np.full(line.size, value), line][:: 1 if one == 0 else -1]
                assert abs(pair.at(*values).mean()) < 1e-9
        assert pair.size > 0


def test_a_map_has_nothing_that_one_column_could_say_alone(classifier: BoostClassifier) -> None:
    found = classifier.shapes()
    sizes = [own.size for own in found.maps.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert next(iter(found.maps.values())).names == PAIR
    assert sizes[0] > 5 * sizes[1]


def test_a_file_keeps_the_maps(classifier: BoostClassifier, tmp_path: Path) -> None:
    classifier.save(tmp_path / "model.pacboost")
    again = load(tmp_path / "model.pacboost").shapes()
    for pair, own in classifier.shapes().maps.items():
        assert np.array_equal(again.maps[pair].values, own.values)
    page = load(tmp_path / "model.pacboost").report()
    assert "left × right" in str(page._repr_html_())


def test_damaged_counts_are_refused(classifier: BoostClassifier) -> None:
    model, counts = classifier.model_, classifier.model_.counts
    assert counts is not None
    check_model(model)
    for broken in (
        replace(counts, columns=counts.columns + 90),
        replace(counts, rows=counts.rows[:, 1:]),
    ):
        with pytest.raises(ValueError, match="counts"):
            check_model(replace(model, counts=broken))
    with pytest.raises(ValueError, match="not counts"):
        Counts.from_dict({"columns": counts.columns, "rows": -counts.rows})


def test_more_pairs_than_there_are_means_all() -> None:
    X, y = some_rows(200)
    model = BoostClassifier(interactions=1000, n_estimators=20, random_state=0).fit(X, y > 0)
    assert len(model.settings_["interactions"]) == 10


def test_sparse_rows_validation_rows_and_few_rows() -> None:
    X, y = some_rows(400)
    numbers = X[["left", "right", "alone"]].fillna(0).to_numpy()
    sparse = BoostClassifier(interactions=1, random_state=0, n_estimators=60)
    assert sparse.fit(csr_matrix(numbers), y > 0).settings_["interactions"] == [("x0", "x1")]
    watched = BoostClassifier(interactions=1, random_state=0)
    watched.fit(numbers[:300], y[:300] > 0, X_val=numbers[300:], y_val=y[300:] > 0)
    assert watched.settings_["interactions"] == [("x0", "x1")]
    assert len(watched.validation_curves_["validation_0"]) >= len(watched.ledger_)
    few = BoostClassifier(interactions=1, random_state=0).fit(numbers[:12], np.arange(12) % 2)
    assert few.predict(numbers[:3]).shape == (3,)


@pytest.mark.parametrize("count", [-1, True, 2.5, "10"])
def test_a_number_of_pairs_is_whole_and_not_negative(count: Any) -> None:
    with pytest.raises(ParameterError, match="interactions is"):
        BoostClassifier(interactions=count).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"interaction_constraints": "pairwise"}, "interaction_constraints"),
        ({"learner": "stump"}, "Stump has no parameter 'interactions'"),
        ({"booster": "brown"}, "interactions=2 chooses pairs"),
        ({"warm_start": True}, "warm_start"),
    ],
)
def test_what_cannot_be_together_is_refused(parameters: dict[str, Any], said: str) -> None:
    X, y = some_rows(60)
    with pytest.raises(ParameterError, match=said):
        BoostClassifier(interactions=2, **parameters).fit(X, y > 0)


ROWS = np.random.default_rng(0).normal(size=(400, 4))
ANSWERS = ROWS[:, 0] * ROWS[:, 1] + ROWS[:, 2] * ROWS[:, 3] + 0.3 * ROWS[:, 0]
NAMED = pd.DataFrame(ROWS, columns=["a", "b", "c", "d"])
SETS: Any = [["a", "b"], [2, 3]]


def constrained(kind: Any, sets: Any, rows: Any = NAMED, **options: Any) -> Any:
    answers = ANSWERS if kind is BoostRegressor else ANSWERS > 0
    answers = options.pop("answers", answers)
    given = {"n_estimators": 8, "min_leaf_rows": 5, "random_state": 0, **options}
    return kind(interaction_constraints=sets, **given).fit(rows, answers)


def asked(model: Any) -> list[set[int]]:
    return [path for tree, _ in model.model_.vote.trees for path in paths(tree)]


@each_value
@pytest.mark.parametrize("kind", [BoostClassifier, BoostRegressor])
@pytest.mark.parametrize("sets", [SETS, [{0, 1}], "pairwise", "no_interactions"])
def test_every_path_of_every_tree_stays_within_one_set(kind: Any, sets: Any) -> None:
    numbers = [(0, 1), (2, 3)] if isinstance(sets, list) else sets
    found = asked(constrained(kind, sets))
    assert all(may_interact(path, numbers, 4) for path in found)
    assert not all(may_interact(path, numbers, 4) for path in asked(constrained(kind, None)))


def test_names_and_numbers_mean_the_same() -> None:
    forms = (SETS, [(0, 1), (2, 3)], [{"b", "a"}, np.array([2, 3])], [[0, 1]])
    assert len({model_bytes(constrained(BoostClassifier, sets).model_) for sets in forms}) == 1
    other = BoostClassifier(n_estimators=8, min_leaf_rows=5, random_state=0, interaction_cst=SETS)
    assert model_bytes(other.fit(NAMED, ANSWERS > 0).model_) in {
        model_bytes(constrained(BoostClassifier, SETS).model_)
    }


def test_without_interactions_the_score_is_a_sum_of_functions_of_one_feature() -> None:
    model = constrained(BoostRegressor, "no_interactions", ROWS)
    base, one, two, both = np.zeros((4, 1, 4))
    one[0, 0] = both[0, 0] = 1.5
    two[0, 1] = both[0, 1] = -1.0
    predicted = [model.predict(row)[0] for row in (base, one, two, both)]
    assert predicted[3] - predicted[2] == pytest.approx(predicted[1] - predicted[0], abs=1e-9)


def test_a_date_is_all_columns_that_are_made_of_it() -> None:
    frame = NAMED.assign(day=pd.date_range("2020-01-01", periods=400))
    model = constrained(BoostRegressor, [["a", "day"], ["b", "c", "d"]], frame)
    days = [j for j, name in enumerate(model.model_.names) if name.split(":")[0] == "day"]
    assert len(days) > 1
    sets = [(0, *days), (1, 2, 3)]
    assert all(may_interact(path, sets, len(model.model_.names)) for path in asked(model))


@each_value
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("pairs", "interaction_constraints is 'pairs'; it may be a list of sets"),
        (3, "interaction_constraints is 3; it may be"),
        ([0, 1], r"interaction_constraints is \[0, 1\]; it may be a list of sets"),
        (["a", "b"], "it may be a list of sets"),
        ([["a", "x"]], "names 'x', which is not a column of X; its columns are a, b, c, d"),
        ([[0, 4]], "names 4, which is not a column of X"),
        ([[0.5]], "names 0.5, which is not a column of X"),
    ],
)
@pytest.mark.parametrize("kind", [BoostClassifier, BoostRegressor])
def test_other_sets_are_refused(kind: Any, given: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        constrained(kind, given)
