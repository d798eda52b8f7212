"""The GPU gives the bytes that the CPU gives, for random data and settings."""

from __future__ import annotations

import warnings

import pytest

from pacboost.errors import PacboostError
from tests.gpu.settings import setting_of
from tests.test_model_bytes import content

SETTINGS = 600


@pytest.mark.parametrize("seed", range(SETTINGS))
def test_models_are_equal_byte_by_byte(seed: int) -> None:
    assert outcome(seed, "cuda") == outcome(seed, "cpu")


def outcome(seed: int, device: str) -> bytes | str:
    """The bytes of a model, or the words with which it is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = setting_of(seed).fitted(device)
            model.set_params(device="cpu")
            return content(model)
    except PacboostError as problem:
        return f"{type(problem).__name__}: {problem}"
