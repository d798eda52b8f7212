"""Explanations and reports show cells as the user wrote them."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost import BoostClassifier

pytestmark = pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
WRITTEN = {"day": "2024-06-03", "slashes": "31/01/2024", "paid": "Yes", "flag": "True"}


@cache
def frame() -> tuple[pd.DataFrame, Any]:
    generator = np.random.default_rng(0)
    n = 400
    hours = pd.Series(
        pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 7000, n), "h")
    )
    table = pd.DataFrame({
        "when": hours, "day": hours.dt.normalize(), "slashes": hours.dt.strftime("%d/%m/%Y"),
        "paid": generator.choice(["Yes", "no"], n), "flag": generator.random(n) < 0.5,
        "plane": generator.choice(["N1", "N2", "N3"], n),
    })  # fmt: skip
    late = (table["paid"] == "Yes") & (hours.dt.hour > 6) | (
        table["flag"] & (hours.dt.day_of_week > 3)
    )
    late ^= (hours.dt.day_of_year > 150) & (table["plane"] == "N1")
    return table, np.where(late, "late", "ok")


@cache
def fitted(interactions: int | None = None) -> BoostClassifier:
    X, y = frame()
    return BoostClassifier(n_estimators=40, interactions=interactions, random_state=0).fit(X, y)


def row() -> pd.DataFrame:
    one = frame()[0].iloc[[0]].copy()
    one["when"], one["day"] = pd.Timestamp("2024-05-16 05:00"), pd.Timestamp("2024-06-03")
    return one.assign(slashes="31/01/2024", paid="Yes", flag=True, plane="N12216")


@pytest.mark.parametrize("form", ["frame", "series", "dict"])
def test_a_row_is_explained_in_the_words_it_was_written_in(form: str) -> None:
    x: Any = row()
    x = {"frame": x, "series": x.iloc[0], "dict": x.iloc[0].to_dict()}[form]
    cells = dict(entry.words.split(" = ") for entry in fitted().explain(x, top=99).entries)
    assert cells.items() >= WRITTEN.items()
    assert cells["when: hour"] == "5"
    assert cells["plane"] == "N12216, one of the others"


def test_rules_do_not_call_a_rare_level_missing() -> None:
    words = [entry.words for entry in fitted().explain(row(), by="rule", top=999).entries]
    assert any("plane = N12216, one of the others" in text for text in words)


def test_missing_cells_are_missing_not_other_levels() -> None:
    words = [entry.words for entry in fitted().explain(row().assign(plane=None), top=99).entries]
    assert "plane is missing" in words


def test_the_hardest_rows_of_a_report_show_cells_as_written() -> None:
    X, y = frame()
    wrong = X.assign(plane="N12216", slashes="31/01/2024")
    page = fitted().report(X=wrong, y=y).text
    cards = page[page.index('id="hardest"') :]
    for cell in ("Yes", "no", "2024-"):
        assert f"<dd>{cell}" in cards
    assert "N12216, one of the others" in page


def test_notebooks_align_text_left_and_numbers_right() -> None:
    page = fitted().explain(row())._repr_html_()
    assert '<td style="text-align:left">paid = Yes</td><td>' in page


def test_shapes_name_days_and_answers_and_give_a_frame() -> None:
    shapes = fitted(0).shapes()
    assert shapes["paid"].levels == ("no", "yes")
    table = shapes.to_frame()
    days = table[table["column"] == "when"]["values"].tolist()
    assert all(text.startswith(("up to 2024-", "2024-", "above 2024-")) for text in days[:-1])
    assert days[-1] == "missing"
    assert len(str(shapes).splitlines()) == len(shapes.features)


def test_dates_are_ticks_of_plots() -> None:
    pytest.importorskip("matplotlib")
    panels = pacboost.plots.shapes(fitted(0), top=12)
    axes = next(axes for axes in panels if axes.get_xlabel() == "when")
    axes.figure.canvas.draw()
    labels = [tick.get_text() for tick in axes.get_xticklabels()]
    assert any(label.startswith("2024-") for label in labels)


def test_importances_have_names() -> None:
    found = fitted().importances()
    assert found["paid"] == max(fitted().feature_importances_)
    np.testing.assert_array_equal(found, fitted().feature_importances_)
    table = found.to_frame()
    assert table["column"].tolist()[0] == str(found).splitlines()[0].split("  ")[-1]
    assert set(table.columns) == {"column", "gain"}
