"""Sketches of the rows of a fit, made beside it where a GPU does the boosting."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context

from pacboost.kernels.device import gpu_in_use
from pacboost.samples.sketch import Sketch
from pacboost.sources.table import Table


class RowMemory:
    """The sketches of some tables: at once, or on another thread while a GPU is in use."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._sketches: tuple[Sketch, ...] = ()
        self._future: Future[tuple[Sketch, ...]] | None = None
        # beside a GPU the cores are idle while it boosts; on the host a second thread would take
        # them from the rounds
        if not gpu_in_use() or any(table.far for table in tables):
            self._sketches = tuple(map(Sketch.from_table, tables))
            return
        thread = ThreadPoolExecutor(1, thread_name_prefix="pacboost")
        self._future = thread.submit(
            copy_context().run, lambda: tuple(map(Sketch.from_table, tables))
        )
        thread.shutdown(wait=False)

    def result(self) -> tuple[Sketch, ...]:
        return self._sketches if self._future is None else self._future.result()
