"""Draws from streams: generators, lists and functions that give batches."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from pacboost.errors import DataError, ParameterError
from pacboost.sources.oracles.oracle import STREAM
from pacboost.sources.oracles.stream import StreamOracle
from tests.sources.oracles.passes import BytesHeld, check_draws, of_size, sequence

SIZES = [5, 0, 17, 1, 9]
N = sum(SIZES)


def numbered(first: int, n: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    a = np.arange(first, first + n, dtype=np.float64)
    return np.stack([a, a / 2], axis=1), (a % 3).astype(np.int64)


def pairs() -> Iterator[Any]:
    first = 0
    for n in SIZES:
        yield numbered(first, n)
        first += n


def with_label(X: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {"a": X[:, 0], "y": y, "b": X[:, 1]}


def drawing() -> Callable[[], Any]:
    """The example oracle of the lectures: each call returns one example."""
    X, y = numbered(0, 2500)
    examples = zip(X, y.tolist(), strict=True)
    return lambda: next(examples)


@pytest.mark.parametrize(
    "stream",
    [
        iter(drawing(), 0),
        list(zip(*numbered(0, 2500), strict=True)),
        [numbered(row, 1) for row in range(2500)],
    ],
)
def test_single_examples_are_read_in_batches(stream: Any) -> None:
    oracle = StreamOracle(stream)
    X, y = numbered(0, 2500)
    for first in (0, 1000):
        batch = oracle.draw(1000)
        assert np.array_equal(batch.table.block(0, 2), X[first : first + 1000])
        assert np.array_equal(batch.labels, y[first : first + 1000])
        assert batch.rows[-1] >> np.uint64(32) == first // 1000


def test_a_batch_ends_a_run_of_single_rows() -> None:
    sizes = [1, 1, 5, 1]
    firsts = np.cumsum([0, *sizes[:-1]])
    oracle = StreamOracle([numbered(int(a), n) for a, n in zip(firsts, sizes, strict=True)])
    batches = [oracle.draw(8) for _ in range(3)]
    assert [batch.n_rows for batch in batches] == [2, 5, 1]
    values = np.concatenate([batch.table.block(0, 2) for batch in batches])
    assert np.array_equal(values, numbered(0, 8)[0])


def test_a_function_is_called_once_for_each_pass() -> None:
    calls: list[int] = []

    def batches() -> Iterator[Any]:
        calls.append(len(calls))
        return pairs()

    oracle = StreamOracle(batches)
    assert calls == [0]
    while oracle.draw(5).lap == 0:
        pass
    assert calls == [0, 1]


MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "arrays": lambda X, y: (X, y),
    "lists": lambda X, y: [X.tolist() or np.empty((0, 2)), y.tolist()],
    "sparse": lambda X, y: (sp.csr_array(X), y),
    "frame and labels": lambda X, y: (pl.DataFrame(X, schema=["a", "b"]), pl.Series(y)),
    "pandas": lambda X, y: pd.DataFrame(with_label(X, y)),
    "polars": lambda X, y: pl.DataFrame(with_label(X, y)),
    "arrow": lambda X, y: pa.table(with_label(X, y)),
    "record batches": lambda X, y: pa.record_batch(with_label(X, y)),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_passes_over_batches_of_any_kind(kind: str) -> None:
    batches = [MAKERS[kind](X, y) for X, y in pairs()]
    target = None if kind in {"arrays", "lists", "sparse", "frame and labels"} else "y"

    check_draws(lambda: StreamOracle(batches, target), N, shuffled=False)
    rows, values, labels = sequence(StreamOracle(batches, target), of_size(4))
    assert rows == sorted(rows)
    assert values[:, 0].tolist() == list(range(N))
    assert labels == [a % 3 for a in range(N)]


def test_a_generator_is_read_once() -> None:
    oracle = StreamOracle(pairs())
    assert oracle.order is STREAM
    assert len(sequence(oracle, of_size(6), laps=5)[0]) == N
    for _ in range(2):
        assert oracle.draw(5).n_rows == 0


def test_a_function_is_asked_for_every_pass() -> None:
    check_draws(lambda: StreamOracle(pairs), N, shuffled=False)


def test_an_iterator_can_be_skipped_ahead_but_not_gone_back_in() -> None:
    rows = sequence(StreamOracle(pairs()), of_size(3))[0]
    oracle = StreamOracle(pairs())
    oracle.seek({"lap": 0, "turn": 2, "row": 4})
    assert oracle.draw(3).rows.tolist() == rows[9:12]
    oracle.seek({"lap": 0, "turn": 2, "row": 0})  # still in hand
    assert oracle.draw(3).rows.tolist() == rows[5:8]
    oracle.seek({"lap": 0, "turn": 0, "row": 0})
    with pytest.raises(DataError, match="is at batch 3 and"):
        oracle.draw(1)


def test_an_iterator_is_asked_by_the_thread_that_draws() -> None:
    threads = set()

    def batches() -> Iterator[Any]:
        for batch in pairs():
            threads.add(threading.get_ident())
            yield batch

    sequence(StreamOracle(batches()), of_size(5))
    assert threads == {threading.get_ident()}


def test_one_batch_is_held_at_a_time() -> None:
    oracle = StreamOracle(numbered(0, 100) for _ in range(10))
    held = BytesHeld(oracle)
    sequence(oracle, of_size(30))
    assert held.most == 1600
    assert held.read == 16_000


class TestBadInput:
    def test_a_stream_without_a_batch_or_a_row(self) -> None:
        with pytest.raises(DataError, match="is empty; at least"):
            StreamOracle(iter([]))
        assert StreamOracle([numbered(0, 0)]).draw(3).n_rows == 0

    def test_an_iterator_that_raises(self) -> None:
        def batches() -> Iterator[Any]:
            yield numbered(0, 3)
            yield numbered(3, 3)
            raise OSError("the line is dead")

        oracle = StreamOracle(batches())
        assert [oracle.draw(3).n_rows, oracle.draw(3).n_rows] == [3, 3]
        for _ in range(2):  # it does not seem to have ended when it is asked again
            with pytest.raises(DataError, match="batch 2 ") as caught:
                oracle.draw(3)
            assert isinstance(caught.value.__cause__, OSError)

    def test_a_second_pass_after_an_error(self) -> None:
        passes = iter([True, False])

        def batches() -> Iterator[Any]:
            yield numbered(0, 3)
            if next(passes):
                raise OSError

        oracle = StreamOracle(batches)
        oracle.draw(3)
        with pytest.raises(DataError, match="batch 1"):
            oracle.draw(3)
        oracle.seek({"lap": 0, "turn": 0, "row": 0})
        assert oracle.draw(3).n_rows == 3

    def test_a_pass_that_ends_early(self) -> None:
        lengths = iter([3, 2])
        oracle = StreamOracle(lambda: [numbered(2 * k, 2) for k in range(next(lengths))])
        with pytest.raises(DataError, match="ended after 2 batches, but"):
            sequence(oracle, of_size(3), laps=3)

    @pytest.mark.parametrize(
        ("batch", "complaint"),
        [
            ((np.zeros((2, 3)), [0, 1]), "has 3 columns, but the first batch had 2"),
            ((np.zeros((2, 2)), [0]), "there are 2 rows but 1 labels"),
            (np.zeros((2, 2)), "is a ndarray; it must be a pair"),
            (None, "is None; end the iterator"),
            ((np.array([["a", "b"]]), [0]), "an array of text"),
            ((np.full((1, 2), np.inf), [0]), "row 0: column 0 holds inf"),
            ((np.zeros((1, 2)), [np.nan]), "row 0: has no label"),
        ],
    )
    def test_a_bad_batch_is_named(self, batch: Any, complaint: str) -> None:
        oracle = StreamOracle([numbered(0, 2), batch])
        oracle.draw(5)
        with pytest.raises(DataError, match=f"^batch 1 of the stream.*{complaint}"):
            oracle.draw(5)

    @pytest.mark.parametrize(
        ("frame", "complaint"),
        [
            ({"a": [1], "b": [1]}, ": has no column 'y'"),
            ({"a": [1], "c": [1], "y": [1]}, ": has other columns than the first: it lacks 'b'"),
            ({"b": [1], "a": [1], "y": [1]}, ": has its columns in another order"),
            ({"a": [1], "b": ["x"], "y": [1]}, ": these columns hold text, not numbers: b"),
        ],
    )
    def test_frames_have_to_be_alike(self, frame: dict[str, Any], complaint: str) -> None:
        first = pl.DataFrame({"a": [1], "b": [1], "y": [1]})
        oracle = StreamOracle([first, pl.DataFrame(frame)], "y")
        oracle.draw(5)
        with pytest.raises(DataError, match=f"^batch 1 of the stream{complaint}"):
            oracle.draw(5)

    def test_a_frame_without_a_target(self) -> None:
        with pytest.raises(DataError, match="column of labels as"):
            StreamOracle([pl.DataFrame({"a": [1]})])

    def test_no_stream(self) -> None:
        bad: Any = 3
        with pytest.raises(ParameterError, match="batches is a int"):
            StreamOracle(bad)
