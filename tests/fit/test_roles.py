"""Each row has one role; copies, groups and moments stay whole, and enough rows certify."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.search import expected_mistakes
from pacboost.errors import DataError, InputWarning, ParameterError
from pacboost.fit.role_sizes import LARGEST_SHARE, NO_CERTIFYING_BELOW, certifying_rows
from pacboost.fit.roles import RolesAsk, divide
from pacboost.samples.same_example import Examples


@pytest.mark.parametrize(
    "ask",
    [
        RolesAsk(3, share=0.2),
        RolesAsk(3),
        RolesAsk(3, epsilon=0.1),
        RolesAsk(3, chooses_threshold=True),
        RolesAsk(3, groups=np.arange(400) // 4),
        RolesAsk(3, times=np.arange(400)),
    ],
)
def test_every_row_has_one_role(ask: RolesAsk) -> None:
    roles = divide(Examples(400, None), ask)
    together = np.concatenate([roles.learn, roles.validate, roles.certify])
    assert np.array_equal(np.sort(together), np.arange(400))
    assert roles.certify.size > 0
    assert np.array_equal(roles.known, np.setdiff1d(np.arange(400), roles.certify))


def test_copies_have_one_role_and_count_once() -> None:
    number = np.arange(300) // 3
    with pytest.warns(InputWarning):
        roles = divide(Examples(300, number), RolesAsk(0, share=0.2))
    certify = number[roles.certify]
    assert np.unique(certify).size == certify.size == 20
    assert not np.isin(number[roles.learn], certify).any()


def test_a_share_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="holdout"):
        divide(Examples(3, None), RolesAsk(0, share=0.01))


EPSILONS = st.sampled_from([None, 0.01, 0.05, 0.2])


@given(rows=st.integers(1, 5000), epsilon=EPSILONS, seed=st.integers(0, 99))
def test_every_row_has_one_part(rows: int, epsilon: float | None, seed: int) -> None:
    parts = divide(Examples(rows, None), RolesAsk(seed, epsilon=epsilon))
    together = np.concatenate([parts.learn, parts.validate, parts.certify])
    assert np.array_equal(np.sort(together), np.arange(rows))
    assert parts.certify.size == certifying_rows(rows, epsilon, 0.05) <= LARGEST_SHARE * rows + 1
    assert parts.learn.size > 0
    assert np.array_equal(parts.known, np.setdiff1d(np.arange(rows), parts.certify))


def test_a_fifth_of_few_rows_certifies_and_a_falling_share_of_more() -> None:
    rows = [40, 500, 2000, 4000, 8000, 20_000, 10**6]
    counts = [certifying_rows(number, None, 0.05) for number in rows]
    assert counts == [8, 100, 400, 400, 400, 1000, 10_000]
    groups = divide(Examples(0, None), RolesAsk(0, groups=np.arange(5000) // 2))
    times = divide(Examples(2500, None), RolesAsk(0, times=np.arange(2500)))
    assert (np.unique(groups.certify // 2).size, times.certify.size) == (400, 400)


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.2])
def test_enough_certify_for_half_of_epsilon(epsilon: float) -> None:
    rows = certifying_rows(10**6, epsilon, 0.05)
    assert clopper_pearson(expected_mistakes(epsilon / 2, rows), rows, 0.05, 2) <= epsilon


@given(groups=st.lists(st.integers(0, 80), min_size=50, max_size=300), seed=st.integers(0, 99))
def test_no_group_has_two_parts(groups: list[int], seed: int) -> None:
    numbers = np.unique(groups, return_inverse=True)[1]
    parts = divide(Examples(numbers.size, None), RolesAsk(seed, groups=numbers))
    own = [set(numbers[part].tolist()) for part in (parts.learn, parts.validate, parts.certify)]
    assert sum(map(len, own)) == len(set.union(*own)) == numbers.max() + 1
    assert len(own[2]) == certifying_rows(int(numbers.max()) + 1, None, 0.05)


def test_how_many_groups_certify_does_not_depend_on_their_sizes() -> None:
    even = np.repeat(np.arange(60), 10)
    uneven = np.repeat(np.arange(60), [1] * 59 + [5000])
    first, second = (
        np.unique(groups[divide(Examples(0, None), RolesAsk(3, groups=groups)).certify])
        for groups in (even, uneven)
    )
    assert np.array_equal(first, second)


@given(times=st.lists(st.integers(0, 50), min_size=NO_CERTIFYING_BELOW, max_size=200))
def test_learning_precedes_watching_and_watching_certifying(times: list[int]) -> None:
    when = np.array(times)
    if 2 * np.count_nonzero(when == when.max()) > when.size:
        with pytest.raises(DataError, match="the latest time"):
            divide(Examples(when.size, None), RolesAsk(0, times=when))
        return
    parts = divide(Examples(when.size, None), RolesAsk(0, times=when))
    assert when[parts.learn].max() < when[parts.certify].min()
    assert parts.certify.size > 0
    if parts.validate.size:
        assert when[parts.learn].max() <= when[parts.validate].min()
        assert when[parts.validate].max() < when[parts.certify].min()
