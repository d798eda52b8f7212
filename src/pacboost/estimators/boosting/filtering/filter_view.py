"""The view of a fit by filtering while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pacboost.estimators.boosting.filtering.filter_session import Session, Watcher
from pacboost.estimators.inputs.parameters import progress_after
from pacboost.sources.oracles.remote import RemoteOracle


@contextmanager
def watching(estimator: Any, session: Session, watchers: list[Watcher]) -> Iterator[list[Watcher]]:
    """Give the callbacks and, if verbose, a view that is open until there is a certificate."""
    after = progress_after(estimator.verbose)
    if after is None:
        yield watchers
        return
    from pacboost.reports.filtering import FilteringView

    rounds, earlier = session.run.plan.rounds, session.run.refills
    oracle = session.run.candidates.oracle
    workers = oracle.cluster.blocks if isinstance(oracle, RemoteOracle) else None
    with FilteringView(rounds, earlier=earlier, workers=workers, after=after) as view:
        yield [*watchers, view]
        view.certified(estimator.model_.certificate)
