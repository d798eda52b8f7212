"""Draw from files that can only be read in order: compressed text, JSON lines and Feather."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np

from pacboost.errors import FileError
from pacboost.sources.cells import Cells
from pacboost.sources.data_file import MISSING, DataFile
from pacboost.sources.file_rows import labelled_blocks
from pacboost.sources.oracles.files import features
from pacboost.sources.oracles.learned_columns import LearnedColumns, rows_to_learn
from pacboost.sources.oracles.row_block import RowBlock
from pacboost.sources.oracles.stream import StreamOracle
from pacboost.sources.targets import label_kind, read_labels


class PackedOracle(StreamOracle):
    """The rows of files, one after the other, shuffled within blocks of 10,000 rows.

    Nothing is known of rows that come later, so what columns hold is learned from the first ones,
    and a certificate assumes that the order of the rows means nothing.
    """

    shuffles_rows = True

    def __init__(
        self,
        files: Collection[Path],
        target: str,
        seed: int = 0,
        *,
        drop: Collection[str] = (),
        missing: Collection[str] = MISSING,
        sep: str | None = None,
    ) -> None:
        words = frozenset(word.strip().lower() for word in missing)
        self._files = [DataFile(path, sep=sep, missing=words) for path in files]
        self.called = str(self._files[0])
        self._kind: type | None = None
        super().__init__(self._blocks, target, seed, drop=drop)

    def _blocks(self) -> Iterator[Cells]:
        for file in self._files:
            yield from labelled_blocks(file, str(self._target))

    def hold(self, batch: Cells) -> RowBlock:
        target = str(self._target)
        if self.learned is None:
            features(list(batch.columns), target, self._left_out, self.called)  # refuses others
            self._looked_at = rows_to_learn(batch.n_rows).astype(np.uint64)
            half = batch.take(self._looked_at.astype(np.int64).tolist())
            table = half.table(drop={target, *self._left_out})
            self.learned = LearnedColumns(table.names, table.levels, batch.spelling)
        texts = batch.labels(target)
        self._kind = self._kind or label_kind(texts)
        try:
            labels = read_labels(texts, self._kind)
        except ValueError as problem:
            raise FileError(
                f"{batch.file.where(batch.lines[0])}: a label of this block is not "
                f"{self._kind.__name__}, as the first ones are ({problem}). Use one type for all."
            ) from problem
        return RowBlock(batch.columns, labels, learned=self.learned)

    def fingerprint(self) -> str:
        facts = [(file.path.name, file.path.stat().st_size) for file in self._files]
        return sha256(repr((facts, self.names, self._target)).encode()).hexdigest()
