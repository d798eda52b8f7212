"""The gallery's scripts run, and their pictures show what the text beside them says."""

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pacboost

pytest.importorskip("matplotlib")
GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
Draw = Callable[..., None]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"gallery_{name}", GALLERY / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def written(tmp_path: Path) -> Draw:
    """Draw a picture, and check that it is one."""

    def check(gallery: ModuleType, *content: Any, most: int) -> None:
        path = tmp_path / "picture.png"
        gallery.draw(*content, path)
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size < most

    return check


# Accuracy by time: the default is faster and more accurate than CatBoost on these tables.


def test_accuracy_by_time(written: Draw) -> None:
    gallery = script("accuracy_by_time")
    points = gallery.measure()
    assert points["CatBoost 1.2.10"] == (1.0, 1.0)
    assert all(number < 1 for number in points["BoostClassifier()"])
    assert len(points) == 11
    written(gallery, points, most=100_000)


# The U-curve: a bound turns up, the error does not.


@pytest.fixture(scope="module")
def u_curve() -> ModuleType:
    return script("u_curve")


@pytest.fixture(scope="module")
def curves(u_curve: ModuleType) -> Any:
    return u_curve.measure(rows=20_000, rounds=500, fresh=4_000)


@pytest.fixture(scope="module")
def few_rows(u_curve: ModuleType) -> tuple[Any, Any]:
    """A thousand rows with correct labels, and with a fifth of the labels flipped."""
    settings = {"rows": 1_000, "rounds": 2_000, "fresh": 4_000}
    return u_curve.measure(**settings), u_curve.measure(**settings, noise=0.2)


def test_bound_turns_up_and_test_error_does_not(curves: Any) -> None:
    rounds, bound = np.array(curves.rounds), curves.bound
    lowest = int(np.argmin(bound))
    assert 1 < rounds[lowest] < rounds[-1] / 2
    assert bound[-1] > bound[lowest] + 0.1
    assert curves.test[-1] < 0.75 * curves.test[lowest]
    assert curves.test[-1] < curves.test.min() + 0.01
    assert (bound >= curves.test).all()
    assert (bound >= curves.training).all()


def test_training_error_has_not_ended_either(curves: Any) -> None:
    """The error does not turn up because the vote has not finished fitting."""
    assert curves.training[-1] > 0
    assert curves.training[-1] < 0.9 * curves.training[-5]
    assert (np.abs(curves.training - curves.test) < 0.03).all()


def test_error_turns_up_under_noise(
    u_curve: ModuleType, curves: Any, few_rows: tuple[Any, Any], written: Draw
) -> None:
    clean, noisy = few_rows
    assert clean.test[-1] < clean.test.min() + 0.005
    assert noisy.test[-1] > noisy.test.min() + 0.01
    assert noisy.training[-1] < noisy.training[int(np.argmin(noisy.test))]
    written(u_curve, curves, *few_rows, most=80_000)


def test_boosted_stumps_even_out_and_bagged_ones_do_not(written: Draw) -> None:
    gallery = script("equaliser")
    views = gallery.measure((1, 10, 60))
    boosted, bagged = ([own[t].std() / 2 for t in (1, 10, 60)] for own in views)
    assert boosted == sorted(boosted, reverse=True)
    assert boosted[-1] < 0.35 * boosted[0]
    assert bagged[-1] > 0.6 * bagged[0]
    wrong = (1 - views.bagged[60]) / 2
    assert np.mean(wrong == 0) > 0.6, "most rows are never wrong in bagging"
    assert wrong.max() > 0.9
    assert np.mean(views.boosted[60] == 1) < 0.05
    written(gallery, views, most=100_000)


