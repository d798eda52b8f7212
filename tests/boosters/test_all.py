"""All boosters: what they refuse, and that a rule without mistakes ends their runs."""

import math
from itertools import islice

import numpy as np
import pytest

from pacboost.boosters.registry import BOOSTERS, LOSSES
from pacboost.errors import ParameterError
from pacboost.learners.stump import Stump
from pacboost.numerics.exact import MAX_VOTE
from pacboost.training.run.loop import Run
from pacboost.training.run.stop_reason import Stop, StopReason
from tests.boosters.margins import NAMES, SOFT
from tests.worlds import make_sample

REFUSED: list[tuple[list[str], str, list[float]]] = [
    (["adaboost", "filter_boost", "gentle", "logit", "mada"], "learning_rate",
     [0.0, -1.0, math.nan, math.inf]),
    (["absolute", "gamma", "huber", "poisson", "quantile", "square"], "learning_rate",
     [0.0, -1.0, 1.5, math.nan, math.inf]),
    (["gamma", "logit", "poisson", "square"], "l2", [-1.0, math.nan, math.inf]),
    (["brown", "majority", "measure", "projection", "smooth"], "epsilon", [0.0, 1.0, math.nan]),
    (["majority", "measure", "projection", "smooth"], "edge", [0.0, 1.0, math.nan]),
    (["adaboost_v", "arc_gv"], "tolerance", [0.0, -0.1, 1.0, math.nan]),
    (NAMES, "tolerance", [0.0, -1.0, 2.0, math.nan]),
    ([*SOFT], "share", [-0.1, 1.0, 1.5, math.nan]),
    (["measure"], "share", [0.0, 1.1]),
    (["adaboost"], "max_vote", [0.0]),
    (["logit"], "max_target", [0.0, math.nan]),
    (["quantile"], "quantile", [0.0, 1.0, math.nan]),
    (["huber"], "alpha", [0.0, 1.5]),
]  # fmt: skip


@pytest.mark.parametrize(("names", "parameter", "values"), REFUSED)
def test_bad_parameters_are_refused(names: list[str], parameter: str, values: list[float]) -> None:
    for name in names:
        for value in values:
            with pytest.raises(ParameterError, match=f"{parameter} is {value}"):
                {**BOOSTERS, **LOSSES}[name](**{parameter: value})


@pytest.mark.parametrize("name", [*NAMES, "adaboost_v", "arc_gv", "filter_boost"])
def test_a_rule_without_mistakes_stands_alone(name: str) -> None:
    X = np.arange(40.0)[:, None]
    signs = np.where(X[:, 0] > 12, 1, -1).astype(np.int8)
    run = Run(make_sample(X, signs), Stump(), BOOSTERS[name]())
    list(islice(run, 5))
    assert run.stopped == StopReason(Stop.STANDS_ALONE)
    (done,) = run.done
    assert 0 < done.entry.vote <= MAX_VOTE + 1e-9
    assert done.entry.margin == (None if name == "filter_boost" else 1)
