"""A live view of boosting by filtering, and tables of what it did."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pacboost.bounds.certificate import Certificate
from pacboost.ledgers.ledger import Ledger, Refill, Round
from pacboost.numerics.percent import percent, percent_above
from pacboost.reports.progress import LiveView, error_console
from pacboost.reports.text import MOST_ROWS, counted
from pacboost.reports.text import grid as two_columns

FRAMES_PER_SECOND = 4
BAR = 30
WORKERS_SHOWN = 4


class FilteringView(LiveView):
    """Call it with every refill and round; use it as a context.

    It shows what is known now: how much was drawn and kept, the mean weight μ with its interval,
    the progressive error, and what the error is at most.
    """

    def __init__(
        self,
        rounds: int,
        console: Console | None = None,
        *,
        earlier: Sequence[Refill] = (),
        workers: Mapping[str, int] | None = None,
        clock: Callable[[], float] = time.monotonic,
        after: float = 0.0,
    ) -> None:
        super().__init__(after)
        self._most, self._workers = rounds, workers
        self._clock = clock
        self._started = clock()
        self._draws_before = 0
        self._pace = 0.0
        self._rounds = self._draws = self._accepted = self._samples = 0
        self._last: Refill | None = None
        self._certificate: Certificate | None = None
        for refill in earlier:  # of a run that goes on from a checkpoint
            self(refill)
        self._draws_before = self._draws
        self._display = Live(
            console=console or error_console(),
            refresh_per_second=FRAMES_PER_SECOND,
            get_renderable=self.picture,
        )

    def __call__(self, event: Refill | Round) -> None:
        """Take in what happened; it is drawn when the next frame is due."""
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
        """Show what is certified in the end."""
        self._certificate = certificate

    def __enter__(self) -> Self:
        self._started = self._clock()
        return super().__enter__()

    def picture(self) -> Table:
        """Lay out the numbers as they are now."""
        grid, seconds = two_columns(), self._clock() - self._started
        grid.add_row("rounds", f"{self._rounds} of at most {self._most}, {seconds:.0f} s")
        grid.add_row("", ProgressBar(self._most, self._rounds, width=BAR))
        if self._workers:
            grid.add_row("blocks by worker", _busiest(self._workers))
        if self._last is None:
            grid.add_row("draws", "the first sample is being drawn")
            return grid
        last, samples = self._last, counted(self._samples, "sample")
        grid.add_row("draws", f"{self._draws:,} in {samples}, {self._pace:,.0f} a second")
        share, of_all = (
            percent(last.acceptance, 1),
            percent(self._accepted / max(1, self._draws), 1),
        )
        grid.add_row("kept", f"{share} of the last sample's draws, {of_all} of all")
        grid.add_row("mean weight μ", f"{last.mean:.4f}, from {last.lower:.4f} to {last.upper:.4f}")
        seen = f"{percent(last.error, 2)} after {counted(last.rounds, 'round')}"
        grid.add_row("error seen", seen if last.rounds else "none yet")
        grid.add_row("certified", self._certified(last))
        return grid

    def _certified(self, last: Refill) -> str:
        if self._certificate is not None:
            text = "at most " + percent_above(self._certificate.value, 2)
            return "nothing" if self._certificate.vacuous else text
        if last.error_upper >= 1:
            return "nothing yet"
        of = " of this source, all of whose rows were drawn before" if _came_before(last) else ""
        return f"at most {percent_above(last.error_upper, 2)}{of}"


def _busiest(workers: Mapping[str, int]) -> str:
    """Name the workers that read the most blocks.

    >>> _busiest({"tcp://a:1": 3, "tcp://b:2": 5})
    'tcp://b:2 5, tcp://a:1 3'
    """
    order = sorted(workers.items(), key=lambda own: (-own[1], own[0]))
    shown = ", ".join(f"{worker} {done:,}" for worker, done in order[:WORKERS_SHOWN])
    rest = len(order) - WORKERS_SHOWN
    return f"{shown}, and {rest} more workers" if rest > 0 else shown


def tell_batch(ledger: Ledger, console: Console | None = None) -> None:
    """Print one line about the last batch."""
    last = ledger.refills[-1]
    number, rows, kept = (
        len(ledger.refills),
        counted(last.draws, "row"),
        percent(last.acceptance, 1),
    )
    seen = f", {percent(last.error, 2)} errors before it was learned from" if last.rounds else ""
    (console or error_console()).print(
        f"batch {number:,}: {rows}, {kept} kept{seen}; {counted(len(ledger), 'round')} so far",
        highlight=False,
    )


def refills_table(ledger: Ledger, title: str = "") -> Table:
    """Each drawing of a sample; of a long run, the first and the last."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("rounds\nbefore", "draws", "kept", "μ", "interval of μ", "error\nseen"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("certified\nat most", justify="right", no_wrap=True)
    refills, half = ledger.refills, MOST_ROWS // 2
    cut = len(refills) > MOST_ROWS
    for refill in refills[:half] if cut else refills:
        table.add_row(*_cells(refill))
    if cut:
        table.add_row(*["…"] * len(table.columns))
        for refill in refills[-half:]:
            table.add_row(*_cells(refill))
    if any(map(_came_before, refills)):
        table.caption = "* rows that were all drawn before: about this source only"
    return table


