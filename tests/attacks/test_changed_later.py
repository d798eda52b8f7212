"""A certificate is about the model and the parameters that were there when it was made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pacboost
from pacboost import AdaBoostClassifier, BoostRegressor
from pacboost.errors import NotCertified, ParameterError
from tests.grids import each_value

CLASSIFIERS = [
    AdaBoostClassifier(n_estimators=10, random_state=0),
    LogisticRegression(),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


def rows(seed: int, number: int = 400) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(number, 3))
    return X, (X[:, 0] + generator.normal(size=number) > 0).astype(int)


@pytest.mark.parametrize(
    "wish", [{"recall": 0.9}, {"precision": 0.6}, {"cost": (1.0, 1.0)}, {"target_error": 0.3}]
)
def test_another_threshold_has_no_certificate(wish: dict[str, Any]) -> None:
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(*rows(0))
    chosen = pacboost.choose_threshold(model, *rows(1), **wish)
    found = chosen.certificate_.claim
    before = chosen.threshold
    chosen.set_params(threshold=0.999)
    for name in ("certificate_", "sentence_", "curve_"):
        with pytest.raises(NotCertified, match=r"threshold=0\.999"):
            getattr(chosen, name)
    assert chosen.set_params(threshold=before).certificate_.claim == found


def test_another_class_has_no_certificate() -> None:
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(*rows(0))
    chosen = pacboost.choose_threshold(model, *rows(1), recall=0.9)
    with pytest.raises(NotCertified):
        _ = chosen.set_params(positive=0).certificate_


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_thresholds_and_sets_keep_the_classifier_that_they_were_certified_for(model: Any) -> None:
    model.fit(*rows(0))
    new, _ = rows(2)
    chosen = pacboost.choose_threshold(model, *rows(1), recall=0.9)
    covering = pacboost.sets(model, *rows(1), coverage=0.9)
    said, held = chosen.predict(new), covering.predict_set(new)
    other, labels = rows(3)
    model.fit(other[:, ::-1], 1 - labels)
    assert (chosen.predict(new) == said).all()
    assert (covering.predict_set(new) == held).all()


@pytest.mark.parametrize(
    "kind", [lambda: BoostRegressor(n_estimators=10, random_state=0), LinearRegression]
)
def test_intervals_keep_the_models_that_they_were_certified_for(kind: Callable[[], Any]) -> None:
    X, _ = rows(0)
    fresh, new = rows(1)[0], rows(2)[0]
    one, other, scale = (kind().fit(X, X[:, 0] + shift) for shift in (0.0, 1.0, 2.0))
    found = [
        pacboost.intervals(one, fresh, fresh[:, 0]),
        pacboost.intervals(one, fresh, fresh[:, 0], scale=scale),
        pacboost.intervals((one, other), fresh, fresh[:, 0]),
    ]
    before = [own.predict_interval(new) for own in found]
    for model in (one, other, scale):
        model.fit(X, 100 * X[:, 1])
    assert all(
        (own.predict_interval(new) == ends).all() for own, ends in zip(found, before, strict=True)
    )


def learns_more(model: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Let a model of scikit-learn learn other rows in place."""
    if hasattr(model, "partial_fit"):
        for _ in range(20):
            model.partial_fit(X, y)
    else:
        model.set_params(n_estimators=60, warm_start=True).fit(X, y)


