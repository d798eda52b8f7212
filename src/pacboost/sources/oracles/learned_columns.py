"""What the columns of a source hold, learned once from a sample of its rows.

A column of text is read as numbers, booleans, dates or categories, as it is in a table in memory
(sources/kinds). Rows whose columns were learned from do not certify: a level that only they have
would be unknown in new rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pacboost.errors import warn_once
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.frame_table import FrameTable
from pacboost.sources.kinds.column import CellOrigin
from pacboost.sources.kinds.order import PLAIN
from pacboost.sources.levels import Levels
from pacboost.sources.oracles.shuffle import Shuffle, key
from pacboost.sources.spelling import Spelling, spoilt

BLOCKS_TO_LEARN, ROWS_TO_LEARN = 16, 50_000
"""The most blocks, and rows, by which columns are learned: a level that a row in 10,000 has is
missed once in 150 times."""


@dataclass(frozen=True)
class LearnedColumns:
    """The names and kinds of the columns that rows are read as."""

    names: tuple[str, ...]
    levels: Levels
    spelling: Spelling = field(default_factory=Spelling)

    @classmethod
    def learn(
        cls, cells: Mapping[str, Any], where: str, spelling: Spelling | None = None
    ) -> LearnedColumns:
        """Learn the kinds of columns."""
        spelling = spelling or Spelling()
        origin = CellOrigin(spelling, f"{where}: ")
        table = FrameTable.learn(_series(cells), origin=origin)
        for j, levels in table.levels.columns.items():
            odd = spoilt([str(level) for level in levels], spelling)
            if odd is not None:
                warn_once(
                    f"{where}: column {table.name(j)!r} holds mostly numbers and is read as "
                    f"categories, because {odd!r} is not a number. Write plain numbers, or leave "
                    "such cells empty"
                )
        return cls(table.names, table.levels, spelling)

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the columns of the source."""
        return tuple(dict.fromkeys(self.levels.sources(self.names)))

    def table(self, cells: Mapping[str, Any], row: Callable[[int], str]) -> ArrayTable:
        """Read cells as numbers; ``row`` names a row in errors."""
        origin = replace(CellOrigin(self.spelling), row=row)
        table = FrameTable.like(_series(cells), self.names, self.levels, origin)
        return ArrayTable(table.rows(), self.names, self.levels)


def plain_numbers(learned: LearnedColumns) -> set[str]:
    """Return the columns of a source whose cells are plain numbers."""
    pairs = enumerate(learned.levels.sources(learned.names))
    return {source for j, source in pairs if learned.levels.kind(j) == PLAIN}


def _series(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns of Arrow as narwhals series, and arrays as they are."""
    return {
        name: nw.from_native(column, series_only=True, pass_through=True)
        for name, column in cells.items()
    }


def blocks_to_learn(n_blocks: int) -> list[int]:
    """Choose the blocks whose rows columns are learned from: the same ones for any seed."""
    # by a key of its own: with that of the fit, columns would change with random_state
    return sorted(Shuffle(n_blocks, key(0)).part(0, min(n_blocks, BLOCKS_TO_LEARN)).tolist())


def rows_to_learn(rows: int, block: int = 0, blocks: int = 1) -> NDArray[np.int64]:
    """Choose the rows of a block that columns are learned from, in ascending order.

    At most half of them, so that others are left to certify.
    """
    # the other half is enough for a tenth that certifies and a tenth that tests
    most = min(-(-rows // 2), ROWS_TO_LEARN // blocks)
    return np.sort(Shuffle(rows, key(0, block)).part(0, most))
