"""Tests for a machine with an NVIDIA GPU: `make gpu` runs them; elsewhere they are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pacboost.kernels.device import what_is_missing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = what_is_missing()
    folder = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if missing and str(item.path).startswith(folder):
            item.add_marker(pytest.mark.skip(reason=f"no GPU: {missing}"))
