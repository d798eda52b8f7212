"""Remember the rows a fit has looked at, to refuse certificates on them."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from pacboost.estimators import door
from pacboost.samples.sketch import Overlap, Sketch
from pacboost.sources.table import Table


class SketchMixin:
    """Holds sketches in memory; none goes into a pickle."""

    _sketches: tuple[Sketch, ...]

    def overlap(self, X: Any) -> Overlap | None:
        """Compare rows with those the fit has looked at; None if the memory of them is gone."""
        check_is_fitted(self)
        sketches: tuple[Sketch, ...] = getattr(self, "_sketches", ())
        table = door.open_table(self, X, reset=False)
        found = [sketch.overlap(table) for sketch in sketches]
        return max(found, key=lambda overlap: overlap.suspicious, default=None)

    def _remember(self, *tables: Table) -> None:
        self._sketches = tuple(Sketch.of(table) for table in tables)

    def __getstate__(self) -> dict[str, Any]:
        kept: Any = super().__getstate__()
        return {name: value for name, value in kept.items() if name != "_sketches"}