def _cells(refill: Refill) -> list[str]:
    mark = "*" if _came_before(refill) else ""
    return [
        str(refill.rounds),
        f"{refill.draws:,}",
        percent(refill.acceptance, 1),
        f"{refill.mean:.4f}",
        f"{refill.lower:.4f} – {refill.upper:.4f}",
        percent(refill.error, 2) + mark if refill.rounds else "",
        percent_above(refill.error_upper, 2) + mark if refill.error_upper < 1 else "",
    ]


def summary(ledger: Ledger, *certificates: Certificate | None) -> Table:
    """Summarise a run: what it did, why it stopped, and what is certified."""
    draws = sum(refill.draws for refill in ledger.refills)
    tested = ledger.refills[-1].fresh if ledger.refills else 0
    kept = sum(refill.accepted for refill in ledger.refills)
    grid = two_columns()
    grid.add_row(
        "rounds", f"{len(ledger):,} (booster {ledger.booster}, learner {ledger.learner.lower()})"
    )
    grid.add_row("draws", f"{draws:,} examples")
    if tested:
        grid.add_row("tested on", f"{tested:,} new examples, in the last test")
    samples = counted(len(ledger.refills), "sample")
    grid.add_row("kept", f"{kept:,} of them ({percent(kept / max(1, draws), 1)}), in {samples}")
    grid.add_row("stopped", ledger.stopped)
    scored = [refill for refill in ledger.refills if refill.rounds and not _came_before(refill)]
    if scored:
        error, when = percent(scored[-1].error, 2), counted(scored[-1].rounds, "round")
        grid.add_row(
            "error seen",
            f"{error} of the examples drawn after {when}, before they were used for training (an "
            "estimate)",
        )
    given = [certificate for certificate in certificates if certificate is not None]
    for certificate in given:
        grid.add_row("", "")
        grid.add_row("certificate", Text(certificate.claim, style="bold"))
        grid.add_row("counted on", f"{certificate.size:,} rows: {certificate.sample}")
        grid.add_row("assumes", "; ".join(certificate.assumptions) or "nothing")
        grid.add_row("may fail with", f"probability {certificate.delta:.3g}")
    if not given:
        grid.add_row("certificate", "none: no rows were held out, and none were drawn at the end")
    return grid


def _came_before(refill: Refill) -> bool:
    """Whether all rows of a refill were drawn before, so that it is about their source only."""
    return refill.again >= refill.draws and refill.fresh == 0
