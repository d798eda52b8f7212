"""Thresholds keep their promise for rows that are served one by one, whose last bits differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import pacboost
from pacboost.bounds import decision
from pacboost.errors import NotCertified
from tests.bounds.coverage import check_coverage, check_rejected

WISHES = {"recall": 0.6, "false_positive_rate": 0.4, "precision": 0.5, "target_error": 0.5}
DELTA = 1e-4


def kept(name: str, said: NDArray[Any], share: NDArray[Any], positive: NDArray[Any]) -> bool:
    """Check whether a promise is true of a world of a few rows, with their shares and positives."""
    yes = np.array([own is not None and bool(own) for own in said])
    if name == "recall":
        return bool((share * positive)[yes].sum() >= WISHES[name] * (share * positive).sum())
    if name == "false_positive_rate":
        false = share * (1 - positive)
        return bool(false[yes].sum() <= WISHES[name] * false.sum())
    answered = yes if name == "precision" else np.array([own is not None for own in said])
    wrong = share * np.where(yes, 1 - positive, positive)
    limit = 0.5 * share[answered].sum()  # both wishes are one half
    return bool(wrong[answered].sum() <= limit)


def broken(name: str, runs: int, kind: Any, several: int = 6) -> tuple[int, int]:
    """Count promises that are broken by rows served alone, and certificates."""
    false = certified = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        pool = generator.normal(size=(several, 20)).astype(kind)
        share, positive = generator.dirichlet(np.ones(several)), generator.random(several)
        model = LogisticRegression()
        model.classes_, model.intercept_ = np.array([False, True]), np.zeros(1, dtype=kind)
        model.coef_ = generator.normal(size=(1, 20)).astype(kind) / 3
        drawn = generator.choice(several, size=3000, p=share)
        labels = generator.random(3000) < positive[drawn]
        wish: dict[str, Any] = {name: WISHES[name]}
        try:
            chosen = pacboost.choose_threshold(
                model, pool[drawn], labels, copies="draws", delta=DELTA, **wish
            )
        except NotCertified:
            continue
        certified += 1
        said = np.array([chosen.predict(row[None])[0] for row in pool], dtype=object)
        false += not kept(name, said, share, positive)
    return false, certified


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["recall", "false_positive_rate"])
def test_rows_served_alone_keep_the_promise(name: str, kind: Any) -> None:
    false, certified = broken(name, 25, kind)
    assert certified == 25
    check_coverage(f"{name}, rows served alone, {kind.__name__}", false, certified, DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", WISHES)
def test_rows_served_alone_keep_the_promise_in_many_worlds(name: str, kind: Any) -> None:
    false, certified = broken(name, 400, kind)
    check_coverage(f"{name}, rows served alone, {kind.__name__}, long", false, certified, DELTA)


def test_thresholds_on_scores_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: every floating-point number is a border."""
    monkeypatch.setattr(
        decision.Borders, "below", lambda self, scores: np.array(scores, np.float64)
    )
    monkeypatch.setattr(decision.Borders, "above", lambda self, score: np.nextafter(score, np.inf))
    false, certified = broken("recall", 25, np.float64)
    check_rejected("recall, thresholds on scores", false, certified, DELTA)
