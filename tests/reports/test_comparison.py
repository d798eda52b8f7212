"""Boosters side by side: what cells, points and lines hold."""

from __future__ import annotations

from io import StringIO
from typing import Any

import numpy as np
from rich.console import Console

from pacboost.reports import text as comparison

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


def printed(columns: dict[str, list[Any]], width: int = 80) -> list[str]:
    console = Console(file=StringIO(), width=width)
    with console.capture() as text:
        console.print(comparison.table(columns, "title", 0.05, "caption", ["a [b] c"]))
    return text.get().splitlines()


def test_every_number_fits_into_eighty_characters() -> None:
    lines = printed(COLUMNS)
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
    errors, margins = comparison.picture(COLUMNS, 0.05)
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
