"""A progress bar for bagging: members made, and the error out of bag."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pacboost.training.bags.bagging import Made


class MembersBar:
    """Call it with every member; use it as a context."""

    def __init__(self, most: int, console: Console | None = None) -> None:
        self._progress = Progress(
            TextColumn("bagging"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("error out of bag {task.fields[error]}"),
            TimeElapsedColumn(),
            console=console or Console(stderr=True),
        )
        self._task = self._progress.add_task("bagging", total=most, error="–")

    def __call__(self, made: Made) -> None:
        """Draw the bar."""
        error = "–" if made.error is None else f"{made.error:.4g}"
        self._progress.update(self._task, completed=made.members, error=error)

    def __enter__(self) -> MembersBar:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()
