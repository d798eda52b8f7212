"""partial_fit: batches of a stream that cannot be asked again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from pacboost.errors import DataError
from pacboost.ledgers.ledger import Refill
from pacboost.models.file.format import model_bytes
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.oracles.stream import PushedOracle
from pacboost.training.filtering import candidates
from tests.estimators.filter_sources import noisy, small


def fed(X: Any, y: Any, parts: int = 6, **told: Any) -> Any:
    model = small(**{"n_estimators": 60, **told})
    for rows in np.array_split(np.arange(len(X)), parts):
        model.partial_fit(X[rows], y[rows], classes=np.unique(y))
    return model


@pytest.mark.parametrize("booster", ["logit", "measure", "mada", "smooth", "projection"])
def test_learns_from_batches(booster: str) -> None:
    X, y = noisy(6000)
    model = fed(X, y, booster=booster)
    assert model.score(*noisy(3000, seed=1)) > 0.7
    assert len(model.ledger_.refills) == 6
    assert model.ledger_.stopped == "the batch is used up"


@pytest.mark.parametrize("learner", ["stump", DecisionTreeClassifier(max_depth=3)])
def test_learners(learner: Any) -> None:
    X, y = noisy(4000)
    model = fed(X, y, learner=learner, booster="mada")
    assert model.score(X, y) > 0.65


def test_three_classes_of_which_the_first_batch_has_one() -> None:
    X, y = noisy(6000, classes=3)
    order = np.argsort(y, kind="stable")
    first = order[:500]
    rest = np.random.default_rng(0).permutation(order[500:])
    model = small(n_estimators=60).partial_fit(X[first], y[first], classes=[0, 1, 2])
    for rows in np.array_split(rest, 5):
        model.partial_fit(X[rows], y[rows])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, y) > 0.6


def test_what_is_still_hard_is_carried_over() -> None:
    X, y = noisy(6000)
    model = fed(X, y, n_certify=0, sample_rows=5000)
    carried = model._stream.run._carried
    assert carried is not None
    old = carried.rows < 5000
    assert 0 < old.sum() < 3500
    assert carried.n_rows <= 5000
    stands = model._stream.run.vote_so_far.score(carried)
    assert stands.chances[old].mean() > stands.chances.mean() * 0.8


def test_carried_rows_keep_sums_unbiased() -> None:
    """Rows that stay do so by chance; divided by it, they stand for all that ever came."""
    totals = []
    for seed in range(60):
        X, y = noisy(3000, seed=3)
        model = fed(X, y, parts=3, n_certify=0, random_state=seed, booster="mada", learner="stump",
                    n_estimators=9, sample_rows=10_000)  # fmt: skip
        kept = model._stream.run._carried
        assert kept is not None
        totals.append(float((1 / kept.odds).sum()))
    error = np.std(totals, ddof=1) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - 3000) < 4.5 * max(error, 1.0)


def test_rows_set_apart_are_of_all_batches() -> None:
    X, y = noisy(6000)
    model = fed(X, y, n_certify=400)
    told = model.certificate_
    assert told.size == 400
    assert "Order: stream" in told.sample
    assert 1 - model.score(X, y) < told.value < 0.5
    held = model._stream.run.candidates.held[0].rows
    assert held.max() > 3000
    for refill, rows in zip(model.ledger_.refills, range(6), strict=True):
        assert refill.draws + np.count_nonzero(held // 1000 == rows) == 1000


def test_batches_after_the_rounds_add_one_each() -> None:
    X, y = noisy(6000)
    model = fed(X, y, n_estimators=5)
    ends = [refill.rounds for refill in model.ledger_.refills[1:]] + [len(model.ledger_)]
    past = [end for end in ends if end > 5]
    assert past
    assert past == list(range(6, 6 + len(past)))


def test_a_batch_is_looked_at_whole_however_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST_AT_ONCE", 200)
    monkeypatch.setattr(candidates, "LEAST_AT_ONCE", 100)
    X, y = noisy(9000)
    model = fed(X, y, parts=2, n_certify=0, sample_rows=300)
    assert [refill.draws for refill in model.ledger_.refills] == [4500, 4500]
    assert not model._stream.run.candidates._waiting
    assert model._stream.run._carried.n_rows <= 300 * 1.3


def test_callbacks_are_told() -> None:
    seen: list[Any] = []
    X, y = noisy(2000)
    model = fed(X, y, parts=2, callbacks=[seen.append])
    assert [e for e in seen if isinstance(e, Refill)] == model.ledger_.refills
    assert len(seen) == len(model.ledger_) + 2


def test_the_same_batches_give_the_same_model() -> None:
    X, y = noisy(4000)
    assert model_bytes(fed(X, y).model_) == model_bytes(fed(X, y, n_jobs=1).model_)
    assert model_bytes(fed(X, y).model_) != model_bytes(fed(X, y, random_state=9).model_)


def test_fit_starts_afresh() -> None:
    X, y = noisy(3000)
    model = fed(X, y, n_estimators=12)
    assert model_bytes(model.fit(X, y).model_) == model_bytes(small().fit(X, y).model_)
    again = model.partial_fit(X, y)
    assert len(again.ledger_.refills) == 1


# -- bad input


def test_a_label_that_was_not_named_changes_nothing() -> None:
    X, y = noisy(2000)
    model = small().partial_fit(X[:1000], y[:1000], classes=[0, 1])
    before, refills = model_bytes(model.model_), len(model.ledger_.refills)
    with pytest.raises(DataError, match="has the label 7, which is not among the classes"):
        model.partial_fit(X[1000:], np.full(1000, 7))
    assert model_bytes(model.model_) == before
    model.partial_fit(X[1000:], y[1000:])
    assert len(model.ledger_.refills) == refills + 1
    other = small().partial_fit(X[:1000], y[:1000], classes=[0, 1]).partial_fit(X[1000:], y[1000:])
    assert model_bytes(model.model_) == model_bytes(other.model_)


def test_a_first_batch_that_fails_sets_nothing() -> None:
    X, y = noisy(1000)
    model = small()
    with pytest.raises(DataError, match="not among the classes"):
        model.partial_fit(X, y, classes=[1, 2])
    assert not hasattr(model, "_stream")
    assert not hasattr(model, "classes_")
    assert model.partial_fit(X, y, classes=[0, 1]).classes_.tolist() == [0, 1]


def test_classes_cannot_change() -> None:
    X, y = noisy(1000)
    model = small().partial_fit(X, y, classes=[0, 1])
    model.partial_fit(X, y, classes=[1, 0])
    with pytest.raises(DataError, match=r"classes are \[0, 1, 2\], and were \[0, 1\]"):
        model.partial_fit(X, y, classes=[0, 1, 2])


def test_another_number_of_columns() -> None:
    X, y = noisy(1000)
    model = small().partial_fit(X, y)
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(X[:, :3], y)
    model.partial_fit(X, y)


def test_infinite_values() -> None:
    X, y = noisy(1000)
    model = small().partial_fit(X, y)
    with pytest.raises(DataError, match="infin"):
        model.partial_fit(np.where(X > 1, np.inf, X), y)


# -- the oracle behind it


def test_pushed_rows_come_once_in_their_order() -> None:
    oracle = PushedOracle(1)
    oracle.push(ArrayTable(np.array([[1.0], [2.0]])), np.array([0, 1]))
    oracle.push(ArrayTable(np.array([[3.0]])), np.array([1]))
    assert oracle.position() == {"count": 3}
    first, second = oracle.draw(9), oracle.draw(9)
    assert first.rows.tolist() == [0, 1]
    assert second.rows.tolist() == [2]
    assert first.lap == second.lap == 0
    assert oracle.draw(9).n_rows == 0
    assert oracle.place(2) == "row 2 of all that came"
    assert oracle.n_rows is None
    with pytest.raises(ValueError, match="cannot be asked again"):
        oracle.seek({"count": 0})
