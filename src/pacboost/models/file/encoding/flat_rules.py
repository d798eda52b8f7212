"""Stumps and lists of words in a model file: side by side, one array for each thing they have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.word_list import GRID, WordList
from pacboost.models.file.encoding.fields import LARGEST, Fields
from pacboost.samples.bins import Bins

BYTES_A_STUMP, BYTES_A_LIST = 300, 700
MOST_STEPS = 5_000_000
"""So many values are kept as steps of a grid in the fewest bits; up to twice as many in 32 bits,
and more as the doubles they are: the room to unfold them goes with the size of the file."""

SIGNS = ("above", "missing")
STUMP: dict[str, type[np.generic]] = {
    "feature": np.int32,
    "threshold": np.float64,
    "cut": np.int64,
    **dict.fromkeys(SIGNS, np.int8),
}


def stumps_written(stumps: Sequence[StumpRule]) -> dict[str, NDArray[Any]]:
    """Put stumps side by side."""
    return {
        name: np.array([getattr(stump, name) for stump in stumps], dtype=kind)
        for name, kind in STUMP.items()
    }


def stumps_read(part: Fields, features: int, bins: Bins | None) -> list[StumpRule]:
    """Read stumps, and refuse those that no fit could have found."""
    feature = part.array("feature", np.int32, None, within=(0, features - 1))
    part.room.take(feature.size * BYTES_A_STUMP, part.where)
    threshold = part.array("threshold", np.float64, feature.size, within=(-LARGEST, math.inf))
    with np.errstate(over="ignore"):
        if (threshold.astype(np.float32) != threshold).any():
            part.refuse("threshold", "is no 32-bit float")
    cut = part.array("cut", np.int64, feature.size, within=(0, 2**31))
    signs = [part.array(name, np.int8, feature.size, within=(-1, 1)) for name in SIGNS]
    for name, sign in zip(SIGNS, signs, strict=True):
        if (sign == 0).any():
            part.refuse(name, "holds an answer that is neither -1 nor +1")
    part.end()
    lines = zip(*(array.tolist() for array in (feature, threshold, cut, *signs)), strict=True)
    stumps = [StumpRule(*line) for line in lines]
    if bins is not None and not all(_cuts_where_it_says(stump, bins) for stump in stumps):
        part.refuse("cut", "is not where the threshold is")
    return stumps


def _cuts_where_it_says(stump: StumpRule, bins: Bins) -> bool:
    """Whether codes are cut where values are."""
    known = bins.thresholds[stump.feature]
    if stump.cut >= known.size:
        return math.isinf(stump.threshold)
    return bool(known[stump.cut] == stump.threshold)


def lists_written(lists: Sequence[WordList]) -> dict[str, Any]:
    """Put lists of words side by side; ``sizes`` says how many words each has."""
    values = np.concatenate([rule.values for rule in lists])
    return {
        "sizes": np.array([rule.asked.size for rule in lists], dtype=np.int32),
        "words": np.concatenate([rule.asked for rule in lists]).astype(np.int32),
        "abstains": np.array([rule.abstains for rule in lists], dtype=np.bool_),
        "grid": GRID,
        "values": _as_steps(values) if values.size <= 2 * MOST_STEPS else values,
    }


def _as_steps(values: NDArray[np.float64]) -> NDArray[Any]:
    """Give values as steps of the grid in the fewest bits, if they are that."""
    steps = np.rint(values / GRID)
    if not np.array_equal(steps * GRID, values):
        return values
    kinds = (np.int16, np.int32) if values.size <= MOST_STEPS else (np.int32,)
    for kind in kinds:
        if np.abs(steps).max(initial=0) <= np.iinfo(kind).max:
            return steps.astype(kind)
    return values


def lists_read(part: Fields, features: int, outputs: int) -> list[WordList]:
    """Read lists of words, and refuse those that no fit could have found."""
    sizes = part.array("sizes", np.int32, None, within=(0, 2**16))
    total = int(sizes.sum(dtype=np.int64))
    part.room.take(sizes.size * BYTES_A_LIST, part.where)
    words = part.array("words", np.int32, total, within=(0, features - 1))
    with part.room.lent(24 * total, part.where):
        asked = np.repeat(np.arange(sizes.size) * features, sizes) + words
        asked.sort()
        if (asked[1:] == asked[:-1]).any():
            part.refuse("words", "names a word twice in one list")
        del asked
    abstains = part.array("abstains", np.bool_, sizes.size)
    grid = part.number("grid")
    if not 0 < grid <= 1 or math.frexp(grid)[0] != 0.5:
        part.refuse("grid", "is no power of two up to 1")
    values = _values(part, grid, total + sizes.size, outputs)
    part.end()
    ends = np.cumsum(sizes + 1, dtype=np.int64)
    if values[ends[abstains] - 1].any():
        part.refuse("values", "of a list that abstains say something where no word occurs")
    starts = ends - sizes - 1
    return [
        WordList(words[first - t : last - 1 - t], values[first:last], bool(abstains[t]))
        for t, (first, last) in enumerate(zip(starts, ends, strict=True))
    ]


def _values(part: Fields, grid: float, lines: int, outputs: int) -> NDArray[np.float64]:
    given = part.any("values")
    part = Fields({"values": given}, part.where, part.room)
    kind = given.dtype if isinstance(given, np.ndarray) else np.dtype(np.float64)
    if kind not in (np.int16, np.int32):
        return part.array("values", np.float64, lines, outputs)
    steps = part.array("values", kind, lines, outputs)
    part.room.take(8 * steps.size, f"{part.where}.values")
    return steps * np.float64(grid)
