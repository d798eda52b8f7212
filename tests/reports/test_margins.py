"""Pictures and tables of rows: the numbers that they hold."""

from __future__ import annotations

from io import StringIO
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from pacboost.errors import DataError
from pacboost.ledgers.ledger import HardRow
from pacboost.reports import plots as pictures
from pacboost.reports.text import hardest_table

HARD = [HardRow(7, "yes", -0.5, 0.75), HardRow(3, "no", 0.25, 0.375)]


def curves(axes: Any) -> dict[str, Any]:
    return {ln.get_label(): ln for ln in axes.get_lines() if ln.get_label().startswith("after")}


def test_equaliser_holds_the_sorted_shares_and_their_spread() -> None:
    drawn = curves(pictures.equaliser({10: [1.0, -1.0, 0.0, 0.5], 1: [1.0, 1.0, -1.0, -1.0]}))
    assert list(drawn) == ["after round 1: spread 0.500", "after round 10: spread 0.370"]
    first, tenth = drawn.values()
    np.testing.assert_allclose(first.get_ydata(), [1, 1, 0, 0])
    np.testing.assert_allclose(tenth.get_ydata(), [1, 0.5, 0.25, 0])
    assert sum(first.get_color()) > sum(tenth.get_color())


def test_equaliser_of_many_rows_is_drawn_by_quantiles() -> None:
    margins = np.random.default_rng(0).uniform(-1, 1, 20_000)
    (line,) = curves(pictures.equaliser({5: margins})).values()
    places, shares = line.get_data()
    assert places.size == pictures.MOST_POINTS
    assert shares[0] == (1 - margins.min()) / 2
    np.testing.assert_allclose(shares, 1 - places, atol=0.02)


@pytest.mark.parametrize("values", [[], [[0.5]]])
def test_equaliser_of_no_rows(values: Any) -> None:
    with pytest.raises(DataError, match="margins after round 3"):
        pictures.equaliser({3: values})
    with pytest.raises(DataError, match="no margins"):
        pictures.equaliser({})


def test_hardest_rows_are_bars_with_the_hardest_on_top() -> None:
    axes = pictures.hardest(HARD)
    assert [bar.get_width() for bar in axes.patches] == [-0.5, 0.25]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["row 7: yes", "row 3: no"]
    assert axes.yaxis_inverted()
    own = Figure().subplots()
    assert pictures.hardest(HARD, own) is own
    assert pictures.equaliser({1: [0.5]}, own) is own


def test_hardest_rows_in_the_terminal() -> None:
    console = Console(file=StringIO(), width=80)
    with console.capture() as text:
        console.print(hardest_table([*HARD, HardRow(1, "[red]", 1, 0)], "hardest"))
    lines = [line.split() for line in text.get().splitlines()]
    assert ["7", "-0.5000", "75.0", "%", "yes"] in lines
    assert ["1", "1.0000", "0.0", "%", "[red]"] in lines
