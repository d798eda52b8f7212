"""Columns that a trial derives from others: the fit, files, explanations and certificates."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost import BoostClassifier, BoostRegressor
from pacboost.errors import DataError, FileError, NotCertified, ParameterError
from pacboost.models.file import format as files
from pacboost.models.schema import Schema

NAMES = ["weight", "height", "age", "town"]


@cache
def people(rows: int = 700, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers to predict are a ratio of two columns, and some noise."""
    generator = np.random.default_rng(seed)
    numbers = generator.uniform(1, 3, size=(rows, 3)).astype(np.float32).astype(np.float64)
    frame = pd.DataFrame(numbers, columns=NAMES[:3])
    frame["town"] = generator.choice(["Ulm", "Bonn"], size=rows)
    frame.loc[::9, "height"] = np.nan
    ratio = (frame["weight"] / frame["height"]).fillna(1.0)
    return frame, np.asarray(ratio + 0.02 * generator.normal(size=rows))


@cache
def regressor() -> BoostRegressor:
    return BoostRegressor(random_state=0).fit(*people())


@cache
def classifier() -> BoostClassifier:
    X, y = people()
    return BoostClassifier(random_state=0, certify="holdout").fit(X, y > 1)


def test_a_ratio_is_found_and_predicts_better() -> None:
    X, y = people(2_000, seed=1)
    assert "weight / height" in regressor().model_.derived_names
    plain = BoostRegressor(random_state=0, derive=False).fit(*people())
    assert plain.model_.derived_names == ()
    errors = [np.sqrt(np.mean((model.predict(X) - y) ** 2)) for model in (regressor(), plain)]
    assert errors[0] < 0.8 * errors[1]
    assert classifier().score(X, y > 1) > 0.93


def test_noise_is_not_worth_a_column() -> None:
    X, _ = people()
    y = np.random.default_rng(2).normal(size=len(X))
    assert BoostRegressor(random_state=0).fit(X, y).model_.derived_names == ()


@pytest.mark.parametrize(
    "options",
    [
        {"derive": False}, {"monotone_constraints": {"weight": 1}}, {"interactions": 0},
        {"interaction_constraints": "pairwise"}, {"quality": "fast"}, {"n_estimators": 99},
        {"early_stopping": False}, {"learning_rate": 0.3, "n_estimators": 50},
        {"time_limit": 1000},
    ],
)  # fmt: skip
def test_fits_that_derive_nothing(options: dict[str, Any]) -> None:
    model = BoostRegressor(random_state=0, **options).fit(*people())
    assert model.model_.n_features == 4


def test_derive_is_true_or_false() -> None:
    with pytest.raises(ParameterError) as raised:
        BoostRegressor(derive="ratios").fit(*people())  # type: ignore[arg-type]
    assert raised.value.parameter == "derive"


def test_few_rows_derive_nothing() -> None:
    X, y = people()
    assert BoostRegressor(random_state=0).fit(X[:300], y[:300]).model_.derived_names == ()


def test_every_way_to_hand_rows_over_gives_the_same_model() -> None:
    X, y = people()
    numbers = X[NAMES[:3]]
    one = BoostRegressor(random_state=0).fit(numbers, y)
    assert one.model_.derived_names
    cells = numbers.to_numpy()
    for rows in (cells, np.asfortranarray(cells), cells.astype(np.float32), cells.tolist()):
        other = BoostRegressor(random_state=0, n_jobs=2).fit(np.asarray(rows), y)
        assert files.model_bytes(other.model_) == files.model_bytes(one.model_)
        assert np.array_equal(other.predict(rows), one.predict(numbers))
    assert np.array_equal(one.predict(numbers[::-1])[::-1], one.predict(numbers))
    assert one.predict(numbers[:1]) == one.predict(numbers)[:1]


def test_attributes_are_those_of_the_given_columns() -> None:
    model = regressor()
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == NAMES
    shares = model.feature_importances_
    assert shares.shape == (4,)
    assert shares.sum() == pytest.approx(1)
    assert shares[:2].min() > 0.3  # halves of the ratio
    named = model.importances()
    assert named.names[:4] == tuple(NAMES)
    assert named["weight / height"] > 0.3


def test_files_hold_the_columns(tmp_path: Path) -> None:
    X, _ = people()
    for model in (regressor(), classifier()):
        path = tmp_path / "model.pacb"
        model.save(path)
        loaded = pacboost.load(path)
        assert loaded.schema_.derived == model.schema_.derived
        assert np.array_equal(loaded.predict(X), model.predict(X))
        assert loaded.rules() == model.rules()
        summary = pacboost.inspect(path)
        assert (summary.features, summary.names) == (4, tuple(NAMES))
        assert summary.derived == model.model_.derived_names
        assert "weight / height" in str(summary)
        assert "weight / height" in "\n".join(loaded.rules())


@pytest.mark.parametrize(
    "stored", [["^", 0, 1], ["/", 0, 9], ["/", 0], ["/", 0, -1], ["/", 0, 1.0], "/", ["/", True, 1]]
)
def test_columns_that_no_fit_has_written_are_refused(
    stored: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Schema.to_dict
    written = [stored] * len(regressor().schema_.derived)
    monkeypatch.setattr(Schema, "to_dict", lambda own: original(own) | {"derived": written})
    regressor().save(tmp_path / "model.pacb")
    with pytest.raises(FileError, match="derived"):
        pacboost.load(tmp_path / "model.pacb")


def test_explanations_name_them() -> None:
    X, y = people()
    model = regressor()
    explanation = str(model.explain(X.iloc[1]))
    assert "weight / height = " in explanation
    assert str(model.explain(X.iloc[[1]])) == explanation
    assert str(model.explain(X.iloc[1].to_dict())) == explanation
    shares = model.shap_values(X[:5])
    assert list(shares.feature_names) == [*NAMES, *model.model_.derived_names]
    assert shares.values.sum(axis=1) + shares.base_values == pytest.approx(model.predict(X[:5]))
    with pytest.raises(DataError, match="derive=False"):
        pacboost.models.explain.attribution.shap_trees(model.model_)
    assert len(model.partial_dependence("weight / height").features) == 1
    worse = model.permutation_importances(X, y, repeats=2, random_state=0)
    assert worse.names == tuple(NAMES)
    assert worse.mean[:2].min() > 10 * abs(worse.mean[2:]).max()


def test_training_rows_are_recognised(tmp_path: Path) -> None:
    X, y = people()
    fresh, labels = people(500, seed=3)
    model = classifier()
    assert model.certificate_.value < 0.2
    model.save(tmp_path / "model.pacb")
    for own in (model, pacboost.load(tmp_path / "model.pacb")):
        assert pacboost.certify(own, fresh, labels > 1).value < 0.15
        with pytest.raises(NotCertified):
            pacboost.certify(own, X, y > 1)


def test_a_warm_start_goes_on_with_the_columns_of_the_fit() -> None:
    X, y = people()
    model = BoostRegressor(n_estimators=120, random_state=0).fit(X, y)
    derived, rounds = model.model_.derived_names, len(model.ledger_)
    assert derived
    model.set_params(warm_start=True, n_estimators=rounds + 5)
    assert len(model.fit(X, y).ledger_) == rounds + 5
    assert model.model_.derived_names == derived
