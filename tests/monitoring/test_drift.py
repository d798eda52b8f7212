"""Drift: no more false alarms than promised, changes that are seen, and the broken twin."""

import numpy as np
import pytest

from pacboost.kernels.native import native
from pacboost.monitoring import drift
from pacboost.monitoring.drift import RowStream
from pacboost.samples.plain_rows import Codes
from tests.bounds.coverage import check_coverage, check_rejected

DELTA = 0.05


def stream(seed: int, rows: int, columns: int = 3) -> tuple[RowStream, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return RowStream.of(rng.normal(size=(rows * 4 // 3 + 200, columns)), DELTA), rng


def false_alarms(streams: int, rows: int) -> int:
    found = 0
    for seed in range(streams):
        own, rng = stream(seed, rows)
        own.add(rng.normal(size=(rows, 3)))
        assert own.pairs == rows
        found += own.drifted_at is not None
    return found


def test_no_more_false_alarms_than_promised() -> None:
    check_coverage("drift: alarm though nothing changed", false_alarms(80, 600), 80, DELTA)


@pytest.mark.slow
def test_no_more_false_alarms_than_promised_over_long_streams() -> None:
    check_coverage("drift: nothing changed, 20,000 rows", false_alarms(1000, 20_000), 1000, DELTA)


class SeesTheRowsItBetsOn(RowStream):
    """The twin: rules are made from pairs that include those they bet on."""

    def _bet(self, new: Codes, old: Codes) -> None:
        if self.refits:
            both = np.concatenate([self._window, new, self._old[: self.pairs], old])
            size = len(self._window) + len(new)
            native.boost_rules(both, size, drift.SHRINK, self.rules, self.values)
        super()._bet(new, old)


def test_rules_that_have_seen_the_rows_they_bet_on_are_rejected() -> None:
    false = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        own = SeesTheRowsItBetsOn.of(rng.normal(size=(1000, 3)), DELTA)
        own.add(rng.normal(size=(600, 3)))
        false += own.drifted_at is not None
    check_rejected("drift: rules that saw the rows", false, 40, DELTA)


@pytest.mark.parametrize("start", [0, 3000])
def test_a_shifted_column_is_seen_and_named(start: int) -> None:
    own, rng = stream(7, 6000)
    rows = rng.normal(size=(6000, 3))
    rows[start:, 1] += 0.7
    own.add(rows)
    assert own.drifted_at is not None
    assert start < own.drifted_at < start + 1800
    assert next(iter(own.columns())) == "x1"


def test_columns_that_depend_on_each_other_in_a_new_way_are_seen() -> None:
    own, rng = stream(8, 6000)
    rows = rng.normal(size=(6000, 3))
    rows[:, 1] = 0.8 * rows[:, 0] + 0.6 * rows[:, 1]  # each column alone is as before
    own.add(rows)
    assert own.drifted_at is not None
    assert set(list(own.columns())[:2]) == {"x0", "x1"}


def test_missing_values_are_seen() -> None:
    own, rng = stream(9, 2000)
    rows = rng.normal(size=(2000, 3))
    rows[rng.random(2000) < 0.3, 2] = np.nan
    own.add(rows)
    assert own.drifted_at is not None
    assert any(said.startswith("x2 is there: ") for said in own.words)


def test_a_bet_pays_half_the_difference_and_never_more_than_it_stakes() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 30, (200, 4)).astype(np.uint8)
    codes[:100, 1] += 9
    rules, values = np.zeros((5, 6), dtype=np.int64), np.zeros((5, 4))
    native.boost_rules(codes, 100, 1.0, rules, values)
    payoffs, won = np.empty(100), np.zeros(4)
    native.pay(codes[:100], codes[100:], rules, values, payoffs, won)
    back = np.empty(100)
    native.pay(codes[100:], codes[:100], rules, values, back, np.zeros(4))
    assert np.allclose(payoffs, -back)
    assert (np.abs(payoffs) <= 1).all()
    assert payoffs.mean() > 0.1
    assert won.argmax() == 1
