"""certify_answers: any classifier with probabilities, on rows it has not seen."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacboost import AdaBoostClassifier, RandomForestClassifier
from pacboost.bounds.holdout import clopper_pearson
from pacboost.errors import DataError, NotCertified, ParameterError
from pacboost.questions.answering import certify_answers
from pacboost.questions.verify import recompute
from tests.bounds.coverage import check_coverage, check_rejected
from tests.worlds import noisy

X, Y = noisy(600, 4, seed=1)
FRESH, LABELS = noisy(2000, 4, seed=2)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        CalibratedClassifierCV(RidgeClassifier(), cv=2),
        AdaBoostClassifier(n_estimators=20),
        RandomForestClassifier(10, random_state=0),
    ],
)
def test_any_classifier_with_probabilities(model: Any) -> None:
    model.fit(X, Y)
    found = certify_answers(model, FRESH, LABELS, delta=0.1)
    assert found.rows == 2000
    assert found.delta == 0.1
    assert found.points[0].mistakes >= (model.predict(FRESH) != LABELS).sum()
    sure = model.predict_proba(FRESH).max(axis=1)
    for point in found.points:
        assert point.answered == (sure >= point.threshold).sum()


def test_a_threshold_of_ones_own_is_the_only_one() -> None:
    model = GaussianNB().fit(X, Y)
    found = certify_answers(model, FRESH, LABELS, abstain_below=0.7)
    answered = model.predict_proba(FRESH).max(axis=1) >= 0.7
    wrong = model.predict(FRESH) != LABELS
    k, n = int(wrong[answered].sum()), int(answered.sum())
    assert found.error == clopper_pearson(k, n, 0.05)
    assert recompute(found.certificate, None) == found.error  # type: ignore[arg-type]


def test_a_target_chooses() -> None:
    model = GaussianNB().fit(X, Y)
    found = certify_answers(model, FRESH, LABELS)
    assert found.chosen is None
    target = found.errors[8] + 1e-9
    chosen = certify_answers(model, FRESH, LABELS, target_error=target)
    assert chosen.points == found.points
    assert chosen.error <= target


def test_refusals() -> None:
    with pytest.raises(NotCertified, match=r"RidgeClassifier.*predict_proba"):
        certify_answers(RidgeClassifier().fit(X, Y), FRESH, LABELS)
    with pytest.raises(NotCertified, match="trained on"):
        certify_answers(AdaBoostClassifier(n_estimators=3).fit(X, Y), X, Y)
    model = GaussianNB().fit(X, Y)
    with pytest.raises(ParameterError, match="both given"):
        certify_answers(model, FRESH, LABELS, target_error=0.1, abstain_below=0.7)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        certify_answers(model, FRESH, LABELS, abstain_below=7)
    with pytest.raises(ParameterError, match="target_error"):
        certify_answers(model, FRESH, LABELS, target_error=2.0)
    with pytest.raises(DataError, match="labels"):
        certify_answers(model, FRESH, LABELS[:-1])


# -- coverage where the truth is known


class Steps:
    """Ten kinds of rows; it always says 1, with a confidence of its own for every kind."""

    classes_ = np.array([0, 1])
    sure = np.linspace(0.5, 0.95, 10)
    right = np.array([0.7, 0.5, 0.8, 0.6, 0.75, 0.75, 0.75, 0.75, 0.75, 0.75])

    def predict(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.ones(len(rows), dtype=np.int64)

    def predict_proba(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.column_stack([1 - self.sure[rows[:, 0]], self.sure[rows[:, 0]]])

    def risk(self, threshold: float) -> float:
        return float(1 - self.right[self.sure >= threshold].mean())

    def draw(self, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        generator = np.random.default_rng(seed)
        kinds = generator.integers(10, size=300)
        return kinds[:, None], (generator.random(300) < self.right[kinds]).astype(np.int64)


def test_a_target_just_missed_is_seldom_certified() -> None:
    """No threshold has an error below 1/4; one is certified to in a share delta of the runs."""
    model, runs, claimed, careless = Steps(), 300, 0, 0
    for seed in range(runs):
        rows = model.draw(seed)
        found = certify_answers(model, *rows, target_error=0.2499, delta=0.1, copies="draws")
        claimed += found.chosen is not None
        alone = [
            clopper_pearson(p.mistakes, p.answered, 0.1) < model.risk(p.threshold)
            for p in found.points
        ]
        careless += any(alone)
    check_coverage("certify_answers, a target just missed", claimed, runs, 0.1)
    check_rejected("twin: certify_answers, no union", careless, runs, 0.1)
