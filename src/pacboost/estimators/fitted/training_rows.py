"""Remember the rows that a fit has used, to refuse certificates on them."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from pacboost.estimators.inputs.collecting import collects_lazy_frames
from pacboost.estimators.inputs.tables import open_table
from pacboost.kernels.cuda.device import gpu_in_use
from pacboost.samples.sketch import Overlap, Sketch
from pacboost.sources.table import Table


@collects_lazy_frames
class RemembersRows:
    """An estimator that holds sketches of its training rows; pickles and model files keep them."""

    _remembers_rows: ClassVar[bool] = True
    """Tells ``pacboost.certify`` that ``overlap`` compares rows with those of the fit."""
    _sketches: tuple[Sketch, ...] = ()

    def overlap(self, X: Any) -> Overlap | None:
        """Compare rows with those that the fit has used; None if it remembers none."""
        check_is_fitted(self)
        if not self._sketches:
            return None
        table = self._rows_to_compare(X)
        return min((own.overlap(table) for own in self._sketches), key=_unlikely)

    def forget_rows(self) -> None:
        """Drop the sketch of the training rows, for example before the model is pickled.

        Certificates by other rows then begin with "If these rows are new".
        """
        self._sketches = ()

    def _rows_to_compare(self, X: Any) -> Table:
        """Read rows in the form in which they are hashed."""
        return open_table(self, X, reset=False)

    def _remember(self, *tables: Table) -> None:
        """Make the sketches; while a GPU has the rows binned and boosts, on another thread."""
        if not gpu_in_use() or any(table.far for table in tables):
            self._sketches = _sketches_of(tables)
            return
        another = ThreadPoolExecutor(1, thread_name_prefix="pacboost")
        self._sketches, self._begun = (), another.submit(copy_context().run, _sketches_of, tables)
        another.shutdown(wait=False)

    def _await_sketches(self) -> None:
        """Wait for sketches that another thread makes."""
        begun: Future[tuple[Sketch, ...]] | None = self.__dict__.pop("_begun", None)
        if begun is not None:
            self._sketches = begun.result()


def _sketches_of(tables: tuple[Table, ...]) -> tuple[Sketch, ...]:
    return tuple(Sketch.of(table) for table in tables)


def _unlikely(overlap: Overlap) -> tuple[bool, float]:
    return not overlap.suspicious, overlap.chances.one
