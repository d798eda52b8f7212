"""pacboost.intervals: promises on fresh rows, guards, refusals."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import pacboost
from pacboost import BaggingRegressor, BoostRegressor, ExtraTreesRegressor, RandomForestRegressor
from pacboost.bounds.coverage import average_rank
from pacboost.errors import DataError, InputWarning, NotCertified, ParameterError
from pacboost.questions import calibration_rows
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs


def world(rows: int, seed: int) -> tuple[Any, Any]:
    """Errors grow with the first column."""
    generator = np.random.default_rng(seed)
    X = generator.random((rows, 2))
    return X, 5 * X[:, 1] + (0.1 + 2 * X[:, 0]) * generator.normal(size=rows)


X, Y = world(600, 0)
FRESH, NUMBERS = world(800, 1)
LATER, TRUTH = world(20_000, 2)


def share(found: Any) -> float:
    ends = found.predict_interval(LATER)
    assert (ends[:, 0] <= ends[:, 1]).all()
    return float(((ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH)).mean())


@pytest.fixture(scope="module")
def model() -> Any:
    return BoostRegressor(n_estimators=30, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def pair() -> Any:
    return tuple(
        BoostRegressor("quantile", quantile=q, n_estimators=80, random_state=0).fit(X, Y)
        for q in (0.05, 0.95)
    )


def widths(found: Any) -> Any:
    wide = np.diff(found.predict_interval(LATER), axis=1)[:, 0]
    return wide[LATER[:, 0] < 0.2].mean(), wide[LATER[:, 0] > 0.8].mean()


def test_residuals(model: Any) -> None:
    found = pacboost.intervals(model, FRESH, NUMBERS, coverage=0.9)
    assert 0.885 < share(found) < 0.95
    certificate = found.certificate_
    assert certificate.value >= 0.9
    assert certificate.rows_checked
    assert pacboost.verify(certificate)[0].holds
    assert found.sentence_.startswith("The prediction interval holds")
    assert found.mean_width_ == pytest.approx(2 * found.cutoff_)
    with pytest.raises(NotCertified, match=r"pacboost\.intervals"):
        pacboost.certify(model, FRESH, NUMBERS)
    assert (found.predict(LATER) == model.predict(LATER)).all()
    assert "prediction intervals" in repr(found)


def test_scaled_by_a_second_model(model: Any) -> None:
    sizes = BoostRegressor(n_estimators=30, random_state=0).fit(X, np.abs(Y - model.predict(X)))
    found = pacboost.intervals(model, FRESH, NUMBERS, scale=sizes, floor=0.05)
    assert found.certificate_.details["method"] == "scaled"
    assert 0.885 < share(found) < 0.95
    small, large = widths(found)
    assert large > 2 * small
    assert (found.predict(LATER) == model.predict(LATER)).all()
    other = BoostRegressor(n_estimators=3, random_state=0).fit(FRESH, NUMBERS)
    with pytest.raises(NotCertified, match="trained on"):
        pacboost.intervals(model, FRESH, NUMBERS, scale=other)


def test_quantiles(pair: Any) -> None:
    found = pacboost.intervals(pair, FRESH, NUMBERS)
    assert found.certificate_.details["method"] == "quantiles"
    assert 0.885 < share(found) < 0.95
    small, large = widths(found)
    assert large > 2 * small
    assert found.predict(LATER).shape == (20_000,)


def test_quantiles_that_are_too_wide_are_moved_inward() -> None:
    class Far(LinearRegression):  # type: ignore[misc]
        def predict(self, X: Any) -> Any:
            return np.full(len(X), self.to)

    low, high = Far(), Far()
    low.to, high.to = -100.0, 100.0
    found = pacboost.intervals((low, high), FRESH, NUMBERS)
    assert found.cutoff_ < 0
    assert 0.885 < share(found) < 0.95


@pytest.mark.parametrize(
    "make",
    [
        lambda: RandomForestRegressor(20, random_state=0),
        lambda: ExtraTreesRegressor(20, random_state=0),
        lambda: BaggingRegressor(n_estimators=10, random_state=0),
    ],
)
def test_members_that_differ(make: Any) -> None:
    own = make().fit(X, Y)
    with pytest.raises(NotCertified, match="holds no intervals"):
        pacboost.intervals(own)
    with pytest.raises(NotCertified, match=r"pacboost\.intervals certifies intervals"):
        _ = own.certificate_
    found = pacboost.intervals(own, FRESH, NUMBERS, method="scaled", floor=0.05)
    assert share(found) > 0.88
    small, large = widths(found)
    assert large > 1.5 * small
    again = pickle.loads(pickle.dumps(found))
    assert (again.predict_interval(LATER[:9]) == found.predict_interval(LATER[:9])).all()


def test_the_spread_of_a_forest() -> None:
    forest = RandomForestRegressor(8, random_state=0).fit(X, Y)
    bag = BaggingRegressor(n_estimators=8, random_state=0).fit(X, Y)
    assert bag.spread(LATER[:50]) == pytest.approx(np.std(list(bag._answers(LATER[:50])), axis=0))
    one = RandomForestRegressor(1, random_state=0).fit(X, Y)
    assert one.spread(LATER[:50]) == pytest.approx(0)
    two = RandomForestRegressor(2, random_state=0).fit(X, Y)  # its first tree is that of one
    first, mean = one.predict(LATER[:50]), two.predict(LATER[:50])
    assert two.spread(LATER[:50]) == pytest.approx(np.abs(first - mean), abs=1e-5)
    assert forest.spread(LATER[:50]).max() > 0


def test_large_numbers_with_small_errors() -> None:
    found = pacboost.intervals(
        LinearRegression().fit(X, X[:, 0] + 1e9), FRESH, FRESH[:, 0] + 1e9, coverage=0.9
    )
    ends = found.predict_interval(LATER)
    truth = LATER[:, 0] + 1e9
    assert ((ends[:, 0] <= truth) & (ends[:, 1] >= truth)).mean() > 0.89


def test_groups_copies_and_frames(model: Any) -> None:
    found = pacboost.intervals(model, FRESH, NUMBERS, groups=np.arange(800) // 4)
    assert found.certificate_.size == 200
    assert "of a new group" in found.certificate_.claim
    doubled = np.repeat(FRESH, 2, axis=0), np.repeat(NUMBERS, 2)
    plain = pacboost.intervals(model, FRESH, NUMBERS)
    with pytest.warns(InputWarning, match="rows are not counted"):
        once = pacboost.intervals(model, *doubled, copies="distinct")
    assert once.cutoff_ == plain.cutoff_
    frame = pd.DataFrame(X, columns=["p", "q"])
    linear = LinearRegression().fit(frame, Y)
    made = pacboost.intervals(linear, pd.DataFrame(FRESH, columns=["p", "q"]), NUMBERS)
    assert made.sentence_.startswith("If these rows are new: ")


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"coverage": 0}, ParameterError, "coverage"),
        ({"method": "best"}, ParameterError, "it may be 'residual', 'scaled', 'quantiles', or"),
        ({"method": "quantiles"}, ParameterError, "needs a pair of regressors"),
        ({"method": "scaled"}, ParameterError, "needs scale= for BoostRegressor"),
        ({"method": "residual", "scale": 1}, ParameterError, "scale needs method='scaled'"),
        ({"floor": 0.0}, ParameterError, "floor is 0.0"),
        ({"y": ["a"] * 800}, DataError, "does not hold numbers"),
        ({"y": np.full(800, np.nan)}, DataError, "missing or infinite"),
        ({"y": NUMBERS[:-1]}, DataError, "800 rows and 799 numbers"),
        ({"model": LogisticRegression().fit(X, Y > 2)}, NotCertified, "pacboost.sets"),
        ({"X": X, "y": Y}, NotCertified, "rows were used to train this model"),
        ({"X": FRESH[:20], "y": NUMBERS[:20]}, NotCertified, "needs at least 29 rows"),
    ],
)
def test_refusals(model: Any, change: dict[str, Any], error: Any, match: str) -> None:
    given = {"model": model, "X": FRESH, "y": NUMBERS, **change}
    with pytest.raises(error, match=match):
        pacboost.intervals(**given)


def broken(runs: int, rows: int) -> int:
    """How often intervals of a fixed line hold fewer of a known law's numbers than asked for."""
    linear = LinearRegression().fit(X, Y)
    generator = np.random.default_rng(5)
    failed = 0
    for _ in range(runs):
        fresh, numbers = world(rows, int(generator.integers(2**31)))
        found = pacboost.intervals(linear, fresh, numbers, coverage=0.9)
        failed += share(found) < 0.9
    return failed


@several_runs(40, 600)
def test_promises_are_kept_and_a_promise_on_average_is_not(runs: int, monkeypatch: Any) -> None:
    check_coverage("intervals by residuals", broken(runs, 200), runs, 0.05)
    monkeypatch.setattr(
        calibration_rows, "covering_rank", lambda n, coverage, _: average_rank(n, coverage)
    )
    check_rejected("intervals that cover on average", broken(runs, 200), runs, 0.05)
