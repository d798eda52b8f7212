"""Mistakes as labels come back: the mean error, the capital against the certificate, a detector."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import monitoring
from pacboost.errors import DataError
from pacboost.kernels.monitoring import follow
from pacboost.numerics.same_bits import total

# Points of a curve, at evenly spaced rows: at most so many, however long the stream is.

POINTS = 400
"""When a curve has so many points, every second one is dropped."""
FIRST_STEP = 64


class History:
    """Rows at which a curve was noted, with what was noted there.

    >>> curve = History()
    >>> for row in range(1, 8001):
    ...     if curve.due(row):
    ...         curve.note(row, row / 2)
    >>> len(curve.points), curve.step, curve.points[-1]
    (125, 64, [8000, 4000.0])
    """

    def __init__(self, step: int = FIRST_STEP, points: list[list[float]] | None = None) -> None:
        self.step = step
        self.points: list[list[float]] = points if points is not None else []

    def due(self, row: int) -> bool:
        """Check whether a point is noted at this row."""
        return row % self.step == 0

    def until_due(self, row: int) -> int:
        """Count the rows from this one to the next that is noted."""
        return self.step - row % self.step

    def note(self, *numbers: float) -> None:
        """Add a point, whose first number is the row."""
        self.points.append(list(numbers))
        if len(self.points) >= POINTS:
            self.points = self.points[1::2]
            self.step *= 2

    def stored(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return {"step": self.step, "points": self.points}


# What the file of a monitor may hold: every number in its range, every list of its length.
#
# Anybody can write such a file with a right checksum. Kernels do not check their indices, so a
# column that does not exist must not come further than this.

MOST = 2**53


def numbers(
    content: dict[str, Any], name: str, kind: type, *shape: int, low: float = 0, high: float = MOST
) -> NDArray[Any]:
    """Read whole numbers, or finite ones, of a shape and between two others.

    >>> numbers({"rows": [3, 4]}, "rows", int, 2, high=9).tolist()
    [3, 4]
    """
    found = np.array(content[name], dtype=object)
    if found.shape != shape and (found.size or 0 not in shape):
        raise ValueError(f"{name} has the shape {found.shape}, and not {shape}")
    for value in found.flat:
        fits = type(value) in (int, kind) and low <= value <= high and math.isfinite(value)
        if not fits:
            what = "whole" if kind is int else "a number"
            raise ValueError(f"{name} holds {value!r:.40}; it must be {what}, from {low} to {high}")
    return found.astype(kind).reshape(shape)


def whole(content: dict[str, Any], name: str, low: int, high: int = MOST) -> int:
    """Read a whole number between two others."""
    return int(numbers(content, name, int, low=low, high=high))


def texts(content: dict[str, Any], name: str, most: int) -> list[str]:
    """Read a list of at most so many texts."""
    found = content[name]
    proper = isinstance(found, list) and all(isinstance(entry, str) for entry in found)
    if not proper or len(found) > most:
        raise ValueError(f"{name} is no list of at most {most} texts")
    return list(found)


def curve(content: Any, width: int, last: int) -> History:
    """Read step and points of a curve; the first number of a point is its row."""
    if not isinstance(content, dict) or content.keys() != {"step", "points"}:
        raise ValueError("history has other parts than step and points")
    points = content["points"]
    if not isinstance(points, list) or len(points) >= POINTS:
        raise ValueError(f"points is no list of fewer than {POINTS}")
    numbers(content, "points", float, len(points), width, low=-math.inf, high=math.inf)
    numbers(
        {"points": [point[0] for point in points]}, "points", int, len(points), low=1, high=last
    )
    return History(whole(content, "step", 1), points)


class MistakeStream:
    """What a stream of mistakes says about "the error is at most ``error``"."""

    def __init__(self, error: float, delta: float, run_length: int) -> None:
        self.error, self.delta, self.run_length = error, delta, run_length
        self._counts = np.zeros(2, dtype=np.int64)
        self._squares = np.zeros(1)
        self._levels = np.zeros(monitoring.ODDS.size)
        self._marks = np.zeros(4, dtype=np.int64)
        self.history = History()
        won, lost = monitoring.log_factors(error)
        self._logs = np.array([lost, won])
        self._goal = -math.log(delta) + 1e-9  # more than all rounding

    def add(self, mistakes: NDArray[np.bool_]) -> None:
        """Follow further mistakes, in the order of the rows."""
        place = 0
        while place < mistakes.size:
            some = mistakes[place : place + self.history.until_due(self.rows)]
            follow(
                some, self._counts, self._squares, self._logs, self._goal, self._levels,
                monitoring.DETECTOR_WEIGHTS, float(self.run_length), self._marks,
            )  # fmt: skip
            place += some.size
            if self.history.due(self.rows):
                squares = float(self._squares[0])
                self.history.note(self.rows, self.wrong, squares, self.detector)

    @property
    def rows(self) -> int:
        """How many labelled rows there were."""
        return int(self._counts[0])

    @property
    def wrong(self) -> int:
        """How many of them were mistakes."""
        return int(self._counts[1])

    @property
    def log_capital(self) -> float:
        """Natural logarithm of the capital against the certificate."""
        if not self.rows:
            return 0.0
        return float(monitoring.log_capital(self.wrong, self.rows, self.error))

    @property
    def detector(self) -> float:
        """The level of the detector, which sounds at ``run_length``."""
        return total(monitoring.DETECTOR_WEIGHTS * self._levels)

    @property
    def refuted_at(self) -> int | None:
        """The row at which the certificate was refuted."""
        return int(self._marks[0]) or None

    @property
    def sounded_at(self) -> int | None:
        """The row at which the detector sounded first."""
        return int(self._marks[1]) or None

    @property
    def sounded_last(self) -> int | None:
        """The row at which the detector sounded last."""
        return int(self._marks[2]) or None

    @property
    def sounded(self) -> int:
        """How often the detector has sounded."""
        return int(self._marks[3])

    def interval(self) -> tuple[float, float]:
        """Interval of the mean error so far."""
        if not self.rows:
            return 0.0, 1.0
        low, high = monitoring.mean_interval(
            self.wrong, float(self._squares[0]), self.rows, self.delta
        )
        return low, high

    def curves(self) -> dict[str, list[float]]:
        """Return what was noted on the way, as columns."""
        names = ("row", "error", "lower", "upper", "log_capital", "detector")
        found: dict[str, list[float]] = {name: [] for name in names}
        for row, wrong, squares, detector in self.history.points:
            k, n = int(wrong), int(row)
            ends = monitoring.mean_interval(k, squares, n, self.delta)
            capital = monitoring.log_capital(k, n, self.error)
            for name, number in zip(names, (n, k / n, *ends, capital, detector), strict=True):
                found[name].append(number)
        return found

    def stored(self) -> dict[str, Any]:
        """Return what a file keeps."""
        return {
            "counts": self._counts.tolist(),
            "squares": self._squares.tolist(),
            "levels": self._levels.tolist(),
            "marks": self._marks.tolist(),
            "history": self.history.stored(),
        }

    def restore(self, content: dict[str, Any]) -> None:
        """Continue where ``stored`` was called."""
        rows, wrong = counts = numbers(content, "counts", int, 2).tolist()
        if wrong > rows:
            raise ValueError(f"there are {wrong} mistakes on {rows} rows")
        self._counts[:] = counts
        self._marks[:] = numbers(content, "marks", int, 4, high=rows)
        self._squares[:] = numbers(content, "squares", float, 1, high=rows)
        self._levels[:] = numbers(content, "levels", float, self._levels.size, high=1e300)
        self.history = curve(content["history"], 4, rows)
        for row, few, squares, _ in self.history.points:
            if not (type(few) is int and 0 <= few <= row and 0 <= squares <= row):
                raise ValueError(f"a point of the history has {few} mistakes on {row} rows")


def read_mistakes(mistakes: Any) -> NDArray[np.bool_]:
    """Read truth values, or numbers that are 0 or 1.

    >>> read_mistakes([0, 1, 0]).tolist()
    [False, True, False]
    """
    given = np.asarray(mistakes)
    if given.ndim != 1:
        raise DataError(
            f"mistakes have shape {given.shape}; give one truth value for each row, in one list"
        )
    if given.size and given.dtype.kind not in "biuf":
        raise DataError(
            f"mistakes are of type {given.dtype}; give truth values, or 1 for a mistake and 0 for "
            "none"
        )
    other = ~np.isin(given, (0, 1))
    if other.any():
        raise DataError(
            f"mistakes hold {given[other][0]!r}; give 1 (or True) for a mistake and 0 for none"
        )
    return given.astype(np.bool_)
