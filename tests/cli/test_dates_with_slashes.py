"""Dates with slashes: read if the column shows which number is the day, else asked about."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import StrongClassifier
from pacboost.errors import InputWarning, ParameterError
from pacboost.sources.csv import read_csv
from pacboost.sources.data_file import DataFile
from tests.cli.running import run, well

DAYS = np.datetime64("2024-01-01") + np.random.default_rng(0).integers(0, 366, 300)


def written(path: Path, form: str, days: np.ndarray = DAYS) -> Path:
    """Write a label that the month decides, and dates in this form."""
    with path.open("w", newline="") as stream:
        lines = csv.writer(stream)
        lines.writerow(["when", "size", "y"])
        for k, day in enumerate(days.astype(object)):
            said = form.format(d=day.day, m=day.month, y=day.year)
            lines.writerow([said, k % 7, "late" if day.month > 6 else "early"])
    return path


@pytest.mark.parametrize(("form", "order"), [
    ("{d}/{m}/{y}", "day/month/year"), ("{m:02}/{d:02}/{y}", "month/day/year"),
    ("{d}/{m}/{y} 08:30", "day/month/year"),
])  # fmt: skip
def test_a_column_that_shows_the_order_is_read(tmp_path: Path, form: str, order: str) -> None:
    table = read_csv(written(tmp_path / "rows.csv", form), "y").table
    assert table.names is not None
    assert f"when (month; {order})" in table.names
    months = table.block(1, 2)[:, 0]
    assert months.tolist() == [day.month for day in DAYS.astype(object)]


def test_an_ambiguous_column_is_asked_about(tmp_path: Path) -> None:
    few = DAYS[[day.day <= 12 for day in DAYS.astype(object)]]
    path = written(tmp_path / "rows.csv", "{d}/{m}/{y}", few)
    with pytest.warns(InputWarning, match="either number may be the day.*--dayfirst"):
        table = read_csv(path, "y", categories=True).table
    assert table.names == ("when", "size")
    for day_first, order in ((True, "day/month/year"), (False, "month/day/year")):
        names = read_csv(DataFile(path, day_first=day_first), "y").table.names or ()
        assert f"when (month; {order})" in names


def test_the_option_does_not_overrule_what_a_column_shows(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "{m}/{d}/{y}")
    names = read_csv(DataFile(path, day_first=True), "y").table.names or ()
    assert "when (month; month/day/year)" in names


def test_new_rows_are_read_in_the_order_of_the_fit(tmp_path: Path) -> None:
    few = DAYS[[day.day <= 12 for day in DAYS.astype(object)]]
    old, model = written(tmp_path / "old.csv", "{d}/{m}/{y}", few), tmp_path / "m.pacb"
    asked = ["fit", old, "--target", "y", "--booster", "adaboost", "--output", model]
    plain = run(*asked)
    assert plain.exit_code == 0
    assert "Give --dayfirst" in " ".join(plain.stderr.split())
    assert "1 of dates ('when')" in " ".join(well(*asked, "--dayfirst").split())
    assert any("day/month/year" in name for name in pacboost.load(model).feature_names_in_)
    for form in ("{d}/{m}/{y}", "{y}-{m:02}-{d:02}"):  # one row each: it shows no order
        one = written(tmp_path / "new.csv", form, np.array(["2024-02-09"], dtype="datetime64[D]"))
        shown = well("predict", model, one, "--drop", "y")
        assert "early" in shown
    wrong = written(tmp_path / "new.csv", "{m}/{d}/{y}", np.array(["2024-02-29"], "datetime64[D]"))
    refused = run("predict", model, wrong, "--drop", "y")
    assert refused.exit_code == 2
    assert "which is no date written as day/month/year" in " ".join(refused.stderr.split())


def test_python_says_the_order_too(tmp_path: Path) -> None:
    few = DAYS[[day.day <= 12 for day in DAYS.astype(object)]]
    path = written(tmp_path / "rows.csv", "{d}/{m}/{y}", few)
    quick: dict[str, Any] = {"n_estimators": 2, "random_state": 0, "verbose": 0}
    with pytest.warns(InputWarning, match="in Python dates='day-first'"):
        StrongClassifier(**quick).fit(path, "y")
    for dates, order in (("day-first", "day/month/year"), ("month-first", "month/day/year")):
        model = StrongClassifier(dates=dates, **quick).fit(path, "y")
        assert f"when (month; {order})" in model.feature_names_in_
    with pytest.raises(ParameterError, match="'auto', 'day-first', 'month-first'"):
        StrongClassifier(dates="european").fit(path, "y")
    with pytest.raises(ParameterError, match="X is no file"):
        StrongClassifier(dates="day-first").fit(np.zeros((50, 1)), np.arange(50) % 2)
    with pytest.raises(ParameterError, match="leave dates at 'auto'"):
        StrongClassifier(dates="day-first").fit_source(path, "y")
