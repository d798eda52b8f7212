"""Rows that the model has learned from are the reference, and new rows are like them: no drift."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from tests.bounds.coverage import check_coverage, check_rejected
from tests.cli.running import answer
from tests.runs import several_runs

pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore:column 'town'")
LEVELS = [(2000, 2000), (200, 600)]


def people(generator: np.random.Generator, levels: int, rows: int) -> Any:
    return pandas.DataFrame({
        "age": generator.normal(size=rows),
        "town": [f"town {number}" for number in generator.integers(levels, size=rows)],
    })  # fmt: skip


def false_alarms(runs: int, levels: int, rows: int) -> int:
    found = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        old, new = (people(generator, levels, rows) for _ in range(2))
        y = generator.integers(2, size=rows)
        model = pacboost.BoostClassifier(n_estimators=3, certify=None).fit(old, y)
        found += pacboost.Monitor(model, error=0.5, reference=old).update_rows(new).alarm
    return found


@several_runs(4, 200)
@pytest.mark.parametrize(("levels", "rows"), LEVELS)
def test_categories_that_only_training_rows_have_are_no_drift(
    levels: int, rows: int, runs: int
) -> None:
    false = false_alarms(runs, levels, rows)
    check_coverage(f"drift from the training rows, {levels} levels", false, runs, 0.05)


def test_rows_read_by_what_was_learned_from_the_reference_are_rejected() -> None:
    """The twin: categories are numbered as in the reference, and others are missing."""
    false = 0
    for seed in range(6):
        generator = np.random.default_rng(seed)
        old, new = (people(generator, 2000, 2000) for _ in range(2))
        numbers = {town: float(number) for number, town in enumerate(sorted(set(old.town)))}
        old, new = (rows.assign(town=rows.town.map(numbers)) for rows in (old, new))
        false += pacboost.Monitor(error=0.5, reference=old).update_rows(new).alarm
    check_rejected("drift by categories of the reference", false, 6, 0.05)


def test_files_with_categories_that_only_training_rows_have_are_no_drift(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    old, new = (people(generator, 200, 600) for _ in range(2))
    model = pacboost.BoostClassifier(n_estimators=3, certify="holdout")
    model.fit(old, generator.integers(2, size=600)).save(tmp_path / "model.pacb")
    for name, rows in (("old", old), ("new", new)):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    options = ("--reference", tmp_path / "old.csv", "--error", 0.5)
    found = answer("watch", tmp_path / "model.pacb", tmp_path / "new.csv", *options)
    assert found["drift"]["compared"] == 450


def test_categories_that_become_more_frequent_are_drift() -> None:
    generator = np.random.default_rng(0)
    old, new = (people(generator, 20, 3000) for _ in range(2))
    new.loc[generator.random(3000) < 0.2, "town"] = "town 7"
    drift = pacboost.Monitor(error=0.5, reference=old).update_rows(new).status().drift
    assert drift is not None
    assert drift.drifted_at is not None
    assert next(iter(drift.columns)) == "town"
    assert any(rule.startswith("town is in a group") for rule in drift.rules)
