"""Live views of a run in the terminal or a notebook."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from rich import progress
from rich.console import Console
from rich.live import Live
from rich.progress import Progress, TaskID
from rich.progress_bar import ProgressBar
from rich.table import Table

from pacboost.bounds.certificate import Certificate
from pacboost.ledgers.ledger import Ledger, Refill, Round
from pacboost.numerics.interactive import in_notebook
from pacboost.numerics.percent import percent, percent_above
from pacboost.reports.text import came_before, counted, grid

if TYPE_CHECKING:
    from pacboost.training.bags.bagging import Made

SECONDS_BETWEEN_FRAMES = 0.05  # redrawing costs more than a round on small data


class LiveView:
    """Base class of progress displays, which are drawn inside a ``with`` block.

    The display appears after ``after`` seconds.
    """

    _display: Live | Progress | NotebookLine

    def __init__(self, after: float = 0.0) -> None:
        self._due = math.inf  # until the context is entered
        self._after = after
        self._drawn = False

    def __enter__(self) -> Self:
        self._due = time.monotonic() + self._after
        self._begin_if_due()
        return self

    def _begin_if_due(self) -> None:
        """Start drawing if it is due; views call it at every event."""
        if not self._drawn and time.monotonic() >= self._due:
            self._drawn = True
            self._display.start()

    def __exit__(self, *problem: object) -> None:
        if self._drawn:
            self._display.stop()


class NotebookLine:
    """A line of output that is overwritten, because bars of rich need ipywidgets in notebooks."""

    def __init__(self, title: str) -> None:
        self._title, self._line = title, title
        self._began, self._last = time.monotonic(), 0.0
        self._total: float | None = None

    def start(self) -> None:
        """Write the first state."""
        self._write()

    def stop(self) -> None:
        """Write the last state, and end the line."""
        self._write("\n")

    def add_task(self, description: str, *, total: float | None, text: str = "") -> TaskID:
        """Set the number of steps."""
        self._total = total
        return TaskID(0)

    def update(self, task_id: TaskID, *, completed: float | None = None, text: str = "") -> None:
        """Overwrite the line, at most once a second."""
        seconds = time.monotonic() - self._began
        self._line = f"{self._title} {completed or 0:g}/{self._total:g}  {text}  {seconds:.0f} s"
        if time.monotonic() - self._last >= 1:
            self._write()

    def _write(self, end: str = "") -> None:
        self._last = time.monotonic()
        # notebooks show what is written to stderr on the ground of errors
        sys.stdout.write(f"\r{self._line:<100}{end}")
        sys.stdout.flush()


def error_console() -> Console:
    """Return a console on stderr, with plain text in notebooks, where rich needs ipywidgets."""
    return Console(stderr=True, force_jupyter=False)


class StepsBar(LiveView):
    """A progress bar of steps with a text; call it after every step."""

    def __init__(
        self, title: str, total: int, console: Console | None = None, *, after: float = 0.0
    ) -> None:
        super().__init__(after)
        self._done = 0
        if console is None and in_notebook():
            self._display: Progress | NotebookLine = NotebookLine(title)
        else:
            text = progress.TextColumn("{task.fields[text]}", markup=False)
            self._display = Progress(
                progress.TextColumn(title, markup=False), progress.BarColumn(),
                progress.MofNCompleteColumn(), text, progress.TimeElapsedColumn(),
                console=console or error_console(),
            )  # fmt: skip
        self._task = self._display.add_task(title, total=total, text="")

    def __call__(self) -> None:
        """Draw the bar."""
        self._show(self._done + 1)

    def _show(self, done: int, text: str = "") -> None:
        self._done = done
        self._begin_if_due()
        if self._drawn:
            self._display.update(self._task, completed=done, text=text)


class RoundsBar(StepsBar):
    """A bar of rounds with training error and bound; call it with every round.

    With ``loss`` rounds have a mean loss instead of an error, as in regression.
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
        super().__init__(title, rounds, console, after=after)
        self._loss, self._log_product, self._last = loss, 0.0, 0.0
        self._newest: Round | None = None

    def __call__(self, entry: Round) -> None:  # type: ignore[override]
        """Record a round; draw it if the last drawing is old enough."""
        self._log_product += math.log(entry.normaliser)
        self._newest = entry
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN_FRAMES:
            self._last = now
            self._draw()

    def __exit__(self, *problem: object) -> None:
        if self._drawn:
            self._draw()
        super().__exit__(*problem)

    def _draw(self) -> None:
        if self._newest is not None:
            error = f"{self._newest.training_error:.4f}"
            bound = min(1.0, math.exp(self._log_product))
            text = f"training error {error}  bound {bound:.3g}"
            self._show(self._newest.number, f"mean loss {error}" if self._loss else text)


class MembersBar(StepsBar):
    """A bar of members with the out-of-bag error; call it with every member."""

    def __init__(self, members: int, console: Console | None = None, *, after: float = 0.0) -> None:
        super().__init__("bagging", members, console, after=after)

    def __call__(self, event: Made) -> None:  # type: ignore[override]
        """Draw the bar."""
        error = "–" if event.error is None else f"{event.error:.4g}"
        self._show(event.members, f"error out of bag {error}")


