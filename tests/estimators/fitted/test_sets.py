"""pacboost.sets: promises on fresh rows, guards, refusals."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import pacboost
from pacboost import BaggingClassifier, BoostClassifier, RandomForestClassifier
from pacboost.bounds.coverage import LabelScore, average_rank
from pacboost.bounds.family import Family
from pacboost.errors import DataError, InputWarning, NotCertified, ParameterError
from pacboost.questions import calibration_rows
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs

NAMES = np.array(["a", "b", "c", "d"])
CENTRES = np.array([[0, 0], [1.2, 0], [0, 1.2], [1.5, 1.5]])
SHARES = np.array([0.4, 0.3, 0.2, 0.1])


def world(rows: int, seed: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    own = generator.choice(4, size=rows, p=SHARES)
    return CENTRES[own] + 0.7 * generator.normal(size=(rows, 2)), NAMES[own]


X, Y = world(500, 0)
FRESH, LABELS = world(1200, 1)
LATER, TRUTH = world(20_000, 2)


@pytest.fixture(scope="module")
def model() -> Any:
    return LogisticRegression().fit(X, Y)


def covered(sets: Any, X: Any, y: Any) -> Any:
    places = np.searchsorted(NAMES, y)
    return sets.predict_set(X)[np.arange(len(y)), places]


@pytest.mark.parametrize("method", ["lac", "aps", "raps"])
def test_sets_cover(model: Any, method: str) -> None:
    found = pacboost.sets(model, FRESH, LABELS, coverage=0.9, method=method)
    share = covered(found, LATER, TRUTH).mean()
    assert 0.89 < share < 0.95
    made: Any = found.certificate_
    assert made.value >= 0.9
    assert made.details["method"] == method
    assert pacboost.verify(made)[0].holds
    sizes = found.predict_set(LATER).sum(axis=1)
    assert sizes.min() == 1
    assert sizes.mean() == pytest.approx(found.mean_size_, abs=0.1)
    assert found.sentence_.startswith("If these rows are new: ")
    labels = found.label_sets(LATER[:50])
    assert [len(own) for own in labels] == sizes[:50].tolist()
    assert (found.predict(LATER[:9]) == model.predict(LATER[:9])).all()
    assert found.predict_proba(LATER[:9]).shape == (9, 4)
    assert "prediction sets of LogisticRegression" in repr(found)


def test_raps_makes_smaller_sets_smaller(model: Any) -> None:
    plain = pacboost.sets(model, FRESH, LABELS, method="aps")
    small = pacboost.sets(model, FRESH, LABELS, method=LabelScore("raps", 0.5))
    most = [own.predict_set(LATER).sum(axis=1).max() for own in (plain, small)]
    assert most[1] <= most[0]


def test_every_class(model: Any) -> None:
    found = pacboost.sets(model, FRESH, LABELS, coverage=0.85, by_class=True)
    family = found.certificate_
    assert isinstance(family, Family)
    assert len(family) == len(found.cutoffs_) == 4
    held = covered(found, LATER, TRUTH)
    for certificate in family:
        own = certificate.details["class"] == TRUTH
        assert held[own].mean() > certificate.value - 0.01
        assert certificate.value >= 0.85
        assert certificate.inputs["claims"] == 4
        assert "a prediction set" in certificate.claim
    assert all(check.holds for check in pacboost.verify(family))
    assert "All 4 claims hold together" in found.sentence_
    assert "class_coverage" in str(family)
    assert family.worst.value == min(own.value for own in family)
    rare = np.flatnonzero(LABELS == "d")[25:]
    rows = np.setdiff1d(np.arange(LABELS.size), rare)
    with pytest.raises(NotCertified, match=r"42 rows .*'d'.* 25"):
        pacboost.sets(model, FRESH[rows], LABELS[rows], coverage=0.9, by_class=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: BoostClassifier(n_estimators=20, random_state=0),
        lambda: RandomForestClassifier(20, random_state=0),
        lambda: pacboost.StrongClassifier(n_estimators=20, random_state=0),
        lambda: BaggingClassifier(n_estimators=10, random_state=0),
        lambda: pacboost.theory.SubsampledBoost(max_members=3, random_state=0),
    ],
)
def test_our_classifiers(make: Any) -> None:
    own = make().fit(X, Y)
    found = pacboost.sets(own, FRESH, LABELS, coverage=0.9, method="aps")
    certificate: Any = found.certificate_
    assert certificate.value >= 0.9
    assert certificate.rows_checked
    assert covered(found, LATER, TRUTH).mean() > 0.88
    again = pickle.loads(pickle.dumps(found))
    assert (again.predict_set(LATER[:99]) == found.predict_set(LATER[:99])).all()
    with pytest.raises(NotCertified, match="trained on"):
        pacboost.sets(own, X, Y)
    with pytest.raises(NotCertified, match="holds no sets"):
        pacboost.sets(own)


def test_a_fit_that_goes_on_has_no_sets() -> None:
    own = BoostClassifier(n_estimators=20, warm_start=True).fit(X, Y)
    kept = pacboost.sets(own, FRESH, LABELS).estimator_
    sure = pacboost.choose_threshold(kept, FRESH, LABELS, abstain_below=0.5)
    assert pacboost.sets(sure).predict_set(LATER[:5]).shape == (5, 4)
    with pytest.raises(NotCertified, match="holds no sets"):
        pacboost.sets(kept.set_params(n_estimators=22).fit(X, Y))


def test_frames_and_groups() -> None:
    columns = ["p", "q"]
    own = BoostClassifier(n_estimators=20).fit(pd.DataFrame(X, columns=columns), Y)
    frame = pd.DataFrame(FRESH, columns=columns)
    found = pacboost.sets(own, frame, LABELS, groups=np.arange(1200) // 4, method="aps")
    certificate: Any = found.certificate_
    assert certificate.size == 300
    assert "of a new group" in certificate.claim
    assert pacboost.verify(certificate)[0].holds
    assert found.predict_set(frame).shape == (1200, 4)


def test_guards(model: Any) -> None:
    doubled = np.repeat(FRESH, 2, axis=0), np.repeat(LABELS, 2)
    with pytest.warns(InputWarning, match="rows are not counted"):
        once = pacboost.sets(model, *doubled, copies="distinct")
    assert once.cutoffs_ == pacboost.sets(model, FRESH, LABELS).cutoffs_
    with pytest.raises(NotCertified, match=r"29 rows.* 20.* 9 more"):
        pacboost.sets(model, FRESH[:20], LABELS[:20])
    strange = np.where(np.arange(1200) % 5 == 0, "e", LABELS)
    with pytest.raises(NotCertified, match="label is unknown"):
        pacboost.sets(model, FRESH, strange)
    few = np.where(np.arange(1200) % 100 == 0, "e", LABELS)
    assert pacboost.sets(model, FRESH, few).mean_size_ > 1


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"coverage": 1.0}, ParameterError, "coverage"),
        ({"delta": 0}, ParameterError, "delta"),
        ({"method": "best"}, ParameterError, "it may be 'lac', 'aps', 'raps'"),
        ({"copies": "no"}, ParameterError, "copies is 'no'"),
        (
            {"by_class": True, "groups": np.arange(1200)},
            ParameterError,
            "of by_class, by and groups only one",
        ),
        ({"y": LABELS[:-1]}, DataError, "predict_proba gave shape"),
        ({"y": np.array([None] * 1200)}, DataError, "missing labels"),
        ({"model": RidgeClassifier().fit(X, Y)}, NotCertified, "has no predict_proba"),
        ({"model": object()}, NotCertified, "pacboost.intervals"),
    ],
)
def test_refusals(model: Any, change: dict[str, Any], error: Any, match: str) -> None:
    given = {"model": model, "X": FRESH, "y": LABELS, **change}
    with pytest.raises(error, match=match):
        pacboost.sets(**given)


def broken(model: Any, method: str, by_class: bool, runs: int, rows: int) -> int:
    """How often new sets cover less than was asked for: all examples, or those of any class."""
    generator = np.random.default_rng(7)
    places = np.searchsorted(NAMES, TRUTH)
    failed = 0
    for _ in range(runs):
        chosen = generator.choice(FRESH_MANY.shape[0], rows, replace=False)
        fresh, labels = FRESH_MANY[chosen], LABELS_MANY[chosen]
        found = pacboost.sets(model, fresh, labels, coverage=0.85, method=method, by_class=by_class)
        held = found.predict_set(LATER)[np.arange(TRUTH.size), places]
        shares = [held[places == c].mean() for c in range(4)] if by_class else [held.mean()]
        failed += min(shares) < 0.85
    return failed


FRESH_MANY, LABELS_MANY = world(30_000, 3)


@several_runs(40, 400)
@pytest.mark.parametrize(
    ("method", "by_class"), [("lac", False), ("aps", True), ("raps", False), ("lac", True)]
)
def test_promises_on_samples_of_a_known_world(
    model: Any, method: str, by_class: bool, runs: int
) -> None:
    failed = broken(model, method, by_class, runs, 800)
    check_coverage(f"sets by {method}, by_class={by_class}", failed, runs, 0.05)


def test_the_promise_on_average_is_rejected(model: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(
        calibration_rows, "covering_rank", lambda n, coverage, _: average_rank(n, coverage)
    )
    failed = broken(model, "lac", False, 40, 800)
    check_rejected("sets of a classifier that cover on average", failed, 40, 0.05)
