"""The first booster as an estimator: sources, certificate, refusals and bad input."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from pacboost.errors import (
    DataError,
    NoEdgeWarning,
    NotCertified,
    OneClassWarning,
    ParameterError,
    TooFewRowsWarning,
)
from pacboost.hypotheses.three import Three
from pacboost.loading import load
from pacboost.models.file.format import model_bytes
from pacboost.questions.verify import verify
from pacboost.theory import three_way
from pacboost.theory.finite_worlds import UniformOnly
from pacboost.theory.recursion import Recursion
from pacboost.theory.three_way import ThreeWayBoost
from pacboost.theory.worlds import Boxes, Intervals, LabelNoise
from tests.bounds.coverage import check_coverage
from tests.model_files import changed
from tests.theory.points import Interrupted

INTERVAL = Intervals(((0.25, 0.6),))
BOX = Boxes((0.2, 0.2), (0.9, 0.9))


def boxed(**changes: Any) -> ThreeWayBoost:
    return ThreeWayBoost(**{"edge": 0.2, "epsilon": 0.06, "random_state": 0, **changes})


def test_boosts_stumps_to_a_box() -> None:
    model = boxed().fit_source(BOX)
    assert BOX.risk(model.predict, 2**16) <= 0.06
    (rule,) = model.model_.vote.hypotheses
    assert isinstance(rule, Three)
    certificate = model.certificate_
    assert certificate.value == pytest.approx(0.06)
    assert certificate.delta == 0.05
    assert model.feature_importances_ == pytest.approx(0.5, abs=0.4)  # both sides are asked for
    assert "fresh draw" in certificate.assumptions[0]
    assert certificate.size == model.report_.draws


def test_certificate_holds_run_after_run() -> None:
    runs, failures = 20, 0
    for seed in range(runs):
        model = ThreeWayBoost(edge=0.3, epsilon=0.05, random_state=seed).fit_source(INTERVAL)
        failures += INTERVAL.risk(model.predict, 2**16) > model.certificate_.value
    check_coverage("three oracles, stumps and an interval", failures, runs, 0.05)


def test_arrays_with_enough_rows_are_certified() -> None:
    X, y = INTERVAL.draw(60_000, 3)
    model = ThreeWayBoost(edge=0.3, epsilon=0.05, random_state=1)
    model.fit(X, np.where(y > 0, "in", "out"))
    assert model.report_.again == 0
    assert model.certificate_.value == pytest.approx(0.05)
    assert INTERVAL.risk(lambda X: np.where(model.predict(X) == "in", 1, -1), 2**16) <= 0.05
    assert model.certificate_.assumptions[0].startswith("the rows of the source")


def test_too_few_rows_warn_with_what_was_needed_and_the_certificate_refuses() -> None:
    X, y = INTERVAL.draw(300, 3)
    model = ThreeWayBoost(edge=0.3, epsilon=0.05, random_state=1)
    with pytest.warns(TooFewRowsWarning, match=r"300 rows .* [\d,]+ examples"):
        model.fit(X, y)
    assert (model.predict(X) != y).mean() <= 0.05
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert {warning.filename for warning in told} == {__file__}
    with pytest.raises(NotCertified, match="had come before"):
        _ = model.certificate_


def test_a_promise_that_is_broken_stops_with_the_measured_edge() -> None:
    world = LabelNoise(INTERVAL, 0.3)
    with pytest.warns(NoEdgeWarning, match=r"edge of 0\.6.* 0\.\d+"):
        model = ThreeWayBoost(edge=0.6, epsilon=0.1, random_state=0).fit_source(world)
    edge = model.report_.measured_edge
    assert edge is not None
    assert 0 < edge < 0.45
    assert INTERVAL.risk(model.predict, 2**16) < 0.45  # the best rule is kept
    with pytest.raises(NotCertified, match="promised an edge"):
        _ = model.certificate_


class Stubborn(Recursion):
    """Takes every rule for a weak one, and none for good enough."""

    def _errs_little(self, test: Any, *others: Any) -> bool:  # type: ignore[override]
        return len(others) > 3


def test_a_test_that_has_failed_is_no_want_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(three_way, "Recursion", Stubborn)

    def the_same(X: Any, y: Any, weights: Any) -> Any:
        return lambda Z: np.where(Z[:, 0] < 0.5, 1, -1)

    with pytest.warns(NoEdgeWarning, match="a test has failed"):
        ThreeWayBoost(learner=the_same, edge=0.3, epsilon=0.1, random_state=0).fit_source(INTERVAL)


def test_an_edge_under_the_uniform_distribution_alone_is_found_out() -> None:
    with pytest.warns(NoEdgeWarning, match="h2"):
        model = ThreeWayBoost(edge=0.3, epsilon=0.1, random_state=0).fit_source(UniformOnly(18))
    assert abs(model.report_.measured_edge or 1.0) < 0.3
    assert model.report_.nodes[0].upper < 0.3  # the first weak rule was good


def test_examples_that_run_out_are_told() -> None:
    def batches() -> Iterator[tuple[NDArray[np.float64], NDArray[np.int8]]]:
        for seed in range(4):
            yield INTERVAL.draw(500, seed)

    model = ThreeWayBoost(edge=0.3, epsilon=0.01, random_state=0)
    with pytest.warns(TooFewRowsWarning, match="nothing is certified"):
        model.fit_source(batches(), classes=[-1, 1])
    assert "the stream has ended" in model.report_.stopped
    with pytest.raises(NotCertified, match="the stream has ended"):
        _ = model.certificate_
    limited = ThreeWayBoost(edge=0.3, epsilon=0.01, max_draws=4000, random_state=0)
    with pytest.warns(TooFewRowsWarning, match="max_draws = 4,000"):
        limited.fit_source(INTERVAL)
    assert "max_draws = 4,000" in limited.report_.stopped


def test_saved_and_loaded_and_a_better_certificate_is_found_out(tmp_path: Path) -> None:
    model = boxed().fit_source(BOX)
    path = tmp_path / "model.json"
    model.save(path)
    again = load(path)
    assert isinstance(again, ThreeWayBoost)
    assert model_bytes(again.model_) == model_bytes(model.model_)
    assert again.certificate_ == model.certificate_
    assert all(check.holds for check in verify(path)), verify(path)
    changed(path, lambda content: content["certificate"]["inputs"].update(levels=1))
    assert not all(check.holds for check in verify(path))


def test_black_boxes_learn_from_three_oracles() -> None:
    for learner in (DecisionTreeClassifier(max_depth=1), "tree"):
        model = boxed(learner=learner, epsilon=0.1).fit_source(BOX)
        assert BOX.risk(model.predict, 2**16) <= 0.1


def test_interrupt_keeps_the_best_rule() -> None:
    model = boxed(learner=Interrupted())
    with pytest.raises(KeyboardInterrupt):
        model.fit_source(BOX)
    assert model.report_.stopped == "interrupted"
    assert BOX.risk(model.predict, 2**16) < 0.5
    with pytest.raises(NotCertified, match="interrupted"):
        _ = model.certificate_


def test_one_class_is_constant_and_not_certified() -> None:
    with pytest.warns(OneClassWarning):
        model = ThreeWayBoost().fit(np.arange(20.0)[:, None], ["a"] * 20)
    assert set(model.predict([[1.0], [99.0]])) == {"a"}
    assert model.predict_proba([[1.0]]).tolist() == [[1.0]]
    with pytest.raises(NotCertified, match="one class"):
        _ = model.certificate_


def test_more_than_two_classes_are_referred_elsewhere() -> None:
    with pytest.raises(DataError, match=r"3 classes.* ThreeLearnerBoost"):
        ThreeWayBoost().fit(np.arange(30.0)[:, None], np.arange(30) % 3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"edge": 0}, "edge is 0"),
        ({"edge": "much"}, "edge is 'much'"),
        ({"epsilon": 0.5}, "epsilon is 0.5"),
        ({"delta": 0}, "delta is 0"),
        ({"max_draws": 0}, "max_draws is 0"),
        ({"learner": "forest"}, "learner is 'forest'"),
    ],
)
def test_bad_parameters(given: dict[str, Any], words: str) -> None:
    X, y = INTERVAL.draw(50, 0)
    model = ThreeWayBoost(**given)
    with pytest.raises(ParameterError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "classes_")
