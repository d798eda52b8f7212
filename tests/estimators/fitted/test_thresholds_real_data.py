"""Promises of thresholds on real data: rows drawn from a table, whose rates are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import bench_promises, real_data
from pacboost import RandomForestClassifier
from tests.bounds.coverage import check_coverage, check_rejected

RUNS = 200


@pytest.fixture(scope="module", params=["magic_telescope", "spambase", "phoneme"])
def world(request: pytest.FixtureRequest) -> Any:
    if real_data.absent(request.param):
        pytest.skip(str(real_data.absent(request.param)))
    forest = RandomForestClassifier(60, random_state=0)
    return request.param, *bench_promises.world(real_data.read(request.param), forest)


@pytest.mark.slow
@pytest.mark.parametrize("wish", [{"recall": 0.95}, {"precision": 0.9}])
def test_thresholds(world: Any, wish: dict[str, float]) -> None:
    name, model, y = world
    drawn = bench_promises.draws(len(y), RUNS)
    found = [bench_promises.threshold(model, y, chosen, wish) for chosen in drawn]
    broken = sum(own is not None and own[0] for own in found)
    check_coverage(f"{name}, {wish}", broken, RUNS, bench_promises.DELTA)


@pytest.mark.slow
def test_a_threshold_that_just_reached_the_recall_is_rejected(world: Any) -> None:
    name, model, y = world
    scores, broken = model._said[:, 1], 0
    for chosen in bench_promises.draws(len(y), RUNS):
        least = np.quantile(scores[chosen][y[chosen] == 1], 0.05, method="lower")
        broken += np.mean(scores[y == 1] >= least) < 0.95
    check_rejected(f"{name}, recall as it was seen", broken, RUNS, bench_promises.DELTA)
