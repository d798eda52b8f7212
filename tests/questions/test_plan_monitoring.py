"""Plans for monitoring: vectors, and what they promise of a jump that comes late."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pacboost import Monitor
from pacboost.bounds import monitoring
from pacboost.errors import ParameterError
from pacboost.theory import plan
from tests.bounds.coverage import check_coverage
from tests.cli.running import answer


def test_a_jump_from_five_to_eight_percent() -> None:
    found = plan.monitor(before=0.05, after=0.08, delta=0.05)
    assert (found.examples, found.details["rows after a late jump"]) == (1313, 2576)
    assert answer(
        "plan", "monitor", "--before", "0.05", "--after", "0.08", "--delta", "0.05"
    )["examples"] == 1313  # fmt: skip
    assert plan.monitor(before=0.05, after=0.2, delta=0.05).examples < 150  # type: ignore[operator]


def test_the_fewest_rows() -> None:
    goal = math.log(20)
    rows = monitoring.rows_to_see(0.1, 0.3, goal)
    least = monitoring.mistakes_to_refute(rows, 0.1, 0.05)
    rng = np.random.default_rng(0)
    assert (rng.binomial(rows, 0.3, size=4000) >= least).mean() > 0.88


def test_a_late_jump_is_seen_in_time() -> None:
    rows = int(plan.monitor(before=0.05, after=0.15, delta=0.05).details["rows after a late jump"])
    late = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        monitor = Monitor(error=0.05).update_mistakes(rng.random(5000) < 0.03)
        late += not monitor.update_mistakes(rng.random(rows) < 0.15).status().sounded
    check_coverage("monitor: a late jump is seen too late", late, 200, 0.1)


def test_bad_plans() -> None:
    for before in (0.0, 0.1):
        with pytest.raises(ParameterError):
            plan.monitor(before=before, after=0.1, delta=0.05)
    with pytest.raises(ParameterError, match="run_length"):
        plan.monitor(before=0.05, after=0.08, delta=0.05, run_length=0)
