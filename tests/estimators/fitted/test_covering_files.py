"""Sets and intervals in model files, sets of groups, and sets of every classifier of ours."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import pacboost
from pacboost.bounds.coverage import coverage_rule
from pacboost.bounds.family import Family
from pacboost.errors import DataError, FileError, NotCertified, ParameterError
from tests.bounds.coverage import check_coverage, check_rejected
from tests.grids import each_value
from tests.model_files import changed
from tests.runs import several_runs

GENERATOR = np.random.default_rng(0)


def world(rows: int, generator: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    frame = pd.DataFrame(generator.normal(size=(rows, 2)), columns=["a", "b"])
    frame["part"] = np.where(generator.random(rows) < 0.3, "north", "south")
    noise = np.where(frame["part"] == "north", 2.0, 0.3) * generator.normal(size=rows)
    return frame, np.digitize(frame["a"] + noise, [-0.5, 0.5])


TRAIN, Y = world(500, GENERATOR)
FRESH, LABELS = world(1500, GENERATOR)
NEW, TRUTH = world(4000, GENERATOR)
BOTH = ["a", "b"]


def makers() -> dict[str, Any]:
    return {
        "boost": pacboost.BoostClassifier(n_estimators=10, random_state=0),
        "forest": pacboost.RandomForestClassifier(20, random_state=0),
        "strong": pacboost.StrongClassifier(n_estimators=10, random_state=0),
    }


@each_value
@pytest.mark.parametrize("name", makers())
@pytest.mark.parametrize("method", ["lac", "aps"])
def test_files_keep_sets(name: str, method: str, tmp_path: Path) -> None:
    model = makers()[name].fit(TRAIN[BOTH], Y)
    made = pacboost.sets(model, FRESH[BOTH], LABELS, coverage=0.8, method=method)
    made.save(tmp_path / "m.pacb")
    again = pacboost.sets(pacboost.load(tmp_path / "m.pacb"))
    assert again.rule == made.rule
    assert np.array_equal(again.predict_set(NEW[BOTH]), made.predict_set(NEW[BOTH]))
    assert all(check.holds for check in pacboost.verify(tmp_path / "m.pacb"))
    again.save(tmp_path / "n.pacb")
    assert (tmp_path / "m.pacb").read_bytes() == (tmp_path / "n.pacb").read_bytes()
    model.save(tmp_path / "p.pacb")
    with pytest.raises(NotCertified, match="holds no sets"):
        pacboost.sets(pacboost.load(tmp_path / "p.pacb"))


def test_a_threshold_leaves_sets_as_they_are(tmp_path: Path) -> None:
    model = makers()["boost"].fit(TRAIN[BOTH], Y == 2)
    sets = pacboost.sets(model, FRESH[BOTH], LABELS == 2, coverage=0.85)
    careful = pacboost.choose_threshold(sets.estimator_, FRESH[BOTH], LABELS == 2, recall=0.8)
    careful.save(tmp_path / "m.pacb")
    again = pacboost.load(tmp_path / "m.pacb")
    assert again.threshold_ == careful.threshold_
    assert pacboost.sets(again).rule == sets.rule
    found = pacboost.sets(again).predict_set(NEW[BOTH])
    assert np.array_equal(found, sets.predict_set(NEW[BOTH]))
    assert all(check.holds for check in pacboost.verify(tmp_path / "m.pacb"))


def test_files_keep_intervals(tmp_path: Path) -> None:
    y = TRAIN["a"] * 2
    for model, method in (
        (pacboost.BoostRegressor(n_estimators=10, random_state=0), "residual"),
        (pacboost.RandomForestRegressor(20, random_state=0), "scaled"),
    ):
        model.fit(TRAIN[BOTH], y)
        made = pacboost.intervals(model, FRESH[BOTH], FRESH["a"] * 2, method=method)
        made.save(tmp_path / "m.pacb")
        again = pacboost.intervals(pacboost.load(tmp_path / "m.pacb"))
        assert again.rule == made.rule
        found = again.predict_interval(NEW[BOTH])
        assert np.array_equal(found, made.predict_interval(NEW[BOTH]))
        assert all(check.holds for check in pacboost.verify(tmp_path / "m.pacb"))
        assert "The prediction interval holds" in str(pacboost.inspect(tmp_path / "m.pacb"))
    scale = pacboost.BoostRegressor(n_estimators=3, random_state=0).fit(TRAIN[BOTH], y.abs())
    model = pacboost.BoostRegressor(n_estimators=3, random_state=0).fit(TRAIN[BOTH], y)
    made = pacboost.intervals(model, FRESH[BOTH], FRESH["a"] * 2, scale=scale)
    with pytest.raises(FileError, match="another model"):
        made.save(tmp_path / "n.pacb")


def test_what_has_no_file_is_refused(tmp_path: Path) -> None:
    model = LogisticRegression().fit(TRAIN[BOTH], Y)
    with pytest.raises(FileError, match=r"LogisticRegression.* Pickle"):
        pacboost.sets(model, FRESH[BOTH], LABELS).save(tmp_path / "model.pacb")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        {"cutoffs": [0.01]},
        {"cutoffs": [0.1, 0.2]},
        {"kind": "bags"},
        {"coverage": 2.0},
        {"groups": ["a"]},
        {"certificates": []},
        {"delta": 0.1},
    ],
)
def test_changed_files_are_found_out(change: dict[str, Any], tmp_path: Path) -> None:
    model = makers()["boost"].fit(TRAIN[BOTH], Y)
    pacboost.sets(model, FRESH[BOTH], LABELS).save(tmp_path / "m.pacb")
    path = changed(tmp_path / "m.pacb", lambda content: content["coverage"].update(change))
    if change == {"cutoffs": [0.01]}:
        assert not all(check.holds for check in pacboost.verify(path))
    else:
        with pytest.raises(FileError, match="damaged"):
            pacboost.load(path)


def test_every_group_is_covered(tmp_path: Path) -> None:
    model = makers()["boost"].fit(TRAIN[BOTH], Y)
    found = pacboost.sets(model, FRESH, LABELS, coverage=0.85, by="part")
    certified = found.certificate_
    assert isinstance(certified, Family)
    assert certified.of(group="north")[0].claim.endswith("of new examples in group 'north'.")
    held = found.predict_set(NEW)
    own = held[np.arange(4000), TRUTH]
    sizes = held.sum(axis=1)
    for part in ("north", "south"):
        here = (NEW["part"] == part).to_numpy()
        assert own[here].mean() > 0.83
    assert sizes[NEW["part"] == "north"].mean() > 1.3 * sizes[NEW["part"] == "south"].mean()
    assert np.array_equal(held, found.predict_set(NEW[BOTH], NEW["part"].to_numpy()))
    assert coverage_rule(found.rule.to_dict()) == found.rule
    found.save(tmp_path / "m.pacb")
    kept = pacboost.sets(pacboost.load(tmp_path / "m.pacb"))
    assert np.array_equal(kept.predict_set(NEW), held)
    strong = makers()["strong"].fit(TRAIN[BOTH], Y)
    strong = pacboost.sets(strong, FRESH, LABELS, by="part")
    assert np.array_equal(strong.predict_set(NEW), strong.predict_set(NEW[BOTH], NEW["part"]))
    with pytest.raises(ParameterError, match="group of every row"):
        pacboost.sets(model, FRESH[BOTH], LABELS, by=FRESH["part"]).predict_set(NEW[BOTH])
    with pytest.raises(DataError, match="group 'east'"):
        found.predict_set(NEW[BOTH][:2], ["east", "north"])
    with pytest.raises(ParameterError, match="one cutoff"):
        pacboost.sets(model, FRESH[BOTH], LABELS).predict_set(NEW[BOTH], NEW["part"])


def failures(runs: int, by: Any) -> int:
    """How often the sets of any group cover less than was promised for each."""
    generator, failed = np.random.default_rng(1), 0
    train, y = world(300, generator)
    model = LogisticRegression().fit(train[BOTH], y)
    far, truth = world(8_000, generator)
    north = (far["part"] == "north").to_numpy()
    for _ in range(runs):
        rows, labels = world(200, generator)
        found = pacboost.sets(model, rows[BOTH], labels, coverage=0.8,
                              by=rows["part"].to_numpy() if by else None)  # fmt: skip
        held = found.predict_set(far[BOTH], far["part"].to_numpy() if by else None)
        covered = held[np.arange(8_000), truth]
        failed += min(covered[north].mean(), covered[~north].mean()) < 0.8 - 0.006
    return failed


@several_runs(12, 40)
def test_groups_are_covered_as_promised_and_a_twin_is_rejected(runs: int) -> None:
    check_coverage("sets of two groups", failures(runs, by=True), runs, 0.05)
    check_rejected("one cutoff sold for every group", failures(runs, by=False), runs, 0.05)
