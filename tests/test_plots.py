"""Pictures of fitted models: lines and bars hold the numbers of the model."""

import subprocess
import sys
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

import pacboost
from pacboost.errors import PacboostError
from pacboost.hypotheses.shapes import Shape, Shapes
from pacboost.ledgers.ledger import Ledger, Round


@cache
def rows(three: bool = False) -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True) if three else load_breast_cancer(return_X_y=True)
    return X[::3], y[::3]


@cache
def fitted(kind: str) -> Any:
    X, y = rows(kind == "three")
    if kind == "numbers":
        return pacboost.BoostRegressor(n_estimators=5, early_stopping=False, random_state=0).fit(
            X[:, 1:], X[:, 0]
        )
    if kind == "forest":
        return pacboost.RandomForestClassifier(5, random_state=0).fit(X, y)
    learner = "tree" if kind == "trees" else "stump"
    return pacboost.AdaBoostClassifier(learner=learner, n_estimators=8).fit(X, y)


def labels(axes: Any) -> dict[str, Any]:
    return {line.get_label().split(" (")[0]: line.get_ydata() for line in axes.get_lines()}


def test_rounds_hold_the_errors_of_the_stages() -> None:
    X, y = rows()
    model = fitted("stumps")
    lines = labels(pacboost.plots.rounds(model, X[::2], y[::2]))
    assert np.allclose(lines["training error"], model.ledger_.columns()["training_error"])
    staged = [1 - score for score in model.staged_score(X[::2], y[::2])]
    assert np.allclose(lines["test error"], staged)
    assert "test error" not in labels(pacboost.plots.rounds(model))


def test_rounds_of_a_regression_hold_the_loss() -> None:
    X, _ = rows()
    model = fitted("numbers")
    lines = labels(pacboost.plots.rounds(model, X[:, 1:], X[:, 0]))
    assert np.allclose(lines["test loss"], lines["training loss"])
    with pytest.raises(PacboostError, match="without y"):
        pacboost.plots.rounds(model, X[:, 1:])


def test_margins_and_the_equaliser_end_at_the_model_s_margins() -> None:
    X, y = rows()
    model = fitted("stumps")
    margins = model.margins(X, y)
    line: Any = pacboost.plots.margins(model, X, y, rounds=[8]).get_lines()[0]
    assert np.allclose(line.get_xdata()[1:-1], np.unique(margins))
    curve: Any = pacboost.plots.equaliser(model, X, y, rounds=[8]).get_lines()[0]
    assert curve.get_ydata()[0] == pytest.approx((1 - margins.min()) / 2)
    with pytest.raises(PacboostError, match="has 8"):
        pacboost.plots.margins(model, X, y, rounds=[9])
    with pytest.raises(PacboostError, match="two classes"):
        pacboost.plots.equaliser(fitted("three"), *rows(three=True))


def test_hardest_rows_are_bars() -> None:
    bars: Any = pacboost.plots.hardest(fitted("stumps"), 5).patches
    hardest = fitted("stumps").ledger_.hardest(5)
    assert [bar.get_width() for bar in bars] == [row.margin for row in hardest]


def test_importances_are_shares_or_what_was_measured() -> None:
    X, y = rows()
    model, own = fitted("stumps"), Figure().subplots()
    axes: Any = pacboost.plots.importances(model, ax=own, top=1)
    assert axes is own
    bar: Any = own.patches[0]
    assert bar.get_width() == pytest.approx(max(model.feature_importances_))
    measured = model.permutation_importances(X, y, repeats=1, random_state=0)
    assert pacboost.plots.importances(model, measured).get_xlabel().startswith("error: worse by")
    assert len(pacboost.plots.importances(fitted("forest"), top=4).patches) == 4


def test_features_have_panels() -> None:
    model, many = fitted("stumps"), fitted("three")
    assert len(pacboost.plots.shapes(model)) == len(model.shapes().features)
    assert len(pacboost.plots.shapes(many, for_class=2)) == len(many.shapes().features)
    with pytest.raises(PacboostError, match="for_class"):
        pacboost.plots.shapes(model, for_class=1)
    trees = fitted("trees")
    largest = int(np.argmax(trees.feature_importances_))
    (panel,) = pacboost.plots.partial_dependence(trees, features=[largest])
    assert panel.get_xlabel() == f"x{largest}"
    assert len(pacboost.plots.partial_dependence(fitted("forest"), top=2, X=rows()[0])) == 2


