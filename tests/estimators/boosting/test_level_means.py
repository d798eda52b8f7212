"""Means of the rarer levels of categories with more than 254 levels."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import pacboost
from pacboost import BoostClassifier, BoostRegressor
from pacboost.cli.main import main
from pacboost.errors import FileError, InputWarning
from pacboost.estimators.strong import dividing, learning
from pacboost.models.file import format as files
from pacboost.models.schema import Schema
from pacboost.sources.arrays import CategorisedArray
from pacboost.sources.level_means import LevelMeans, level_means
from pacboost.sources.levels import Levels
from tests.models.export.cases import run

pytestmark = pytest.mark.filterwarnings(f"ignore::{InputWarning.__module__}.InputWarning")
NAMES = ["size", "age", "product"]


@cache
def sales(rows: int = 2_400, effect: float = 2.0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """600 products, each with a height of its own; the first half of the rows is learned from."""
    generator = np.random.default_rng(4)
    frame = pd.DataFrame(generator.normal(size=(rows, 2)), columns=NAMES[:2])
    products = generator.integers(0, 600, size=rows)
    frame["product"] = [f"P{product:03d}" for product in products.tolist()]
    heights = effect * generator.normal(size=600)
    noise = 0.3 * generator.normal(size=rows)
    return frame, np.asarray(frame["size"] + heights[products] + noise)


@cache
def half() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    X, y = sales()
    return X[:1_200], y[:1_200]


@cache
def regressor() -> BoostRegressor:
    return BoostRegressor(random_state=0).fit(*half())


@cache
def classifier() -> BoostClassifier:
    X, y = half()
    return BoostClassifier(random_state=0).fit(X, y > 0)


def test_means_predict_better() -> None:
    X, y = sales()
    assert regressor().model_.derived_names[0] == "mean of product"
    plain = BoostRegressor(random_state=0, derive=False).fit(*half())
    errors = [np.std(model.predict(X[1_200:]) - y[1_200:]) for model in (regressor(), plain)]
    assert errors[0] < 0.9 * errors[1]
    other = BoostClassifier(random_state=0, derive=False).fit(half()[0], half()[1] > 0)
    scores = [model.score(X[1_200:], y[1_200:] > 0) for model in (classifier(), other)]
    assert scores[0] > scores[1] + 0.02


@pytest.mark.parametrize("seed", [0, 1])
def test_levels_of_noise_do_no_harm(seed: int) -> None:
    X, y = sales(effect=0.0)
    flips = np.random.default_rng(seed).uniform(size=y.size) < 0.2
    labels = (y > 0) ^ flips
    losses = []
    for derive in (True, False):
        model = BoostClassifier(random_state=seed, derive=derive).fit(X[:1_200], labels[:1_200])
        shares = model.predict_proba(X[1_200:])[np.arange(1_200), labels[1_200:].astype(int)]
        losses.append(-np.log(shares).mean())
    assert losses[0] < 1.02 * losses[1]


def rows_of(products: Any, kept: tuple[str, ...] = ()) -> CategorisedArray:
    return CategorisedArray(np.array(products, dtype=object)[:, None], Levels({0: kept}))


def test_no_row_sees_its_own_label() -> None:
    generator = np.random.default_rng(0)
    products = generator.choice(list("abcdef"), size=60)
    y = 30 * (products > "c") + generator.normal(size=60)
    made = level_means(rows_of(products, ("a",)), 0, y, None, 0)
    assert made is not None
    column, given = made
    assert column.levels == tuple("bcdef")
    assert np.isnan(given[products == "a"]).all()
    for row in range(60):
        others = np.flatnonzero(products != products[row])
        changed = y.copy()
        changed[row] += 8.0
        changed[others[0]] -= 8.0  # so that the mean of all rows is as it was
        again = level_means(rows_of(products, ("a",)), 0, changed, None, 0)
        assert again is not None
        assert again[1][row] == pytest.approx(given[row], nan_ok=True, abs=1e-5)
        if products[row] != "a":
            assert again[0].means != column.means


def test_means_are_those_of_earlier_rows_and_of_all() -> None:
    products = np.array(["b", "c"] * 20 + ["d"])
    y = np.arange(41.0) + 50 * (products == "c")
    made = level_means(rows_of(products), 0, y, None, 0)
    assert made is not None
    column, given = made
    assert column.levels == ("b", "c")  # d has one row only
    assert np.isnan(given[40])
    means = [(y[products == level].sum() + y.mean()) / 21 for level in "bc"]
    assert column.means == pytest.approx(means)
    assert column.of(rows_of(["c", "b", "d", "x", None])) == pytest.approx(
        [means[1], means[0], np.nan, np.nan, np.nan], nan_ok=True
    )
    assert np.isnan(given[:40]).sum() == 2  # the first row of either level
    heavy = level_means(rows_of(products), 0, y, np.full(41, 3.0), 0)
    assert heavy is not None
    assert heavy[0].means == column.means
    few = level_means(rows_of(products), 0, y, np.where(np.arange(41) < 8, 1.0, 0.0), 0)
    assert few is not None
    mean = y[:8].mean()
    assert few[0].means == pytest.approx([(12 + mean) / 5, (216 + mean) / 5])


def test_the_model_does_not_depend_on_threads_or_the_kind_of_table() -> None:
    X, y = half()
    own = files.model_bytes(regressor().model_)
    threads = BoostRegressor(random_state=0, n_jobs=2).fit(X, y)
    assert files.model_bytes(threads.model_) == own
    categories = X.assign(product=X["product"].astype("category"))
    assert files.model_bytes(BoostRegressor(random_state=0).fit(categories, y).model_) == own
    cells = X.to_numpy(dtype=object)
    array = BoostRegressor(random_state=0, categorical_features=[2]).fit(cells, y)
    assert array.schema_.derived == regressor().schema_.derived
    assert np.array_equal(array.predict(cells), regressor().predict(X))
    assert np.array_equal(regressor().predict(X[:1]), regressor().predict(X)[:1])
    numbers = X.assign(product=X["product"].str[1:].astype(int))
    named = BoostRegressor(random_state=0, categorical_features=["product"]).fit(numbers, y)
    assert np.array_equal(named.predict(numbers), regressor().predict(X))


def test_unknown_levels_are_predicted_like_missing_ones() -> None:
    X, _ = half()
    unknown, missing = X.assign(product="new"), X.assign(product=None)
    answers = regressor().predict(unknown)
    assert np.isfinite(answers).all()
    assert np.array_equal(answers, regressor().predict(missing))
    assert not np.array_equal(answers, regressor().predict(X))


def test_files_hold_the_means(tmp_path: Path) -> None:
    X, _ = half()
    for model in (regressor(), classifier()):
        model.save(tmp_path / "model.pacb")
        loaded = pacboost.load(tmp_path / "model.pacb")
        assert loaded.schema_.derived == model.schema_.derived
        assert np.array_equal(loaded.predict(X), model.predict(X))
        assert files.model_bytes(loaded.model_) == files.model_bytes(model.model_)
        assert pacboost.inspect(tmp_path / "model.pacb").derived[0] == "mean of product"


@pytest.mark.parametrize(
    "stored",
    [
        ["mean"], ["mean", 2, 2, ["a"], [1]], ["mean", 2, 1, ["a"], [1.0]],
        ["mean", 9, 9, ["a"], [1.0]], ["mean", 2, 2, ["a", "a"], [1.0, 1.0]],
        ["mean", 2, 2, ["a"], []], ["mean", 2, 2, [None], [1.0]], ["mean", 2, 2, [[]], [1.0]],
        ["mean", 2, 2, "a", [1.0]], ["mean", 2, 2, ["a"], ["1.0"]],
    ],
)  # fmt: skip
def test_means_that_no_fit_has_written_are_refused(
    stored: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, many = Schema.to_dict, len(regressor().schema_.derived)
    monkeypatch.setattr(Schema, "to_dict", lambda own: original(own) | {"derived": [stored] * many})
    regressor().save(tmp_path / "model.pacb")
    with pytest.raises(FileError, match="derived"):
        pacboost.load(tmp_path / "model.pacb")


def test_explanations_name_them() -> None:
    X, y = half()
    model = regressor()
    assert "mean of product" in "\n".join(model.rules())
    has_none = np.isnan(model.schema_.read(X).column(3))
    assert "mean of product = " in str(model.explain(X[~has_none].iloc[0]))
    shares = model.feature_importances_
    assert shares.sum() == pytest.approx(1)
    assert shares[2] > 0.3
    worse = model.permutation_importances(X, y, repeats=2, random_state=0)
    assert worse.names == tuple(NAMES)
    assert worse.mean[2] > 10 * abs(worse.mean[1])
    values = model.shap_values(X[:5])
    assert values.values.sum(axis=1) + values.base_values == pytest.approx(model.predict(X[:5]))


@pytest.mark.parametrize("kind", ["frame", "array"])
def test_a_strong_classifier_has_means_of_the_rows_it_learns_from(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = half()
    rows = X if kind == "frame" else X.to_numpy(dtype=object)
    model = pacboost.StrongClassifier(
        categorical_features=["product"] if kind == "frame" else [2], random_state=0
    )
    found: list[Any] = []

    def same(*given: Any) -> Any:
        found.append(dividing.set_apart(*given))
        return found[0]

    monkeypatch.setattr(learning, "set_apart", same)
    (column,) = means_of(model.fit(rows, y > 0))
    other = y > 0
    other[found[0][0].certify] = True
    assert means_of(model.fit(rows, other)) == [column]
    other[found[0][0].learn[:50]] = True
    assert means_of(model.fit(rows, other)) != [column]


def means_of(model: Any) -> list[LevelMeans]:
    return [made for made in model.schema_.derived if isinstance(made, LevelMeans)]


def test_programs_compute_means(tmp_path: Path) -> None:
    X, _ = sales()
    pacboost.export(regressor(), tmp_path / "model.py")
    program = run((tmp_path / "model.py").read_text(encoding="utf-8"))
    assert program.predict(X.to_numpy(dtype=object).tolist()) == regressor().predict(X).tolist()


def test_warm_starts_go_on() -> None:
    X, y = half()
    model = BoostRegressor(n_estimators=120, random_state=0).fit(X, y)
    derived, rounds = model.schema_.derived, len(model.ledger_)
    assert any(isinstance(column, LevelMeans) for column in derived)
    model.set_params(warm_start=True, n_estimators=rounds + 5)
    assert len(model.fit(X, y).ledger_) == rounds + 5
    assert model.schema_.derived == derived


@pytest.mark.parametrize(
    "options", [{"quality": "fast"}, {"n_estimators": 99}, {"early_stopping": True}]
)
def test_means_need_no_trial(options: dict[str, Any]) -> None:
    X, y = half()
    model = BoostRegressor(random_state=0, **options).fit(X, y)
    assert model.model_.derived_names == ("mean of product",)


@pytest.mark.parametrize(
    "options",
    [
        {"derive": False},
        {"interactions": 0},
        {"time_limit": 1000},
        {"monotone_constraints": {"size": 1}},
    ],
)
def test_fits_without_means(options: dict[str, Any]) -> None:
    X, y = half()
    assert BoostRegressor(random_state=0, **options).fit(X, y).model_.derived_names == ()


def test_three_classes_have_no_mean() -> None:
    X, y = half()
    model = BoostClassifier(random_state=0).fit(X, np.digitize(y, [-1, 1]))
    assert "mean of product" not in model.model_.derived_names


def test_few_levels_have_no_mean() -> None:
    X, y = half()
    few = X.assign(product=X["product"].str[:3])
    assert "mean of product" not in BoostRegressor(random_state=0).fit(few, y).model_.derived_names


def test_levels_that_differ_by_little_have_no_mean() -> None:
    generator = np.random.default_rng(0)
    products = np.repeat([f"P{product}" for product in range(300)], 100)
    noise = generator.normal(size=products.size)
    for effect, has_mean in ((0.1, False), (0.4, True)):  # 100 and 6 rows say as much as a level
        y = effect * np.repeat(generator.normal(size=300), 100) + noise
        assert (level_means(rows_of(products), 0, y, None, 0) is not None) == has_mean


def test_files_are_predicted_from_the_command_line(tmp_path: Path) -> None:
    X, _ = half()
    regressor().save(tmp_path / "model.pacb")
    X.to_csv(tmp_path / "rows.csv", index=False)
    paths = [str(tmp_path / name) for name in ("model.pacb", "rows.csv", "out.csv")]
    result = CliRunner().invoke(main, ["predict", *paths[:2], "--output", paths[2]])
    assert result.exit_code == 0, result.output
    found = np.isin(X["product"], regressor().schema_.levels.columns[2])
    means = ~np.isnan(regressor().schema_.read(X).column(3))
    assert f"in {(~found & ~means).sum()} rows" in result.output  # those without a mean
    predictions = pd.read_csv(paths[2])["prediction"]
    assert predictions.to_numpy() == pytest.approx(regressor().predict(X), rel=1e-5)
