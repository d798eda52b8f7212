"""Models have the recorded bytes, so that a change of the code that changes a model is noticed."""

import pytest

from tests.recorded_models import MODELS, digest, on_linux, recorded


@on_linux
@pytest.mark.parametrize("name", MODELS)
def test_the_bytes_are_as_recorded(name: str) -> None:
    # a booster that nobody has recorded yet has to have the same bytes twice
    assert digest(MODELS[name]) == (recorded().get(name) or digest(MODELS[name]))


def test_only_models_are_recorded() -> None:
    assert recorded().keys() <= MODELS.keys()
