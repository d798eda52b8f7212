"""``pacboost doctor`` as a user runs it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pacboost
from pacboost.cli.commands import doctor
from tests.cli.running import answer, run, well


@pytest.fixture
def writable_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let compiled code have a folder also where no usual one is writable."""
    from pacboost.kernels import bins

    here = SimpleNamespace(stats=SimpleNamespace(cache_path=str(tmp_path)))
    look = doctor._cache

    def looking() -> doctor.Finding:
        with monkeypatch.context() as patched:
            patched.setattr(bins, "encode", here)
            return look()

    monkeypatch.setattr(doctor, "_cache", looking)


@pytest.mark.usefixtures("writable_cache")
def test_all_is_well_here() -> None:
    shown = well("doctor")
    assert "Everything works." in shown
    found = answer("doctor")
    assert found["well"] is True
    named = {one["name"]: one for one in found["findings"]}
    assert pacboost.__version__ in named["pacboost"]["words"]
    assert "a first fit took" in named["compiled code"]["words"]
    assert {"cache", "numpy", "pandas", "onnx"} <= set(named)


@pytest.mark.usefixtures("writable_cache")
def test_what_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "EXTRAS", {"no_such_library": ("frames", "reads")})
    monkeypatch.setattr(doctor, "REQUIRED", ())
    assert "not installed (reads): pip install 'pacboost[frames]'" in well("doctor")


def test_what_is_missing_and_needed_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "REQUIRED", ("no-such-library",))
    result = run("doctor")
    assert result.exit_code == 1
    assert "FAILS" in result.stdout
    assert answer("doctor", code=1)["well"] is False


def test_compiled_code_that_does_not_work_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacboost.sources.toy.ten_points", lambda: ([], []))
    result = run("doctor")
    assert result.exit_code == 1
    assert "FAILS compiled code" in " ".join(result.stdout.split())
    X, y = np.arange(4.0)[:, None], np.array([-1, 1, -1, 1])
    monkeypatch.setattr("pacboost.sources.toy.ten_points", lambda: (X, y))
    assert "a known fit gave" in run("doctor").stdout


def test_without_a_folder_for_compiled_code_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pacboost.kernels import bins

    nowhere = SimpleNamespace(stats=SimpleNamespace(cache_path=None))
    monkeypatch.setattr(bins, "encode", nowhere)
    found = doctor._cache()
    assert not found.well
    assert "Set NUMBA_CACHE_DIR" in found.words