@pytest.mark.parametrize("name", ["rounds", "importances", "shapes", "hardest"])
def test_only_fitted_models_are_drawn(name: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(pacboost.plots, name)(pacboost.BoostClassifier())


def shape(
    name: str, thresholds: list[float], values: list[Any], missing: Any, *levels: str
) -> Shape:
    """One output if the values are numbers, else one for each value."""
    outputs = np.size(missing)
    return Shape(
        name,
        np.array(thresholds, dtype=np.float32),
        np.array(values, dtype=np.float64).reshape(-1, outputs),
        np.array(missing, dtype=np.float64).reshape(outputs),
        levels,
    )


SHAPES = Shapes(
    np.array([0.3]),
    {
        0: shape("x0", [1.0, 2.0], [-0.5, 0.0, 0.25], 0.1),
        3: shape("x3", [5.0], [-2.0, 2.0], -1.0),
        4: shape("x4", [], [0.5], 0.5),
    },
    ("yes",),
)
FEW: dict[int, Any] = {1: [-1.0, 1.0, 1.0, 1.0], 10: [-0.5, 0.25, 0.25, 0.75]}


@pytest.mark.parametrize(
    "draw",
    [
        lambda: pacboost.plots.draw_rounds(some_ledger()),
        lambda: pacboost.plots.draw_margins(FEW),
        lambda: pacboost.plots.draw_shapes(SHAPES),
    ],
)
def test_without_matplotlib(draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PacboostError, match="pip install"):
        draw()


def some_ledger() -> Ledger:
    ledger = Ledger("adaboost", "exponential", "stump", 100, 1, False, True)
    for number, z in enumerate((0.9, 0.8, 0.95, 0.7, 0.9), start=1):
        numbers = dict.fromkeys((f.name for f in fields(Round)), 0.1)
        entry: dict[str, Any] = {**numbers, "number": number, "normaliser": z, "validation": None}
        ledger.rounds.append(Round(**{**entry, "training_error": 0.3 - number / 50}))
    return ledger


class Columns:
    """What the picture asks of a ledger."""

    factor = 3.0  # the columns hold it already

    def __init__(self, columns: dict[str, list[Any]], metric: str = "") -> None:
        self._columns = columns
        self.metric = metric

    def __len__(self) -> int:
        return len(self._columns["number"])

    def columns(self) -> dict[str, list[Any]]:
        return self._columns


def lines(axes: Any) -> dict[str, Any]:
    """The lines that have a label."""
    return {
        line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")
    }


COLUMNS: dict[str, list[Any]] = {
    "number": [1, 2, 3, 4],
    "training_error": [0.2, 0.0, 0.1, 0.0],
    "bound": [1.5, 0.3, 0.03, 0.003],
    "validation": [0.3, None, 0.25, 0.2],
}


def test_rounds_with_validation_and_zeros() -> None:
    ledger: Any = Columns(COLUMNS, "error")
    axes = pacboost.plots.draw_rounds(ledger)
    drawn = lines(axes)
    assert drawn["bound on training error"].get_ydata().tolist() == COLUMNS["bound"]
    assert any("round 4" in label for label in drawn)
    np.testing.assert_array_equal(drawn["validation error"].get_ydata(), [0.3, np.nan, 0.25, 0.2])
    assert axes.get_yscale() == "log"
    assert axes.figure.axes == [axes]


def test_a_bound_far_above_the_curves_does_not_squeeze_them() -> None:
    axes = pacboost.plots.draw_rounds(some_ledger())
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[1] == pytest.approx(2 * 0.28)


def test_the_bound_of_a_real_ledger_holds_its_factor_once() -> None:
    ledger = some_ledger()
    ledger.factor = 1.5
    drawn = lines(pacboost.plots.draw_rounds(ledger))
    bound = 1.5 * np.cumprod([entry.normaliser for entry in ledger.rounds])
    np.testing.assert_allclose(drawn["bound on training error"].get_ydata(), bound)


def test_other_metrics_have_a_scale_of_their_own() -> None:
    ledger: Any = Columns({**COLUMNS, "validation": [30.0, None, 25.0, 20.0]}, "log_loss")
    axes = pacboost.plots.draw_rounds(ledger)
    (other,) = (own for own in axes.figure.axes if own is not axes)
    (line,) = other.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), [30, np.nan, 25, 20])
    assert other.get_ylabel() == "validation log loss"
    legend: Any = axes.get_legend()
    assert "validation log loss" in [text.get_text() for text in legend.get_texts()]
    assert axes.get_ylim()[1] < 20
    unwatched: Any = Columns({**COLUMNS, "validation": [None] * 4}, "log_loss")
    axes = pacboost.plots.draw_rounds(unwatched)
    assert axes.figure.axes == [axes]
    assert len(lines(axes)) == 2


