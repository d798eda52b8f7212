"""What lists of words add to the code of exported Python files; see alone.py."""

from __future__ import annotations

import base64
import re
import sys
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, product
from operator import add
from typing import Any

from pacboost.models.export.alone import _cells
from pacboost.models.export.alone_cells import _absent, _number, _PlainNumbers

# ------------------------------------------------------------------------------------------------


def _packed(kind: str, text: str) -> array[int]:
    """Read numbers that are packed: base 64, deflated, the low byte first."""
    numbers = array(kind, zlib.decompress(base64.b64decode(text)))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class _Texts:
    """What counts as a word in a text."""

    def __init__(
        self,
        words: Mapping[str, int],
        ngrams: tuple[int, int],
        skips: int,
        characters: tuple[int, int],
        lowercase: bool,
        times: Sequence[int],
        beginning: Sequence[int],
        prefixes: tuple[int, int],
    ) -> None:
        self.words, self.lowercase = words, lowercase
        self.ngrams, self.skips, self.characters = ngrams, skips, characters
        self.times, self.beginning, self.prefixes = times, beginning, prefixes

    def held(self, text: str) -> set[int]:
        """Return the numbers of the known words that a text contains."""
        if not isinstance(text, str):
            raise ValueError(f"{text!r:.60} is not text; give strings, '' where there is nothing")
        return {self.words[word] for word in self._all(text) if word in self.words}

    def _all(self, text: str) -> Iterator[str]:
        tokens = re.findall(r"\w+", text.lower() if self.lowercase else text)
        for size in range(*self.ngrams):
            for gaps in product(range(self.skips + 1), repeat=size - 1):
                places = list(accumulate((0, *gaps), lambda place, gap: place + 1 + gap))
                for first in range(len(tokens) - places[-1]):
                    word = tokens[first]
                    for place, gap in zip(places[1:], gaps):  # noqa: B905
                        word += (" … " if gap else " ") + tokens[first + place]
                    yield word
        for token in tokens if self.characters[1] else ():
            padded = f" {token} "
            for size in range(*self.characters):
                for place in range(len(padded) - size + 1):
                    yield f"‹{padded[place : place + size]}›"
        for token, count in Counter(tokens).items():
            yield from (f"{token} ×{n_times}" for n_times in self.times if count >= n_times)
        for n_first in self.beginning:
            yield from (f"{token} @{n_first}" for token in tokens[:n_first])
        for token in tokens:
            yield from (f"{token[:size]}*" for size in range(*self.prefixes) if size < len(token))


class _Numbers:
    """On which side of each threshold a number lies; -1 where nobody asks."""

    def __init__(
        self, cuts: Sequence[float], above: Sequence[int], at_most: Sequence[int], missing: int
    ) -> None:
        self.cuts, self.above, self.at_most, self.missing = cuts, above, at_most, missing

    def held(self, cell: Any) -> set[int]:
        """Return the numbers of the conditions that a cell meets."""
        if _absent(cell):
            return {self.missing} - {-1}
        rank = bisect_left(self.cuts, array("f", [cell])[0])  # compared as 32-bit floats
        return {*self.above[:rank], *self.at_most[rank:]} - {-1}


class _Levels:
    """Which level a category has."""

    def __init__(self, levels: Mapping[Any, int], missing: int) -> None:
        self.levels, self.missing = levels, missing

    def held(self, cell: Any) -> set[int]:
        """Return the number of the level, if it is asked for."""
        if isinstance(cell, str) and cell not in self.levels:
            cell = cell.strip()
        return {self.missing if _absent(cell) else self.levels.get(cell, -1)} - {-1}


class _Row:
    """Rows that name their cells."""

    def __init__(self, columns: Mapping[str, tuple[str, Any, Any]]) -> None:
        self.columns = columns
        """The input column and its kind, and the conditions, for each column made of one."""

    def held(self, row: Any) -> set[int]:
        """Return the numbers of the conditions that a row meets."""
        if isinstance(row, str) and len(self.columns) == 1:
            row = dict.fromkeys(self.columns, row)
        found: set[int] = set()
        for name, (source, kind, conditions) in self.columns.items():
            if not hasattr(row, "keys") or not {name, source}.intersection(row.keys()):
                raise ValueError(f"the row has no column {source!r}; None says that it is missing")
            cell = row[name if name in row else source]
            if kind is not None:
                reader = _PlainNumbers(False) if name != source and name in row else kind
                cell = _number(reader, name, cell)
            elif isinstance(conditions, _Texts) and _absent(cell):
                cell = ""
            found |= conditions.held(cell)
        return found


class _Columns:
    """A column counts as a word of a row where it is neither 0 nor missing."""

    def __init__(self, columns: Mapping[int, int], names: Sequence[str]) -> None:
        self.columns, self.names = columns, names

    def held(self, row: Any) -> set[int]:
        """Return the numbers of the columns that a row holds."""
        cells = _cells(row, self.names)
        pairs = [(cells[column], number) for column, number in self.columns.items()]
        return {number for cell, number in pairs if not _absent(cell) and cell != 0}


class _Lists:
    """Lists of words, turned over: of each list the first word that occurs speaks.

    Word w stands in the lists ``lists[entries[w] : entries[w + 1]]``, and there says ``lines`` of
    ``values``; a smaller line comes first in its list. In a list with the number -1 every word
    that occurs speaks.
    """

    def __init__(
        self,
        reads: Any,
        entries: Sequence[int],
        lists: Sequence[int],
        lines: Sequence[int],
        values: Sequence[int],
        silent: list[int],
        unit: float,
    ) -> None:
        self.reads, self.entries, self.lists, self.lines = reads, entries, lists, lines
        self.values, self.silent, self.unit = values, silent, unit

    def sums(self, row: Any) -> list[float]:
        """Add up what the lists say of a row."""
        speaks: dict[int, int] = {}
        for word in self.reads.held(row):
            for place in range(self.entries[word], self.entries[word + 1]):
                number, line = self.lists[place], self.lines[place]
                number = -1 - line if number < 0 else number  # every word of such a list counts
                if line < speaks.get(number, line + 1):
                    speaks[number] = line
        sums, outputs = list(self.silent), len(self.silent)
        for line in speaks.values():
            sums = list(map(add, sums, self.values[line * outputs : (line + 1) * outputs]))
        return [self.unit * number for number in sums]
