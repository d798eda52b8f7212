"""The code of exported Python files: it is copied into them, so it needs the standard library only.

Everything below the line is copied; what a model adds is numbers. How cells are read is in
alone_cells.py, and what lists of words add is in alone_words.py.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from pacboost.models.export.alone_cells import _number, _PlainNumbers

# ------------------------------------------------------------------------------------------------


def _floats(text: str) -> array[float]:
    return array("f", map(float, text.split()))


def _wholes(text: str) -> array[int]:
    return array("i", map(int, text.split()))


def _lines(text: str) -> list[list[float]]:
    return [[float(number) for number in line.split()] for line in text.strip().splitlines()]


def _rows(given: Any) -> Iterable[Any]:
    """Return rows one by one: those of a data frame, the items of a list, or one row or text."""
    if hasattr(given, "to_dicts"):
        return given.to_dicts()  # type: ignore[no-any-return]
    if hasattr(given, "columns"):
        return given.to_dict("records")  # type: ignore[no-any-return]
    return [given] if isinstance(given, str) or hasattr(given, "keys") else given


def _cells(row: Any, names: Sequence[str], parts: Sequence[str] = ()) -> list[Any]:
    """Return the cells of a row in the order of the columns, or else of their parts."""
    if hasattr(row, "keys"):
        held = set(row.keys())
        names = parts if parts and held.issuperset(parts) else names
        gone = [name for name in names if name not in held]
        if gone:
            raise ValueError(f"the row has no column {gone[0]!r}; None says that it is missing")
        return [row[name] for name in names]
    if not hasattr(row, "__iter__") or isinstance(row, str):
        raise ValueError(
            f"{row!r:.60} came; a row is a list of cells or a dictionary, by {names[0]!r}, …"
        )
    cells = list(row)
    if len(cells) not in (len(names), len(parts)):
        shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        raise ValueError(f"a row has {len(cells)} cells, and {len(names)} are needed: {shown}")
    return cells


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1 / (1 + math.exp(-x))
    small = math.exp(x)
    return small / (1 + small)


def _derived(operator: str, a: float, b: float) -> float:
    """Return the value of a column that is made of two others; NaN if it is not finite."""
    if operator == "/":
        value = a / b if b else math.nan
    else:
        value = a * b if operator == "*" else a + b if operator == "+" else a - b
    return value if abs(array("f", [value])[0]) < math.inf else math.nan


class _Sigmoid:
    """A calibrated curve of two numbers."""

    def __init__(self, slope: float, offset: float) -> None:
        self.slope, self.offset = slope, offset

    def at(self, score: float) -> float:
        return _sigmoid(self.slope * score + self.offset)


class _Isotonic:
    """A calibrated curve through knots."""

    def __init__(self, knots: list[float], heights: list[float]) -> None:
        self.knots, self.heights = knots, heights

    def at(self, score: float) -> float:
        k = bisect_right(self.knots, score) - 1
        if k < 0 or k == len(self.knots) - 1:
            return self.heights[max(k, 0)]
        (x, after), (low, high) = self.knots[k : k + 2], self.heights[k : k + 2]
        return min(1.0, max(0.0, (high - low) / (after - x) * (score - x) + low))


class _Answer:
    """How sums become answers: see the fields of the model below."""

    def __init__(
        self,
        kind: str,
        classes: list[Any],
        steepness: float = 2.0,
        curves: Sequence[Any] = (),
        count: int = 1,
        middle: float = 0.0,
        scale: float = 1.0,
        logs: bool = False,
        place: int = 0,
        cut: float | None = None,
    ) -> None:
        self.kind, self.classes, self.steepness, self.curves = kind, classes, steepness, curves
        self.count, self.middle, self.scale, self.logs = count, middle, scale, logs
        self.place, self.cut = place, cut

    def decide(self, sums: list[float]) -> Any:
        """Return the class, the labels or the number that sums stand for."""
        if self.kind == "number":
            number = self.middle + self.scale * (sums[0] / self.count)
            return math.exp(number) if self.logs else number
        if self.kind == "several":
            return [int(score > 0) for score in sums]
        if self.cut is not None:
            return self.classes[self.beyond(sums, self.cut)]
        if self.kind == "two":
            return self.classes[int(sums[0] > 0)]
        shares = self.probabilities(sums) if self.kind in ("one", "shares") else sums
        return self.classes[shares.index(max(shares))]

    def beyond(self, sums: list[float], cut: float) -> int:
        """Return the place of the class that has a threshold, or of the most probable other one."""
        if self.kind == "two":
            return int(sums[0] >= cut if self.place == 1 else sums[0] > cut)
        shares = self.probabilities(sums)
        if shares[self.place] >= cut:
            return self.place
        shares[self.place] = -1.0
        return shares.index(max(shares))

    def probabilities(self, sums: list[float]) -> list[float]:
        """Return the probability of every class."""
        if self.kind == "one":
            return [1.0]
        if self.kind == "shares":
            shares = [value / self.count for value in sums]
            return shares if len(shares) > 1 else [1 - shares[0], shares[0]]
        if self.kind == "several":
            return [_sigmoid(2 * score) for score in sums]
        if self.kind == "two":
            if not self.curves:
                return [_sigmoid(-2 * sums[0]), _sigmoid(2 * sums[0])]
            second = self.curves[0].at(sums[0])
            return [1 - second, second]
        if self.curves:
            heights = [curve.at(score) for curve, score in zip(self.curves, sums)]  # noqa: B905
        else:
            largest = max(sums)
            heights = [math.exp(self.steepness * (score - largest)) for score in sums]
        total = sum(heights)
        return [value / total if total > 0 else 1 / len(heights) for value in heights]


class _Trees:
    """Trees over columns of numbers and levels."""

    def __init__(
        self,
        names: list[str],
        inputs: list[str],
        made_of: list[int],
        columns: list[Any],
        feature: Sequence[int],
        cut: Sequence[float],
        missing_left: Sequence[int],
        left: Sequence[int],
        right: Sequence[int],
        subset: Sequence[int],
        subsets: Sequence[int],
        roots: Sequence[int],
        lines: list[list[float]],
        outputs: int,
        means: Sequence[tuple[int, int, Sequence[float]]] = (),
        derived: Sequence[tuple[str, int, int]] = (),
    ) -> None:
        self.names, self.means, self.derived = names, means, derived
        self.inputs, self.made_of, self.columns = inputs, made_of, columns
        self.parts = [_PlainNumbers(False) if hasattr(k, "part") else k for k in columns]
        self.plain = [isinstance(kind, _PlainNumbers) for kind in columns]
        self.feature, self.cut, self.missing_left = feature, cut, missing_left
        self.left, self.right, self.subset, self.subsets = left, right, subset, subsets
        self.roots, self.lines, self.outputs = roots, lines, outputs

    def encode(self, row: Any) -> list[float]:
        """Return the number of each cell, as C and ONNX take it; NaN where one is missing."""
        cells = _cells(row, self.inputs, self.names)
        if len(cells) == len(self.inputs):
            columns, cells = self.columns, [cells[i] for i in self.made_of]
        else:  # the parts of dates are given as numbers
            columns = self.parts
        return [
            cell if plain and type(cell) is float else _number(kind, name, cell)
            for name, kind, plain, cell in zip(self.names, columns, self.plain, cells)  # noqa: B905
        ]

    def read(self, row: Any) -> array[float]:
        """Return the numbers that trees compare, as 32-bit floats."""
        cells = self.encode(row)
        for j, known, means in self.means:  # of levels that trees do not tell apart
            rarer = cells[j] >= known
            cells.append(means[int(cells[j]) - known] if rarer else math.nan)
            cells[j] = math.nan if rarer else cells[j]
        x = array("f", cells)
        x.extend([_derived(operator, x[i], x[j]) for operator, i, j in self.derived])
        return x

    def sums(self, row: Any) -> list[float]:
        """Add up what every tree says of a row."""
        x = self.read(row)
        sums = [0.0] * self.outputs
        for at in self.roots:
            while at >= 0:
                value = x[self.feature[at]]
                if math.isnan(value):
                    goes_left = self.missing_left[at] == 1
                elif self.subsets and self.subset[at] >= 0:
                    goes_left = self.subsets[self.subset[at]] >> int(value) & 1 == 1
                else:
                    goes_left = value <= self.cut[at]
                at = self.left[at] if goes_left else self.right[at]  # noqa: PLW2901
            for k, added in enumerate(self.lines[~at]):
                sums[k] += added
        return sums


class _Model:
    """What reads rows, and what answers."""

    def __init__(self, asks: Any, answer: _Answer) -> None:
        self.asks, self.answer = asks, answer

    def predict(self, rows: Iterable[Any]) -> list[Any]:
        return [self.answer.decide(self.asks.sums(row)) for row in _rows(rows)]

    def predict_proba(self, rows: Iterable[Any]) -> list[list[float]]:
        return [self.answer.probabilities(self.asks.sums(row)) for row in _rows(rows)]

    def encode(self, rows: Iterable[Any]) -> list[list[float]]:
        return [self.asks.encode(row) for row in _rows(rows)]

    def scores(self, rows: Iterable[Any]) -> list[list[float]]:
        return [self.asks.sums(row) for row in _rows(rows)]
