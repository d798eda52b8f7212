"""choose_threshold(target_error=…): answers that are right as often as promised."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import pacboost
from pacboost.errors import FileError, NotCertified, ParameterError
from pacboost.estimators.decisions.threshold import AnsweringClassifier
from tests.bounds.coverage import check_coverage, check_rejected

Rows = tuple[NDArray[np.float64], NDArray[Any]]


def rows(generator: np.random.Generator, count: int) -> Rows:
    X = generator.normal(size=(count, 2))
    return X, X[:, 0] + generator.normal(size=count) > 0


@pytest.fixture(scope="module")
def model() -> Any:
    X, y = rows(np.random.default_rng(0), 1000)
    return pacboost.BoostClassifier(n_estimators=15, random_state=0).fit(X, y)


def test_the_rule_is_used_saved_and_drawn(model: Any, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    X, y = rows(generator, 3000)
    careful = pacboost.choose_threshold(model, X, y, target_error=0.1)
    assert isinstance(careful, AnsweringClassifier)
    assert careful.certificate_.value <= 0.1
    assert "of the new examples it answers" in careful.sentence_
    new, labels = rows(generator, 4000)
    said = careful.predict(new)
    sure = model.predict_proba(new).max(axis=1) >= careful.threshold_
    assert [own is not None for own in said] == sure.tolist()
    assert (said[sure] != labels[sure]).mean() < 0.12
    assert careful.mistakes(new, labels).mean() > (~sure).mean() - 1e-9
    assert len(careful.answer(new)) == 4000
    assert careful.plot().get_xlabel() == "share of rows that are answered"
    careful.save(tmp_path / "m.pacb")
    again = pacboost.choose_threshold(pacboost.load(tmp_path / "m.pacb"))
    assert again.predict(new).tolist() == said.tolist()
    assert again.certificate_ == careful.certificate_
    with pytest.raises(NotCertified, match="trained"):
        pacboost.certify(again, X, y)  # the rows that chose the threshold are remembered
    careful.report(tmp_path / "page.html")
    assert "of the new examples it answers" in (tmp_path / "page.html").read_text("utf-8")
    assert pickle.loads(pickle.dumps(careful)).sentence_ == careful.sentence_
    with pytest.raises(ParameterError, match="programs answer every row"):
        pacboost.export(careful, tmp_path / "m.py")


def test_any_classifier_and_refusals(model: Any, tmp_path: Path) -> None:
    X, y = rows(np.random.default_rng(2), 2000)
    forest = RandomForestClassifier(20, random_state=0).fit(X[:500], y[:500])
    found = pacboost.choose_threshold(forest, X[500:], y[500:], target_error=0.2)
    assert found.certificate_.claim.startswith("If these rows are new")
    with pytest.raises(FileError, match="no model file"):
        found.save(tmp_path / "m.pacb")
    with pytest.raises(ParameterError, match="positive was given"):
        pacboost.choose_threshold(model, X, y, target_error=0.1, positive=True)  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="exactly one of"):
        pacboost.choose_threshold(model, X, y, target_error=0.1, recall=0.9)  # type: ignore[call-overload]
    with pytest.raises(NotCertified, match="no threshold brings"):
        pacboost.choose_threshold(model, X, y, target_error=0.001)
    coins = np.random.default_rng(3).integers(2, size=2000) == 1
    with pytest.raises(NotCertified, match="no threshold brings"):
        pacboost.choose_threshold(model, X, coins, target_error=0.3)
    fitted = clone(found).fit(X, y)
    with pytest.raises(NotCertified, match="nothing is certified"):
        _ = fitted.certificate_


def failures(runs: int, *, honest: bool) -> int:
    """How often the true error among the answered is above the target of 15 %."""
    generator, failed = np.random.default_rng(5), 0
    model = LogisticRegression().fit(*rows(generator, 200))
    far, truth = rows(generator, 40_000)
    sure, wrong = model.predict_proba(far).max(axis=1), model.predict(far) != truth
    for _ in range(runs):
        X, y = rows(generator, 300)
        if honest:
            try:
                least = pacboost.choose_threshold(model, X, y, target_error=0.15).threshold_
            except NotCertified:
                continue
        else:  # the smallest threshold at which the rows themselves look good enough
            own, bad = model.predict_proba(X).max(axis=1), model.predict(X) != y
            good = [t for t in np.sort(own)[:-20] if bad[own >= t].mean() <= 0.15]
            least = good[0] if good else 1.0
        failed += bool(wrong[sure >= least].mean() > 0.153) if (sure >= least).any() else False
    return failed


def test_the_promise_is_kept_and_a_twin_is_rejected() -> None:
    check_coverage("error among the answered, chosen", failures(60, honest=True), 60, 0.05)
    check_rejected("threshold by the error that was seen", failures(60, honest=False), 60, 0.05)
