"""Stumps on sparse samples are those on the same samples opened up, ties included."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pacboost.kernels.runtime import team as teams
from pacboost.kernels.runtime.entry import Member
from pacboost.kernels.runtime.threads import using
from pacboost.kernels.sparse import share_of_lists
from pacboost.learners.stump import Stump
from tests.sparse_samples import twin_samples


@pytest.mark.parametrize("max_bins", [2, 5, 255, 300])
def test_the_same_stumps(max_bins: int) -> None:
    generator = np.random.default_rng(max_bins)
    for _ in range(15):
        rows, columns = int(generator.integers(1, 400)), int(generator.integers(1, 12))
        dense, listed = twin_samples(generator, rows, columns, max_bins=max_bins)
        searches = Stump().on(dense), Stump().on(listed)
        for _ in range(3):
            # a few weights only: many rules then have the same edge
            weights = generator.choice(np.array([1, 2, 2**45]), rows)
            wanted, found = (s.find(weights, dense.signs[:, 0]) for s in searches)
            assert wanted == found
            np.testing.assert_array_equal(found.cells(listed), wanted.cells(dense))


def test_any_number_of_threads_finds_the_same_stump(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teams, "cores", lambda: 32)
    generator = np.random.default_rng(1)
    dense, listed = twin_samples(generator, 30_000, 12)
    weights = generator.integers(1, 2**30, 30_000)
    with using(1):
        wanted = Stump().on(dense).find(weights, dense.signs[:, 0])
    for jobs in (1, 2, 3, 7, 16):
        with using(jobs):
            assert Stump().on(listed).find(weights, dense.signs[:, 0]) == wanted


@pytest.mark.parametrize("team", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("sizes", [[], [0, 0], [0, 100_000, 0, 5, 0], [3] * 40_000])
def test_every_list_is_in_one_share(sizes: list[int], team: int) -> None:
    starts = np.concatenate([[7], 7 + np.cumsum(sizes)]).astype(np.int64)
    shares = [share_of_lists(starts, Member(k, team, np.zeros(1, int))) for k in range(team)]
    assert shares[0][0] == 0
    assert shares[-1][1] == len(sizes)
    assert all(one[1] == other[0] for one, other in pairwise(shares))
