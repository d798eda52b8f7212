"""Rows are divided without a look at labels, and by as many as epsilon and delta ask for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.search import expected_mistakes
from pacboost.errors import DataError
from pacboost.estimators.strong.classifier import StrongClassifier
from pacboost.estimators.strong.rows import (
    FEWEST,
    LARGEST_SHARE,
    by_chance,
    by_groups,
    by_time,
    certifying_rows,
)

EPSILONS = st.sampled_from([None, 0.01, 0.05, 0.2])


@given(rows=st.integers(1, 5000), epsilon=EPSILONS, seed=st.integers(0, 99))
def test_every_row_has_one_part(rows: int, epsilon: float | None, seed: int) -> None:
    parts = by_chance(rows, epsilon, 0.05, seed)
    together = np.concatenate([parts.learn, parts.watch, parts.certify])
    assert np.array_equal(np.sort(together), np.arange(rows))
    assert parts.certify.size == certifying_rows(rows, epsilon, 0.05) <= LARGEST_SHARE * rows + 1
    assert parts.learn.size > 0
    assert np.array_equal(parts.known, np.setdiff1d(np.arange(rows), parts.certify))


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.2])
def test_enough_certify_for_half_of_epsilon(epsilon: float) -> None:
    rows = certifying_rows(10**6, epsilon, 0.05)
    assert clopper_pearson(expected_mistakes(epsilon / 2, rows), rows, 0.05, 2) <= epsilon


@given(groups=st.lists(st.integers(0, 80), min_size=50, max_size=300), seed=st.integers(0, 99))
def test_no_group_has_two_parts(groups: list[int], seed: int) -> None:
    numbers = np.unique(groups, return_inverse=True)[1]
    parts = by_groups(numbers, None, 0.05, seed)
    own = [set(numbers[part].tolist()) for part in (parts.learn, parts.watch, parts.certify)]
    assert sum(map(len, own)) == len(set.union(*own)) == numbers.max() + 1
    assert len(own[2]) == certifying_rows(int(numbers.max()) + 1, None, 0.05)


def test_how_many_groups_certify_does_not_depend_on_their_sizes() -> None:
    even = np.repeat(np.arange(60), 10)
    uneven = np.repeat(np.arange(60), [1] * 59 + [5000])
    first, second = (
        np.unique(groups[by_groups(groups, None, 0.05, 3).certify]) for groups in (even, uneven)
    )
    assert np.array_equal(first, second)


@given(times=st.lists(st.integers(0, 50), min_size=FEWEST, max_size=200))
def test_learning_precedes_watching_and_watching_certifying(times: list[int]) -> None:
    when = np.array(times)
    if 2 * np.count_nonzero(when == when.max()) > when.size:
        with pytest.raises(DataError, match="the latest time"):
            by_time(when, None, 0.05)
        return
    parts = by_time(when, None, 0.05)
    assert when[parts.learn].max() < when[parts.certify].min()
    assert parts.certify.size > 0
    if parts.watch.size:
        assert when[parts.learn].max() <= when[parts.watch].min()
        assert when[parts.watch].max() < when[parts.certify].min()


def test_labels_of_certifying_rows_shape_nothing() -> None:
    """A class that only they have would be a fourth, and of four classes fewer rounds are made."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 2))
    y = (np.sin(4 * X[:, 0]) + X[:, 1] > 0).astype(int) + (X[:, 0] * X[:, 1] > 0.3)
    seed = int(np.random.RandomState(0).randint(2**31))
    strange = y.copy()
    strange[by_chance(400, None, 0.05, seed).certify[0]] = 9
    one, other = (StrongClassifier(random_state=0).fit(X, labels) for labels in (y, strange))
    assert len(one.ledger_) == len(other.ledger_)
    assert (one.decision_function(X) == other.decision_function(X)).all()


def test_a_missing_text_is_named_by_its_row() -> None:
    with pytest.raises(DataError, match="row 0"):
        StrongClassifier().fit([None, "lost card", "top up"] * 20, ["a", "b", "c"] * 20)
