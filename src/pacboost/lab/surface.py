"""What the vote says all over the plane: a grid of scores for every round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Cells
from pacboost.lab.engine import Doubles, LabRun, RoundFrame, f32
from pacboost.lab.spec import whole
from pacboost.samples.sample import Sample, unlabelled
from pacboost.sources.arrays import ArrayTable

LEAST, MOST = 8, 128
KEPT = 16
"""Sums of scores are kept after every so many rounds, to begin from there."""
FLAT = "these points have more than two features, so the vote cannot be drawn in the plane"
ADVERSARY = "the adversary answers for the training points only, so there is nothing between them"


class Surface:
    """The grid of one run, of one size: the cells of every rule, and some sums."""

    def __init__(self, run: LabRun, size: int) -> None:
        self.run, self.size = run, size
        self._sample = grid_sample(run, size)
        self._cells: list[tuple[RoundFrame, Cells]] = []
        self._sums: dict[int, Doubles] = {0: np.zeros(size * size)}

    def _known(self, rounds: int) -> None:
        """Ask every rule about the grid, once."""
        frames = self.run.frames
        if self._cells and (not frames or self._cells[0][0] is not frames[0]):  # it began again
            self._cells, self._sums = [], {0: self._sums[0]}
        for frame in frames[len(self._cells) : rounds]:
            cells = frame.rule.cells(self._sample)
            small = cells.astype(np.uint8) if len(frame.rule.values) <= 256 else cells.copy()
            self._cells.append((frame, small))

    def rule(self, number: int) -> Doubles:
        """Return what the rule of a round says, from -1 to 1."""
        self._known(number)
        frame, cells = self._cells[number - 1]
        values = frame.rule.values[:, 0]
        found: Doubles = (values / (np.abs(values).max() or 1.0))[cells]
        return found

    def vote(self, number: int) -> Doubles:
        """Return the score after a round, divided by the sum of votes."""
        self._known(number)
        frame = self._cells[number - 1][0]
        return self._sum(number, frame.votes) / (frame.total or 1.0)

    def _sum(self, number: int, votes: Doubles) -> Doubles:
        revised = self.run.revised
        start = 0 if revised else max(n for n in self._sums if n <= number)
        total = self._sums[start].copy()
        for place in range(start, number):
            frame, cells = self._cells[place]
            total += votes[place] * frame.rule.values[:, 0][cells]
            if not revised and (place + 1) % KEPT == 0:
                self._sums.setdefault(place + 1, total.copy())
        return total


def grid_sample(run: LabRun, size: int) -> Sample:
    """Return the points of the grid, row by row from below."""
    left, right, low, high = run.points.box
    x, y = np.linspace(left, right, size), np.linspace(low, high, size)
    rows = np.stack([np.tile(x, size), np.repeat(y, size)], axis=1)
    return unlabelled(ArrayTable(rows), run.sample.bins)


def why_flat(run: LabRun) -> str:
    """Return why there is no surface, or nothing."""
    if not run.points.plane:
        return FLAT
    return "" if run.answers_elsewhere else ADVERSARY


def read_size(given: Any) -> int:
    """Read the size of a grid; 0 for none."""
    return whole("surface", given, LEAST, MOST) if given else 0


def written(values: NDArray[np.float64]) -> str:
    """Write a grid for the page."""
    return f32(values)
