"""Views of a run while it goes on: what they share, and progress bars for boosting and bagging."""

from __future__ import annotations

import math
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from pacboost.ledgers.ledger import Round
from pacboost.numerics.interactive import in_notebook

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
    """A view that is drawn while it is used as a context.

    If ``after`` is above 0, it appears only when so many seconds have passed.
    """

    _display: Display

    def __init__(self, after: float = 0.0) -> None:
        self._due = math.inf  # until the context is entered
        self._after = after
        self._drawn = False

    def __enter__(self) -> Self:
        self._due = time.monotonic() + self._after
        self._begin_if_due()
        return self

    def _begin_if_due(self) -> None:
        """Begin to draw, if it is time; views call it whenever something has happened."""
        if not self._drawn and time.monotonic() >= self._due:
            self._drawn = True
            self._display.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn:
            self._display.stop()


class Bar(Protocol):
    """A bar of one task that rich draws, or one like it."""

    def start(self) -> None:
        """Begin to draw."""

    def stop(self) -> None:
        """Draw for the last time."""

    def add_task(self, description: str, *, total: float | None, **fields: Any) -> TaskID:
        """Name the task, and how many steps it has."""

    def update(self, task_id: TaskID, *, completed: float | None = None, **fields: Any) -> None:
        """Say how many steps are done."""


class NotebookLine:
    """A line in the output of a cell that is written over: rich needs ipywidgets for its bars."""

    def __init__(self, title: str, text: str) -> None:
        self._title, self._text = title, text.replace("task.fields[", "").replace("]", "")
        self._began, self._last = time.monotonic(), 0.0
        self._total: float | None = None
        self._said = ""

    def start(self) -> None:
        """Show what is known."""
        self._write()

    def stop(self) -> None:
        """Write the last state, and end the line."""
        self._write()
        sys.stderr.write("\n")
        sys.stderr.flush()

    def add_task(self, description: str, *, total: float | None, **fields: Any) -> TaskID:
        """Name the task, and how many steps it has."""
        self._total = total
        self._say(0, fields)
        return TaskID(0)

    def update(self, task_id: TaskID, *, completed: float | None = None, **fields: Any) -> None:
        """Write the line again, once a second."""
        self._say(completed or 0, fields)
        if time.monotonic() - self._last >= 1:
            self._write()

    def _say(self, done: float, fields: dict[str, Any]) -> None:
        seconds = time.monotonic() - self._began
        more = self._text.format(**fields)
        self._said = f"{self._title} {done:g}/{self._total:g}  {more}  {seconds:.0f} s"

    def _write(self) -> None:
        self._last = time.monotonic()
        sys.stderr.write(f"\r{self._said:<100}")
        sys.stderr.flush()


def error_console() -> Console:
    """Return a console on stderr; in notebooks it is plain text, as rich needs ipywidgets there."""
    return Console(stderr=True, force_jupyter=False)


def _bar(title: str, text: str, console: Console | None) -> Bar:
    if console is None and in_notebook():
        return NotebookLine(title, text)
    return Progress(
        TextColumn(title, markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(text),
        TimeElapsedColumn(),
        console=console or error_console(),
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
        after: float = 0.0,
    ) -> None:
        super().__init__(after)
        error = "training error {task.fields[error]}  bound {task.fields[bound]}"
        text = "mean loss {task.fields[error]}" if loss else error
        self._display: Bar = _bar(title, text, console)
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
            self._begin_if_due()
            self._draw()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn:
            self._draw()
        super().__exit__(kind, problem, trace)

    def _draw(self) -> None:
        if self._newest is not None and self._drawn:
            self._display.update(
                self._task,
                completed=self._newest.number,
                error=f"{self._newest.training_error:.4f}",
                bound=f"{min(1.0, math.exp(self._log_product)):.3g}",
            )


class MembersBar(LiveView):
    """Members made, and the out-of-bag error: call it with every member."""

    def __init__(self, most: int, console: Console | None = None, *, after: float = 0.0) -> None:
        super().__init__(after)
        text = "error out of bag {task.fields[error]}"
        self._display: Bar = _bar("bagging", text, console)
        self._task = self._display.add_task("bagging", total=most, error="–")

    def __call__(self, made: Made) -> None:
        """Draw the bar."""
        self._begin_if_due()
        error = "–" if made.error is None else f"{made.error:.4g}"
        self._display.update(self._task, completed=made.members, error=error)


class StepsBar(LiveView):
    """Steps taken: call it after every one."""

    def __init__(
        self, title: str, count: int, console: Console | None = None, *, after: float = 0.0
    ) -> None:
        super().__init__(after)
        self._display: Bar = _bar(title, "", console)
        self._task = self._display.add_task(title, total=count)
        self._done = 0

    def __call__(self) -> None:
        """Draw the bar."""
        self._done += 1
        self._begin_if_due()
        self._display.update(self._task, completed=self._done)
