"""Roles of rows: each row has one, and copies, groups and moments stay together."""

from __future__ import annotations

import numpy as np
import pytest

from pacboost.errors import InputWarning, ParameterError
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
