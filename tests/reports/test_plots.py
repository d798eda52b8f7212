"""Pictures: the numbers that their lines and bars hold."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from pacboost.errors import FileError, PacboostError
from pacboost.hypotheses.shapes import Shape, Shapes
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.reports import plots
from pacboost.reports import plots as pictures
from pacboost.reports.plots import plan_curve
from pacboost.theory import plan
from pacboost.theory.plan_learning import Plan

BOX: dict[str, Any] = {"epsilon": 0.1, "delta": 0.05, "dimensions": 2}


def test_writes_the_format_of_the_name(tmp_path: Path) -> None:
    plan_curve(plan.rectangle, BOX, tmp_path / "curve.pdf")
    assert (tmp_path / "curve.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("value", [0.01, 0.6])
def test_the_curve_passes_the_point_asked_for(tmp_path: Path, value: float) -> None:
    asked: list[float] = []

    def ask(*, epsilon: float) -> Plan:
        assert 0 < epsilon < 1
        asked.append(epsilon)
        return Plan("How many?", "theorem", examples=round(10 / epsilon))

    plan_curve(ask, {"epsilon": value}, tmp_path / "curve.png")
    assert len(asked) > 10
    assert min(asked) <= value <= max(asked)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        plan_curve(plan.rectangle, BOX, tmp_path / "absent" / "curve.png")
    with pytest.raises(FileError, match="cannot be written"):
        plan_curve(plan.rectangle, BOX, tmp_path / "curve.nonsense")


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
        lambda tmp_path: plan_curve(plan.rectangle, BOX, tmp_path / "curve.png"),
        lambda _: plots.rounds(some_ledger()),
        lambda _: plots.margins(FEW),
        lambda _: plots.shapes(SHAPES),
        lambda _: plots.importances(None, [0.5, 0.5]),
    ],
)
def test_without_matplotlib(draw: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PacboostError, match="pip install"):
        draw(tmp_path)


def some_ledger() -> Ledger:
    ledger = Ledger("adaboost", "exponential", "stump", 100, 1, False, True)
    for number, z in enumerate((0.9, 0.8, 0.95, 0.7, 0.9), start=1):
        numbers = dict.fromkeys((f.name for f in fields(Round)), 0.1)
        entry: dict[str, Any] = {**numbers, "number": number, "normaliser": z, "validation": None}
        ledger.rounds.append(Round(**{**entry, "training_error": 0.3 - number / 50}))
    return ledger


class Made:
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


def test_rounds_hold_what_the_ledger_holds() -> None:
    ledger = some_ledger()
    axes = plots.rounds(ledger)
    drawn, columns = lines(axes), ledger.columns()
    assert set(drawn) == {"training error", "bound on training error"}
    for label, name in (("training error", "training_error"), ("bound on training error", "bound")):
        assert drawn[label].get_xdata().tolist() == [1, 2, 3, 4, 5]
        assert drawn[label].get_ydata().tolist() == columns[name]
    assert axes.get_xlabel() == "round"
    assert axes.get_yscale() == "linear"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(drawn)


COLUMNS: dict[str, list[Any]] = {
    "number": [1, 2, 3, 4],
    "training_error": [0.2, 0.0, 0.1, 0.0],
    "bound": [1.5, 0.3, 0.03, 0.003],
    "validation": [0.3, None, 0.25, 0.2],
}


def test_rounds_with_validation_and_zeros() -> None:
    ledger: Any = Made(COLUMNS, "error")
    axes = plots.rounds(ledger)
    drawn = lines(axes)
    assert drawn["bound on training error"].get_ydata().tolist() == COLUMNS["bound"]
    assert "training error (0 from round 4 on)" in drawn
    np.testing.assert_array_equal(drawn["validation error"].get_ydata(), [0.3, np.nan, 0.25, 0.2])
    assert axes.get_yscale() == "log"
    assert axes.figure.axes == [axes]


def test_the_bound_of_a_real_ledger_holds_its_factor_once() -> None:
    ledger = some_ledger()
    ledger.factor = 1.5
    drawn = lines(plots.rounds(ledger))
    bound = 1.5 * np.cumprod([entry.normaliser for entry in ledger.rounds])
    np.testing.assert_allclose(drawn["bound on training error"].get_ydata(), bound)


def test_other_metrics_have_a_scale_of_their_own() -> None:
    ledger: Any = Made({**COLUMNS, "validation": [30.0, None, 25.0, 20.0]}, "log_loss")
    axes = plots.rounds(ledger)
    (other,) = (own for own in axes.figure.axes if own is not axes)
    (line,) = other.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), [30, np.nan, 25, 20])
    assert other.get_ylabel() == "validation log loss"
    assert "validation log loss" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert axes.get_ylim()[1] < 20
    unwatched: Any = Made({**COLUMNS, "validation": [None] * 4}, "log_loss")
    axes = plots.rounds(unwatched)
    assert axes.figure.axes == [axes]
    assert len(lines(axes)) == 2


def test_margins_are_drawn_as_shares_of_rows_at_or_below() -> None:
    axes = plots.margins(FEW)
    drawn = lines(axes)
    assert list(drawn) == ["after round 1", "after round 10"]
    first, tenth = (line.get_xydata().tolist() for line in drawn.values())
    assert first == [[-1, 0], [-1, 0.25], [1, 1], [1, 1]]
    assert tenth == [[-1, 0], [-0.5, 0.25], [0.25, 0.75], [0.75, 1], [1, 1]]
    assert {line.get_drawstyle() for line in drawn.values()} == {"steps-post"}
    assert axes.get_xlim() == (-1, 1)


@pytest.mark.parametrize("seed", range(3))
def test_margins_read_off_the_line_are_the_distribution(seed: int) -> None:
    values = np.round(np.random.default_rng(seed).uniform(-1, 1, 200), 1)
    (line,) = lines(plots.margins({7: values})).values()
    x, y = line.get_data()
    for at in np.linspace(-1, 1, 33):
        assert y[np.searchsorted(x, at, side="right") - 1] == (values <= at).mean()


def test_shapes_hold_the_steps() -> None:
    panels = plots.shapes(SHAPES)
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
    job, age = plots.shapes(Shapes(np.zeros(3), features, ("r", "g", "b")))
    drawn = lines(job)
    assert list(drawn) == ["r", "g", "b"]
    for k, line in enumerate(drawn.values()):
        assert line.get_ydata().tolist() == heights[:, k].tolist()
    assert [text.get_text() for text in job.get_xticklabels()] == levels[::2]
    assert [steps.get_data()[0].tolist() for steps in age.patches] == [[-1, 1], [0, 0], [1, -1]]


def test_axes_given_are_drawn_on_and_others_are_new(tmp_path: Path) -> None:
    axes = Figure().subplots()
    assert plots.margins(FEW, ax=axes) is axes
    assert plots.rounds(some_ledger(), ax=axes) is axes
    assert plots.importances(None, [1.0], ax=axes) is axes
    for number, drawn in enumerate(
        [plots.rounds(some_ledger()), plots.margins(FEW), plots.shapes(SHAPES)[0]]
    ):
        path = tmp_path / f"{number}.png"
        drawn.figure.savefig(path)
        assert path.read_bytes().startswith(b"\x89PNG")


def test_no_global_state_and_no_compiler_are_touched() -> None:
    program = (
        "import sys\n"
        "from pacboost.reports import plots\n"
        "plots.margins({1: [0.5]}); plots.importances(None, [1.0])\n"
        "assert not {'matplotlib.pyplot', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_figures_belong_to_pyplot_where_it_is_loaded() -> None:
    program = (
        "import matplotlib; matplotlib.use('agg')\n"
        "from matplotlib import pyplot\n"
        "from pacboost.reports import plots\n"
        "axes = plots.margins({1: [0.5]})\n"
        "assert [pyplot.figure(n) for n in pyplot.get_fignums()] == [axes.figure]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def curves(axes: Any) -> dict[str, Any]:
    return {ln.get_label(): ln for ln in axes.get_lines() if ln.get_label().startswith("after")}


def test_equaliser_holds_the_sorted_shares_and_their_spread() -> None:
    drawn = curves(pictures.equaliser({10: [1.0, -1.0, 0.0, 0.5], 1: [1.0, 1.0, -1.0, -1.0]}))
    assert list(drawn) == ["after round 1: spread 0.500", "after round 10: spread 0.370"]
    first, tenth = drawn.values()
    np.testing.assert_allclose(first.get_ydata(), [1, 1, 0, 0])
    np.testing.assert_allclose(tenth.get_ydata(), [1, 0.5, 0.25, 0])
    assert sum(first.get_color()) > sum(tenth.get_color())
