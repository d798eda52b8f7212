"""TotalBoost: SoftBoost without a cap."""

from __future__ import annotations

from itertools import islice

import pytest

from pacboost.boosters.soft_margin import Soft, Total
from pacboost.learners.stump import Stump
from pacboost.training.run.loop import Run
from tests.worlds import make_sample, noisy


def test_it_is_softboost_for_the_worst_row() -> None:
    X, signs = noisy(100, 3, seed=2, noise=0.0)
    runs = [
        Run(make_sample(X, signs), Stump(), rules)
        for rules in (Total(tolerance=0.05), Soft(0.0, 0.05))
    ]
    for one, other in zip(*(islice(run, 20) for run in runs), strict=True):
        assert one.entry.margin == other.entry.margin
        assert one.entry.memory == other.entry.memory


def test_there_is_no_share_to_choose() -> None:
    assert Total() == Total(tolerance=0.01)
    with pytest.raises(TypeError, match="share"):
        Total(share=0.1)  # type: ignore[call-arg]
