"""The vocabulary of texts: which words are found in them, and which of these are kept."""

from __future__ import annotations

import warnings
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import PrunedWarning
from pacboost.sources.words import WordTable, renumbered

Reader = Callable[[str], Iterator[str]]
"""What finds the words of a text."""


def numbered(
    rows: list[str], read: Reader, number: Callable[[Iterator[str]], Collection[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Number the words of every text, one text after the other, and say where each starts."""
    held, starts = array("i"), array("q", [0])
    for text in rows:
        held.extend(number(read(text)))
        starts.append(len(held))
    return np.frombuffer(starts, dtype=np.int64), np.array(held, dtype=np.int32)


def find_words(
    rows: list[str], read: Reader, min_count: int, most: int
) -> tuple[tuple[str, ...], WordTable]:
    """Give the words that enough texts contain, in order, and the texts as a table of them.

    >>> words, table = find_words(["a b", "b b"], lambda text: iter(text.split()), 1, 9)
    >>> words, table.rows().tolist()
    (('a', 'b'), [[1.0, 1.0], [0.0, 1.0]])
    """
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new word gets the next number
    starts, held = numbered(rows, read, lambda words: set(map(numbers.__getitem__, words)))
    numbers.default_factory = None  # or the dictionary would hold itself, and outlive its use
    counts = np.bincount(held, minlength=len(numbers))
    kept = sorted(_kept(list(numbers), counts, min_count, most))
    places = np.full(len(numbers), -1, dtype=np.int32)
    places[[numbers[word] for word in kept]] = np.arange(len(kept), dtype=np.int32)
    return tuple(kept), renumbered(starts, held, places, tuple(kept))


def _kept(words: list[str], counts: NDArray[np.int64], min_count: int, most: int) -> list[str]:
    """Choose the words that enough texts contain, and warn if there are too many of them."""
    enough = np.flatnonzero(counts >= min_count)
    dropped = enough.size - most
    if dropped <= 0 or most == 0:
        return [words[number] for number in enough[:most]]
    last = int(np.partition(counts[enough], dropped - 1)[dropped - 1])
    more = [words[number] for number in np.flatnonzero(counts > last)]
    tied = sorted(words[number] for number in np.flatnonzero(counts == last))
    warnings.warn(
        f"the texts hold {enough.size:,} distinct words and n-grams; the {most:,} that most texts "
        f"contain are kept, and {dropped:,} that at most {last} contain are dropped. Set min_count "
        "or max_features to choose yourself",
        PrunedWarning,
        stacklevel=4,
    )
    return more + tied[: most - len(more)]
