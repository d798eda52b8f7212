"""The stream of mistakes: mean error, capital against the certificate, and a change detector."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import monitoring
from pacboost.errors import DataError
from pacboost.kernels.native import native
from pacboost.numerics.same_bits import total

MAX_POINTS = 400
"""When a curve has this many points, every second one is dropped."""
INITIAL_STEP = 64
"""Rows between two points at first; it doubles whenever points are dropped."""


class History:
    """A curve at evenly spaced rows, with fewer than MAX_POINTS points."""

    def __init__(self, step: int = INITIAL_STEP, points: list[list[float]] | None = None) -> None:
        self.step = step
        self.points: list[list[float]] = points if points is not None else []

    def due(self, row: int) -> bool:
        """Check whether a point is recorded at this row."""
        return row % self.step == 0

    def until_due(self, row: int) -> int:
        """Return the number of rows up to the next one that is recorded."""
        return self.step - row % self.step

    def note(self, *numbers: float) -> None:
        """Add a point, whose first number is the row."""
        self.points.append(list(numbers))
        if len(self.points) >= MAX_POINTS:
            # the later one of two points stays: its row is a multiple of the doubled step
            self.points = self.points[1::2]
            self.step *= 2

    def stored(self) -> dict[str, Any]:
        """Return the values that a file stores."""
        return {"step": self.step, "points": self.points}


MAX_EXACT_INTEGER = 2**53
"""Largest integer read from a file. Anybody can write a file of a monitor with a valid checksum,
and kernels do not check their indices, so every number and length is checked when it is read."""


def numbers(
    content: dict[str, Any],
    name: str,
    kind: type,
    *shape: int,
    low: float = 0,
    high: float = MAX_EXACT_INTEGER,
) -> NDArray[Any]:
    """Read an array of integers, or finite floats, of a given shape and range."""
    values = np.array(content[name], dtype=object)
    if values.shape != shape and (values.size or 0 not in shape):
        raise ValueError(f"{name} has the shape {values.shape}, and not {shape}")
    for value in values.flat:
        fits = type(value) in (int, kind) and low <= value <= high and math.isfinite(value)
        if not fits:
            what = "whole" if kind is int else "a number"
            raise ValueError(f"{name} holds {value!r:.40}; it must be {what}, from {low} to {high}")
    return values.astype(kind).reshape(shape)


def whole(content: dict[str, Any], name: str, low: int, high: int = MAX_EXACT_INTEGER) -> int:
    """Read an integer within a range."""
    return int(numbers(content, name, int, low=low, high=high))


def texts(content: dict[str, Any], name: str, max_length: int) -> list[str]:
    """Read a list of at most ``max_length`` texts."""
    values = content[name]
    proper = isinstance(values, list) and all(isinstance(entry, str) for entry in values)
    if not proper or len(values) > max_length:
        raise ValueError(f"{name} is no list of at most {max_length} texts")
    return list(values)


def curve(content: Any, width: int, last: int) -> History:
    """Read a curve; the first number of each point is its row, at most ``last``."""
    if not isinstance(content, dict) or content.keys() != {"step", "points"}:
        raise ValueError("history has other parts than step and points")
    points = content["points"]
    if not isinstance(points, list) or len(points) >= MAX_POINTS:
        raise ValueError(f"points is no list of fewer than {MAX_POINTS}")
    numbers(content, "points", float, len(points), width, low=-math.inf, high=math.inf)
    numbers(
        {"points": [point[0] for point in points]}, "points", int, len(points), low=1, high=last
    )
    return History(whole(content, "step", 1), points)


class MistakeStream:
    """Evidence in a stream of mistakes against "the error is at most ``error``"."""

    def __init__(self, error: float, delta: float, run_length: int) -> None:
        self.error, self.delta, self.run_length = error, delta, run_length
        self._counts = np.zeros(2, dtype=np.int64)
        self._squares = np.zeros(1)
        self._levels = np.zeros(monitoring.ODDS.size)
        self._marks = np.zeros(4, dtype=np.int64)
        self.history = History()
        # sums of logarithms neither overflow nor underflow, as products of a million factors would
        won, lost = monitoring.log_factors(error)
        self._logs = np.array([lost, won])
        self._goal = -math.log(delta) + 1e-9  # more than any rounding error

    def add(self, mistakes: NDArray[np.bool_]) -> None:
        """Follow further mistakes, in the order of the rows."""
        place = 0
        while place < mistakes.size:
            # pieces end where a point is due: curves do not depend on how rows were passed
            some = mistakes[place : place + self.history.until_due(self.rows)]
            native.follow(
                some, self._counts, self._squares, self._logs, self._goal, self._levels,
                monitoring.DETECTOR_WEIGHTS, float(self.run_length), self._marks,
            )  # fmt: skip
            place += some.size
            if self.history.due(self.rows):
                squares = float(self._squares[0])
                self.history.note(self.rows, self.wrong, squares, self.detector)

    @property
    def rows(self) -> int:
        """Number of labelled rows."""
        return int(self._counts[0])

    @property
    def wrong(self) -> int:
        """Number of mistakes among them."""
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
        """Number of times that the detector has sounded."""
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
        """Return the points of all curves, as columns."""
        names = ("row", "error", "lower", "upper", "log_capital", "detector")
        columns: dict[str, list[float]] = {name: [] for name in names}
        for row, wrong, squares, detector in self.history.points:
            k, n = int(wrong), int(row)
            ends = monitoring.mean_interval(k, squares, n, self.delta)
            capital = monitoring.log_capital(k, n, self.error)
            for name, number in zip(names, (n, k / n, *ends, capital, detector), strict=True):
                columns[name].append(number)
        return columns

    def stored(self) -> dict[str, Any]:
        """Return the values that a file stores."""
        return {
            "counts": self._counts.tolist(),
            "squares": self._squares.tolist(),
            "levels": self._levels.tolist(),
            "marks": self._marks.tolist(),
            "history": self.history.stored(),
        }

    def restore(self, content: dict[str, Any]) -> None:
        """Set the state that ``stored`` returned."""
        rows, wrong = counts = numbers(content, "counts", int, 2).tolist()
        if wrong > rows:
            raise ValueError(f"there are {wrong} mistakes on {rows} rows")
        self._counts[:] = counts
        self._marks[:] = numbers(content, "marks", int, 4, high=rows)
        self._squares[:] = numbers(content, "squares", float, 1, high=rows)
        self._levels[:] = numbers(content, "levels", float, self._levels.size, high=1e300)
        self.history = curve(content["history"], 4, rows)
        for row, mistakes, squares, _ in self.history.points:
            if not (type(mistakes) is int and 0 <= mistakes <= row and 0 <= squares <= row):
                raise ValueError(f"a point of the history has {mistakes} mistakes on {row} rows")


def read_mistakes(mistakes: Any) -> NDArray[np.bool_]:
    """Read mistakes as booleans, or as numbers that are 0 or 1."""
    values = np.asarray(mistakes)
    if values.ndim != 1:
        raise DataError(
            f"mistakes have shape {values.shape}; give one truth value for each row, in one list"
        )
    if values.size and values.dtype.kind not in "biuf":
        raise DataError(
            f"mistakes are of type {values.dtype}; give truth values, or 1 for a mistake and 0 for "
            "none"
        )
    # probabilities and class labels look like mistakes, and every row would count as one
    other = ~np.isin(values, (0, 1))
    if other.any():
        raise DataError(
            f"mistakes hold {values[other][0]!r}; give 1 (or True) for a mistake and 0 for none"
        )
    return values.astype(np.bool_)
