"""Views of a run while it goes on: what they share, and progress bars for boosting and bagging."""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pacboost.ledgers.ledger import Round

if TYPE_CHECKING:
    from pacboost.training.bags.bagging import Made

SECONDS_BETWEEN = 0.05  # redrawing costs more than a round on small data


class Display(Protocol):
    """What rich draws until it is stopped."""

    def start(self) -> None:
        """Begin to draw."""

    def stop(self) -> None:
        """Draw for the last time."""


class LiveView:
    """A view that is drawn while it is used as a context."""

    _display: Display

    def __enter__(self) -> Self:
        self._display.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._display.stop()


def _bar(title: str, text: str, console: Console | None) -> Progress:
    return Progress(
        TextColumn(title, markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(text),
        TimeElapsedColumn(),
        console=console or Console(stderr=True),
    )


class RoundsBar(LiveView):
    """Rounds done, training error and bound: call it with every round.

    ``loss`` says that rounds have a mean loss instead of an error, as in regression.
    """

    def __init__(
        self,
        rounds: int,
        console: Console | None = None,
        *,
        loss: bool = False,
        title: str = "boosting",
    ) -> None:
        error = "training error {task.fields[error]}  bound {task.fields[bound]}"
        text = "mean loss {task.fields[error]}" if loss else error
        self._display: Progress = _bar(title, text, console)
        self._task = self._display.add_task("boosting", total=rounds, error="–", bound="–")
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._draw()
        super().__exit__(kind, problem, trace)

    def _draw(self) -> None:
        if self._newest is not None:
            self._display.update(
                self._task,
                completed=self._newest.number,
                error=f"{self._newest.training_error:.4f}",
                bound=f"{min(1.0, math.exp(self._log_product)):.3g}",
            )


class MembersBar(LiveView):
    """Members made, and the out-of-bag error: call it with every member."""

    def __init__(self, most: int, console: Console | None = None) -> None:
        text = "error out of bag {task.fields[error]}"
        self._display: Progress = _bar("bagging", text, console)
        self._task = self._display.add_task("bagging", total=most, error="–")

    def __call__(self, made: Made) -> None:
        """Draw the bar."""
        error = "–" if made.error is None else f"{made.error:.4g}"
        self._display.update(self._task, completed=made.members, error=error)
