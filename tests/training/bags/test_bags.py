"""Bags are drawn by chance alone, and work on several threads comes out in order."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from pacboost.kernels.threads import using
from pacboost.training.bags.bags import Averages, Bags, OutOfBagVotes, Settling, joint
from tests.bounds.coverage import out_of_bag_sizes
from tests.examples import examples

BAGS = Bags(rows=50, drawn=50, columns=8, kept=8, seed=3)


def test_a_bag_follows_from_seed_and_number() -> None:
    first, again = BAGS.bag(7), BAGS.bag(7)
    assert np.array_equal(first.counts, again.counts)
    assert first.seed == again.seed
    assert first.features is None
    others = [BAGS.bag(8), replace(BAGS, seed=4).bag(7)]
    assert not any(np.array_equal(first.counts, other.counts) for other in others)


def test_bootstrap_draws_every_row_alike() -> None:
    total = np.sum([BAGS.bag(b).counts for b in range(2_000)], axis=0)
    assert chisquare(total).pvalue > 1e-4
    outside = np.mean([BAGS.bag(b).outside.size for b in range(2_000)]) / 50
    assert outside == pytest.approx(BAGS.chance_outside, abs=0.004)


def test_pasting_draws_each_row_once() -> None:
    bags = replace(BAGS, drawn=20, replacement=False)
    for b in range(50):
        bag = bags.bag(b)
        assert bag.counts.max() == 1
        assert bag.inside.size == 20
        assert np.array_equal(np.sort(np.concatenate([bag.inside, bag.outside])), np.arange(50))
    assert bags.chance_outside == 0.6


# The tally out of bag against plain counting, in any order, and when an error has settled.

Draw = tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]


def drawn(rows: int, members: int, classes: int, seed: int) -> Draw:
    """Labels, who is outside whose bag (members, rows), and what everybody says."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(classes, size=rows)
    outside = generator.random((members, rows)) < generator.random()
    said = generator.integers(classes, size=(members, rows))
    return labels, outside, said


def tally_of(
    draw: Draw, classes: int, order: NDArray[np.int64], **options: object
) -> OutOfBagVotes:
    labels, outside, said = draw
    tally = OutOfBagVotes(labels, len(said), classes, outside=0.4, pairs=True, **options)  # type: ignore[arg-type]
    for b in order.tolist():
        rows = np.flatnonzero(outside[b])
        tally.add(b, outside[b] if b % 2 else rows, said[b, rows])  # masks and numbers alike
    return tally


@examples(60)
@given(st.integers(1, 150), st.integers(1, 9), st.integers(2, 4), st.integers(0, 2**31))
def test_counts_are_those_of_plain_counting(
    rows: int, members: int, classes: int, seed: int
) -> None:
    draw = labels, outside, said = drawn(rows, members, classes, seed)
    order = np.random.default_rng(seed).permutation(members)
    result = tally_of(draw, classes, order).result()
    wrong = outside & (said != labels)
    assert result.sizes.tolist() == outside.sum(axis=1).tolist()
    assert result.wrong.tolist() == wrong.sum(axis=1).tolist()
    assert (result.least_size, result.pair_least_size) == out_of_bag_sizes(~outside)
    shares = [
        [
            (wrong[a] & wrong[b]).sum() / max(1, (outside[a] & outside[b]).sum())
            for a in range(members)
        ]
        for b in range(members)
    ]
    if result.pair_least_size:
        assert result.tandem == pytest.approx(np.mean(shares))
        assert result.first == pytest.approx(np.mean(np.diag(shares)))
    else:
        assert result.tandem is None
    votes = [
        [(outside[:, i] & (said[:, i] == k)).sum() for k in range(classes)] for i in range(rows)
    ]
    seen = outside.any(axis=0)
    assert result.unseen == (~seen).sum()
    if seen.any():
        errs = np.argmax(votes, axis=1) != labels
        assert result.vote_error == errs[seen].mean()
    else:
        assert result.vote_error is None


def test_rows_that_are_not_counted_vote_but_do_not_certify() -> None:
    draw = labels, outside, said = drawn(200, 6, 3, 1)
    counted = np.arange(200) >= 50
    result = tally_of(draw, 3, np.arange(6), counted=counted).result()
    every = tally_of(draw, 3, np.arange(6)).result()
    assert result.rows == 150
    assert result.sizes.tolist() == outside[:, 50:].sum(axis=1).tolist()
    assert result.wrong.tolist() == (outside & (said != labels))[:, 50:].sum(axis=1).tolist()
    assert result.pair_least_size == out_of_bag_sizes(~outside[:, 50:])[1]
    assert result.vote_error == every.vote_error


def test_threads_may_add_at_once() -> None:
    draw = labels, outside, said = drawn(5_000, 40, 3, 2)
    tally = OutOfBagVotes(labels, 40, 3, outside=0.4, pairs=True)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda b: tally.add(b, outside[b], said[b, outside[b]]), range(40)))
    serial = tally_of(draw, 3, np.arange(40))
    assert np.array_equal(tally.votes, serial.votes)
    one, other = tally.result(), serial.result()
    assert one.tandem == other.tandem
    assert one.first == other.first


def test_joint_counts_on_several_threads() -> None:
    """More words than a span, so that threads share them."""
    generator = np.random.default_rng(3)
    flags = generator.random((7, 64 * 1_500)) < 0.3
    bits = np.packbits(flags, axis=1).view(np.uint64)
    exact = flags.astype(np.int64) @ flags.T.astype(np.int64)
    for threads in (1, 3):
        with using(threads):
            assert np.array_equal(joint(bits), exact)


def test_averages() -> None:
    generator = np.random.default_rng(7)
    targets, said = generator.normal(size=40), generator.normal(size=(6, 40))
    outside = generator.random((6, 40)) < 0.4
    averages = Averages(targets)
    assert averages.estimate() == (None, 0.0)
    for b in range(6):
        averages.add(b, outside[b], said[b, outside[b]])
    seen = outside.any(axis=0)
    means = np.where(outside, said, 0).sum(axis=0)[seen] / outside.sum(axis=0)[seen]
    assert averages.mean()[seen] == pytest.approx(means)
    assert np.isnan(averages.mean()[~seen]).all()
    error, noise = averages.estimate()
    squares = (means - targets[seen]) ** 2
    assert error == pytest.approx(squares.mean())
    assert noise == pytest.approx(squares.std() / math.sqrt(squares.size))


def test_a_slow_drift_does_not_settle() -> None:
    """Every step is smaller than the noise, but not all steps together."""
    settling = Settling(10)
    assert not any(settling.see(b, 0.4 - 0.002 * b, 0.01) for b in range(1, 100))
    assert Settling(10).see(1, None, 0.0) is False
