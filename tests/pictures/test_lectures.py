"""Each picture shows what the lectures say: numbers are read off what was drawn."""

import importlib
import re
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from pacboost import AdaBoostClassifier
from pacboost.errors import DataError, ParameterError
from pacboost.theory import pictures, staged_margins
from pacboost.theory.pictures.learning import cycling_margins, long_servedio_points
from pacboost.theory.worlds import Boxes
from tests.data import real_data

pytest.importorskip("matplotlib")


def lines(axes: Any) -> dict[str, Any]:
    return {line.get_label(): np.asarray(line.get_ydata()) for line in axes.get_lines()}


def test_margins_grow_after_the_training_error_is_zero() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    axes = pictures.generalises(X[::2], y[::2], X[1::2], y[1::2], rounds=(5, 40))
    drawn = lines(axes[0])
    training = next(values for label, values in drawn.items() if label.startswith("training"))
    assert training[-1] == 0
    assert drawn["test error"].size == 40
    curves = axes[1].get_lines()[:2]
    smallest = [line.get_xdata()[np.flatnonzero(line.get_ydata() > 0)[0]] for line in curves]
    assert smallest[1] > 0 > smallest[0]


def test_six_points_are_consistent_and_the_hypothesis_is_wrong() -> None:
    axes = pictures.consistent()
    concept, hypothesis = (np.transpose(line.get_data()) for line in axes.get_lines())
    points = {group.get_label(): group.get_offsets() for group in axes.collections[1:]}
    assert [len(points["1"]), len(points["-1"])] == [3, 3]
    for corners in (concept, hypothesis):
        low, high = corners.min(axis=0), corners.max(axis=0)
        for label, places in points.items():
            inside = ((places > low) & (places < high)).all(axis=1)
            assert (inside == (label == "1")).all()
    assert axes.get_title() == "0 of 6 wrong, true error 0.23: so by chance 0.22"


def test_a_fitted_vote_is_taken_as_it_is() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=4).fit(X, y)
    axes = pictures.generalises(X, y, X, y, model=model, rounds=(2, 4, 1000))
    assert [text.get_text() for text in axes[1].get_legend().get_texts()] == [
        "after round 2",
        "after round 4",
    ]
    with pytest.raises(DataError, match="rounds is empty"):
        pictures.generalises(X, y, X, y, rounds=())


def test_long_and_servedio() -> None:
    X, flipped, y = long_servedio_points(500, 0.1, 0)
    assert (np.sign(X.sum(axis=1)) == y).all()
    assert 0.05 < (flipped != y).mean() < 0.15


def test_adaboost_stops_at_a_third_where_three_eighths_is_possible() -> None:
    assert cycling_margins("adaboost", 400)[-1] == pytest.approx(1 / 3, abs=0.004)
    assert cycling_margins("arc_gv", 400)[-1] > 0.35


def test_losses_lie_above_mistakes() -> None:
    drawn = list(lines(pictures.losses()).values())
    margins = np.linspace(-2, 3, 501)
    for values in drawn[:2]:
        assert (values >= np.where(margins <= 0, 1, 0) - 1e-12).all()


def test_rectangle_lies_in_its_target_and_strips_have_their_mass() -> None:
    axes = pictures.rectangle(80, epsilon=0.2)
    target, box = axes.get_lines()
    assert box.get_xdata().min() >= target.get_xdata().min()
    assert box.get_ydata().max() <= target.get_ydata().max()
    masses = [patch.get_width() * patch.get_height() for patch in axes.patches]
    assert masses == pytest.approx([0.05] * 4)
    with pytest.raises(ParameterError, match="3 features"):
        pictures.rectangle(world=Boxes((0.1,) * 3, (0.5,) * 3))


def test_true_error_falls_and_its_tail_is_near_the_bound() -> None:
    drawn = lines(pictures.true_error(sizes=(40, 160), trials=150))
    assert (np.diff(drawn["mean"]) < 0).all()
    assert (drawn["mean"] < drawn["bound by peeling"]).all()
    assert (drawn["bound by peeling"] < drawn["bound by strips"]).all()
    assert (drawn["95% of the runs are below"] < drawn["bound by strips"]).all()


def test_version_space_only_shrinks() -> None:
    for line in pictures.version_space(30).get_lines():
        assert (np.diff(line.get_ydata()) <= 0).all()
        assert line.get_ydata()[-1] >= 1


