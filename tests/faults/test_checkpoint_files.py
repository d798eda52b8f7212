"""Checkpoints with other numbers and right checksums: refused, or the run goes on."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from pacboost import FilterBoostClassifier
from pacboost.errors import FileError, PacboostError
from pacboost.estimators.boosting.filtering import filter_session, filter_setup
from pacboost.models.file import checkpoint, container
from pacboost.training.filtering.drawing import candidates
from tests.estimators.filter_sources import noisy
from tests.faults.structured import mutated

ROWS = 3000
X, y = noisy(ROWS)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a checkpoint before every refill, and keep refills small."""
    monkeypatch.setattr(filter_session, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(candidates, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(filter_setup, "ROWS_FOR_BINS", 1500)


def fitted(source: str, path: Path) -> FilterBoostClassifier:
    model = FilterBoostClassifier(n_rounds=8, sample_rows=400, random_state=0, checkpoint=path)
    if source == "array":
        return model.fit(X, y)
    return model.fit_source([(X[k : k + 900], y[k : k + 900]) for k in range(0, ROWS, 900)])


def last_checkpoint(source: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Give what the last checkpoint of a run holds."""
    written: list[dict[str, Any]] = []
    save = checkpoint.Checkpoint.save

    def saving(self: checkpoint.Checkpoint, to: str | Path) -> None:
        save(self, to)
        written.append(container.read(Path(to), checkpoint.KIND).document)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Checkpoint, "save", saving)
        fitted(source, path)
    return written[-1]


def tried(content: dict[str, Any], source: str, path: Path, count: int, seed: int) -> int:
    """Go on from so many changed checkpoints; count those that were refused."""
    refused = 0
    for number in range(count):
        changed = mutated(content, Random(f"{seed} {source} {number}"))
        try:
            container.write(path, checkpoint.KIND, changed)
        except (FileError, AttributeError, ValueError):  # what no file can hold
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                fitted(source, path)
            except PacboostError:
                refused += 1
        path.unlink(missing_ok=True)
    return refused


@pytest.mark.parametrize("source", ["array", "stream"])
def test_changed_checkpoints_are_refused_or_go_on(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = last_checkpoint(source, tmp_path / "run.ckpt", monkeypatch)
    assert tried(content, source, tmp_path / "run.ckpt", 12, seed=1) > 0


@pytest.mark.slow
@pytest.mark.parametrize("source", ["array", "stream"])
def test_a_thousand_changed_checkpoints(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = last_checkpoint(source, tmp_path / "run.ckpt", monkeypatch)
    assert tried(content, source, tmp_path / "run.ckpt", 1000, seed=2) > 0


def test_rows_that_certify_cannot_be_exchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = last_checkpoint("array", tmp_path / "run.ckpt", monkeypatch)
    content["arrays"]["kinds"] = content["arrays"]["kinds"][::-1].copy()
    container.write(tmp_path / "run.ckpt", checkpoint.KIND, content)
    with pytest.raises(FileError, match="other rows are set apart"):
        fitted("array", tmp_path / "run.ckpt")


def test_settings_that_cannot_be_compared_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = last_checkpoint("array", tmp_path / "run.ckpt", monkeypatch)
    content["settings"]["seed"] = np.zeros(3)
    container.write(tmp_path / "run.ckpt", checkpoint.KIND, content)
    with pytest.raises(FileError, match="hold an array"):
        fitted("array", tmp_path / "run.ckpt")
