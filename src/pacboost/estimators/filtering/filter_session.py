"""A run of boosting by filtering: resumed from a checkpoint, advanced within limits, certified."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pacboost.bounds.held_out import HeldOut
from pacboost.errors import CheckpointWarning, ClusterError, FileError
from pacboost.models.file import checkpoint
from pacboost.models.file.checkpoint import Checkpoint
from pacboost.training.filtering.engine import Event, Filtering
from pacboost.training.filtering.rows import VoteSoFar
from pacboost.training.run.stop_reason import Stop, StopReason

SECONDS_BETWEEN = 30.0  # between two checkpoints; Ctrl-C writes one, too
UNFINISHED = (Stop.TIME_IS_UP, Stop.CALLBACK, Stop.INTERRUPTED)
"""Reasons to stop after which a run can continue, so that its checkpoint stays."""
NOT_REMEMBERED = (
    "{} could not be written, so that a run that goes on from it would certify again at all of "
    "delta; make room on its disk, and fit again"
)

Watcher = Callable[[Event], bool | None]


class Session:
    """A run of filtering and its checkpoint file; ``deadline`` is on the monotonic clock."""

    def __init__(
        self, run: Filtering, deadline: float, path: Path | None, settings: dict[str, Any]
    ) -> None:
        self.run, self._deadline = run, deadline
        self._path, self._settings = path, settings
        self.held_out: HeldOut | None = None
        self._looks = 0
        """Number of certificates that may have been read before the run went on. Whoever reads
        them may keep the best vote, so that each pays for its look at the rows set apart."""
        self._in_batches = False
        self.refusal = ""
        """Why the rows set apart certify nothing."""
        self.has_times = False
        """Whether the rows that were handed in have times."""
        self.has_warned = False
        """Whether a warning said that certifying rows equal rows learned from."""
        self._snapshot: Checkpoint | None = None
        self._saved: Checkpoint | None = None
        self._written = time.monotonic()
        if path is not None and not path.parent.is_dir():
            raise FileError(
                f"{path}: there is no folder {path.parent} to write a checkpoint to; make it first"
            )

    def resume(self) -> None:
        """Continue from the checkpoint, if there is one."""
        if self._path is None or not self._path.exists():
            return
        saved = checkpoint.load(self._path)
        before, now = saved.settings, self._settings
        names = sorted(n for n in before.keys() | now.keys() if before.get(n) != now.get(n))
        if names:
            raise FileError(
                f"{self._path}: is the checkpoint of another run (other {', '.join(names)}). "
                "Delete it to start afresh, or name another file"
            )
        try:
            self._restore(saved)
        except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
            raise FileError(
                f"{self._path}: does not belong to this run ({problem}). Delete it to start "
                "afresh, or name another file"
            ) from problem

    def _restore(self, saved: Checkpoint) -> None:
        run = self.run
        run.encoder = replace(run.encoder, bins=saved.bins)
        memories = [entry.memory for entry in saved.rounds]
        run.vote_so_far = VoteSoFar(
            run.vote_so_far.booster, run.encoder.bins, saved.outputs, saved.cells,
            saved.rules, saved.votes, memories,
        )  # fmt: skip
        run.rounds, run.refills, run.mass = saved.rounds, saved.refills, saved.mass
        run.plan = replace(run.plan, rows=saved.rows[0], first_rows=saved.rows[1])
        run.candidates.seek(saved.position)
        run.candidates.restore(saved.arrays, run.encoder)
        run.candidates.learned.complete = False  # a checkpoint does not hold the sketch
        self._looks = saved.looks
        self._snapshot = saved

    def _remember(self) -> None:
        """Keep what a checkpoint needs, and write it if the last one is old enough."""
        run, candidates = self.run, self.run.candidates
        if self._path is None or run.encoder.bins is None:
            return
        self._snapshot = Checkpoint(
            self._settings, candidates.position(),
            (run.plan.rows, run.plan.first_rows), run.encoder.bins, run.vote_so_far.outputs,
            list(run.vote_so_far.rules), list(run.vote_so_far.votes), list(run.rounds),
            list(run.refills), run.vote_so_far.cells, run.mass,
            self._looks, candidates.state(),
        )  # fmt: skip
        if time.monotonic() - self._written >= SECONDS_BETWEEN:
            self.write()

    def write(self) -> bool:
        """Write the newest checkpoint; return whether one was written.

        A full disk does not stop a run: it warns, continues, and tries again later.
        """
        if self._path is None or self._snapshot is None:
            return False
        if self._saved is self._snapshot:
            return True
        self._written = time.monotonic()
        try:
            self._snapshot.save(self._path)
        except FileError as problem:
            warnings.warn(f"{problem}. The run goes on.", CheckpointWarning, stacklevel=2)
            return False
        self._saved = self._snapshot
        return True

    def advance(self, watchers: Sequence[Watcher]) -> None:
        """Run until the last round, a limit or a callback ends it.

        If a cluster is lost, a checkpoint is written first.
        """
        run = self.run
        run.before_refill, run.over = self._remember, self._over
        try:
            for event in run:
                wishes = [watcher(event) for watcher in watchers]
                if any(wishes):
                    run.stopped = run.stopped or StopReason(Stop.CALLBACK)
                elif self._over():
                    run.stopped = run.stopped or StopReason(Stop.TIME_IS_UP)
                if run.stopped:
                    break
        except ClusterError as problem:
            if self.write():
                problem.add_note(f"pacboost: {self._path} holds a checkpoint to continue from")
            raise

    def _over(self) -> bool:
        return time.monotonic() >= self._deadline

    def advance_by_batch(self, watchers: Sequence[Watcher]) -> None:
        """Learn from the new batch, and from rows of earlier batches that are still hard."""
        run = self.run
        self._in_batches = True
        run.stopped, run.candidates.ended = None, False
        sample = run.fill(all_of_it=True)
        run.stopped = None
        events: list[Event] = [run.refills[-1]]
        if sample is not None:
            events += run.boost(run.carry_over(sample))
        for event in events:
            for watcher in watchers:
                watcher(event)
        run.stopped = run.stopped or StopReason(Stop.BATCH_USED_UP)

    @property
    def is_unfinished(self) -> bool:
        """True if the run was stopped from outside, so that it can continue later."""
        return self.run.stopped is not None and self.run.stopped.kind in UNFINISHED

    def finish(self) -> None:
        """Delete the checkpoint of a complete run; write a last one otherwise."""
        if self.is_unfinished:
            self.write()
        elif self._path is not None:
            checkpoint.delete(self._path)

    def look(self) -> int | None:
        """Number this look at the rows set apart: 0 for the only one of a run, None if not allowed.

        A checkpoint has to know of a look before anybody reads the certificate: a run that goes on
        from a file that does not would certify again at all of delta.
        """
        can_continue = self._in_batches or (self._path is not None and self.is_unfinished)
        if not can_continue and not self._looks:
            return 0
        self._looks += 1
        if self._path is not None and self._snapshot is not None and self.is_unfinished:
            self._snapshot = replace(self._snapshot, looks=self._looks)
            if not self.write() and self._path.exists():
                self.refusal = NOT_REMEMBERED.format(self._path)
                return None
        return self._looks
