"""How many rounds a fit may have, and after how many without progress it ends."""

from __future__ import annotations

from typing import Any

from pacboost.boosters.booster import Booster
from pacboost.estimators.parameters.values import Values
from pacboost.fit.settings import PATIENCE_OF_SINGLE_COLUMNS, STEPS_OF_BEST


def most_rounds(asked: Values, default: int, booster: Booster[Any]) -> int:
    """Return the maximum number of rounds."""
    rounds = asked.n_estimators
    return default if rounds is None else with_a_rule(rounds, booster)


def with_a_rule(rounds: int, booster: Booster[Any]) -> int:
    """Return one more round if the first is a constant, so that the vote has a rule."""
    return max(rounds, 2 if booster.prior else 1)


def begins_by_prior(asked: Values) -> bool:
    """Whether the first round is a constant: a single rule after it would hardly change it."""
    return bool(asked.n_estimators != 1 or asked.warm_start)


def patience(asked: Values, rounds: int) -> int | None:
    """Return how many rounds without progress end a run, None for never.

    ``rounds`` are those where ``early_stopping`` is no number.
    """
    stopping: bool | int | str = asked.early_stopping
    if not isinstance(stopping, bool | str):
        return stopping
    if not stopping:
        return None
    steps = STEPS_OF_BEST if asked.quality == "best" else 1
    # with a quarter of the columns drawn, 20 rounds without progress end too early: 1.007 of the
    # log loss at 50 (docs/decisions/0025)
    small = asked.interactions is not None
    return steps * (PATIENCE_OF_SINGLE_COLUMNS if small else rounds)