def test_filtering_keeps_fewer_and_fewer_along_the_boundary(written: Draw) -> None:
    gallery = script("filtering")
    model = gallery.boost()
    assert model.certificate_.value < 0.01
    panels = [gallery.panel(model, rounds) for rounds in gallery.ROUNDS]
    shares = [len(one.kept) / one.looked_at for one in panels]
    assert shares[0] == pytest.approx(0.5, abs=0.03)
    assert shares[1] < 0.2
    assert shares[2] < 0.03
    first, _, last = (np.abs(p.kept[:, 1] - 0.5 * np.sin(5 * p.kept[:, 0])) for p in panels)
    assert np.median(last) < np.median(first) / 10
    written(gallery, panels, most=90_000)


def test_bagging_helps_whom_other_rows_would_have_changed(written: Draw) -> None:
    gallery = script("instability")
    names = [name for name in gallery.LEARNERS if "neighbours" not in name]  # they take their time
    found = gallery.measure(*gallery.world(2_000, 0), *gallery.world(3_000, 1), names, members=20)
    points = {point.name: point for point in found}
    unstable = points["tree, pure leaves"]
    assert unstable.disagreement == max(point.disagreement for point in found)
    assert unstable.change < -0.2
    assert points["tree of 64 leaves"].change < -0.05
    for name in ("linear discriminant", "naive Bayes", "stump"):  # which are stable
        assert points[name].disagreement < 0.1
        assert abs(points[name].change) < 0.05
    written(gallery, {"a world": found}, most=80_000)


def test_an_edge_under_the_uniform_distribution_vanishes(written: Draw) -> None:
    gallery = script("uniform_only")
    everywhere, uniform = curves = gallery.measure(rows=20_000, rounds=30, fresh=10_000)
    assert everywhere.edges.min() > 1 / 3
    assert everywhere.errors[2:].max() == 0
    assert uniform.edges[0] == pytest.approx(0.75, abs=0.03)
    assert uniform.edges[0] > everywhere.edges[0]
    t = np.arange(2, 31)
    assert uniform.edges[1:] == pytest.approx(1 / (t - 5 / 6), rel=0.1)
    assert uniform.errors == pytest.approx(1 / 8, abs=0.01)
    blind = uniform.blind  # the weight goes where nothing can be learned
    assert blind[0] == pytest.approx(0.25, abs=0.02)
    assert blind[1] == pytest.approx(4 / 7, abs=0.02)
    assert (np.diff(blind) > 0).all()
    assert blind[-1] > 0.97
    written(gallery, curves, most=80_000)


def test_a_model_draws_itself(written: Draw) -> None:
    everyday = script("everyday")
    fit = everyday.measure()
    errors = [entry.training_error for entry in fit.model.ledger_.rounds]
    assert (len(fit.y), len(fit.y_test)) == (398, 171)
    assert errors[22] > 0
    assert not any(errors[23:])
    assert 1 - fit.model.score(fit.X_test, fit.y_test) == pytest.approx(0.0175, abs=1e-3)
    stages = list(pacboost.theory.staged_margins(fit.model, fit.X, fit.y))
    assert stages[4].min() < 0 < stages[-1].min()
    assert stages[-1].max() < stages[4].max()
    written(everyday, fit, most=150_000)


def test_columns_add_up_to_the_score(written: Draw) -> None:
    columns = script("columns")
    model = columns.measure(rounds=30)
    rows = columns.load_breast_cancer(as_frame=True).data
    shapes = model.shapes()
    total = np.full(len(rows), shapes.intercept[0])
    for number, shape in shapes.features.items():
        total += shape.at(rows.iloc[:, number].to_numpy())[:, 0]
    assert total == pytest.approx(model.decision_function(rows))
    written(columns, model, most=150_000)


def test_boosters_cannot_be_told_apart_by_so_few_rows(written: Draw) -> None:
    boosters = script("boosters")
    found = boosters.measure()
    assert re.findall("238|119", str(found)) == ["238", "119"]
    columns = found.columns()
    assert sum(error == 0 for error in columns["training_error"]) == 3
    assert max(columns["lower"]) < min(columns["upper"])
    written(boosters, found, most=150_000)
