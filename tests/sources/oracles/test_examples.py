"""The example oracle: a function that is asked for examples one by one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pacboost.errors import DataError, ParameterError
from pacboost.sources.oracles.choose import as_oracle
from pacboost.sources.oracles.examples import ExampleOracle


def numbered(n: int = 2500) -> Callable[[], Any]:
    """Examples (k, k/2) with label k mod 3, until there are none."""
    examples = ((np.array([k, k / 2]), k % 3) for k in range(n))
    return lambda: next(examples)


def test_no_more_examples_are_asked_for_than_are_drawn() -> None:
    """Labels cost: a block that is read ahead would be paid for in vain."""
    oracle = as_oracle(numbered())
    assert isinstance(oracle, ExampleOracle)
    assert oracle.asked == 1  # its columns are counted
    sizes = [3, 1000, 1]
    batches = [oracle.draw(n) for n in sizes]
    assert oracle.asked == sum(sizes)
    rows = np.concatenate([batch.table.rows() for batch in batches])
    assert np.array_equal(rows[:, 0], np.arange(sum(sizes)))
    assert np.array_equal(np.concatenate([b.labels for b in batches]), rows[:, 0] % 3)


def test_arrays_of_one_row_are_examples() -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    rows = iter(range(3))

    def one_row() -> Any:
        row = next(rows)
        return X[row : row + 1], y[row : row + 1]

    batch = as_oracle(one_row).draw(5)
    assert np.array_equal(batch.table.rows(), X)
    assert batch.labels.tolist() == y.tolist()


def test_it_ends_when_the_function_has_no_more() -> None:
    oracle = as_oracle(numbered(5))
    assert [oracle.draw(3).n_rows for _ in range(3)] == [3, 2, 0]
    assert oracle.asked == 5


def test_labels_are_asked_for_when_they_are_read() -> None:
    asked: list[float] = []

    def label(x: Any) -> int:
        asked.append(float(x[0]))
        return int(x[0]) % 2

    numbers = iter(range(100))
    oracle = ExampleOracle(lambda: [next(numbers), 1.0], label=label, price=0.5)
    batch = oracle.draw(10)
    some = batch.take(np.array([7, 2]))
    assert some.table.rows()[:, 0].tolist() == [7.0, 2.0]
    assert not asked
    assert some.labels.tolist() == some.labels.tolist() == [1, 0]
    assert asked == [7.0, 2.0]
    assert (oracle.asked, oracle.price) == (2, 0.5)


def broken() -> Any:
    raise OSError("the expert is ill")


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: ExampleOracle(broken), "example 0 of the oracle cannot be drawn: OSError"),
        (lambda: ExampleOracle(lambda: 3), "example 0 of the oracle is a int"),
        (lambda: ExampleOracle(iter([]).__next__), "gave no example"),
        (lambda: ExampleOracle(lambda: ("text", 1)), "shape"),
        (
            lambda: ExampleOracle(lambda: [1.0], label=lambda _: 1 / 0).draw(2).labels,
            "example 0 of the oracle: its label cannot be asked for: ZeroDivisionError",
        ),
    ],
)
def test_errors_name_the_example(make: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        make()


def test_rows_of_another_width_are_refused() -> None:
    rows = iter([[1.0], [1.0, 2.0]])
    oracle = ExampleOracle(lambda: (next(rows), 1))
    with pytest.raises(DataError, match=r"not a table of numbers|columns"):
        oracle.draw(2)


@pytest.mark.parametrize("price", [-1.0, float("nan")])
def test_a_price_is_a_number_of_at_least_0(price: float) -> None:
    with pytest.raises(ParameterError) as problem:
        ExampleOracle(lambda: ([1.0], 0), price=price)
    assert problem.value.parameter == "price"


def test_it_cannot_go_back() -> None:
    oracle = as_oracle(numbered())
    with pytest.raises(ParameterError):
        oracle.seek(oracle.position())
