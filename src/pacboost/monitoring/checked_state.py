"""What the file of a monitor may hold: every number in its range, every list of its length.

Anybody can write such a file with a right checksum. Kernels do not check their indices, so a
column that does not exist must not come further than this.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 2**53


def whole(content: dict[str, Any], name: str, low: int, high: int = MOST) -> int:
    """Read a whole number between two others.

    >>> whole({"rows": 3}, "rows", 0)
    3
    """
    return _whole(content[name], name, low, high)


def wholes(content: dict[str, Any], name: str, length: int, high: int = MOST) -> list[int]:
    """Read a list of so many whole numbers that are not negative."""
    return [_whole(entry, name, 0, high) for entry in _listed(content[name], name, length)]


def reals(
    content: dict[str, Any], name: str, length: int, low: float = 0.0, high: float = math.inf
) -> list[float]:
    """Read a list of so many finite numbers between two others."""
    return [_real(entry, name, low, high) for entry in _listed(content[name], name, length)]


def text(content: dict[str, Any], name: str) -> str:
    """Read a text."""
    if not isinstance(content[name], str):
        raise ValueError(f"{name} is no text")
    return str(content[name])


def texts(content: dict[str, Any], name: str, most: int) -> list[str]:
    """Read a list of at most so many texts."""
    found = content[name]
    if not isinstance(found, list) or len(found) > most:
        raise ValueError(f"{name} is no list of at most {most} texts")
    if not all(isinstance(entry, str) for entry in found):
        raise ValueError(f"{name} holds something other than text")
    return found


def curve(content: Any, width: int, last: int, most: int) -> dict[str, Any]:
    """Read step and points of a curve; the first number of a point is its row."""
    if not isinstance(content, dict) or content.keys() != {"step", "points"}:
        raise ValueError("history has other parts than step and points")
    points = content["points"]
    if not isinstance(points, list) or len(points) >= most:
        raise ValueError(f"points is no list of fewer than {most}")
    for point in points:
        for number in _listed(point, "points", width):
            _real(number, "points", -math.inf, math.inf)
        _whole(point[0], "points", 1, last)
    return {"step": whole(content, "step", 1), "points": points}


def matrix(
    content: dict[str, Any], name: str, rows: int, width: int, kind: type[Any]
) -> NDArray[Any]:
    """Read so many rows of whole numbers or of finite numbers."""
    for row in _listed(content[name], name, rows):
        for entry in _listed(row, name, width):
            if kind is int:
                _whole(entry, name, 0, MOST)
            else:
                _real(entry, name, -1e6, 1e6)
    return np.array(content[name], dtype=np.int64 if kind is int else np.float64).reshape(
        rows, width
    )


def _listed(value: Any, name: str, length: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != length:
        raise ValueError(f"{name} is no list of {length} entries")
    return value


def _whole(value: Any, name: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name} holds {value!r:.40}; it must be whole, from {low} to {high}")
    return int(value)


def _real(value: Any, name: str, low: float, high: float) -> float:
    if type(value) not in (int, float) or not (low <= value <= high and math.isfinite(value)):
        raise ValueError(f"{name} holds {value!r:.40}; it must be a number from {low} to {high}")
    return float(value)
