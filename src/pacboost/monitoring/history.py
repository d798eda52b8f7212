"""Points of a curve, at evenly spaced rows: at most so many, however long the stream is."""

from __future__ import annotations

from typing import Any

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
        """Tell whether a point is noted at this row."""
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
        """Give what a file keeps."""
        return {"step": self.step, "points": self.points}
