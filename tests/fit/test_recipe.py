"""Recipes are values, and a fit says which it chose."""

from dataclasses import fields
from typing import Any

import pytest

from pacboost import BoostRegressor
from pacboost.fit.ask import Stopping
from pacboost.fit.recipe import Recipe
from pacboost.fit.trial import Outcome, Trial
from pacboost.hypotheses.vote_digest import vote_digest
from tests.estimators.boosting.worlds import sloped


def test_a_regressor_keeps_its_values_too() -> None:
    X, y = sloped(500)
    model = BoostRegressor(random_state=0).fit(X, y)
    settings = list(model.settings_.items())
    for some in (dict(settings[::2]), dict(settings[1::2])):
        again = BoostRegressor(random_state=0, **some).fit(X, y)
        assert vote_digest(again.model_.vote) == vote_digest(model.model_.vote), some


@pytest.mark.parametrize("record", [Recipe, Stopping, Trial, Outcome])
def test_records_hold_values(record: Any) -> None:
    assert not [field.name for field in fields(record) if "Callable" in str(field.type)]
