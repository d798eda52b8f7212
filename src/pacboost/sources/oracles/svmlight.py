"""Draw from svmlight files of any size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pacboost.errors import FileError
from pacboost.numerics.checks import whole
from pacboost.sources.oracles.files import Source, fingerprint
from pacboost.sources.oracles.lines import LineOracle, Lines
from pacboost.sources.oracles.row_block import RowBlock


class SvmlightOracle(LineOracle):
    """The sparse rows of svmlight files (also called libsvm); labels are numbers.

    A line has a label and the features that are not 0, as number:value with ascending numbers.
    Comments after # and query ids (qid:…) are ignored. Features are numbered from 1, or from 0 if
    ``zero_based``. ``n_features`` is their number; None to find it in a scan of all lines.
    """

    suffixes = (".svm", ".svmlight", ".libsvm")
    sparse = True

    def __init__(
        self,
        source: Source,
        seed: int = 0,
        *,
        n_features: int | None = None,
        zero_based: bool = False,
    ) -> None:
        self._first = 0 if zero_based else 1
        super().__init__(source, seed)
        counted = self._count_features() if n_features is None else n_features
        self.n_columns = whole("n_features", counted, 1)
        self._estimate(sum(1 for _ in self._rows(self._blocks[0])))

    def read(self, block: int) -> RowBlock:
        from scipy import sparse

        lines = self._blocks[block]
        labels: list[float] = []
        numbers: list[int] = []
        values: list[float] = []
        ends = [0]
        for line, cells in self._rows(lines):
            try:
                labels.append(_number(cells[0]))
                self._read_features(cells[1:], numbers, values)
            except ValueError as problem:
                raise FileError(f"{self._files[lines.file]}, line {line}: {problem}") from None
            ends.append(len(numbers))
        columns = np.array(numbers, dtype=np.int64) - self._first
        stored = np.array(values, dtype=np.float64), columns, ends
        matrix = sparse.csr_array(stored, shape=(len(labels), self.n_columns))
        return RowBlock(matrix, np.array(labels))

    def _read_features(self, cells: list[bytes], numbers: list[int], values: list[float]) -> None:
        """Append the features of a line."""
        before, last = self._first - 1, self._first + self.n_columns - 1
        for cell in cells:
            text, colon, value = cell.partition(b":")
            if text == b"qid":
                continue
            if not (colon and text.isdigit()):
                raise ValueError(_no_feature(cell))
            number = int(text)
            if not before < number <= last:
                raise ValueError(
                    f"feature {number} follows feature {before}; numbers must ascend from "
                    f"{self._first} to {last}. Sort them, or set n_features or zero_based."
                )
            numbers.append(number)
            values.append(_number(value))
            before = number

    def _rows(self, lines: Lines) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the number and the cells of each line that is not empty."""
        for line, text in enumerate(self._content(lines).split(b"\n"), lines.line):
            cells = text.partition(b"#")[0].split()
            if cells:
                yield line, cells

    def _count_features(self) -> int:
        """Return the number of features, from the last feature of each line, as numbers ascend."""
        largest = self._first
        for lines in self._blocks:
            for line, cells in self._rows(lines):
                number, colon, _ = cells[-1].partition(b":")
                if colon and number != b"qid":
                    if not number.isdigit():
                        where = f"{self._files[lines.file]}, line {line}"
                        raise FileError(f"{where}: {_no_feature(cells[-1])}")
                    largest = max(largest, int(number))
        return largest + 1 - self._first

    def fingerprint(self) -> str:
        return fingerprint(self._files, self.n_columns, self._first)


def _number(text: bytes) -> float:
    try:
        return float(b"text" if b"_" in text else text)  # Python reads 1_000 as 1000
    except ValueError:
        raise ValueError(f"{text.decode(errors='replace')!r} is not a number") from None


def _no_feature(cell: bytes) -> str:
    return f"{cell.decode(errors='replace')!r} is not a feature; write features as number:value"