FRAMES_PER_SECOND = 4
BAR_WIDTH = 30
WORKERS_SHOWN = 4


class FilteringView(LiveView):
    """A live view of boosting by filtering; call it with every refill and round.

    It shows the numbers of draws and of kept rows, the mean weight μ with its interval, the
    progressive error, and the bound on the error.
    """

    def __init__(
        self,
        rounds: int,
        console: Console | None = None,
        *,
        earlier: Sequence[Refill] = (),
        workers: Mapping[str, int] | None = None,
        asked: Callable[[], tuple[int, float]] | None = None,
        clock: Callable[[], float] = time.monotonic,
        after: float = 0.0,
    ) -> None:
        """``asked`` returns how many labels an oracle gave, and the price of one."""
        super().__init__(after)
        self._most, self._workers, self._asked = rounds, workers, asked
        self._clock = clock
        self._started = clock()
        self._draws_before = 0
        self._pace = 0.0
        self._rounds = self._draws = self._accepted = self._samples = 0
        self._last: Refill | None = None
        self._certificate: Certificate | None = None
        for refill in earlier:  # of a run that continues from a checkpoint
            self(refill)
        self._draws_before = self._draws
        self._display = Live(
            console=console or error_console(),
            refresh_per_second=FRAMES_PER_SECOND,
            get_renderable=self.picture,
        )

    def __call__(self, event: Refill | Round) -> None:
        """Record an event; the next frame shows it."""
        self._begin_if_due()
        if isinstance(event, Round):
            self._rounds = event.number
            return
        self._draws += event.draws
        self._accepted += event.accepted
        self._samples += 1
        self._rounds = event.rounds
        self._last = event
        passed = max(1e-9, self._clock() - self._started)
        self._pace = (self._draws - self._draws_before) / passed

    def certified(self, certificate: Certificate | None) -> None:
        """Show the final certificate."""
        self._certificate = certificate

    def __enter__(self) -> Self:
        self._started = self._clock()
        return super().__enter__()

    def picture(self) -> Table:
        """Return the current numbers as a table."""
        lines, seconds = grid(), self._clock() - self._started
        lines.add_row("rounds", f"{self._rounds} of at most {self._most}, {seconds:.0f} s")
        lines.add_row("", ProgressBar(self._most, self._rounds, width=BAR_WIDTH))
        if self._workers:
            lines.add_row("blocks by worker", _busiest(self._workers))
        if self._asked is not None:
            labels, price = self._asked()
            lines.add_row("labels", f"{labels:,}" + (f", {labels * price:,.10g}" if price else ""))
        if self._last is None:
            lines.add_row("draws", "the first sample is being drawn")
            return lines
        last, samples = self._last, counted(self._samples, "sample")
        lines.add_row("draws", f"{self._draws:,} in {samples}, {self._pace:,.0f} a second")
        share = percent(last.acceptance, 1)
        of_all = percent(self._accepted / max(1, self._draws), 1)
        lines.add_row("kept", f"{share} of the last sample's draws, {of_all} of all")
        interval = f"from {last.lower:.4f} to {last.upper:.4f}"
        lines.add_row("mean weight μ", f"{last.mean:.4f}, {interval}")
        error = f"{percent(last.error, 2)} after {counted(last.rounds, 'round')}"
        lines.add_row("error seen", error if last.rounds else "none yet")
        lines.add_row("certified", self._certified(last))
        return lines

    def _certified(self, last: Refill) -> str:
        if self._certificate is not None:
            text = "at most " + percent_above(self._certificate.value, 2)
            return "nothing" if self._certificate.vacuous else text
        if last.error_upper >= 1:
            return "nothing yet"
        of = " of this source, all of whose rows were drawn before" if came_before(last) else ""
        return f"at most {percent_above(last.error_upper, 2)}{of}"


def _busiest(workers: Mapping[str, int]) -> str:
    """List the workers that read the most blocks.

    >>> _busiest({"tcp://a:1": 3, "tcp://b:2": 5})
    'tcp://b:2 5, tcp://a:1 3'
    """
    order = sorted(workers.items(), key=lambda entry: (-entry[1], entry[0]))
    shown = ", ".join(f"{worker} {done:,}" for worker, done in order[:WORKERS_SHOWN])
    rest = len(order) - WORKERS_SHOWN
    return f"{shown}, and {rest} more workers" if rest > 0 else shown


def tell_batch(ledger: Ledger, console: Console | None = None) -> None:
    """Print one line about the last batch."""
    last = ledger.refills[-1]
    number, rows = len(ledger.refills), counted(last.draws, "row")
    share = percent(last.acceptance, 1)
    errors = f", {percent(last.error, 2)} errors before it was learned from" if last.rounds else ""
    (console or error_console()).print(
        f"batch {number:,}: {rows}, {share} kept{errors}; {counted(len(ledger), 'round')} so far",
        highlight=False,
    )