@pytest.mark.parametrize("seed", range(3))
def test_margins_read_off_the_line_are_the_distribution(seed: int) -> None:
    values = np.round(np.random.default_rng(seed).uniform(-1, 1, 200), 1)
    (line,) = lines(pacboost.plots.draw_margins({7: values})).values()
    x, y = line.get_data()
    for at in np.linspace(-1, 1, 33):
        assert y[np.searchsorted(x, at, side="right") - 1] == (values <= at).mean()


def test_shapes_hold_the_steps() -> None:
    panels = pacboost.plots.draw_shapes(SHAPES)
    assert [axes.get_xlabel() for axes in panels] == ["x3", "x0", "x4"]
    for axes, j in zip(panels, (3, 0, 4), strict=True):
        own = SHAPES[j]
        (steps,) = axes.patches
        values, edges, _ = steps.get_data()
        assert values.tolist() == own.values[:, 0].tolist()
        assert edges.size == values.size + 1
        assert (np.diff(edges) > 0).all()
        if own.thresholds.size:
            assert edges[1:-1].tolist() == own.thresholds.tolist()
        assert lines(axes)["if missing"].get_ydata()[0] == own.missing[0]
    assert len({axes.get_ylim() for axes in panels}) == 1


def test_shapes_of_categories_and_several_classes() -> None:
    levels = [chr(97 + k) for k in range(20)]
    heights = np.arange(60.0).reshape(20, 3)
    features = {
        0: shape("job", [k + 0.5 for k in range(19)], heights.tolist(), [1, 2, 3], *levels),
        1: shape("age", [5.0], [[-1, 0, 1], [1, 0, -1]], [0, 0, 0]),
    }
    job, age = pacboost.plots.draw_shapes(Shapes(np.zeros(3), features, ("r", "g", "b")))
    drawn = lines(job)
    assert list(drawn) == ["r", "g", "b"]
    for k, line in enumerate(drawn.values()):
        assert line.get_ydata().tolist() == heights[:, k].tolist()
    assert [text.get_text() for text in job.get_xticklabels()] == levels[::2]
    assert [steps.get_data()[0].tolist() for steps in age.patches] == [[-1, 1], [0, 0], [1, -1]]


def test_figures_belong_to_pyplot_where_it_is_loaded() -> None:
    program = (
        "import matplotlib; matplotlib.use('agg')\n"
        "from matplotlib import pyplot\n"
        "from pacboost import plots\n"
        "axes = plots.draw_margins({1: [0.5]})\n"
        "assert [pyplot.figure(n) for n in pyplot.get_fignums()] == [axes.figure]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_equaliser_holds_the_sorted_shares_and_their_spread() -> None:
    margins: dict[int, Any] = {10: [1.0, -1.0, 0.0, 0.5], 1: [1.0, 1.0, -1.0, -1.0]}
    drawn = lines(pacboost.plots.draw_equaliser(margins))
    assert list(drawn) == ["after round 1: spread 0.500", "after round 10: spread 0.370"]
    first, tenth = drawn.values()
    np.testing.assert_allclose(first.get_ydata(), [1, 1, 0, 0])
    np.testing.assert_allclose(tenth.get_ydata(), [1, 0.5, 0.25, 0])
    assert sum(first.get_color()) > sum(tenth.get_color())


def test_names_with_dollars_are_no_formulas() -> None:
    features = {0: shape("cost in $ or $x_", [], [0.5], 0.5), 1: shape("b", [], [0.1], 0, "$a$_")}
    panels = pacboost.plots.draw_shapes(Shapes(np.zeros(1), features, ("yes",)))
    panels[0].figure.canvas.draw()
    assert r"cost in \$ or \$x_" in {panel.get_xlabel() for panel in panels}
