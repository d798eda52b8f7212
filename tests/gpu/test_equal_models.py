"""The GPU gives the bytes that the CPU gives, for random data and settings."""

from __future__ import annotations

import warnings

import pytest

from pacboost.errors import PacboostError
from tests.gpu.settings import Setting, forest_of, setting_of
from tests.recorded_models import content

SETTINGS, FORESTS = 600, 200


@pytest.mark.parametrize("seed", range(SETTINGS))
def test_models_are_equal_byte_by_byte(seed: int) -> None:
    assert outcome(setting_of(seed), "cuda") == outcome(setting_of(seed), "cpu")


@pytest.mark.parametrize("seed", range(FORESTS))
def test_forests_are_equal_byte_by_byte(seed: int) -> None:
    found, expected = (outcome(forest_of(seed), device) for device in ("cuda", "cpu"))
    assert found == expected or on_the_cpu_only(found)


def on_the_cpu_only(found: bytes | str) -> bool:
    """Check whether a forest was refused because of its weights, as docs/gpu.md says."""
    return isinstance(found, str) and "are grown on the CPU only" in found


def outcome(setting: Setting, device: str) -> bytes | str:
    """The bytes of a model, or the words with which it is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = setting.fitted(device)
            model.set_params(device="cpu")
            return content(model)
    except PacboostError as problem:
        return f"{type(problem).__name__}: {problem}"
