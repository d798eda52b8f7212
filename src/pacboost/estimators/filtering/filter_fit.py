"""What a fit by filtering does: draw and learn, then keep the vote with its certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.wording import SHARE_LEARNED, equal_to_learned
from pacboost.errors import (
    DataError,
    InputWarning,
    NoEdgeWarning,
    OutOfTime,
    ParameterError,
    warn,
)
from pacboost.estimators.filtering.filter_certificates import certificates
from pacboost.estimators.filtering.filter_session import Session, Watcher
from pacboost.estimators.filtering.filter_setup import end_of_time, seed_of_run, set_up
from pacboost.estimators.fitted.classifier import Classifier
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.nested import named
from pacboost.estimators.inputs.parameters import callables, progress_after
from pacboost.estimators.parameters.values import Values
from pacboost.fit.targets import read_labels, warn_of_one_class
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.kernels.machine import machine
from pacboost.learners.choose import as_learner
from pacboost.models.model import Model
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.samples.time_order import have_times
from pacboost.sources.oracles.oracle import OUT_OF_TIME, AbstractOracle, reading_until
from pacboost.sources.oracles.remote import RemoteOracle
from pacboost.sources.oracles.stream import PushedOracle
from pacboost.training.run.stop_reason import Stop, StopReason, sentence_of


@contextmanager
def watching(estimator: FilterFit, session: Session) -> Iterator[list[Watcher]]:
    """Yield the callbacks; if verbose, also a live view until there is a certificate."""
    watchers: list[Watcher] = callables("callbacks", estimator.callbacks)
    after = progress_after(estimator.verbose)
    if after is None:
        yield watchers
        return
    from pacboost.reports.progress import FilteringView

    rounds, earlier = session.run.plan.rounds, session.run.refills
    oracle = session.run.candidates.oracle
    workers = oracle.cluster.blocks if isinstance(oracle, RemoteOracle) else None
    asked = (lambda: (oracle.asked, oracle.price or 0.0)) if oracle.asks else None
    with FilteringView(rounds, earlier=earlier, workers=workers, asked=asked, after=after) as view:
        yield [*watchers, view]
        view.certified(estimator.model_.certificate)


class FilterFit(Classifier):
    """A classifier that draws its rows; its parameters are those of FilterBoostClassifier."""

    callbacks: Sequence[Watcher] | None
    checkpoint: str | Path | None
    delta: float
    learner: Any
    device: str
    n_jobs: int | None
    verbose: bool | int | str

    @property
    def _values(self) -> Values:
        return Values.of(self.get_params(deep=False))

    def _column_options(self) -> ColumnOptions:
        given = as_learner(named(self.learner)[0], "learner").reads_given
        return replace(super()._column_options(), as_they_came=given)

    def _learn_batch(
        self,
        stream: Session | None,
        X: object,
        y: object,
        classes: ArrayLike | None,
        copies: str,
    ) -> None:
        if stream is None:
            options = self._column_options()
            self._schema, table = Schema.learn(options.divisible(X), options)
        else:
            table = self._schema.read(X)
        labels = read_labels(y, table.n_rows)
        named_classes = None if classes is None else np.unique(np.asarray(classes))
        if stream is not None:
            if named_classes is not None and not np.array_equal(named_classes, self.classes_):
                raise DataError(
                    f"classes are {named_classes.tolist()}, and were {self.classes_.tolist()} in "
                    "the first call; they cannot change"
                )
            if copies == "distinct" and not stream.run.candidates.distinct:
                raise ParameterError(
                    "copies is 'distinct', and was 'draws' in the first call; it cannot change",
                    parameter="copies",
                )
            stream.run.encoder.check(labels)
        with machine(self.device, self.n_jobs):
            if stream is None:
                self.classes_ = np.unique(labels) if named_classes is None else named_classes
                oracle = PushedOracle(table.n_columns, table.names)
                oracle.push(table, labels)
                stream = set_up(
                    self._values,
                    oracle,
                    seed_of_run(self._values),
                    self.classes_,
                    end_of_time(self._values),
                    copies,
                )
                stream.has_times = have_times(X)
                self._stream: Session | None = stream
            else:
                pushed: Any = stream.run.candidates.oracle
                pushed.push(table, labels)
            stream.advance_by_batch(callables("callbacks", self.callbacks))
            self._keep(stream)

    def _fit(
        self,
        opened: Callable[[int], AbstractOracle],
        classes: ArrayLike | None,
        copies: str,
        *,
        has_times: bool = False,
    ) -> Self:
        """Draw and learn; ``opened`` makes the oracle from a seed."""
        with ExitStack() as stack, all_or_nothing(self) as attempt:
            end, seed = end_of_time(self._values), seed_of_run(self._values)
            with reading_until(end):
                oracle = opened(seed)
            stack.callback(oracle.close)
            self._stream = None
            with machine(self.device, self.n_jobs):
                with reading_until(end):
                    session = set_up(self._values, oracle, seed, classes, end, copies)
                    session.has_times = has_times
                self.classes_ = session.run.encoder.classes
                attempt.keep = lambda: self._keep_interrupted(session)
                session.resume()
                with watching(self, session) as watchers:
                    session.advance(watchers)
                    in_time = session.run.stopped != StopReason(Stop.TIME_IS_UP)
                    if not in_time and not len(session.run.vote_so_far):
                        session.finish()
                        raise OutOfTime(OUT_OF_TIME.format("while rows were drawn"))
                    self._keep(session)
                session.finish()
                self._warn(session)
        return self

    def _keep(self, session: Session) -> None:
        run = session.run
        self._refusal = run.candidates.problem
        by_rows, by_test = (
            (None, None) if self._refusal else certificates(session, float(self.delta))
        )
        self._refusal = self._refusal or session.refusal
        vote, ledger = run.vote_so_far.vote(), run.ledger()
        ledger.vote_digest = vote_digest(vote)
        model = Model(
            classes=self.classes_, schema=self._schema, vote=vote, ledger=ledger,
            bins=run.encoder.bins,
        )  # fmt: skip
        digest = model.digest()
        self.stop_certificate_ = None if by_test is None else by_test.of(digest)
        best = smaller(by_rows, by_test, both=run.plan.epsilon is not None)
        certificate = None if best is None else best.of(digest)
        sketch = run.candidates.learned.sketch()
        self._sketches = () if sketch is None else (sketch,)
        counted = session.held_out if best is not None and best is by_rows else None
        self.model_ = replace(model, certificate=certificate, held_out=counted)
        share = 0.0 if certificate is None else float(certificate.details.get(SHARE_LEARNED, 0.0))
        if share and not session.has_warned:
            session.has_warned = True
            warn(equal_to_learned(share), InputWarning)

    def _keep_interrupted(self, session: Session) -> str:
        session.run.stopped = StopReason(Stop.INTERRUPTED)
        self._keep(session)
        saved = f", or continue from {self.checkpoint}" if session.write() else ""
        return (
            f"the {len(session.run.vote_so_far)} rounds done before the interrupt are kept; use "
            f"the estimator{saved}"
        )

    def _warn(self, session: Session) -> None:
        warn_of_one_class(self.classes_)
        empty = not len(session.run.vote_so_far) and not session.is_unfinished
        if empty and self.classes_.size > 1:
            warn(
                "the vote is empty, so every prediction is a tie: "
                f"{sentence_of(session.run.stopped)}",
                NoEdgeWarning,
            )


def smaller(
    by_rows: Certificate | None, by_test: Certificate | None, *, both: bool
) -> Certificate | None:
    """Return the smaller of two bounds; without ``both`` that of rows, which has all of delta."""
    if by_rows is None or by_test is None:
        return by_rows or by_test
    # a test on rows that came before speaks of the source alone
    comparable = both and by_test.of_what == by_rows.of_what
    return by_test if comparable and by_test.value < by_rows.value else by_rows
