"""The table and the picture of the recursion say what the record says."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pacboost.theory.recursion import Record
from pacboost.theory.three_way import RecursionView, levels_table, plot_levels
from tests.training.committees.points import Careless, recursion


@pytest.fixture(scope="module")
def record() -> Record:
    run = recursion(Careless(0.4), 0.4, 0.15, seed=1)
    run.run()
    return run.record


def text(record: Record) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(levels_table(record))
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def test_every_level_has_its_line(record: Record) -> None:
    said = text(record)
    assert "g(x) = 3x² − 2x³" in said
    assert "error ≤ 0.15 is reached" in said
    assert f"{record.draws:,} examples drawn, 0 of them again" in said
    for part, whole in zip(record.targets[:-1], record.targets[1:], strict=True):
        assert f"{part:.4f}" in said
        assert f"{whole:.4f}" in said
    weak = next(line for line in said.splitlines() if line.strip().startswith("weak"))
    assert str(sum(node.level == 0 for node in record.nodes)) in weak.split()


def test_a_stop_is_told(record: Record) -> None:
    run = recursion(Careless(0.1), 0.4, 0.15, seed=1)
    run.run()
    assert "promised an edge of 0.4" in " ".join(text(run.record).split())


def test_stairs_lead_to_epsilon(record: Record) -> None:
    pytest.importorskip("matplotlib")
    axes = plot_levels(record)
    x, y = axes.lines[2].get_data()
    assert list(x[::2]) == list(y[1::2][:0]) + list(record.targets)
    assert y[-1] == record.targets[-1]
    assert plot_levels(record, axes) is axes


def test_view_tells_of_the_last_call(record: Record) -> None:
    console = Console(file=io.StringIO(), width=120, force_terminal=True)
    with RecursionView(console) as view:
        view(record)
    file = console.file
    assert isinstance(file, io.StringIO)
    assert f"{record.draws:,} examples" in file.getvalue()
