"""Tests for a machine with an NVIDIA GPU: `make gpu` runs them; elsewhere they are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacboost.kernels.cuda.device import what_is_missing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = what_is_missing()
    for item in items:
        if missing and Path(__file__).parent in Path(item.fspath).parents:
            item.add_marker(pytest.mark.skip(reason=f"no GPU: {missing}"))
