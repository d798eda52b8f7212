"""The ledger as JSON, as a frame, and as a fingerprint."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from pacboost.boosters.adaboost import AdaBoost
from pacboost.errors import DataError
from pacboost.learners.stump import Stump
from pacboost.ledgers.ledger import Ledger
from pacboost.training.run.loop import Run
from tests.worlds import make_sample, noisy


@pytest.fixture
def ledger() -> Ledger:
    X, signs = noisy(100, 3, seed=1)
    run = Run(make_sample(X, signs), Stump(), AdaBoost())
    list(islice(run, 5))
    return run.ledger()


def test_json_both_ways(ledger: Ledger) -> None:
    again = Ledger.from_json(ledger.to_json())
    assert again == ledger
    assert again.digest() == ledger.digest()


def test_clock_and_words_lie_outside_the_digest(ledger: Ledger) -> None:
    other = replace(ledger, rounds=[replace(e, seconds=9.0, rule="?") for e in ledger.rounds])
    assert other.digest() == ledger.digest()


def test_any_number_inside_changes_the_digest(ledger: Ledger) -> None:
    changed = [replace(ledger.rounds[0], error=0.123), *ledger.rounds[1:]]
    assert replace(ledger, rounds=changed).digest() != ledger.digest()
    assert replace(ledger, rows=7).digest() != ledger.digest()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames(ledger: Ledger, backend: str) -> None:
    import narwhals as nw

    frame = nw.from_native(ledger.to_frame(backend), eager_only=True)
    assert frame.shape[0] == 5
    assert {"error", "edge", "vote", "normaliser", "bound", "bound_errors", "bound_edges"} <= set(
        frame.columns
    )
    assert frame["bound"].to_list() == pytest.approx(frame["bound_errors"].to_list())


def test_something_else_is_not_a_ledger() -> None:
    with pytest.raises(DataError, match="not a ledger"):
        Ledger.from_json('{"rounds": [{"nonsense": 1}]}')
