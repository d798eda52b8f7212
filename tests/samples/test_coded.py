"""Codes stand for values: what comes back has the same code, and says the same to rules."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.coded_table import CodedTable
from pacboost.samples.cuts import MAX_FLOAT32
from pacboost.sources.arrays import ArrayTable
from tests.examples import examples

values = st.floats(allow_nan=False, allow_infinity=False, width=32) | st.just(float("nan"))


@examples(80)
@given(
    column=st.lists(values, min_size=1, max_size=40),
    other=st.lists(values, min_size=1, max_size=40),
    max_bins=st.sampled_from([2, 7, 255, 300]),
)
def test_round_trip(column: list[float], other: list[float], max_bins: int) -> None:
    bins = fit_bins(ArrayTable(np.array(column)[:, None]), max_bins)
    codes = bins.encode(ArrayTable(np.array(other)[:, None]))
    np.testing.assert_array_equal(bins.encode(CodedTable(codes, bins)), codes)


@examples(40)
@given(
    thresholds=st.lists(
        st.floats(-float(MAX_FLOAT32), float(MAX_FLOAT32), width=32),
        min_size=0,
        max_size=9,
        unique=True,
    )
)
def test_every_code_has_a_value_even_at_the_ends_of_the_format(thresholds: list[float]) -> None:
    own = np.sort(np.array(thresholds, dtype=np.float32))
    if own.size and own[-1] == MAX_FLOAT32:
        own = own[:-1]  # no value lies above it
    bins = Bins((own,), np.zeros(1, dtype=np.int64))
    codes = np.arange(bins.missing + 1, dtype=np.uint8)[None]
    table = CodedTable(codes, bins)
    assert np.isnan(table.rows()[-1, 0])
    assert np.isfinite(table.rows()[:-1]).all()
    np.testing.assert_array_equal(bins.encode(table), codes)


def test_categories_come_back_as_their_numbers() -> None:
    thresholds = (np.arange(0.5, 3, dtype=np.float32), np.array([2.5], dtype=np.float32))
    bins = Bins(thresholds, np.zeros(2, dtype=np.int64), np.array([4, 0]))
    codes = np.array([[0, 1, 2, 3, bins.missing], [0, 1, 0, 1, bins.missing]], dtype=np.uint8)
    table = CodedTable(codes, bins)
    assert table.rows()[:4, 0].tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(bins.encode(table), codes)


@examples(30)
@given(seed=st.integers(0, 2**32), rows=st.integers(1, 60))
def test_rules_say_of_codes_what_they_say_of_values(seed: int, rows: int) -> None:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 3)).round(1)
    X[generator.random(X.shape) < 0.1] = np.nan
    bins = fit_bins(ArrayTable(X), 20)
    rules = []
    for j, own in enumerate(bins.thresholds):
        for cut, threshold in enumerate(own.tolist()):
            rules.append(StumpRule(j, threshold, cut, 1, -1))
    vote = Vote(rules, np.arange(1.0, len(rules) + 1))
    table = CodedTable(bins.encode(ArrayTable(X)), bins)
    np.testing.assert_array_equal(vote.scores(table), vote.scores(ArrayTable(X)))
