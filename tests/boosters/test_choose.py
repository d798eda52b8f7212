"""What users may name as a booster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pacboost.boosters import choose
from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.choose import BOOSTERS, as_booster
from pacboost.errors import ParameterError


@pytest.mark.parametrize("name", sorted(BOOSTERS))
def test_a_name_stands_for_the_booster_of_that_file_with_its_defaults(name: str) -> None:
    booster = as_booster(name)
    assert booster == BOOSTERS[name]()
    assert booster.name == name
    assert Path(choose.__file__).with_name(f"{name}.py").exists()


def test_an_object_is_taken_as_it_is() -> None:
    booster = AdaBoost(0.3)
    assert as_booster(booster) is booster


@pytest.mark.parametrize("choice", ["boost", AdaBoost, None, 3])
def test_anything_else_is_refused(choice: Any) -> None:
    with pytest.raises(ParameterError, match="'adaboost'"):
        as_booster(choice)
