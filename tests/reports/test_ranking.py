"""ROC and precision-recall curves on the page: by held-out rows, or by the rows that were given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost.reports.page.subject import TRAINED

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
SCORE = X[:, 0] + X[:, 1] * X[:, 2]
TWO, MANY = SCORE > 0, np.digitize(SCORE, [-1, 0, 1])
LARGER = RNG.normal(size=(5000, 4))
SEVERAL = np.stack([SCORE > 0, SCORE > 1], axis=1).astype(int)
SEEDED: dict[str, Any] = {"certify": "holdout", "random_state": 0}
FITS: dict[str, Any] = {
    "boosted trees": lambda: pacboost.BoostClassifier(n_estimators=5, **SEEDED).fit(X, TWO),
    "many classes": lambda: pacboost.BoostClassifier(n_estimators=5, **SEEDED).fit(X, MANY),
    "several labels": lambda: pacboost.AdaBoostClassifier(n_estimators=5, **SEEDED).fit(X, SEVERAL),
    "forest": lambda: pacboost.RandomForestClassifier(5, **SEEDED).fit(X, MANY),
    "committee": lambda: pacboost.theory.ThreeLearnerBoost("stump", **SEEDED).fit(X, TWO),
    "strong": lambda: pacboost.StrongClassifier(n_estimators=5, random_state=0).fit(X, TWO),
    "filtering": lambda: pacboost.FilterBoostClassifier(n_estimators=4, random_state=0).fit(
        LARGER, np.digitize(LARGER[:, 0] + LARGER[:, 1], [-1, 0, 1])
    ),
}


@pytest.mark.parametrize("kind", FITS)
def test_held_out_rows_give_curves_and_a_file_keeps_them(kind: str, tmp_path: Path) -> None:
    model = FITS[kind]()
    model.save(tmp_path / "m.pacb")
    again = pacboost.load(tmp_path / "m.pacb")
    text = again.report(tmp_path / "m.html").read_text(encoding="utf-8")
    assert text == model.report(tmp_path / "fresh.html").read_text(encoding="utf-8")
    section = text[text.index('<section id="ranking"') :].partition("</section>")[0]
    rows = again.model_.held_out.rows
    assert f"The {rows:,} held-out rows are sorted by the score" in section
    assert "ROC curve" in section
    assert "Precision and recall" in section
    assert min(own.auc for own in again.model_.held_out.ranks.values()) > 0.5


def test_given_rows_give_the_curves_and_rows_of_the_fit_are_marked(tmp_path: Path) -> None:
    model = pacboost.BoostClassifier(n_estimators=5, random_state=0).fit(X[:300], TWO[:300])
    plain = model.report(tmp_path / "m.html").read_text(encoding="utf-8")
    assert '<section id="ranking"' not in plain
    for rows, seen in ((slice(0, 300), True), (slice(300, 600), False)):
        text = model.report(tmp_path / "m.html", X[rows], TWO[rows]).read_text(encoding="utf-8")
        section = text[text.index('<section id="ranking"') :].partition("</section>")[0]
        assert "The 300 rows given for this report are sorted by the score" in section
        assert (TRAINED in section) == seen


def test_trees_have_a_curve_for_each_column(tmp_path: Path) -> None:
    model = pacboost.BoostClassifier(n_estimators=5, random_state=0).fit(X, TWO)
    text = model.report(tmp_path / "m.html").read_text(encoding="utf-8")
    assert "partial dependence" in text
    assert "What x0 adds to the score" in text
    numbers = pacboost.BoostRegressor(n_estimators=5, random_state=0).fit(X, SCORE)
    told = numbers.report(tmp_path / "m.html").read_text(encoding="utf-8")
    assert "Values above 0 raise the prediction" in told
