"""Threads take little memory: at most 1 MB each beyond what a fit on one thread takes."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.kernels.runtime import team
from pacboost.kernels.runtime.threads import using
from pacboost.learners.learner import Learner
from pacboost.learners.stump import Stump
from pacboost.learners.tree import Tree
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Request, Sample
from pacboost.sources.arrays import ArrayTable

THREADS = 8
MEGABYTE = 2**20
ROWS = 33_000  # enough for a team of eight


@pytest.fixture(autouse=True)
def many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "cores", lambda: THREADS)


def peak(work: Callable[[], object]) -> int:
    """Return the most memory of NumPy and Python that some work takes at once, in bytes.

    The kernels allocate next to nothing themselves; their arrays are handed to them.
    """
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_measure_sees_arrays() -> None:
    assert peak(lambda: np.zeros(MEGABYTE)) > 8 * MEGABYTE


@pytest.mark.parametrize(
    "model",
    [
        BoostClassifier(n_estimators=2, early_stopping=False, random_state=0),
        AdaBoostClassifier(n_estimators=2),
    ],
)
def test_a_fit(model: Any) -> None:
    X = np.random.default_rng(0).normal(size=(ROWS, 6))
    y = X[:, 0] * X[:, 1] > 0
    result = {}
    for threads in (1, THREADS):
        model.set_params(n_jobs=threads).fit(X, y)  # whatever is made once is there
        result[threads] = peak(lambda: model.fit(X, y))
    assert result[THREADS] - result[1] <= (THREADS - 1) * MEGABYTE


@pytest.fixture(scope="module")
def wide_sample() -> Sample:
    """Draw rows of so many columns that the histograms of all take more than 1 MB."""
    table = ArrayTable(np.random.default_rng(0).normal(size=(ROWS, 700)).astype(np.float32))
    signs = np.where(table.rows()[:, :1] > 0, np.int8(1), np.int8(-1))
    return Sample(table, signs, bins=fit_bins(table.take(np.arange(600))))


@pytest.mark.parametrize("learner", [Stump(), Tree(max_leaves=4)])
def test_a_search_on_many_columns(learner: Learner, wide_sample: Sample) -> None:
    sample = wide_sample
    weights = np.ones(sample.signs.shape, dtype=np.int64)
    request = Request(weights, weights * sample.signs, ROWS, ROWS)

    def search() -> None:
        search_on = learner.on(sample)
        if isinstance(learner, Tree):
            search_on.partition(request, 0, None)
        else:
            search_on.find(weights[:, 0], sample.signs[:, 0], 0)

    result = {}
    for threads in (1, THREADS):
        with using(threads):
            search()
            result[threads] = peak(search)
    assert result[THREADS] - result[1] <= (THREADS - 1) * MEGABYTE
