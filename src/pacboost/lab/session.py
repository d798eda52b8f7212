"""Grids of scores over the plane, and the cache of runs between requests.

A run that was dropped from the cache is computed again with the same result.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import Cells
from pacboost.lab import stopping
from pacboost.lab.data import Points, make_points
from pacboost.lab.engine import BagRun, BoostRun, Doubles, LabRun, RoundFrame, forced_rules
from pacboost.lab.files import Shelf
from pacboost.lab.spec import RunSpec, digest, whole
from pacboost.samples.sample import unlabelled
from pacboost.sources.arrays import ArrayTable

MIN_SURFACE_SIZE, MAX_SURFACE_SIZE = 8, 128
ROUNDS_PER_SUM = 16
"""Sums of scores are stored after every multiple of this number of rounds."""
FLAT = "these points have more than two features, so the vote cannot be drawn in the plane"
ADVERSARY = "the adversary answers only for the training points, so there is no surface"


class Surface:
    """The grid of one run: the cells of every rule, and some sums."""

    def __init__(self, run: LabRun, size: int) -> None:
        self.run, self.size = run, size
        x_min, x_max, low, high = run.points.box
        x, y = np.linspace(x_min, x_max, size), np.linspace(low, high, size)
        rows = np.stack([np.tile(x, size), np.repeat(y, size)], axis=1)  # from the bottom
        self._sample = unlabelled(ArrayTable(rows), run.sample.bins)
        self._cells: list[tuple[RoundFrame, Cells]] = []
        self._sums: dict[int, Doubles] = {0: np.zeros(size * size)}

    def _add_cells(self, rounds: int) -> None:
        frames = self.run.frames
        if self._cells and (not frames or self._cells[0][0] is not frames[0]):  # the run restarted
            self._cells, self._sums = [], {0: self._sums[0]}
        for frame in frames[len(self._cells) : rounds]:
            stopping.check()
            cells = frame.rule.cells(self._sample)
            small = cells.astype(np.uint8) if len(frame.rule.values) <= 256 else cells.copy()
            self._cells.append((frame, small))

    def rule(self, number: int) -> Doubles:
        """Return the score of the rule of a round, from -1 to 1."""
        self._add_cells(number)
        frame, cells = self._cells[number - 1]
        values = frame.rule.values[:, 0]
        return np.asarray((values / (np.abs(values).max() or 1.0))[cells])

    def vote(self, number: int) -> Doubles:
        """Return the score after a round, divided by the sum of votes."""
        self._add_cells(number)
        last, revised = self._cells[number - 1][0], self.run.revised
        start = 0 if revised else max(n for n in self._sums if n <= number)
        total = self._sums[start].copy()
        for place in range(start, number):
            frame, cells = self._cells[place]
            total += last.votes[place] * frame.rule.values[:, 0][cells]
            if not revised and (place + 1) % ROUNDS_PER_SUM == 0:
                self._sums.setdefault(place + 1, total.copy())
        return total / (last.total or 1.0)


def why_flat(run: LabRun) -> str:
    """Return why there is no surface; empty if there is one."""
    if not run.points.plane:
        return FLAT
    return "" if run.answers_elsewhere else ADVERSARY


def read_size(value: object) -> int:
    """Read the size of a grid; 0 for none."""
    return whole("surface", value, MIN_SURFACE_SIZE, MAX_SURFACE_SIZE) if value else 0


MAX_RUNS = 24
MAX_DATA_SETS = 16
MAX_NUMBERS = 20_000_000
"""Rounds times points of all runs together: about 350 MB."""


@dataclass
class LabSession:
    """The cache of the server: files, points, runs and their surfaces."""

    files: Shelf = field(default_factory=Shelf)
    boot: Any = None
    """The first state of the page."""
    _points: OrderedDict[str, Points] = field(default_factory=OrderedDict)
    _runs: OrderedDict[str, LabRun] = field(default_factory=OrderedDict)
    _surfaces: dict[tuple[str, int], Surface] = field(default_factory=dict)

    def points(self, spec: Mapping[str, Any], *, of_both: bool = True) -> Points:
        """Return the points of a spec; by default they must be of both classes."""
        key = digest(spec)
        if key not in self._points:
            self._points[key] = make_points(spec, self.files)
        self._points.move_to_end(key)
        while len(self._points) > MAX_DATA_SETS:
            self._points.popitem(last=False)
        points = self._points[key]
        if of_both:
            points.check_classes()
        return points

    def run(self, spec: RunSpec) -> LabRun:
        """Return a run, which may have rounds already."""
        key = spec.key
        if key not in self._runs:
            self._runs[key] = self._new_run(spec)
        self._runs.move_to_end(key)
        run = self._runs[key]
        while len(self._runs) > 1 and (len(self._runs) > MAX_RUNS or self._numbers > MAX_NUMBERS):
            self._runs.popitem(last=False)
        self._surfaces = {k: grid for k, grid in self._surfaces.items() if k[0] in self._runs}
        return run

    @property
    def _numbers(self) -> int:
        """The number of frames times points of all runs."""
        return sum(len(run.frames) * len(run.points.y) for run in self._runs.values())

    def _new_run(self, spec: RunSpec) -> LabRun:
        points = self.points(spec.data)
        if spec.method == "bagging":
            return BagRun(spec, points)
        forced = None
        if spec.changes:
            forced = forced_rules(self.run(spec.parent), spec.changes[-1].after)
        return BoostRun(spec, points, forced)

    def surface_asked(self, spec: RunSpec, asked: Mapping[str, Any]) -> Surface | None:
        """Return the grid of a run, if it is requested and can be drawn."""
        size = read_size(asked.get("surface", 0))
        return self.surface(spec, size) if size and not why_flat(self.run(spec)) else None

    def surface(self, spec: RunSpec, size: int) -> Surface:
        """Return the grid of a run."""
        key = (spec.key, size)
        run = self.run(spec)
        if key not in self._surfaces or self._surfaces[key].run is not run:
            self._surfaces[key] = Surface(run, size)
        return self._surfaces[key]


def check_done(run: LabRun, rounds: int) -> None:
    """Raise unless a run has this number of rounds."""
    run.advance(rounds)
    if not 1 <= rounds <= len(run.frames):
        raise DataError(f"round {rounds} is requested; the run has rounds 1 to {len(run.frames)}")
