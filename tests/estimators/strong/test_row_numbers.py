"""The hardest rows are named by their numbers in what was given to fit, by every estimator."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import pacboost
from pacboost.cli.main import main

PLANTED = (7, 77, 177, 277, 377, 477, 555)
"""Rows far within one class that bear the label of the other."""
ROWS = 600


def separated() -> tuple[Any, Any]:
    """Two classes far from each other, and wrong labels at known rows."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, ROWS)
    X = rng.normal(size=(ROWS, 4))
    X[:, 0] = np.where(y == 1, 1, -1) * rng.uniform(2.0, 3.0, ROWS)
    y[list(PLANTED)] = 1 - y[list(PLANTED)]
    return X, y


def texts() -> tuple[list[str], Any]:
    X, y = separated()
    words = ["lovely" if row[0] > 0 else "dreadful" for row in X]
    return words, y


def boost(**parameters: Any) -> Callable[[], Any]:
    return lambda: pacboost.BoostClassifier(
        "adaboost", "stump", n_estimators=1, random_state=0, **parameters
    )


TABLES: dict[str, Callable[[], Any]] = {
    "strong": lambda: pacboost.StrongClassifier(random_state=0),
    "strong, looking early": lambda: pacboost.StrongClassifier(0.2, random_state=0),
    "strong, epsilon missed": lambda: pacboost.StrongClassifier(0.001, random_state=0),
    "adaboost": lambda: pacboost.AdaBoostClassifier(
        n_estimators=1, certify="holdout", random_state=0
    ),
    "adaboost, certified by training rows": lambda: pacboost.AdaBoostClassifier(
        n_estimators=1, certify="train", random_state=0
    ),
    "boost": boost(),
    "boost, held out": boost(certify="holdout", early_stopping=True, calibrate="sigmoid"),
    "by majority": lambda: pacboost.theory.BoostByMajority(certify="holdout", random_state=0),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.filterwarnings("ignore")
def test_the_hardest_rows_are_those_with_wrong_labels(kind: str) -> None:
    X, y = separated()
    model = TABLES[kind]().fit(X, y)
    hardest = model.ledger_.hardest(3)
    assert {entry.row for entry in hardest} <= set(PLANTED)
    assert [entry.label for entry in hardest] == [str(y[entry.row]) for entry in hardest]


@pytest.mark.parametrize("kind", [pacboost.StrongClassifier, pacboost.TextBoostClassifier])
@pytest.mark.filterwarnings("ignore")
def test_the_hardest_texts_are_those_with_wrong_labels(kind: Any) -> None:
    X, y = texts()
    model = kind(random_state=0, n_estimators=20).fit(X, y)
    assert {entry.row for entry in model.ledger_.hardest(3)} <= set(PLANTED)


def test_groups_and_times_leave_the_numbers_as_they_were() -> None:
    X, y = separated()
    for given in ({"groups": np.arange(ROWS) // 4}, {"time": np.arange(ROWS)[::-1].copy()}):
        model = pacboost.StrongClassifier(random_state=0).fit(X, y, **given)
        assert {entry.row for entry in model.ledger_.hardest(3)} <= set(PLANTED)


def test_a_file_and_its_report_name_rows_of_the_data(tmp_path: Path) -> None:
    X, y = separated()
    data, file, page = (tmp_path / name for name in ("rows.csv", "m.pacb", "m.html"))
    lines = [
        ",".join([*map(repr, map(float, row)), str(label)]) for row, label in zip(X, y, strict=True)
    ]
    data.write_text("\n".join(["a,b,c,d,label", *lines]))
    fitted = CliRunner().invoke(
        main, ["fit", str(data), "--target", "label", "--output", str(file)]
    )
    assert fitted.exit_code == 0, fitted.output
    assert {e.row for e in pacboost.load(file).ledger_.hardest(3)} <= set(PLANTED)
    assert all(check.holds for check in pacboost.verify(file))
    written = CliRunner().invoke(main, ["report", str(file), "--output", str(page)])
    assert written.exit_code == 0, written.output
    section = page.read_text(encoding="utf-8").partition("Among the training rows")[2]
    named = re.findall(r"<tr><td class=.?number.?>([\d,]+)</td>", section)[:3]
    assert named
    assert {int(number.replace(",", "")) for number in named} <= set(PLANTED)
