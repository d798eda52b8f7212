"""A fit by filtering on its way: set up or resumed, advanced within limits, kept at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pacboost.bounds import filtering as stop_bound
from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.errors import FileError, NotCertified
from pacboost.models import checkpoint
from pacboost.models.checkpoint import Checkpoint
from pacboost.sources.oracles.oracle import REPLACED
from pacboost.training.filtering.candidates import Pool, Stream
from pacboost.training.filtering.engine import Event, Filtering
from pacboost.training.filtering.intake import Examples
from pacboost.training.filtering.standing import Court

SECONDS_BETWEEN = 30.0
"""Checkpoints are written no more often than that, and on Ctrl-C."""

Watcher = Callable[[Event], bool | None]


@dataclass
class Limits:
    """When to stop that has nothing to do with what is learned."""

    seconds: float | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.seconds is not None and time.monotonic() - self.started >= self.seconds


class Session:
    """A run of filtering and its checkpoint file."""

    def __init__(
        self, run: Filtering, limits: Limits, path: Path | None, settings: dict[str, Any]
    ) -> None:
        self.run, self._limits = run, limits
        self._path, self._settings = path, settings
        self._snapshot: Checkpoint | None = None
        self._written = time.monotonic()

    def resume(self) -> None:
        """Go on from the checkpoint, if there is one."""
        if self._path is None or not self._path.exists():
            return
        saved = checkpoint.load(self._path)
        if saved.settings != self._settings:
            changed = sorted(
                name
                for name in {*saved.settings, *self._settings}
                if saved.settings.get(name) != self._settings.get(name)
            )
            raise FileError(
                f"{self._path}: is the checkpoint of another run (other {', '.join(changed)}). "
                "Delete it to start afresh, or name another file"
            )
        run = self.run
        memories = [entry.memory for entry in saved.rounds]
        run.court = Court(
            run.court.booster, run.intake.bins, saved.outputs, saved.cells,
            saved.rules, saved.votes, memories,
        )  # fmt: skip
        run.rounds, run.refills, run.mass = saved.rounds, saved.refills, saved.mass
        run.candidates.oracle.seek(saved.position)
        self._restore_rows(saved)

    def _restore_rows(self, saved: Checkpoint) -> None:
        candidates = self.run.candidates
        if isinstance(candidates, Pool):
            candidates.kinds[:] = saved.arrays["kinds"]
        elif isinstance(candidates, Stream) and "apart_rows" in saved.arrays:
            candidates.hold(Examples.from_arrays(saved.arrays, self.run.intake.bins))

    def _remember(self) -> None:
        """Keep what a checkpoint needs; written now if the last one is old enough."""
        run, candidates = self.run, self.run.candidates
        if self._path is None or run.intake.bins is None or not candidates.settled:
            return
        arrays: dict[str, Any] = {}
        if isinstance(candidates, Pool):
            arrays["kinds"] = candidates.kinds.copy()
        elif isinstance(candidates, Stream) and candidates.held:
            arrays = Examples.join(candidates.held).to_arrays()
        self._snapshot = Checkpoint(
            self._settings, candidates.oracle.position(), run.intake.bins, run.court.outputs,
            list(run.court.rules), list(run.court.votes), list(run.rounds), list(run.refills),
            run.court.cells, run.mass, arrays,
        )  # fmt: skip
        if time.monotonic() - self._written >= SECONDS_BETWEEN:
            self.write()

    def write(self) -> None:
        """Write the newest checkpoint."""
        if self._path is not None and self._snapshot is not None:
            self._snapshot.save(self._path)
            self._written = time.monotonic()

    def advance(self, watchers: Sequence[Watcher]) -> None:
        """Run until it stops by itself, by a limit or by a watcher."""
        run = self.run
        run.before_refill = self._remember
        for event in run:
            wishes = [watcher(event) for watcher in watchers]
            if any(wishes):
                run.stopped = run.stopped or "a callback stopped it"
            elif self._limits.over:
                run.stopped = run.stopped or "the time is up"
            if run.stopped:
                break

    def advance_by_batch(self, watchers: Sequence[Watcher]) -> None:
        """Learn from what was pushed, and from what of earlier batches is still hard."""
        run = self.run
        run.stopped, run.candidates.ended = "", False
        kept = run.fill()
        run.stopped = ""
        events: list[Event] = [run.refills[-1]]
        if kept is not None:
            kept = run.carry_over(kept)
            events += run.boost(kept)
        for event in events:
            for watcher in watchers:
                watcher(event)
        run.stopped = run.stopped or "the batch is used up"

    def finish(self) -> None:
        """Delete the checkpoint of a run that has ended by itself."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def certificates(self, delta: float) -> tuple[Certificate | None, Certificate | None]:
        """Certify by rows set apart, and by the test that stopped the run."""
        run = self.run
        apart = run.candidates.apart(run.intake)
        held = None
        if apart is not None:
            wrong = run.court.judge(apart.table, apart.signs).wrong(apart.signs)
            mistakes = int(np.count_nonzero(wrong))
            held = holdout.certificate(mistakes, apart.n_rows, delta, sample=self._sample())
        return held, self._stop()

    def _sample(self) -> str:
        order = run_order(self.run)
        return (
            "rows set apart as they came, never learned from, scored once after the last round "
            f"(order: {order.name}); ties counted as errors"
        )

    def _stop(self) -> Certificate | None:
        run = self.run
        if not run.refills or run.refills[-1].rounds != len(run.court):
            return None
        last, order = run.refills[-1], run_order(run)
        fresh = last.fresh > 0 and order is not REPLACED
        try:
            return stop_bound.certificate(
                last, run.court.booster.error_factor, order.assumes, fresh=fresh
            )
        except NotCertified:
            return None


def run_order(run: Filtering) -> Any:
    """The order in which the oracle of a run gives rows."""
    return run.candidates.oracle.order
