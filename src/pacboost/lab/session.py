"""Runs that are kept between requests; a run that is gone is made again, and comes out the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pacboost.errors import DataError
from pacboost.lab.bagged import BagRun
from pacboost.lab.data import Points, make_points
from pacboost.lab.engine import BoostRun, LabRun, forced_rules
from pacboost.lab.files import Shelf
from pacboost.lab.spec import RunSpec, digest
from pacboost.lab.surface import Surface

MOST_RUNS = 24
MOST_DATA = 16
MOST_NUMBERS = 20_000_000
"""Rounds times points of all runs together: about 350 MB."""


@dataclass
class LabSession:
    """The cache of the server: files, points, runs and their surfaces."""

    files: Shelf = field(default_factory=Shelf)
    _points: OrderedDict[str, Points] = field(default_factory=OrderedDict)
    _runs: OrderedDict[str, LabRun] = field(default_factory=OrderedDict)
    _surfaces: dict[tuple[str, int], Surface] = field(default_factory=dict)

    def points(self, spec: Mapping[str, Any], *, of_both: bool = True) -> Points:
        """Return the points of a spec; unless told otherwise, they have to be of both classes."""
        key = digest(spec)
        if key not in self._points:
            self._points[key] = make_points(spec, self.files)
        self._points.move_to_end(key)
        while len(self._points) > MOST_DATA:
            self._points.popitem(last=False)
        found = self._points[key]
        if of_both:
            found.check_classes()
        return found

    def run(self, spec: RunSpec) -> LabRun:
        """Return a run, which may have rounds already."""
        key = spec.key
        if key not in self._runs:
            self._runs[key] = self._made(spec)
        self._runs.move_to_end(key)
        found = self._runs[key]
        while len(self._runs) > 1 and (len(self._runs) > MOST_RUNS or self._numbers > MOST_NUMBERS):
            self._drop(next(iter(self._runs)))
        return found

    @property
    def _numbers(self) -> int:
        """How many numbers the frames of all runs hold, for each point."""
        return sum(len(run.frames) * len(run.points.y) for run in self._runs.values())

    def _drop(self, key: str) -> None:
        del self._runs[key]
        for name in [name for name in self._surfaces if name[0] == key]:
            del self._surfaces[name]

    def _made(self, spec: RunSpec) -> LabRun:
        points = self.points(spec.data)
        if spec.method == "bagging":
            return BagRun(spec, points)
        if not spec.changes:
            return BoostRun(spec, points)
        after = spec.changes[-1].after
        return BoostRun(spec, points, forced_rules(self.run(spec.parent), after))

    def surface(self, spec: RunSpec, size: int) -> Surface:
        """Return the grid of a run."""
        key = (spec.key, size)
        run = self.run(spec)
        if key not in self._surfaces or self._surfaces[key].run is not run:
            self._surfaces[key] = Surface(run, size)
        return self._surfaces[key]

    def forget(self) -> None:
        """Drop all runs, as if the server had just begun."""
        self._points.clear()
        self._runs.clear()
        self._surfaces.clear()


def check_done(run: LabRun, rounds: int) -> None:
    """Raise unless a run has so many rounds."""
    run.advance(rounds)
    if not 1 <= rounds <= len(run.frames):
        raise DataError(f"round {rounds} is asked for; the run has rounds 1 to {len(run.frames)}")
