"""Permutations computed from a key."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import chisquare

from pacboost.sources.oracles import shuffle
from pacboost.sources.oracles.shuffle import Shuffle, key

AWKWARD = [1, 2, 3, 1000, 65_536, 65_537, 100_003, 2**20, 2**20 + 1]


@pytest.mark.parametrize("n", AWKWARD)
def test_every_number_comes_once_and_parts_make_up_the_whole(n: int) -> None:
    order = Shuffle(n, key(1, 2))
    np.testing.assert_array_equal(np.sort(order.part(0, n)), np.arange(n))
    cuts = sorted({0, n // 7, n // 3, n - 1, n})
    parts = [order.part(a, b) for a, b in pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate(parts), order.part(0, n))


@pytest.fixture
def feistel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small orders made like large ones, so that they can be counted."""
    monkeypatch.setattr(shuffle, "MAX_STORED_NUMBERS", 0)


@pytest.mark.parametrize(("n", "place"), [(30, 0), (30, 17), (60, 1)])
@pytest.mark.usefixtures("feistel")
def test_any_number_is_as_likely_at_any_place(n: int, place: int) -> None:
    got = [Shuffle(n, key(seed)).part(place, place + 1)[0] for seed in range(20 * n)]
    assert chisquare(np.bincount(got, minlength=n)).pvalue > 1e-4


@pytest.mark.usefixtures("feistel")
def test_two_places_are_filled_independently() -> None:
    n, runs = 12, 1500
    pairs = [Shuffle(n, key(seed)).part(3, 5) for seed in range(runs)]
    counts = np.zeros((n, n))
    for a, b in pairs:
        counts[a, b] += 1
    assert not counts.diagonal().any()
    assert chisquare(counts[~np.eye(n, dtype=np.bool_)]).pvalue > 1e-4


def test_a_large_order_is_random_within_itself() -> None:
    n = 3_000_000
    order = Shuffle(n, key(7)).part(0, 100_000)
    cells = order * 50 // n
    assert chisquare(np.bincount(cells, minlength=50)).pvalue > 1e-4
    neighbours = np.bincount(cells[:-1] * 50 + cells[1:], minlength=2500)
    assert chisquare(neighbours).pvalue > 1e-4
    ups = int((np.diff(order) > 0).sum())  # variance (m + 1)/12 over m places
    assert abs(ups - 50_000) < 5 * np.sqrt(100_000 / 12)


def test_one_step_alone_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "FEISTEL_STEPS", 1)
    order = Shuffle(3_000_000, key(7)).part(0, 100_000)
    cells = order * 50 // 3_000_000
    neighbours = np.bincount(cells[:-1] * 50 + cells[1:], minlength=2500)
    low = order[:-1] % 64 * 64 + order[1:] % 64
    assert (
        chisquare(neighbours).pvalue < 1e-4
        or chisquare(np.bincount(low, minlength=4096)).pvalue < 1e-4
    )


def test_no_two_places_share_a_key() -> None:
    places = [(), (0,), (0, 0), (1,), (0, 1), (1, 0), (2**32 - 1,)]
    seeds = [0, 1, 2**32, 2**32 + 1, 2**70]
    states = {tuple(key(s, *p).generate_state(4)) for s in seeds for p in places}
    assert len(states) == len(places) * len(seeds)
