"""The columns of sets and intervals beside predictions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pacboost.errors import FileError, NotCertified
from pacboost.sources.cells import Cells


class Covering:
    """Sets or intervals of rows, as columns to write."""

    def __init__(
        self, model: Any, path: Path, *, sets: bool, by: str | None, intervals: bool
    ) -> None:
        self._model, self._by, self._sets, self._intervals = model, by, sets, intervals
        for asked, name in ((sets, "sets_"), (intervals, "intervals_")):
            try:
                known = not asked or hasattr(model, name)
            except NotCertified:
                known = False
            if not known:
                what = name.rstrip("_")
                raise FileError(
                    f"{path}: holds no {what}; calibrate them by new rows: pacboost {what} {path} "
                    "fresh.csv --target COLUMN --output FILE"
                )
        self.names = [*(["set"] if sets else []), *(["low", "high"] if intervals else [])]

    def columns(self, X: Any, cells: Cells) -> list[Sequence[Any]]:
        """Give the columns of some rows."""
        found: list[Sequence[Any]] = []
        if self._sets:
            by = None if self._by is None else [str(own) for own in cells.of(self._by)]
            held, names = self._model.predict_set(X, by), self._model.classes_
            found.append(["|".join(map(str, names[own].tolist())) for own in held])
        if self._intervals:
            found += self._model.predict_interval(X).T.tolist()
        return found
