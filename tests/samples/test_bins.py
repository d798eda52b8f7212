"""Bins: exact where few values allow it, balanced elsewhere, and the same for both float widths."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nph
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.samples import cuts
from pacboost.samples.bins import MAX_BINS, Bins, fit_bins, upper_cuts
from pacboost.samples.cuts import MAX_FLOAT32
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.levels import Levels
from pacboost.sources.table import SomeRows
from tests.examples import examples
from tests.grids import each_value

Floats = NDArray[np.floating]
FLOAT32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
MAYBE_MISSING = st.one_of(st.just(np.nan), FLOAT32)


def column(values: Floats | list[float]) -> ArrayTable:
    array = np.asarray(values)
    return ArrayTable(array.astype(np.float64) if array.dtype.kind != "f" else array)


def table_of(values: Floats | list[float]) -> ArrayTable:
    return column(np.asarray(values, dtype=np.float64)[:, None])


def rounded(values: Floats) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def same(one: Bins, other: Bins) -> bool:
    return len(one.thresholds) == len(other.thresholds) and all(
        np.array_equal(a, b) for a, b in zip(one.thresholds, other.thresholds, strict=True)
    )


@examples(100)
@given(values=nph.arrays(np.float64, st.integers(1, 60), elements=MAYBE_MISSING))
def test_few_values_are_told_apart_and_keep_their_order(values: NDArray[np.float64]) -> None:
    table = table_of(values)
    bins = fit_bins(table)
    codes = bins.encode(table)[0]
    known = values[~np.isnan(values)].astype(np.float32)
    distinct = np.unique(known)
    np.testing.assert_array_equal(codes[~np.isnan(values)], np.searchsorted(distinct, known))
    assert (codes[np.isnan(values)] == bins.missing).all()


@pytest.mark.parametrize("spread", [2, 255, 1000])
def test_neighbouring_floats_are_told_apart(spread: int) -> None:
    start = np.array([1.0], dtype=np.float32).view(np.int32)
    values = (start + np.arange(spread, dtype=np.int32)).view(np.float32)
    table = column(values[:, None])
    bins = fit_bins(table, max(spread, 2))
    np.testing.assert_array_equal(bins.encode(table)[0], np.arange(spread))


@pytest.mark.parametrize("max_bins", [2, 3, 16, 255, 256, 1000])
def test_bins_of_continuous_data_are_balanced(max_bins: int) -> None:
    values = np.random.default_rng(0).normal(size=50_000)
    table = table_of(values)
    bins = fit_bins(table, max_bins)
    counts = np.bincount(bins.encode(table)[0])
    assert counts.size == max_bins
    assert counts.min() >= 0.9 * values.size / max_bins - 1
    assert counts.max() <= 1.1 * values.size / max_bins + 1


@examples(60)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(1, 500),
    distinct=st.integers(1, 500),
    max_bins=st.integers(2, 40),
)
def test_there_are_never_more_bins_than_asked_for(
    seed: int, rows: int, distinct: int, max_bins: int
) -> None:
    values = np.random.default_rng(seed).zipf(1.3, rows) % distinct
    table = table_of(values.astype(np.float64))
    bins = fit_bins(table, max_bins)
    assert bins.thresholds[0].size < max_bins
    assert (np.diff(bins.thresholds[0]) > 0).all()
    assert bins.encode(table)[0].max() < max_bins


def test_a_value_with_most_of_the_rows_has_a_bin_and_leaves_room_for_others() -> None:
    values = np.concatenate([np.zeros(9000), np.random.default_rng(1).uniform(1, 2, 1000)])
    table = table_of(values)
    codes = fit_bins(table, 20).encode(table)[0]
    assert (codes[:9000] == 0).all()
    assert codes[9000:].min() >= 1
    assert codes.max() >= 2


@pytest.mark.parametrize("max_bins", [-1, 0, 1, MAX_BINS + 1])
def test_numbers_of_bins_outside_the_limits_are_refused(max_bins: int) -> None:
    with pytest.raises(ParameterError, match=f"max_bins is {max_bins}.*65535"):
        fit_bins(table_of([1.0, 2.0]), max_bins)


@pytest.mark.parametrize(
    ("distinct", "max_bins", "dtype"),
    [(254, 255, np.uint8), (255, 255, np.uint8), (256, 256, np.uint16), (70_000, 255, np.uint8)],
)
def test_codes_take_one_byte_up_to_255_bins(
    distinct: int, max_bins: int, dtype: type[np.unsignedinteger]
) -> None:
    table = table_of(np.append(np.arange(float(distinct)), np.nan))
    bins = fit_bins(table, max_bins)
    codes = bins.encode(table)
    assert codes.dtype == dtype
    assert codes[0, -1] == bins.missing
    assert codes[0, :-1].max() == bins.missing - 1 == min(distinct, max_bins) - 1


@pytest.mark.parametrize("values", [[np.nan, np.nan], [5.0, 5.0], [5.0, np.nan], [-0.0, 0.0]])
def test_columns_with_fewer_than_two_values_have_no_thresholds(values: list[float]) -> None:
    bins = fit_bins(table_of(values))
    assert bins.thresholds[0].size == 0
    assert bins.middle.tolist() == [0]


@examples(300)
@given(
    threshold=FLOAT32,
    x=st.one_of(st.floats(allow_nan=False), FLOAT32),
    steps=st.integers(-2, 2),
    corner=st.integers(0, 3),
)
@example(0.0, 2.0**-150, 0, 0)
@example(-0.0, math.nextafter(2.0**-150, 1.0), 0, 0)
@example(-float(MAX_FLOAT32), -1e300, 0, 0)
def test_comparing_doubles_with_cuts_is_comparing_rounded_ones_with_thresholds(
    threshold: float, x: float, steps: int, corner: int
) -> None:
    """Anywhere, and on and next to every boundary."""
    thresholds = np.array([threshold], dtype=np.float32)
    assume(thresholds[0] < MAX_FLOAT32)  # the largest float has a test of its own, below
    cut, above = upper_cuts(thresholds)[0], float(np.nextafter(thresholds[0], np.float32(np.inf)))
    near = (threshold, above, (threshold + above) / 2, float(cut))[corner]
    for _ in range(abs(steps)):
        near = math.nextafter(near, math.copysign(math.inf, steps))
    for value in (x, near):
        assert (value > cut) == (rounded(np.array([value]))[0] > thresholds[0])


def test_what_rounds_to_infinity_lies_above_the_largest_threshold() -> None:
    """A fit never gives this threshold, but ``upper_cuts`` promises it for each."""
    assert upper_cuts(np.array([np.inf], dtype=np.float32)).tolist() == [np.inf]
    cut = upper_cuts(np.array([MAX_FLOAT32]))[0]
    assert float(MAX_FLOAT32) <= cut
    assert cut < 1e300
    assert rounded(np.array([cut]))[0] == MAX_FLOAT32
    assert rounded(np.array([math.nextafter(cut, math.inf)]))[0] == np.inf


@examples(60)
@given(
    values=nph.arrays(
        np.float64,
        st.integers(2, 60),
        elements=st.one_of(st.floats(allow_infinity=False), st.floats(0.9999999, 1.0000001)),
    ),
    max_bins=st.sampled_from([2, 5, 255, 400]),
)
def test_rows_get_the_same_codes_as_floats_of_either_width(
    values: NDArray[np.float64], max_bins: int
) -> None:
    narrow = rounded(values)
    assume(not np.isinf(narrow).any())
    bins = fit_bins(table_of(values), max_bins)
    assert same(bins, fit_bins(column(narrow[:, None]), max_bins))
    np.testing.assert_array_equal(
        bins.encode(column(narrow[:, None])), bins.encode(table_of(values))
    )


@examples(60)
@given(seed=st.integers(0, 2**32), rows=st.integers(2, 400), max_bins=st.integers(2, 30))
def test_copies_of_a_row_are_as_good_as_its_weight(seed: int, rows: int, max_bins: int) -> None:
    generator = np.random.default_rng(seed)
    values = np.round(generator.normal(size=rows), int(generator.choice([1, 9])))
    counts = generator.integers(1, 4, rows)
    weights, copies = generator.integers(1, 100, rows) / 4.0, table_of(np.repeat(values, counts))
    parts = fit_bins(copies, max_bins, np.repeat(weights / counts, counts).astype(np.float64))
    heavy = fit_bins(table_of(values), max_bins, counts.astype(np.float64))
    assert same(heavy, fit_bins(copies, max_bins))
    assert same(fit_bins(table_of(values), max_bins, weights), parts)


@examples(40)
@given(
    seed=st.integers(0, 2**32),
    rows=st.integers(2, 400),
    max_bins=st.integers(2, 30),
    weighted=st.booleans(),
)
def test_the_order_of_the_rows_does_not_matter(
    seed: int, rows: int, max_bins: int, weighted: bool
) -> None:
    generator = np.random.default_rng(seed)
    values = np.round(generator.normal(size=rows), 2)
    values[generator.random(rows) < 0.1] = np.nan
    weights = generator.integers(1, 100, rows) / 4.0 if weighted else None
    order = generator.permutation(rows)
    one = fit_bins(table_of(values), max_bins, weights)
    other = fit_bins(table_of(values[order]), max_bins, None if weights is None else weights[order])
    assert same(one, other)
    assert one.middle.tolist() == other.middle.tolist()


def test_the_order_of_the_rows_does_not_matter_where_weights_add_up_inexactly() -> None:
    """0.5 + 0.6 + 0.3 is 1.4000000000000001 in one order and 1.4 in another."""
    values = np.array([2.0, 4.0, 6.0, 4.0, 7.0, 4.0, 1.0])
    weights = np.array([0.9, 0.5, 0.7, 0.6, 0.6, 0.3, 0.3])
    order = np.array([5, 6, 3, 1, 4, 0, 2])
    assert same(
        fit_bins(table_of(values), 3, weights), fit_bins(table_of(values[order]), 3, weights[order])
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_rare_values_of_a_large_table_are_not_lost(weighted: bool) -> None:
    """Of 40 values that occur once, a choice of rows would miss some."""
    values = np.tile([0.0, 1.0, 2.0], 100_000)
    values[::7500] = 2.5 + np.arange(40)
    table = table_of(values)
    bins = fit_bins(table, weights=np.ones(values.size) if weighted else None)
    assert bins.thresholds[0].size == 42
    assert bins.encode(table)[0, ::7500].tolist() == list(range(3, 43))


def test_a_large_table_with_many_values_is_binned_from_some_rows_and_still_balanced() -> None:
    values = np.random.default_rng(2).uniform(size=250_000)
    table = table_of(values)
    counts = np.bincount(fit_bins(table, 10).encode(table)[0])
    assert counts.size == 10
    np.testing.assert_allclose(counts, 25_000, rtol=0.05)


@pytest.mark.parametrize("max_bins", [2, 3, 255])
def test_huge_values_go_to_the_outer_bins(max_bins: int) -> None:
    values = np.array([-1e300, -1.0, 0.0, 1.0, 1e300])
    table = table_of(values)
    bins = fit_bins(table, max_bins)
    codes = bins.encode(table)[0]
    assert np.isfinite(bins.thresholds[0]).all()
    assert codes[0] == 0
    assert codes[-1] == bins.missing - 1
    assert (np.diff(codes.astype(np.int64)) >= 0).all()
    few = fit_bins(table_of([1.0, 2.0, 3.0]))
    assert few.encode(table_of([1e300, -1e300])).tolist() == [[2, 0]]


@examples(60)
@given(
    values=nph.arrays(np.float64, st.integers(1, 80), elements=MAYBE_MISSING),
    max_bins=st.sampled_from([2, 3, 10, 255]),
)
def test_the_middle_is_the_code_of_the_median(values: NDArray[np.float64], max_bins: int) -> None:
    known = np.sort(values[~np.isnan(values)])
    assume(known.size > 0)
    bins = fit_bins(table_of(values), max_bins)
    lower_median = known[(known.size - 1) // 2]
    assert bins.middle[0] == bins.encode(table_of([lower_median]))[0, 0]


@each_value
@pytest.mark.parametrize("max_bins", [2, 255, 1000])
@pytest.mark.parametrize("count", [1, 2, 3, 254])
def test_the_codes_of_a_categorical_feature_are_its_levels(count: int, max_bins: int) -> None:
    """Whatever max_bins says, and also where only some of the levels are seen."""
    numbers = np.arange(count, dtype=np.float64)
    values = np.column_stack([np.append(numbers, np.nan), np.append(numbers, 0.5)])
    table = ArrayTable(values, levels=Levels({0: tuple(range(count))}))
    bins = fit_bins(SomeRows(table, np.array([count - 1, count])), max_bins)
    assert bins.levels.tolist() == [count, 0]
    assert bins.thresholds[0].tolist() == [k + 0.5 for k in range(count - 1)]
    assert bins.encode(table)[0].tolist() == [*range(count), bins.missing]
    assert bins.middle[0] == count - 1


@examples(100)
@given(
    rows=st.integers(1, 200),
    pairs=st.lists(
        st.tuples(
            *(st.sampled_from([0.0, -0.0, 1.0, 2.5, 1e300, -np.inf, np.inf, 1 + 1e-12]),) * 3
        ),
        min_size=1,
        max_size=6,
    ),
    seed=st.integers(0, 99),
)
def test_columns_of_two_values_are_cut_as_all_others(
    rows: int, pairs: list[tuple[float, float, float]], seed: int
) -> None:
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet([1.0, 1.0, 0.05, 0.05], size=len(pairs))
    drawn = [
        generator.choice(np.array([*own, np.nan]), rows, p=share)
        for own, share in zip(pairs, shares, strict=True)
    ]
    values = np.stack(drawn, axis=1)
    actual = cuts.cuts_of_two(values)
    for j in range(len(pairs)):
        seen, below = cuts.distinct_values(values[:, j], None)
        thresholds, middle = cuts.cut(seen, below, 255)
        if j in actual:
            assert actual[j][0].tolist() == thresholds.tolist()
            assert actual[j][1] == middle
        else:
            unique = np.unique(values[:, j])
            assert np.isnan(values[:, j]).any() or unique.size != 2 or seen.size < 2


@examples(100)
@given(
    rows=st.integers(1, 700),
    places=st.lists(st.integers(0, 3), min_size=1, max_size=6),
    max_bins=st.integers(2, 255),
    seed=st.integers(0, 99),
)
def test_columns_without_equal_values_are_cut_as_all_others(
    rows: int, places: list[int], max_bins: int, seed: int
) -> None:
    """A column is plain, has two equal values, a missing one, or two that are equal in 32 bits."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(rows, len(places))) * 10.0 ** generator.integers(-30, 50)
    for j, place in enumerate(places):
        one, other = generator.integers(rows, size=2)
        if place:
            values[one, j] = [values[other, j], np.nan, values[other, j] * (1 + 1e-15)][place - 1]
    actual = cuts.cuts_of_distinct(values, max_bins)
    for j, place in enumerate(places):
        seen, below = cuts.distinct_values(values[:, j], None)
        if j in actual:
            thresholds, middle = cuts.cut(seen, below, max_bins)
            assert actual[j][0].tolist() == thresholds.tolist()
            assert actual[j][1] == middle
        assert (j in actual) == (1 < rows == seen.size), (j, place)
