"""kill -9 at any moment: a file is the old one or the new one, and fits can go on."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import pacboost
from tests.faults.kills import SOURCES, fits_outlive_kills, outlives_kills
from tests.faults.mutations import small_refills
from tests.faults.writers import WRITERS, predictions
from tests.models.kinds import saved

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed after fork")
KILLS = pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.slow)])


@KILLS
@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_the_old_one_or_the_new_one(name: str, kills: int, tmp_path: Path) -> None:
    file, write = WRITERS[name]
    models = [pacboost.load(saved(kind)) for kind in ("stumps", "regressor")]
    outlives_kills(tmp_path / file, write, models, kills, seed=kills)


@KILLS
def test_predictions_are_the_old_ones_or_the_new_ones(kills: int, tmp_path: Path) -> None:
    models = [saved(kind) for kind in ("stumps", "regressor")]
    write = partial(predictions, folder=tmp_path)
    outlives_kills(tmp_path / "answers.csv", write, models, kills, seed=kills)


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    with small_refills():
        yield


@pytest.mark.parametrize("kills", [1, pytest.param(70, marks=pytest.mark.slow)])
@pytest.mark.parametrize("source", SOURCES)
def test_a_killed_fit_goes_on_to_the_same_model(source: str, kills: int, tmp_path: Path) -> None:
    went_on = fits_outlive_kills(source, tmp_path, kills, seed=kills)
    assert went_on > 0 or kills == 1
