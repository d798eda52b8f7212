"""A progress bar for a run: rounds done, training error and bound."""

from __future__ import annotations

import math
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pacboost.ledgers.ledger import Round

SECONDS_BETWEEN = 0.05  # redrawing costs more than a round on small data


class RoundsBar:
    """Call it with every round; use it as a context. ``loss``: rounds have no error, but a loss."""

    def __init__(
        self,
        rounds: int,
        console: Console | None = None,
        *,
        loss: bool = False,
        title: str = "boosting",
    ) -> None:
        error = "training error {task.fields[error]}  bound {task.fields[bound]}"
        self._progress = Progress(
            TextColumn(title, markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("mean loss {task.fields[error]}" if loss else error),
            TimeElapsedColumn(),
            console=console or Console(stderr=True),
        )
        self._task = self._progress.add_task("boosting", total=rounds, error="–", bound="–")
        self._log_product = 0.0
        self._last = 0.0
        self._newest: Round | None = None

    def __call__(self, entry: Round) -> None:
        """Take a round in; draw it if the last drawing is long enough ago."""
        self._log_product += math.log(entry.normaliser)
        self._newest = entry
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN:
            self._last = now
            self._draw()

    def __enter__(self) -> RoundsBar:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._draw()
        self._progress.stop()

    def _draw(self) -> None:
        if self._newest is not None:
            self._progress.update(
                self._task,
                completed=self._newest.number,
                error=f"{self._newest.training_error:.4f}",
                bound=f"{min(1.0, math.exp(self._log_product)):.3g}",
            )