def test_ramp_ends_at_one_over_its_slope() -> None:
    line = pictures.ramp(edge=0.5, epsilon=0.1).get_lines()[0]
    assert line.get_xdata()[2] == pytest.approx(20)
    with pytest.raises(ParameterError, match="edge is"):
        pictures.ramp(edge=0)


def test_no_ride_of_the_elevator_collects_more_than_its_bound() -> None:
    floors, collected, crossed = pictures.elevator(300, edge=0.5, epsilon=0.1)
    drawn = lines(collected)
    bound = drawn.pop("1/(2εγ) + εγi/2")
    assert len(drawn) == 3
    for ride in drawn.values():
        assert (ride <= bound + 1e-9).all()
    best = drawn["the ride that collects most"]
    np.testing.assert_allclose(best[20::2], bound[20::2])  # 1/(εγ) = 20 floors, then attained
    assert lines(floors)["the ride that collects most"].max() == 20
    up, down = (
        {int(np.floor(bar.get_y() + 0.01)): bar.get_width() for bar in bars}
        for bars in crossed.containers
    )
    assert sum(up.values()) + sum(down.values()) == 300
    assert {up[k] - down.get(k, 0) for k in up} <= {-1, 0, 1}
    with pytest.raises(ParameterError, match="rounds is 0"):
        pictures.elevator(0)


def test_a_duel_counts_wins_and_gives_the_sign_test() -> None:
    errors = dict.fromkeys("abcdefg", (0.3, 0.2)) | {"h": (0.1, 0.2), "i": (0.1, 0.1)}
    axes = pictures.duel(errors, "trees", "stumps")
    assert re.findall(r"\d+", axes.get_title())[:3] == ["7", "1", "9"]
    assert f"p = {18 / 256:.3g}" in axes.get_title()  # 2·(1 + 8)/2⁸
    assert len(axes.collections[0].get_offsets()) == 9
    with pytest.raises(DataError, match="errors is empty"):
        pictures.duel({})
    with pytest.raises(DataError, match="two numbers"):
        pictures.duel({"a": (0.1, 1.5)})


def test_out_of_bag() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    drawn = lines(pictures.out_of_bag(X[::2], y[::2], X[1::2], y[1::2], trees=(10, 40)))
    assert set(drawn) == {"out of bag", "test rows"}
    assert drawn["out of bag"].max() < 0.12
    with pytest.raises(ParameterError, match="X_test"):
        pictures.out_of_bag(X, y, X)


def test_every_picture_is_on_its_page() -> None:
    from tests.markdown import DOCS

    page = (DOCS / "pictures.md").read_text(encoding="utf-8")
    names = importlib.import_module("pacboost.theory.pictures").__all__
    assert [name for name in names if f"pictures.{name}(" not in page] == []


@pytest.mark.slow
def test_why_it_generalises_on_letters() -> None:
    data = real_data("letter", "class")
    X, y = data.table.rows(), np.asarray(data.labels) <= "M"
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:5000], order[5000:]
    model = AdaBoostClassifier("tree", n_estimators=1000).fit(X[train], y[train])
    errors = np.array([entry.training_error for entry in model.ledger_.rounds])
    assert np.flatnonzero(errors == 0)[0] + 1 == 67
    new = 1 - np.array(list(model.staged_score(X[test], y[test])))
    assert new[[66, 999]].round(4).tolist() == [0.0571, 0.0383]
    smallest = np.array([margins.min() for margins in staged_margins(model, X[train], y[train])])
    assert smallest[[99, 999]].round(3).tolist() == [0.019, 0.108]
    axes = pictures.generalises(X[train], y[train], X[test], y[test], model=model)
    assert len(axes[1].get_legend().get_texts()) == 3


def test_toy_shows_three_rounds_and_the_vote() -> None:
    axes = pictures.toy()
    titles = [place.get_title() for place in axes]
    assert titles == [
        "round 1: ε = 0.300, α = 0.42",
        "round 2: ε = 0.214, α = 0.65",
        "round 3: ε = 0.136, α = 0.92",
        "the vote: 0.42 + 0.65 + 0.92",
    ]
    areas = np.concatenate([points.get_sizes() for points in axes[1].collections[1:]])
    assert areas.max() / areas.min() == pytest.approx(7 / 3)
