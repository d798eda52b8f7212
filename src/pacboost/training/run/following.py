"""The path of rows through earlier rounds, for boosters whose weights depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.samples.sample import Sample
from pacboost.training.run.margins import Floats


def followed(
    booster: FilteringBooster[Any],
    sample: Sample,
    rules: Sequence[Hypothesis],
    memories: Sequence[Sequence[float]],
    *,
    cells: bool,
) -> Floats:
    """Follow the path of every row once more; ``cells``: the values of rules include the vote."""
    path = booster.start(sample.signs.shape)
    for rule, memory in zip(rules, memories, strict=True):
        agree = rule.said(sample) * sample.signs / (booster.rate if cells else 1.0)
        path = booster.follow(path, agree, memory)
    return path
