"""The first fit of an installation."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacboost.cli import compile_ahead
from pacboost.kernels import compile_note


def test_the_first_run_is_told_and_has_a_helper_that_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_note, "_said", False)
    with compile_ahead.compiling_ahead() as helper:
        assert helper is not None
    assert helper.returncode is not None
    assert capsys.readouterr().err.startswith("Note: compiling once for this machine")


def test_later_runs_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (tmp_path / "kernels_ab12").mkdir()
    (tmp_path / "kernels_ab12" / "best_split.scan-263.py311.nbi").touch()
    with compile_ahead.compiling_ahead() as helper:
        assert helper is None
    assert capsys.readouterr() == ("", "")


def test_the_cache_has_files_of_this_name() -> None:
    """Once trees were boosted, as other tests do, the cache of this installation has one."""
    from tests.kernels.test_warming import fit

    fit()
    assert not compile_ahead._first_run()
