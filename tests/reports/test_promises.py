"""The panel of everything that one may count on, and the curves around a threshold."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import pacboost

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(4000, 3))
Y = np.where(X[:, 0] + 0.5 * GENERATOR.normal(size=4000) > 1, "sick", "well")
MODEL = pacboost.BoostClassifier(n_estimators=10, random_state=0).fit(X[:1000], Y[:1000])


def panel(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<section[^>]*id="promises".*?</section>', text, re.DOTALL)
    return "" if found is None else re.sub(r"\s+", " ", found[0])


def test_everything_certified_is_listed_with_its_rows(tmp_path: Path) -> None:
    sets = pacboost.sets(MODEL, X[1000:2500], Y[1000:2500], coverage=0.9)
    careful = pacboost.choose_threshold(
        sets.estimator_, X[1000:2500], Y[1000:2500], recall=0.9, positive="sick"
    )
    groups = np.where(X[2500:, 1] > 0, "north", "south")
    found = pacboost.certify_all(
        careful, X[2500:], Y[2500:], of="false_negative_rate", positive="sick", by=groups
    )
    said = panel(careful.report(tmp_path / "page.html", X[2500:], Y[2500:], certified=found))
    claims = [careful.certificate_, *careful.others_, sets.rule.certificate, *found]
    for own in claims:
        assert own.claim.replace("'", "&#x27;") in said
        assert f">{own.size:,}<" in said
    assert said.count("95 %") >= len(claims)
    assert f"Worst group: {found.worst_group}" in said
    assert "guaranteed, for all thresholds at once" in said
    assert "At most" not in (tmp_path / "page.html").read_text("utf-8").split("</h1>")[0][-400:]
    plain = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Nothing is proved about new examples" not in plain
    errors = np.mean(careful.predict(X[2500:]) != Y[2500:])
    assert f"{100 * errors:.1f} %" in plain  # of the threshold, not of the plain vote


def test_answers_and_intervals_have_their_panels(tmp_path: Path) -> None:
    modest = pacboost.choose_threshold(MODEL, X[1000:], Y[1000:], target_error=0.05)
    said = panel(modest.report(tmp_path / "page.html"))
    assert "Answers that are given" in said
    assert "Answering less, and being right more often" in said
    numbers = pacboost.BoostRegressor(n_estimators=5).fit(X[:1000], X[:1000, 0])
    assert panel(numbers.report(tmp_path / "page.html")) == ""
    numbers = pacboost.intervals(numbers, X[1000:], X[1000:, 0]).estimator_
    said = panel(numbers.report(tmp_path / "page.html"))
    assert "The prediction interval holds the true number for at least" in said
    assert "wide on average (an estimate)" in said


def test_nothing_certified_has_no_panel(tmp_path: Path) -> None:
    plain = pacboost.BoostClassifier(n_estimators=2).fit(X[:1000], Y[:1000])
    assert panel(plain.report(tmp_path / "page.html")) == ""
