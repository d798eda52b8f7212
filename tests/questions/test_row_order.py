"""Is the order of certifying rows by chance? False alarms as promised, and sorted rows are seen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression

import pacboost
from pacboost.bounds.exact_tests import halves_p, runs_of, runs_p
from pacboost.errors import DataError, InputWarning, NotCertified, ParameterError
from pacboost.questions.row_order import above_median, check_order
from tests.bounds.coverage import check_coverage, check_rejected


@pytest.mark.parametrize(("rows", "ones"), [(7, 3), (8, 4), (9, 2), (6, 1), (5, 5), (2, 1)])
def test_p_values_by_all_orders(rows: int, ones: int) -> None:
    every = np.zeros((0, rows), dtype=int)
    for places in combinations(range(rows), ones):
        every = np.vstack([every, np.isin(np.arange(rows), places)])
    for statistic, p in (
        (every[:, : rows // 2].sum(axis=1), halves_p),
        (np.array([runs_of(own) for own in every]), runs_p),
    ):
        for value in np.unique(statistic).tolist():
            tails = (statistic <= value).mean(), (statistic >= value).mean()
            assert p(value, ones, rows) == pytest.approx(min(1, 2 * min(tails)), abs=1e-6)


def test_impossible_counts_are_refused() -> None:
    for wrong in ((11, 10, 20), (-1, 3, 20)):
        with pytest.raises(ParameterError):
            halves_p(*wrong)
    with pytest.raises(ParameterError, match="cannot be"):
        runs_p(22, 10, 20)
    with pytest.raises(ParameterError, match="at most"):
        runs_p(2, 10, 10**6)


def coin_rows(generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return np.round(generator.normal(size=(40, 3)), 1), generator.integers(3, size=40)


def test_false_alarms_are_as_rare_as_promised() -> None:
    generator, alarms = np.random.default_rng(0), 0
    model = LogisticRegression().fit(*coin_rows(generator))
    for _ in range(400):
        alarms += not check_order(*coin_rows(generator), model, delta=0.2).by_chance
    check_coverage("order by chance, 14 tests", alarms, 400, 0.2)
    assert alarms > 0


def alarms_when_cut(cut: Callable[[NDArray[np.float64]], float], runs: int) -> int:
    generator, alarms = np.random.default_rng(1), 0
    for _ in range(runs):
        values = generator.normal(size=30)
        above = values > cut(values)
        ones = int(above.sum())
        alarms += 0 < ones < 30 and halves_p(int(above[:15].sum()), ones, 30) <= 0.05
    return alarms


def cut_that_divides_best(values: NDArray[np.float64]) -> float:
    cuts = np.sort(values)[4:-4]
    return float(max(cuts, key=lambda cut: abs((values[:15] > cut).mean() - (values > cut).mean())))


def test_twin_whose_cut_depends_on_the_order_is_rejected() -> None:
    fair = alarms_when_cut(lambda values: float(np.median(values)), 1000)
    check_coverage("halves, cut at the median of all rows", fair, 1000, 0.05)
    unfair = alarms_when_cut(cut_that_divides_best, 1000)
    check_rejected("halves, cut where the halves differ most", unfair, 1000, 0.05)


def test_twin_that_does_not_pay_for_its_tests_is_rejected() -> None:
    generator, alarms = np.random.default_rng(2), 0
    for _ in range(300):
        rows = generator.normal(size=(60, 10))
        above = np.column_stack([above_median(own) for own in rows.T])
        alarms += min(halves_p(int(own[:30].sum()), int(own.sum()), 60) for own in above.T) <= 0.05
    check_rejected("order, each test at delta", alarms, 300, 0.05)


def test_what_is_sorted_is_named() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(500, 3)), generator.integers(2, size=500)
    by_class = np.argsort(y, kind="stable")
    found = check_order(X[by_class], y[by_class])
    assert {own.what for own in found.findings} == {"labels"}
    assert "class '1': 0.80 % of the first half" in found.sentence
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).sort_values("b")
    found = check_order(frame, y)
    assert [own.name for own in found.findings] == ["column 'b' above its median"]
    assert not found.mistakes_change
    times = frame.assign(when=pd.date_range("2020", periods=500, freq="h")).sample(
        frac=1, random_state=0
    )
    assert check_order(times, y).by_chance
    assert not check_order(times.sort_values("when"), y).by_chance
    weeks = np.sin(np.arange(500) / 10)  # equal halves, and neighbours that are alike
    found = check_order(np.column_stack([X, weeks]), y)
    assert [own.name for own in found.findings] == ["column 'x3' above its median"]


def test_mistakes_that_change_along_the_rows() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1500, 2))
    y = (X[:, 0] > 0).astype(int)
    model = LogisticRegression().fit(X[:500], y[:500])
    later = np.arange(1000) > 600
    labels = np.where(later & (generator.random(1000) < 0.3), 1 - y[500:], y[500:])
    found = check_order(X[500:], labels, model)
    assert found.mistakes_change
    assert found.findings[0].what == "mistakes"
    assert found.to_dict()["findings"][0]["p_value"] < 1e-6
    with pytest.raises(NotCertified, match="not in an order by chance: mistakes of the model"):
        pacboost.certify(model, X[500:], labels, order="refuse")
    with pytest.warns(InputWarning, match="rate of mistakes changes along the rows"):
        warned = pacboost.certify(model, X[500:], labels, order="warn")
    assert warned == pacboost.certify(model, X[500:], labels)
    shuffled = generator.permutation(1000)
    rows, fair = X[500:][shuffled], labels[shuffled]
    assert pacboost.certify(model, rows, fair, order="refuse").value == warned.value
    in_time = pacboost.certify(model, X[500:], labels, ordered=True, order="refuse")
    assert in_time.value > warned.value
    with pytest.raises(ParameterError, match="order is 'no'"):
        pacboost.certify(model, rows, fair, order="no")


def test_numbers_texts_and_bad_input() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 1))
    y = X[:, 0] + generator.normal(size=400) * np.arange(400) / 100
    found = check_order(X, y, LinearRegression().fit(X, y))
    assert found.findings[0].name == "errors above their median"
    texts = [f"text {k}" for k in range(200)]
    assert check_order(texts, generator.integers(2, size=200)).tests == 2
    assert check_order(X[:1], y[:1]).by_chance
    with pytest.raises(DataError, match="one label a row"):
        check_order(X, y[:, None])