IN_PLACE: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "sgd": (lambda: SGDClassifier(loss="log_loss", random_state=0), lambda model: model),
    "forest": (
        lambda: RandomForestClassifier(5, max_depth=3, random_state=0), lambda model: model,
    ),
    "pipeline": (
        lambda: make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)),
        lambda model: model[-1],
    ),
    "search": (
        lambda: GridSearchCV(SGDClassifier(loss="log_loss", random_state=0), {"alpha": [0.01]}),
        lambda model: model.best_estimator_,
    ),
    "voting": (
        lambda: VotingClassifier(
            [("one", SGDClassifier(loss="log_loss", random_state=0))], voting="soft"
        ),
        lambda model: model.estimators_[0],
    ),
    "calibrated": (
        lambda: CalibratedClassifierCV(SGDClassifier(random_state=0), ensemble=False),
        lambda model: model.calibrated_classifiers_[0].estimator,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_thresholds_and_sets_do_not_follow_a_classifier_that_learns_in_place(name: str) -> None:
    make, inner = IN_PLACE[name]
    model = make().fit(*rows(0))
    new, _ = rows(2)
    wishes: list[dict[str, Any]] = [
        {"recall": 0.9}, {"false_positive_rate": 0.2}, {"target_error": 0.4},
    ]  # fmt: skip
    thresholds: list[Any] = [pacboost.choose_threshold(model, *rows(1), **wish) for wish in wishes]
    covering = pacboost.sets(model, *rows(1), coverage=0.9)
    said, held = [own.predict(new) for own in thresholds], covering.predict_set(new)
    other, labels = rows(3)
    learns_more(inner(model), 9 * other[:, ::-1], 1 - labels)
    again = [own.predict(new) for own in thresholds]
    assert all((one == two).all() for one, two in zip(said, again, strict=True))
    assert (covering.predict_set(new) == held).all()


@each_value
@pytest.mark.parametrize("wrap", [lambda model: model, FrozenEstimator], ids=["plain", "frozen"])
@pytest.mark.parametrize(
    "make", [lambda: SGDRegressor(random_state=0), lambda: RandomForestRegressor(5)]
)
def test_intervals_do_not_follow_a_regressor_that_learns_in_place(
    make: Callable[[], Any], wrap: Callable[[Any], Any]
) -> None:
    X, fresh, new = (rows(seed)[0] for seed in range(3))
    model, scale = (make().fit(X, X[:, 0] + shift) for shift in (0.0, 9.0))
    found = pacboost.intervals(wrap(model), fresh, fresh[:, 0], scale=wrap(scale))
    before = found.predict_interval(new)
    for own in (model, scale):
        learns_more(own, X, 100 * X[:, 1])
    assert (found.predict_interval(new) == before).all()


def test_our_own_classifiers_do_not_change_what_was_certified_when_they_go_on() -> None:
    new, _ = rows(2)
    votes = [AdaBoostClassifier(n_estimators=5, warm_start=True, random_state=0) for _ in range(2)]
    forest = pacboost.RandomForestClassifier(n_estimators=5, warm_start=True, random_state=0)
    for model in (votes[0], make_pipeline(StandardScaler(), votes[1]), forest):
        found = pacboost.sets(model.fit(*rows(0)), *rows(1), coverage=0.9)
        before = found.predict_proba(new)
        getattr(model, "steps", [(0, model)])[-1][1].set_params(n_estimators=50)
        assert (model.fit(*rows(0)).predict_proba(new) != before).any()
        assert (found.predict_proba(new) == before).all()


class Locked(LogisticRegression):  # type: ignore[misc]
    """A model that nobody can copy."""

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("cannot pickle '_thread.lock' object")


def test_a_model_that_cannot_be_copied_is_refused() -> None:
    model = Locked().fit(*rows(0))
    with pytest.raises(NotCertified, match="__deepcopy__"):
        pacboost.sets(model, *rows(1))


def test_sets_of_a_classifier_that_learns_in_place_cover() -> None:
    """Labels are coins: the first model says nothing, and the second is sure of itself."""
    false = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        X, y = generator.normal(size=(3, 400, 5)), generator.integers(2, size=(3, 400))
        model = SGDClassifier(loss="log_loss", alpha=1.0, random_state=0).fit(X[0], y[0])
        found = pacboost.sets(model, X[1], y[1], coverage=0.9)
        model.set_params(alpha=1e-9, learning_rate="constant", eta0=1.0)
        learns_more(model, X[0], y[0])
        held = found.predict_set(X[2])[np.arange(400), y[2]]
        false += held.mean() < 0.8
    assert false <= 4


def test_a_program_with_another_threshold_has_no_certificate(tmp_path: Path) -> None:
    model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(*rows(0))
    chosen = pacboost.choose_threshold(model, *rows(1), recall=0.9)
    written = []
    for threshold in (chosen.threshold, 0.6):
        pacboost.export(chosen.set_params(threshold=threshold), tmp_path / "program.py")
        written.append((tmp_path / "program.py").read_text())
    assert ["finds at least" in text for text in written] == [True, False]


def test_a_monitor_does_not_mix_the_mistakes_of_two_models() -> None:
    model = AdaBoostClassifier(n_estimators=10, certify="holdout", random_state=0).fit(*rows(0))
    monitor = pacboost.Monitor(model).update(*rows(1))
    pacboost.choose_threshold(model, *rows(4), target_error=0.4)  # changes nothing
    monitor.update(*rows(2))
    model.fit(*rows(3))
    with pytest.raises(ParameterError, match="begin a new monitor"):
        monitor.update(*rows(2))
    assert monitor.status().rows == 800


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_monitor_refuses_the_mistakes_of_a_model_that_has_learned_in_place(name: str) -> None:
    make, inner = IN_PLACE[name]
    model = make().fit(*rows(0))
    monitor = pacboost.Monitor(model, error=0.4).update(*rows(1))
    other, labels = rows(3)
    learns_more(inner(model), 9 * other[:, ::-1], 1 - labels)
    with pytest.raises(ParameterError, match="begin a new monitor"):
        monitor.update(*rows(2))
