"""Kernels on sparse columns do what NumPy does on the same columns opened up."""

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray

from pacboost.kernels import team
from pacboost.kernels.arrays import Cells, Wholes
from pacboost.kernels.native import native
from pacboost.kernels.sparse import SparseColumns
from pacboost.kernels.threads import using
from tests.grids import each_value


def some_columns(
    generator: np.random.Generator, rows: int, bins: Wholes, missing: int, kind: DTypeLike
) -> tuple[Cells, SparseColumns]:
    """Codes (columns, rows), and the same listed."""
    defaults = (generator.random(bins.size) * bins).astype(kind)
    codes: Cells = np.repeat(defaults[:, None], rows, axis=1)
    away = generator.random(codes.shape) < 0.3
    codes[away] = (generator.random(codes.shape) * bins[:, None]).astype(kind)[away]
    codes[generator.random(codes.shape) < 0.1] = missing
    listed = codes != defaults[:, None]
    starts = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    own_rows = np.nonzero(listed)[1].astype(np.int32)
    return codes, SparseColumns(starts, own_rows, codes[listed], defaults)


def edges_of(codes: Cells, bins: int, missing: int, amounts: Wholes) -> tuple[Wholes, Wholes]:
    """The difference of every cut of a column and its edge, from the definition."""
    present = codes < missing
    differences = [
        amounts[present & (codes > cut)].sum() - amounts[present & (codes <= cut)].sum()
        for cut in range(bins)
    ]
    absent = abs(amounts[codes == missing].sum())
    return np.array(differences), np.abs(differences) + absent


@each_value
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("kind", "missing"), [(np.uint8, 11), (np.uint8, 255), (np.uint16, 300)])
def test_the_best_stump_is_that_of_all_rows(
    seed: int, kind: DTypeLike, missing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(seed)
    rows, columns = int(generator.integers(1, 60)), int(generator.integers(1, 6))
    bins = generator.integers(1, 10, columns)
    codes, listed = some_columns(generator, rows, bins, missing, kind)
    amounts = generator.integers(-(2**40), 2**40, rows)
    edges, found = np.empty(columns, np.int64), np.empty(4, np.int64)
    slack = int(generator.integers(2**39)) if seed % 2 else 0
    expected = [
        edges_of(own, count, missing, amounts) for own, count in zip(codes, bins, strict=True)
    ]
    largest = [own.max() for _, own in expected]
    first = int(np.argmax(np.array(largest) >= max(largest) - slack))
    differences, own_edges = expected[first]
    cut = int(np.argmax(own_edges >= max(largest) - slack))
    absent = amounts[codes[first] == missing].sum()
    for members in (1, 2, 7):
        monkeypatch.setattr(team, "cores", lambda members=members: members)
        with using(members):
            team.together(
                native.find_sparse_stump, listed, bins, missing, amounts, int(amounts.sum()), slack,
                edges, found,
            )  # fmt: skip
        assert edges.tolist() == largest
        assert found.tolist() == [first, cut, differences[cut], absent]


@each_value
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("code", [np.uint8, np.uint16])
def test_codes_count_the_cuts_below(kind: DTypeLike, code: DTypeLike) -> None:
    cuts = np.array([-1.0, 0.0, 2.5, 0.5])  # of two columns, and none of a third
    values: NDArray[np.floating] = np.array(
        [-2.0, -1.0, -0.5, 0.0, 0.1, 2.5, 9.0, np.nan, 0.4, 0.6, 1.0, np.nan], kind
    )
    starts, offsets = np.array([0, 8, 10, 12]), np.array([0, 3, 4, 4])
    defaults, codes = np.empty(3, code), np.empty(values.size, code)
    native.encode_sparse(starts, values, cuts, offsets, 77, defaults, codes)
    assert defaults.tolist() == [1, 0, 0]
    assert codes.tolist() == [0, 0, 1, 1, 2, 2, 3, 77, 0, 1, 0, 77]
