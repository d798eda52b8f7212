"""Streams that repeat their rows: what was learned from must not certify."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost import FilterBoostClassifier
from pacboost.errors import NotCertified
from tests.bounds.coverage import check_coverage
from tests.estimators.filter_sources import coin
from tests.runs import several_runs

ROWS, BATCHES, EPOCHS = 500, 2, 3


def learner(seed: int, **told: Any) -> FilterBoostClassifier:
    common = {"n_estimators": 12, "sample_rows": 600, "random_state": seed, "n_jobs": 1}
    return FilterBoostClassifier(
        max_leaves=60, min_leaf_rows=1, learning_rate=1.0, **{**common, **told}
    )


def false_claims(model: FilterBoostClassifier) -> int:
    """Count the claims about new examples that are below one half: labels are tosses of a coin."""
    told = (model.model_.certificate, model.stop_certificate_)
    return sum(c is not None and "of new examples" in c.claim and c.value < 0.5 for c in told)


def epochs(
    X: NDArray[np.float64], y: NDArray[np.int64], seed: int, *, shuffled: bool
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    generator = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        order = generator.permutation(len(X)) if shuffled else np.arange(len(X))
        for rows in np.array_split(order, BATCHES):
            yield X[rows], y[rows]


@several_runs(6, 12)
@pytest.mark.parametrize(
    ("how", "shuffled"),
    [
        ("partial_fit", False),
        ("generator", True),
        ("function", True),
        pytest.param("partial_fit", True, marks=pytest.mark.slow),
        pytest.param("generator", False, marks=pytest.mark.slow),
    ],
)
def test_epochs_over_the_same_rows(how: str, shuffled: bool, runs: int) -> None:
    wrong = 0
    for seed in range(runs):
        X, y = coin(ROWS, seed)
        model = learner(seed)
        if how == "partial_fit":
            for batch in epochs(X, y, seed, shuffled=shuffled):
                model.partial_fit(*batch, classes=[0, 1])
        else:
            first = epochs(X, y, seed, shuffled=shuffled)
            source = (
                first if how == "generator" else lambda X=X, y=y: epochs(X, y, 1, shuffled=True)
            )
            model.fit_source(source, classes=[0, 1])
        wrong += false_claims(model) > 0
    check_coverage(f"epochs, {how}", wrong, runs, 0.05)


@pytest.mark.parametrize("epsilon", [None, 0.3])
def test_each_batch_several_times(epsilon: float | None) -> None:
    runs, wrong = 12, 0
    for seed in range(runs):
        X, y = coin(ROWS, seed)
        model = learner(seed, epsilon=epsilon)
        for rows in np.array_split(np.arange(ROWS), BATCHES):
            for _ in range(3):
                model.partial_fit(X[rows], y[rows], classes=[0, 1])
        wrong += false_claims(model) > 0
    check_coverage("each batch several times", wrong, runs, 0.05)


@pytest.mark.parametrize("digits", [3, 2, 1])
@pytest.mark.parametrize("how", ["partial_fit", "generator"])
def test_later_epochs_with_fewer_digits_are_refused(digits: int, how: str) -> None:
    """Seen before: a claim below one half in every run."""
    for seed in range(3):
        X, y = coin(ROWS, seed)
        batches = [(X, y), *((X.round(digits), y) for _ in range(3))]
        model = learner(seed)
        if how == "partial_fit":
            for batch in batches:
                model.partial_fit(*batch, classes=[0, 1])
        else:
            model.fit_source(iter(batches), classes=[0, 1])
        assert false_claims(model) == 0
        with pytest.raises(NotCertified, match="fewer digits"):
            _ = model.certificate_


def test_draws_of_a_stream_are_no_epochs() -> None:
    """Rows that were rounded from the start, or are whole numbers, come again by chance."""
    for seed in range(3):
        X, y = coin(4 * ROWS, seed)
        for rows in (X, X.round(1), np.rint(2 * X)):
            model = learner(seed, n_estimators=2)
            for part in np.array_split(np.arange(len(rows)), 4):
                model.partial_fit(rows[part], y[part], classes=[0, 1])
            assert model.model_.certificate is not None


def test_rows_that_certify_are_never_learned_from() -> None:
    """Equal rows have the same role, whatever the batch, the epoch and the place they come at."""
    X, y = coin(ROWS, 0)
    model = learner(0, n_certify=30)
    for batch in epochs(X, y, 0, shuffled=True):
        model.partial_fit(*batch, classes=[0, 1])
    stream: Any = model._stream.run.candidates
    held = {tuple(row) for row in X[np.isin(stream.coins.ids(_batch(X, y)), stream._held_ids)]}
    assert len(held) == 30
    carried = model._stream.run._carried
    assert carried is not None
    order = np.concatenate([rows for rows, _ in epochs(X, y, 0, shuffled=True)])
    assert not held & {tuple(order[int(row)]) for row in carried.rows}
    told = model.certificate_
    assert told.size == 30
    assert "copies of rows that had come before" in told.sample


def test_a_heavy_value_is_no_reason_to_certify_the_light_ones() -> None:
    """Nine rows in ten are equal, and their labels are tosses of a coin; the others are clear."""
    runs, wrong = 12, 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        X = generator.random((2000, 1))
        heavy = generator.random(2000) < 0.9
        X[heavy] = 2.0
        y = np.where(heavy, generator.integers(2, size=2000), X[:, 0] > 0.5).astype(np.int64)
        model = learner(seed)
        for rows in np.array_split(np.arange(2000), 4):
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
        certificate = model.model_.certificate
        wrong += certificate is not None and certificate.value < 0.45
    check_coverage("a heavy value of a stream", wrong, runs, 0.05)


def _batch(X: NDArray[np.float64], y: NDArray[np.int64]) -> Any:
    from pacboost.sources.arrays import ArrayTable
    from pacboost.sources.oracles.oracle import Batch

    return Batch(ArrayTable(X), y, np.arange(len(X), dtype=np.uint64), 0)
