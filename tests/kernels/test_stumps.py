"""The best cut of a stump: the twin agrees, and ties go to the first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nph
from numpy.typing import DTypeLike

from pacboost.kernels import team
from pacboost.kernels.arrays import Cells, Signs, Wholes
from pacboost.kernels.native import native
from pacboost.kernels.threads import using
from tests.examples import examples
from tests.grids import each_value
from tests.kernels import naive


def scan(histogram: Wholes, missing: int) -> int:
    """Return the largest edge of a cut."""
    edge, place, _ = native.testing.scan_stump(histogram, missing, native.testing.NEVER)
    assert place == -1
    return int(edge)


def best_cut(histogram: Wholes, missing: int, slack: int) -> tuple[int, ...]:
    edges = np.array([scan(own, missing) for own in histogram])
    actual: tuple[int, ...] = native.first_stump(histogram, edges, missing, slack)
    feature, cut, difference = actual
    assert native.testing.scan_stump(histogram[feature], missing, edges.max() - slack)[1:] == (
        cut,
        difference,
    )
    return actual


def update(
    codes: Cells, weights: Wholes, signs: Signs, counted_weights: Wholes, histogram: Wholes
) -> int:
    """Count the changes by one thread; return the sum of the weights."""
    none = np.empty((0, *histogram.shape), dtype=np.int64)
    edges, totals = np.empty(len(codes), dtype=np.int64), np.zeros(1, dtype=np.int64)
    missing = histogram.shape[1] - 1
    native.largest_edges(
        1, codes, weights, signs, counted_weights, missing, histogram, none, edges, totals
    )
    return int(totals[0])


HISTOGRAMS = nph.arrays(
    np.int64,
    nph.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9),
    elements=st.one_of(st.integers(-3, 3), st.integers(-(2**50), 2**50)),
)


@examples(150)
@given(histogram=HISTOGRAMS, slack=st.sampled_from([0, 1, 5, 2**49]), padding=st.integers(0, 2))
def test_the_cut_equals_the_twins(histogram: Wholes, slack: int, padding: int) -> None:
    missing = max(1, histogram.shape[1] - 1 - padding)
    assert best_cut(histogram, missing, slack) == naive.best_cut(histogram, missing, slack)


@pytest.mark.parametrize(
    ("histogram", "slack", "wanted"),
    [
        ([[1, 0, 0, 0], [-4, 0, 4, 0], [4, 0, -4, 0]], 0, (1, 0, 8)),  # the first of equals
        ([[-9, 0, 0], [-10, 0, 0]], 0, (1, 0, 10)),
        ([[-9, 0, 0], [-10, 0, 0]], 1, (0, 0, 9)),  # within slack, an earlier one
        ([[-5, 5, 0], [-1, 1, -20]], 0, (1, 0, 2)),  # missing rows add, whatever their sign
        ([[7, 0], [9, 0]], 0, (1, 0, -9)),  # without cuts, the constant rule
    ],
)
def test_which_cut_wins(histogram: list[list[int]], slack: int, wanted: tuple[int, ...]) -> None:
    assert best_cut(np.array(histogram), len(histogram[0]) - 1, slack) == wanted


def some_signs(generator: np.random.Generator, rows: int) -> Signs:
    return generator.choice(np.array([-1, 1], dtype=np.int8), rows)


@examples(40)
@given(
    seed=st.integers(0, 2**32),
    columns=st.integers(1, 9),
    rows=st.integers(1, 300),
    wide=st.booleans(),
    rounds=st.integers(1, 4),
)
def test_an_updated_histogram_equals_one_counted_afresh(
    seed: int, columns: int, rows: int, wide: bool, rounds: int
) -> None:
    generator = np.random.default_rng(seed)
    bins = 1000 if wide else 256
    dtype: DTypeLike = np.uint16 if wide else np.uint8
    codes = generator.integers(0, bins, (columns, rows)).astype(dtype)
    seen = np.zeros(rows, dtype=np.int64)
    sums = np.zeros((columns, bins), dtype=np.int64)
    weights = generator.integers(1, 2**40, rows)
    for _ in range(rounds):
        signs = some_signs(generator, rows)
        total = update(codes, weights, signs, seen, sums)
        assert total == weights.sum()
        np.testing.assert_array_equal(seen, weights * signs)
        np.testing.assert_array_equal(sums, naive.histogram(codes, weights * signs, bins))
        changed = generator.random(rows) < 0.5
        weights = np.where(changed, generator.integers(1, 2**40, rows), weights)


def test_sums_stay_exact_up_to_the_largest_total() -> None:
    codes = np.zeros((1, 2), dtype=np.uint8)
    seen = np.zeros(2, dtype=np.int64)
    sums = np.zeros((1, 2), dtype=np.int64)
    weights = np.array([2**53 - 1, 1])
    update(codes, weights, np.array([1, -1], dtype=np.int8), seen, sums)
    assert sums[0, 0] == 2**53 - 2


@each_value
@pytest.mark.parametrize("members", [1, 2, 3, 7])
@pytest.mark.parametrize("columns", [1, 5])
def test_a_team_counts_what_one_thread_counts(
    members: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(team, "cores", lambda: members)
    generator = np.random.default_rng(members)
    rows, missing = 5_000, 40
    codes = generator.integers(0, missing + 1, (columns, rows)).astype(np.uint8)
    sums = np.zeros((columns, missing + 3), dtype=np.int64)
    partial = generator.integers(-9, 9, (members - 1, *sums.shape))  # what an earlier round left
    seen, edges = np.zeros(rows, dtype=np.int64), np.zeros(columns, dtype=np.int64)
    for _ in range(3):
        weights, signs = generator.integers(1, 2**40, rows), some_signs(generator, rows)
        totals = np.zeros(members, dtype=np.int64)
        with using(members):
            team.together(
                native.largest_edges, codes, weights, signs, seen, missing, sums, partial,
                edges, totals,
            )  # fmt: skip
        assert totals.sum() == weights.sum()
        expected = naive.histogram(codes, weights * signs, missing + 3)
        np.testing.assert_array_equal(sums, expected)
        assert edges.tolist() == [scan(own, missing) for own in expected]
