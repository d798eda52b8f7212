"""Draws from arrays, sparse matrices and frames."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import chisquare

from pacboost.errors import DataError, ParameterError
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.oracle import REPLACED, AbstractOracle
from pacboost.theory.world_oracle import WorldOracle
from pacboost.theory.worlds import LabelNoise, hastie
from tests.sources.oracles.passes import check_draws, of_size, sequence

N = 101
X = np.random.default_rng(0).integers(0, 9, size=(N, 3)).astype(np.float64)
X[4, 1] = np.nan
Y = np.arange(N) % 3

KINDS: dict[str, Any] = {
    "array": X,
    "column-major": np.asfortranarray(X),
    "float32": X.astype(np.float32),
    "objects": X.astype(object),
    "sliced": np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sp.csr_array(X),
    "csc": sp.csc_matrix(X),
    "pandas": pd.DataFrame(X, columns=list("abc")),
    "indexed": pd.DataFrame(X, columns=list("abc"), index=np.arange(N)[::-1] * 3),
    "polars": pl.DataFrame(X, schema=list("abc")),
    "arrow": pa.table({name: X[:, j] for j, name in enumerate("abc")}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_rows_whatever_holds_them(kind: str) -> None:
    check_draws(lambda: ArrayOracle(KINDS[kind], Y, 3), N, laps=1)
    rows, values, labels = sequence(ArrayOracle(KINDS[kind], Y, 3), of_size(10))
    assert rows == sequence(ArrayOracle(X, Y, 3), of_size(10))[0]
    np.testing.assert_array_equal(values, X[rows])
    assert labels == Y[rows].tolist()


def test_float32_is_kept() -> None:
    assert ArrayOracle(X.astype(np.float32), Y).draw(5).table.rows().dtype == np.float32
    frame = pl.DataFrame({"a": [1.5, None], "b": [True, False]}, schema_overrides={"a": pl.Float32})
    assert ArrayOracle(frame, [0, 1]).draw(2).table.rows().dtype == np.float32
    wide = pl.DataFrame({"a": [2**40, 1], "b": [True, False]})
    assert ArrayOracle(wide, [0, 1]).draw(2).table.rows().dtype == np.float64


def test_a_batch_is_a_copy() -> None:
    array = X.copy()
    batch = ArrayOracle(array, Y).draw(N)
    assert not np.shares_memory(batch.table.rows(), array)
    everything = ArrayOracle(array, Y).take(np.arange(N))
    assert not np.shares_memory(everything.labels, Y)


def test_draws_with_replacement_are_uniform_and_never_end() -> None:
    oracle = ArrayOracle(X, Y, 1, replace=True)
    batch = oracle.draw(50 * N)
    assert oracle.order is REPLACED
    assert batch.lap == 0
    assert chisquare(np.bincount(batch.rows.astype(int), minlength=N)).pvalue > 1e-4


WORLD = LabelNoise(hastie(4), 0.1)
WITHOUT_END: dict[str, Callable[[int], AbstractOracle]] = {
    "with replacement": lambda seed: ArrayOracle(X, Y, seed, replace=True),
    "a world": lambda seed: WorldOracle(WORLD, seed),
}


@pytest.mark.parametrize("make", WITHOUT_END.values(), ids=WITHOUT_END.keys())
def test_sources_without_end_do_not_depend_on_the_size(
    make: Callable[[int], AbstractOracle],
) -> None:
    def drawn(*sizes: int, seed: int = 0, skipped: int = 0) -> list[NDArray[Any]]:
        oracle, before = make(seed), make(seed)
        before.draw(max(1, skipped))
        oracle.seek(before.position() if skipped else oracle.position())
        parts = [oracle.draw(n) for n in sizes]
        assert [(part.n_rows, part.lap) for part in parts] == [(n, 0) for n in sizes]
        columns = ([part.table.rows(), part.labels, part.rows] for part in parts)
        return list(map(np.concatenate, zip(*columns, strict=True)))

    together = drawn(10_000)
    for sizes in [(4096, 4096, 1808), (1, 9999), (5000, 3, 4997), (100,) * 100]:
        for part, whole in zip(drawn(*sizes), together, strict=True):
            np.testing.assert_array_equal(part, whole)
    for part, whole in zip(drawn(5000, skipped=4500), together, strict=True):
        np.testing.assert_array_equal(part, whole[4500:9500])
    assert not np.array_equal(drawn(10)[0], drawn(10, seed=1)[0])


def test_rows_of_a_world_are_new_and_have_its_labels() -> None:
    batch = WorldOracle(WORLD, 0).draw(20_000)
    rows = batch.table.rows().astype(np.float64)
    assert batch.rows.tolist() == list(range(20_000))
    assert len(np.unique(rows, axis=0)) == 20_000
    assert abs((WORLD.truth(rows) != batch.labels).mean() - 0.1) < 0.01


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.array([2, 0, 1]), [0, 1, 2]),
        (np.array([True, False, True]), [False, True]),
        (np.array(["b", "a", "b"]), ["a", "b"]),
        (np.array(["b", "a", "b"], dtype=object), ["a", "b"]),
        (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series(["b", "a", "b"], index=[7, 1, 0]), ["a", "b"]),
        (pl.Series([0.5, 1.5, 0.5]), [0.5, 1.5]),
        ([1, -1, 1], [-1, 1]),
    ],
)
def test_labels_of_any_kind(labels: Any, classes: list[Any]) -> None:
    oracle = ArrayOracle(X[:3], labels)
    assert oracle.classes().tolist() == classes
    batch = oracle.draw(3)
    assert batch.labels.tolist() == [list(labels)[row] for row in batch.rows]


def test_classes_are_found_in_later_pieces() -> None:
    y = np.zeros(600_000)
    y[-1], y[300_000] = 7, -1
    assert ArrayOracle(np.zeros((600_000, 1)), y).classes().tolist() == [-1, 0, 7]


def test_another_source_has_another_fingerprint() -> None:
    other, relabelled = X.copy(), Y.copy()
    other[0, 0] += 1
    relabelled[-1] += 1
    prints = {
        ArrayOracle(data, labels, seed).fingerprint()
        for seed in (0, 1)
        for data, labels in [(X, Y), (other, Y), (X, relabelled), (X[:-1], Y[:-1])]
    }
    assert len(prints) == 4
    assert ArrayOracle(np.asfortranarray(X), Y).fingerprint() == ArrayOracle(X, Y).fingerprint()


def with_cell(value: object) -> np.ndarray[Any, Any]:
    bad = X.astype(object)
    bad[17, 2] = value
    return bad


INFINITE = with_cell(-np.inf).astype(np.float64)


@pytest.mark.parametrize(
    ("data", "labels", "complaint"),
    [
        (INFINITE, Y, r"^row 17: column 2 holds -inf"),
        (np.asfortranarray(INFINITE), Y, r"^row 17: column 2 holds -inf"),
        (sp.csr_array(INFINITE), Y, r"^row 17: column 2 holds -inf"),
        (pd.DataFrame(INFINITE, columns=list("abc")), Y, r"^row 17: column 'c' holds -inf"),
        (with_cell("red"), Y, r"^row 17: column 2 holds 'red', which is not a number"),
        (X, np.where(np.arange(N) == 17, np.nan, Y), "^row 17: has no label"),
        (X, pl.Series([None if i == 17 else i for i in range(N)]), "^row 17: has no label"),
    ],
)
def test_a_bad_cell_is_named_when_it_is_drawn(data: Any, labels: Any, complaint: str) -> None:
    oracle = ArrayOracle(data, labels, 2)
    before = sequence(ArrayOracle(X, Y, 2), of_size(200))[0].index(17)
    oracle.draw(before)
    for _ in range(2):
        with pytest.raises(DataError, match=complaint):
            oracle.draw(10)


@pytest.mark.parametrize(
    ("data", "labels", "complaint"),
    [
        (X[:0], Y[:0], "0 rows and 3 columns"),
        (X[:, :0], Y, "101 rows and 0 columns"),
        ([[1, 2], [3]], [0, 1], "not a table of numbers"),
        (X[0], Y, r"shape \(3,\)"),
        (X, Y[:5], "101 rows but 5 labels"),
        (X, np.zeros((N, 2)), r"labels have shape \(101, 2\)"),
        (X.astype(str), Y, "an array of text"),
        (X.astype(complex), Y, "an array of complex128"),
        (X, np.array([None if i == 17 else 1 for i in range(N)]), "row 17: has no label"),
    ],
)
def test_what_cannot_be_drawn_from(data: Any, labels: Any, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        ArrayOracle(data, labels).classes()


@pytest.mark.parametrize("number", [-1, 1.5, "3"])
def test_draws_and_seeds_are_whole_numbers(number: Any) -> None:
    with pytest.raises(ParameterError, match="n is "):
        ArrayOracle(X, Y).draw(number)
    with pytest.raises(ParameterError, match="seed is"):
        ArrayOracle(X, Y, number)


@pytest.mark.parametrize("position", [{}, {"row": 1}, {"lap": 0, "row": 1, "turn": 2}])
def test_a_position_of_another_oracle_is_refused(position: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match="source needs lap, row"):
        ArrayOracle(X, Y).seek(position)
