"""Look-ups: codes and scores equal those of the plain twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from pacboost.kernels.bins import pack
from pacboost.kernels.native import native
from pacboost.samples.bins import Bins
from pacboost.sources import arrays
from tests.examples import examples
from tests.grids import each_value
from tests.kernels import naive

SIZES = (0, 1, 2, 3, 127, 254, 255, 256, 300, 1000)
Floats = NDArray[np.floating]
CutList = list[NDArray[np.float64]]


def some_cuts(generator: np.random.Generator, sizes: tuple[int, ...]) -> CutList:
    """Distinct halves of whole numbers, so that many values fall on a cut exactly."""
    return [np.sort(generator.choice(2000, size, replace=False) / 2.0 - 500) for size in sizes]


def some_values(
    generator: np.random.Generator, rows: int, columns: int, dtype: DTypeLike, order: str
) -> Floats:
    values = generator.integers(-1200, 1200, (rows, columns)) / 2.0
    values[generator.random((rows, columns)) < 0.1] = np.nan
    values[generator.random((rows, columns)) < 0.05] = -0.0
    made: Floats = np.asarray(values, dtype=dtype, order="F" if order == "F" else "C")
    return made


def encoded(values: Floats, cuts: CutList, missing: int, dtype: DTypeLike) -> NDArray[np.integer]:
    codes = np.empty(values.shape[::-1], dtype=dtype)
    native.encode(values, 0, np.arange(values.shape[1]), *pack(cuts), missing, codes, 0)
    return codes


def scored(
    values: Floats, columns: list[int], cuts: CutList, steps: CutList, missing: list[float]
) -> NDArray[np.float64]:
    packed, offsets = pack(cuts)
    heights = np.zeros(packed.size)
    for start, own in zip(offsets[:-1], steps, strict=True):
        heights[start : start + own.size] = own
    scores = np.zeros(values.shape[0])
    chosen = np.array(columns, dtype=np.int64)
    native.score_steps(values, chosen, packed, offsets, heights, np.array(missing), scores)
    return scores


@examples(60)
@given(
    seed=st.integers(0, 2**32),
    sizes=st.lists(st.sampled_from(SIZES), min_size=1, max_size=6),
    rows=st.integers(0, 600),
    dtype=st.sampled_from(["f4", "f8"]),
    order=st.sampled_from("CF"),
)
def test_codes_and_scores_equal_the_twins(
    seed: int, sizes: list[int], rows: int, dtype: str, order: str
) -> None:
    generator = np.random.default_rng(seed)
    cuts = some_cuts(generator, tuple(sizes))
    values = some_values(generator, rows, len(sizes), dtype, order)
    absent = max(sizes) + 1
    code = np.uint8 if absent <= 255 else np.uint16
    np.testing.assert_array_equal(
        encoded(values, cuts, absent, code), naive.encode(values, cuts, absent)
    )
    values = some_values(generator, rows, len(sizes) + 2, dtype, order)
    columns = sorted(generator.choice(len(sizes) + 2, len(sizes), replace=False).tolist())
    steps = [generator.integers(-(2**40), 2**40, size + 1) / 2.0**40 for size in sizes]
    missing = (generator.integers(-(2**40), 2**40, len(sizes)) / 2.0**40).tolist()
    expected = naive.score(values, columns, cuts, steps, missing)
    np.testing.assert_array_equal(scored(values, columns, cuts, steps, missing), expected)


@each_value
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("cuts", [0, 1, 200, 300])
def test_some_rows_are_coded_unless_one_is_infinite(dtype: str, cuts: int) -> None:
    draw = np.random.default_rng(cuts)
    X = draw.normal(size=(900, 3)).astype(dtype)
    X[draw.random(X.shape) < 0.05] = np.nan
    thresholds = tuple(np.sort(draw.normal(size=size)).astype(np.float32) for size in (cuts, 5, 1))
    bins = Bins(thresholds, np.zeros(3, dtype=np.int64))
    rows = draw.integers(900, size=700)
    twin = bins.encode(arrays.ArrayTable(X))[:, rows]
    np.testing.assert_array_equal(bins.encode_rows(X, rows), twin)
    X[rows[650], 1] = -np.inf
    assert bins.encode_rows(X, rows) is None
