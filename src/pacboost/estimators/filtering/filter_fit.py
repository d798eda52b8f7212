"""What a fit by filtering does: draw and learn, then keep the vote with its certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.inputs.parameters import callables, progress_after
from pacboost.estimators.parameters.values import Values
from pacboost.fit.targets import read_labels, warn_of_one_class
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.kernels.machine import machine
from pacboost.models.model import Model
from pacboost.models.schema import ColumnOptions, Schema
from pacboost.samples.sketch import Sketch
from pacboost.samples.time_order import have_times
from pacboost.sources.oracles.oracle import OUT_OF_TIME, AbstractOracle, reading_until
from pacboost.sources.oracles.remote import RemoteOracle
from pacboost.sources.oracles.stream import PushedOracle
from pacboost.training.run.stop_reason import Stop, StopReason, sentence_of


@contextmanager
def watching(estimator: FilterEstimator, session: Session) -> Iterator[list[Watcher]]:
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


class FilterEstimator(Protocol):
    """What a fit by filtering reads and sets of FilterBoostClassifier."""

    callbacks: Sequence[Watcher] | None
    checkpoint: str | Path | None
    delta: float
    device: str
    n_jobs: int | None
    verbose: bool | int | str
    classes_: NDArray[Any]
    model_: Model
    stop_certificate_: Certificate | None
    _refusal: str
    _schema: Schema
    _sketches: tuple[Sketch, ...]
    _stream: Session | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters."""

    def _column_options(self) -> ColumnOptions: ...


def values_of(estimator: FilterEstimator) -> Values:
    """Return the parameters as values."""
    return Values.of(estimator.get_params(deep=False))


def learn_batch(
    estimator: FilterEstimator,
    stream: Session | None,
    X: object,
    y: object,
    classes: ArrayLike | None,
    copies: str,
) -> None:
    """Learn from the next batch of a stream; the first one sets up the run."""
    if stream is None:
        options = estimator._column_options()
        estimator._schema, table = Schema.learn(options.divisible(X), options)
    else:
        table = estimator._schema.read(X)
    labels = read_labels(y, table.n_rows)
    named_classes = None if classes is None else np.unique(np.asarray(classes))
    if stream is not None:
        if named_classes is not None and not np.array_equal(named_classes, estimator.classes_):
            raise DataError(
                f"classes are {named_classes.tolist()}, and were {estimator.classes_.tolist()} in "
                "the first call; they cannot change"
            )
        if copies == "distinct" and not stream.run.candidates.distinct:
            raise ParameterError(
                "copies is 'distinct', and was 'draws' in the first call; it cannot change",
                parameter="copies",
            )
        stream.run.encoder.check(labels)
    with machine(estimator.device, estimator.n_jobs):
        if stream is None:
            estimator.classes_ = np.unique(labels) if named_classes is None else named_classes
            oracle = PushedOracle(table.n_columns, table.names)
            oracle.push(table, labels)
            stream = set_up(
                values_of(estimator),
                oracle,
                seed_of_run(values_of(estimator)),
                estimator.classes_,
                end_of_time(values_of(estimator)),
                copies,
            )
            stream.has_times = have_times(X)
            estimator._stream = stream
        else:
            pushed: Any = stream.run.candidates.oracle
            pushed.push(table, labels)
        stream.advance_by_batch(callables("callbacks", estimator.callbacks))
        keep(estimator, stream)


def fit_drawn(
    estimator: FilterEstimator,
    opened: Callable[[int], AbstractOracle],
    classes: ArrayLike | None,
    copies: str,
    *,
    has_times: bool = False,
) -> None:
    """Draw and learn; ``opened`` makes the oracle from a seed."""
    with ExitStack() as stack, all_or_nothing(estimator) as attempt:
        end, seed = end_of_time(values_of(estimator)), seed_of_run(values_of(estimator))
        with reading_until(end):
            oracle = opened(seed)
        stack.callback(oracle.close)
        estimator._stream = None
        with machine(estimator.device, estimator.n_jobs):
            with reading_until(end):
                session = set_up(values_of(estimator), oracle, seed, classes, end, copies)
                session.has_times = has_times
            estimator.classes_ = session.run.encoder.classes
            attempt.keep = lambda: keep_interrupted(estimator, session)
            session.resume()
            with watching(estimator, session) as watchers:
                session.advance(watchers)
                in_time = session.run.stopped != StopReason(Stop.TIME_IS_UP)
                if not in_time and not len(session.run.vote_so_far):
                    session.finish()
                    raise OutOfTime(OUT_OF_TIME.format("while rows were drawn"))
                keep(estimator, session)
            session.finish()
            warn_of_an_empty_vote(estimator, session)


def keep(estimator: FilterEstimator, session: Session) -> None:
    """Keep the vote so far as a model with its certificates."""
    run = session.run
    estimator._refusal = run.candidates.problem
    by_rows, by_test = (
        (None, None) if estimator._refusal else certificates(session, float(estimator.delta))
    )
    estimator._refusal = estimator._refusal or session.refusal
    vote, ledger = run.vote_so_far.vote(), run.ledger()
    ledger.vote_digest = vote_digest(vote)
    model = Model(
        classes=estimator.classes_, schema=estimator._schema, vote=vote, ledger=ledger,
        bins=run.encoder.bins,
    )  # fmt: skip
    digest = model.digest()
    estimator.stop_certificate_ = None if by_test is None else by_test.of(digest)
    best = smaller(by_rows, by_test, both=run.plan.epsilon is not None)
    certificate = None if best is None else best.of(digest)
    sketch = run.candidates.learned.sketch()
    estimator._sketches = () if sketch is None else (sketch,)
    counted = session.held_out if best is not None and best is by_rows else None
    estimator.model_ = replace(model, certificate=certificate, held_out=counted)
    share = 0.0 if certificate is None else float(certificate.details.get(SHARE_LEARNED, 0.0))
    if share and not session.has_warned:
        session.has_warned = True
        warn(equal_to_learned(share), InputWarning)


def keep_interrupted(estimator: FilterEstimator, session: Session) -> str:
    """Keep the rounds before Ctrl-C, and return what to say about them."""
    session.run.stopped = StopReason(Stop.INTERRUPTED)
    keep(estimator, session)
    saved = f", or continue from {estimator.checkpoint}" if session.write() else ""
    return (
        f"the {len(session.run.vote_so_far)} rounds done before the interrupt are kept; use "
        f"the estimator{saved}"
    )


def warn_of_an_empty_vote(estimator: FilterEstimator, session: Session) -> None:
    """Warn if there is one class, or no rule."""
    warn_of_one_class(estimator.classes_)
    empty = not len(session.run.vote_so_far) and not session.is_unfinished
    if empty and estimator.classes_.size > 1:
        warn(
            f"the vote is empty, so every prediction is a tie: {sentence_of(session.run.stopped)}",
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
