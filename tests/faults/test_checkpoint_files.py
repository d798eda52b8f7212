"""Checkpoints with other numbers and right checksums: refused, or the run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pacboost.errors import FileError
from pacboost.models.file import checkpoint, container
from tests.faults.mutations import REFUSED, fit_on, last_checkpoint, small_refills, tried


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    with small_refills():
        yield


def refused(folder: Path, source: str, count: int, seed: int) -> int:
    """Go on from so many changed checkpoints; count those that were refused."""
    return sum(tried(source, number, seed, folder) == REFUSED for number in range(count))


@pytest.mark.parametrize("source", ["array", "stream"])
def test_changed_checkpoints_are_refused_or_go_on(source: str, tmp_path: Path) -> None:
    assert refused(tmp_path, source, 12, seed=1) > 0


@pytest.mark.slow
@pytest.mark.parametrize("source", ["array", "stream"])
def test_a_thousand_changed_checkpoints(source: str, tmp_path: Path) -> None:
    assert refused(tmp_path, source, 1000, seed=2) > 0


def test_rows_that_certify_cannot_be_exchanged(tmp_path: Path) -> None:
    content: dict[str, Any] = deepcopy(last_checkpoint("array"))
    content["arrays"]["kinds"] = content["arrays"]["kinds"][::-1].copy()
    container.write(tmp_path / "run.ckpt", checkpoint.KIND, content)
    with pytest.raises(FileError, match="other rows are set apart"):
        fit_on("array", tmp_path / "run.ckpt")


def test_settings_that_cannot_be_compared_are_refused(tmp_path: Path) -> None:
    content: dict[str, Any] = deepcopy(last_checkpoint("array"))
    content["settings"]["seed"] = np.zeros(3)
    container.write(tmp_path / "run.ckpt", checkpoint.KIND, content)
    with pytest.raises(FileError, match="hold an array"):
        fit_on("array", tmp_path / "run.ckpt")
