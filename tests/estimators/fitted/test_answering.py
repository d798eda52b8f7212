"""choose_threshold(target_error=…): answers that are right as often as promised."""

import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import pacboost
from pacboost import (
    AdaBoostClassifier,
    BoostClassifier,
    TextBoostClassifier,
    choose_threshold,
    load,
)
from pacboost.bounds.answering import by_ranks
from pacboost.errors import FileError, NotCertified, ParameterError
from pacboost.estimators.decisions.threshold import AnsweringClassifier
from pacboost.models.answers import Answer
from tests.bounds.coverage import check_coverage, check_rejected
from tests.worlds import noisy

WORDS = [f"w{number}" for number in range(12)]
CHANCES = np.linspace(0.05, 0.95, 12)
"""Of the label "yes", given the word."""


def said(rows: int, seed: int) -> tuple[list[str], NDArray[np.str_]]:
    """A word each, of twelve, and a label that depends on it."""
    generator = np.random.default_rng(seed)
    kinds = generator.integers(12, size=rows)
    labels = np.where(generator.random(rows) < CHANCES[kinds], "yes", "no")
    return [WORDS[kind] for kind in kinds], labels


def quick(**options: Any) -> TextBoostClassifier:
    few = {"n_estimators": 6, "learning_rate": 0.5, "random_state": 0}
    return TextBoostClassifier(**{**few, **options})


@cache
def fitted() -> TextBoostClassifier:
    return quick(certify="holdout", holdout=0.5).fit(*said(1200, 0))


