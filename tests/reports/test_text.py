"""The tables that people see in the terminal, and pictures of comparisons and of plans."""

import io
import re
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from pacboost.boosters.adaboost import AdaBoost
from pacboost.errors import FileError
from pacboost.learners.stump import Stump
from pacboost.ledgers.ledger import Ledger, Refill, Round
from pacboost.reports import plots, progress, text
from pacboost.reports.text import MAX_ROWS, refills_table, rounds_table
from pacboost.theory import plan
from pacboost.theory.plan_learning import Plan
from pacboost.training.run.loop import Run
from tests.worlds import make_sample, noisy


def a_ledger(rounds: int) -> Ledger:
    X, signs = noisy(120, 3, seed=1)
    run = Run(make_sample(X, signs), Stump(), AdaBoost())
    list(islice(run, rounds))
    return run.ledger()


def printed(thing: object, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(thing)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_every_round_of_a_short_run_is_one_line_of_eighty_columns() -> None:
    lines = printed(rounds_table(a_ledger(5))).splitlines()
    for number in range(1, 6):
        assert sum(line.split()[:1] == [str(number)] for line in lines) == 1
    assert max(len(line) for line in lines) <= 80


def test_a_long_run_shows_its_first_and_last_rounds() -> None:
    shown = printed(rounds_table(a_ledger(60)))
    first = [line.split()[0] for line in shown.splitlines() if line.strip()]
    assert "1" in first
    assert "60" in first
    assert "30" not in first
    assert "…" in first
    assert sum(part.isdigit() for part in first) == MAX_ROWS


def a_refill(number: int = 0, **changes: Any) -> Refill:
    values: dict[str, Any] = {
        "number": number, "rounds": 10 * number, "draws": 1_000, "fresh": 1_000, "accepted": 250,
        "scale": 1.0, "mean": 0.25, "lower": 0.2, "upper": 0.3125, "error": 0.125,
        "error_upper": 0.625 if number else 1.0, "loss": 0.5, "delta": 0.025, "smoothness": 4.0,
        "seconds": 0.5, "mistakes": 125,
    }  # fmt: skip
    return Refill(**(values | changes))


def a_round(number: int) -> Round:
    return Round(number, 0.25, 0.5, 0.5, 0.9, 0.1, 100.0, 1000, [], "x > 0 → yes", 0.1)


def drawn_ledger(refills: list[Refill]) -> Ledger:
    return Ledger(
        "logit", "logistic", "tree", 1_000, 1, False, False, stopped="all 12 rounds are done",
        rounds=[a_round(k + 1) for k in range(12)], refills=refills,
    )  # fmt: skip


def lines(text: str) -> dict[str, str]:
    """The lines of a view by the name they begin with."""
    split = (line.split("  ") for line in text.splitlines())
    return {parts[0].strip(): "  ".join(parts[1:]).strip() for parts in split}


def test_the_view_shows_what_was_drawn_and_what_is_known() -> None:
    now = [100.0]
    view = progress.FilteringView(20, clock=lambda: now[0])
    assert "is being drawn" in lines(printed(view.picture()))["draws"]
    view(a_refill(0))
    view(a_round(1))
    shown = lines(printed(view.picture()))
    assert (shown["error seen"], shown["certified"]) == ("none yet", "nothing yet")
    now[0] += 4
    view(a_refill(1, accepted=150))
    view(a_round(11))
    now[0] += 5  # which are spent on boosting, not on draws
    shown = lines(printed(view.picture()))
    assert shown["rounds"] == "11 of at most 20, 9 s"
    assert shown["draws"] == "2,000 in 2 samples, 500 a second"
    assert re.findall(r"[\d.]+ %", shown["kept"]) == ["15.0 %", "20.0 %"]
    assert shown["mean weight μ"] == "0.2500, from 0.2000 to 0.3125"
    assert shown["error seen"] == "12.50 % after 10 rounds"
    assert shown["certified"] == "at most 62.50 %"


def test_rows_that_came_before_certify_their_source_alone() -> None:
    view = progress.FilteringView(20)
    view(a_refill(1, fresh=0, again=1_000))
    assert "of this source" in printed(view.picture())


def test_the_view_is_a_context_and_its_last_picture_stays() -> None:
    console = Console(file=io.StringIO(), width=80)
    with progress.FilteringView(20, console) as view:
        view(a_refill(1))
        wish = view(a_round(11))  # type: ignore[func-returns-value]
    assert wish is None  # a watcher that returns True stops the run
    assert isinstance(console.file, io.StringIO)
    assert "11 of at most 20" in console.file.getvalue()


def test_every_refill_is_one_line_of_eighty_columns() -> None:
    refills = [a_refill(k, draws=100_000_000 + k) for k in range(MAX_ROWS)]
    shown = printed(refills_table(drawn_ledger(refills), "data"))
    assert max(map(len, shown.splitlines())) <= 80
    assert all(f"{refill.draws:,}" in shown for refill in refills)
    assert "…" not in shown
    assert "*" not in shown


COLUMNS: dict[str, list[Any]] = {
    "name": ["one", "graph_separation", "other", "lost"],
    "rounds": [12345, 7, None, None],
    "seconds": [1.234, 0.5, 10.0, None],
    "training_error": [0.0, 0.12345, 0.2, None],
    "bound": [2e-7, 1.5, None, None],
    "least_margin": [-1.0, 0.25, None, None],
    "soft_margin": [-0.1234, 0.5, None, None],
    "median_margin": [0.75, 1.0, None, None],
    "test_error": [0.1, 0.15, 0.3, None],
    "lower": [0.05, 0.1, 0.2512, None],
    "upper": [0.15, 0.2, 0.3551, None],
    "worse": [False, False, True, None],
    "stopped": ["", "", "", "no"],
    "failed": [False, False, False, True],
}


def test_every_number_fits_into_eighty_characters() -> None:
    lines = printed(text.table(COLUMNS, "title", 0.05, "caption", ["a [b] c"])).splitlines()
    cells = [" ".join(line.split()) for line in lines]
    assert "one 12,345 1.23 0 2e-07 -1 -.123 .750 .1000* .050–.150" in cells
    assert "graph_separation 7 0.50 .1235 ≥ 1 .250 .500 1 .1500* .100–.200" in cells
    assert "other – 10.00 .2000 – – – – .3000 .251–.355" in cells
    assert "lost failed" in cells
    assert "…" not in "".join(lines)
    assert [line.strip() for line in lines[-2:]] == ["caption", "a [b] c"]


def points(axes: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in axes.get_lines()}


def test_the_picture_holds_errors_and_margins() -> None:
    errors, margins = text.picture(COLUMNS, 0.05)
    drawn = points(errors)
    assert drawn["training error"].get_xdata().tolist() == [0.0, 0.12345, 0.2]
    assert drawn["its bound"].get_xdata().tolist() == [2e-7]  # 1.5 is off the scale
    (arrow,) = (line for line in errors.get_lines() if line.get_marker() == ">")
    assert arrow.get_ydata().tolist() == [1]
    (bars,) = errors.containers
    ends = [segment[:, 0].tolist() for segment in bars.lines[2][0].get_segments()]
    np.testing.assert_allclose(ends, [[0.05, 0.15], [0.1, 0.2], [0.2512, 0.3551]])
    assert [t.get_text() for t in errors.get_yticklabels()] == ["one", "graph_separation", "other"]
    assert errors.yaxis_inverted()
    curves = points(margins)
    np.testing.assert_array_equal(curves["least"].get_xdata(), [-1, 0.25, np.nan])
    np.testing.assert_array_equal(
        curves["mean of the worst 0.05"].get_xdata(), [-0.1234, 0.5, np.nan]
    )
    np.testing.assert_array_equal(curves["median"].get_xdata(), [0.75, 1, np.nan])


BOX: dict[str, Any] = {"epsilon": 0.1, "delta": 0.05, "dimensions": 2}


def test_writes_the_format_of_the_name(tmp_path: Path) -> None:
    plots.plan_curve(plan.rectangle, BOX, tmp_path / "curve.pdf")
    assert (tmp_path / "curve.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("value", [0.01, 0.6])
def test_the_curve_passes_the_point_asked_for(tmp_path: Path, value: float) -> None:
    asked: list[float] = []

    def ask(*, epsilon: float) -> Plan:
        assert 0 < epsilon < 1
        asked.append(epsilon)
        return Plan("How many?", "theorem", examples=round(10 / epsilon))

    plots.plan_curve(ask, {"epsilon": value}, tmp_path / "curve.png")
    assert len(asked) > 10
    assert min(asked) <= value <= max(asked)


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be written"):
        plots.plan_curve(plan.rectangle, BOX, tmp_path / "absent" / "curve.png")
    with pytest.raises(FileError, match="cannot be written"):
        plots.plan_curve(plan.rectangle, BOX, tmp_path / "curve.nonsense")
