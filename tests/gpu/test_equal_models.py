"""The GPU gives the bytes that the CPU gives, for random data and settings."""

from __future__ import annotations

import pytest

from tests.gpu.settings import forest_of, on_the_cpu_only, outcome, setting_of

SETTINGS, FORESTS = 600, 200


@pytest.mark.parametrize("seed", range(SETTINGS))
def test_models_are_equal_byte_by_byte(seed: int) -> None:
    assert outcome(setting_of(seed), "cuda") == outcome(setting_of(seed), "cpu")


@pytest.mark.parametrize("seed", range(FORESTS))
def test_forests_are_equal_byte_by_byte(seed: int) -> None:
    found, expected = (outcome(forest_of(seed), device) for device in ("cuda", "cpu"))
    assert found == expected or on_the_cpu_only(found)