def own_risks(model: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The confidence and the true risk of the model at each of the words."""
    scores = model.decision_function(WORDS)
    risk = np.where(scores == 0, 1.0, np.where(scores > 0, 1 - CHANCES, CHANCES))
    return model.predict_proba(WORDS).max(axis=1), risk


def missed(model: Any, found: Any) -> bool:
    sure, risk = own_risks(model)
    for point, error in zip(found.points, found.errors, strict=True):
        answered = sure >= point.threshold
        if answered.any() and error < risk[answered].mean():
            return True
    return False


def test_hold_out_rows_of_fit_certify_its_answers() -> None:
    runs, delta, violations = 40, 0.1, 0
    for seed in range(runs):
        model = quick(
            certify="holdout", holdout=0.5, n_estimators=3, random_state=seed, delta=delta
        )
        found: Any = model.fit(*said(80, seed)).model_.answering
        assert found.rows == 40
        violations += missed(model, found)
    check_coverage("answers of fits with certify='holdout'", violations, runs, delta)


def test_twin_training_rows_certify_nothing() -> None:
    """Labels are coin flips, so half of all answers are wrong; training rows know better."""
    generator, runs, violations = np.random.default_rng(0), 10, 0
    for seed in range(runs):
        words = [f"u{number}" for number in range(100)]
        labels = generator.choice(["yes", "no"], size=100)
        model = quick(random_state=seed).fit(words, labels)
        with pytest.raises(NotCertified, match="trained on"):
            choose_threshold(model, words, labels, target_error=0.4)
        sure = model.predict_proba(words).max(axis=1)
        violations += min(by_ranks(sure, model.mistakes(words, labels), 0.1).errors) < 0.5
    check_rejected("twin: answers certified by training rows", violations, runs, 0.1)


def test_answers_are_predictions_or_none() -> None:
    model = fitted()
    given = choose_threshold(model, abstain_below=0.7).answer(WORDS)
    sure = model.predict_proba(WORDS).max(axis=1)
    assert [a.guess for a in given] == model.predict(WORDS).tolist()
    assert [a.confidence for a in given] == sure.tolist()
    assert [a.label for a in given] == [
        guess if own >= 0.7 else None
        for guess, own in zip(model.predict(WORDS).tolist(), sure, strict=True)
    ]
    assert {a.label for a in given} == {"yes", "no", None}
    asked = choose_threshold(model, abstain_below=0.7).set_params(otherwise="ask").answer(WORDS)
    assert {a.label for a in asked} == {"yes", "no", "ask"}
    assert isinstance(given[0], Answer)
    with pytest.raises(NotCertified, match="nothing is certified"):
        _ = choose_threshold(model, abstain_below=0.7).certificate_


def test_the_rows_of_the_fit_choose_a_threshold(tmp_path: Path) -> None:
    model, target = fitted(), 0.25
    found, known = choose_threshold(model, target_error=target), model.model_.answering
    assert known is not None
    assert found.threshold_ == known.within(target).point.threshold
    assert found.certificate_.value <= target
    answered = (model.predict_proba(WORDS).max(axis=1) >= found.threshold_).tolist()
    assert [a.label is not None for a in found.answer(WORDS)] == answered
    found.save(tmp_path / "model.pacb")
    again = choose_threshold(load(tmp_path / "model.pacb"))
    assert again.answer(WORDS) == found.answer(WORDS)
    assert again.certificate_ == found.certificate_
    with pytest.raises(ParameterError, match="no threshold was chosen"):
        choose_threshold(model)
    with pytest.raises(NotCertified, match="the least is"):
        choose_threshold(model, target_error=1e-6)
    with pytest.raises(ParameterError, match="give X and y"):
        choose_threshold(model, recall=0.9)  # type: ignore[call-overload]
    with pytest.raises(NotCertified, match="certify='holdout'"):
        choose_threshold(quick().fit(*said(100, 0)), target_error=0.2)


def test_fresh_rows_certify_any_vote() -> None:
    X, y = noisy(900, 4, seed=1)
    for model in (AdaBoostClassifier(n_estimators=20), BoostClassifier(n_estimators=10)):
        model.fit(X[:300], y[:300])
        wishes: list[Any] = [{"target_error": 0.45}, {"abstain_below": 0.6}]
        for wish in wishes:
            found: Any = choose_threshold(model, X[300:], y[300:], **wish)
            answered = [a.label is not None for a in found.answer(X[300:])]
            assert sum(answered) == found.curve_.point.answered
        assert found.curve_.thresholds == 1
        assert found.threshold_ == 0.6
        assert found.certificate_.delta == 0.05


def test_several_labels_are_answered_together() -> None:
    texts, labels = said(600, 0)
    both = np.column_stack([labels == "yes", [len(text) > 2 for text in texts]]).astype(int)
    model = quick(certify="holdout", booster="adaboost", n_estimators=20).fit(texts, both)
    given = choose_threshold(model, abstain_below=0.0).answer(texts[:5])
    assert [a.label for a in given] == model.predict(texts[:5]).tolist()
    assert model.model_.answering is not None
    assert model.model_.answering.points[0].mistakes == model.certificate_.inputs["k"]


@pytest.mark.parametrize("calibrate", [None, "temperature", "isotonic"])
@pytest.mark.usefixtures("isotonic_from_few_rows")
def test_calibrated_confidence(calibrate: str | None) -> None:
    model = quick(calibrate=calibrate, certify="holdout").fit(*said(1200, 0))
    given = choose_threshold(model, abstain_below=0.6).answer(WORDS)
    chances = model.predict_proba(WORDS)
    places = [model.classes_.tolist().index(a.guess) for a in given]
    assert [a.confidence for a in given] == chances[np.arange(12), places].tolist()


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"target_error": 0.1, "abstain_below": 0.5}, "one of them"),
        ({"abstain_below": 1.5}, "abstain_below is 1.5"),
        ({"target_error": 3}, "target_error is 3"),
        ({"target_error": 0.1, "delta": 0.01}, "the claim has the delta of the fit"),
    ],
)
def test_bad_wishes_are_refused(wish: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        choose_threshold(fitted(), **wish)


Rows = tuple[NDArray[np.float64], NDArray[Any]]


def rows(generator: np.random.Generator, count: int) -> Rows:
    X = generator.normal(size=(count, 2))
    return X, X[:, 0] + generator.normal(size=count) > 0


@pytest.fixture(scope="module")
def model() -> Any:
    X, y = rows(np.random.default_rng(0), 1000)
    return pacboost.BoostClassifier(n_estimators=100, random_state=0).fit(X, y)


def test_the_rule_is_used_saved_and_drawn(model: Any, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    X, y = rows(generator, 3000)
    careful = pacboost.choose_threshold(model, X, y, target_error=0.1)
    assert isinstance(careful, AnsweringClassifier)
    assert careful.certificate_.value <= 0.1
    assert "it answers" in careful.sentence_
    new, labels = rows(generator, 4000)
    said = careful.predict(new)
    sure = model.predict_proba(new).max(axis=1) >= careful.threshold_
    assert [own is not None for own in said] == sure.tolist()
    assert (said[sure] != labels[sure]).mean() < 0.12
    assert careful.mistakes(new, labels).mean() > (~sure).mean() - 1e-9
    assert len(careful.answer(new)) == 4000
    assert careful.plot().get_xlabel().startswith("share of rows")
    careful.save(tmp_path / "m.pacb")
    again = pacboost.choose_threshold(pacboost.load(tmp_path / "m.pacb"))
    assert again.predict(new).tolist() == said.tolist()
    assert again.certificate_ == careful.certificate_
    with pytest.raises(NotCertified, match="trained"):
        pacboost.certify(again, X, y)  # the rows that chose the threshold are remembered
    careful.report(tmp_path / "page.html")
    assert "it answers" in (tmp_path / "page.html").read_text("utf-8")
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
    check_coverage("error among the answered, chosen", failures(30, honest=True), 30, 0.05)
    check_rejected("threshold by the error that was seen", failures(30, honest=False), 30, 0.05)
