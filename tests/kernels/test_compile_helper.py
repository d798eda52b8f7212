"""The first fit of an installation: a second process compiles half, and the fit finds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pacboost.kernels.runtime import compile_helper, jit
from pacboost.kernels.runtime.threads import using

FIT = """
import numpy as np
from numba.core import event

class Compiled(event.Listener):
    def on_start(self, found):
        print(found.data["dispatcher"].py_func.__name__)
    def on_end(self, found):
        pass

event.register("numba:compile", Compiled())
from pacboost import BoostClassifier
from pacboost.kernels.runtime import compile_helper
compile_helper.start(compile_helper.TREES)
X = np.random.default_rng(0).normal(size=(700, 2))
model = BoostClassifier(n_estimators=2, early_stopping=False).fit(X, X[:, 0] > 0)
print("fitted")
compile_helper._helper.wait()
model.predict(X), model.predict(X[:3])
"""
FIT_STUMPS = FIT.replace("TREES", "STUMPS").replace("BoostClassifier", "AdaBoostClassifier")


@pytest.fixture
def nothing_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit, "_said", False)
    monkeypatch.setattr(compile_helper, "_helper", None)
    return tmp_path


def test_a_note_is_written_and_the_second_process_can_be_ended(
    nothing_compiled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_helper.start(compile_helper.TREES)
    assert compile_helper.at_work()
    compile_helper.stop()
    assert not compile_helper.at_work()
    assert capsys.readouterr().err.startswith("Note: compiling once for this machine")


def test_nothing_is_started_where_nobody_waits(nothing_compiled: Path) -> None:
    compile_helper.start_for_a_person(compile_helper.TREES)
    assert not compile_helper.at_work()


def test_later_runs_have_no_second_process(
    nothing_compiled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (nothing_compiled / "kernels_ab12").mkdir()
    (nothing_compiled / "kernels_ab12" / "grow_team.grow_tree-263.py311.0a1b.nbc").touch()
    compile_helper.start(compile_helper.TREES)
    assert not compile_helper.at_work()
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_the_fit_compiles_nothing_that_the_second_process_has_compiled(tmp_path: Path) -> None:
    ready = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", FIT], env=ready, check=True, capture_output=True, text=True
    )
    compiled, later = done.stdout.split("fitted")
    assert "log_costs" in compiled
    assert "grow_tree" not in compiled
    assert "give_values" not in compiled  # the first fit does without: training/run/quick.py
    assert later.split() == []


@pytest.mark.slow
def test_stumps_are_compiled_by_two_processes_too(tmp_path: Path) -> None:
    ready = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    program = FIT_STUMPS.replace(", early_stopping=False", "")
    done = subprocess.run(
        [sys.executable, "-c", program], env=ready, check=True, capture_output=True, text=True
    )
    compiled, _ = done.stdout.split("fitted")
    assert "masses" in compiled
    assert "largest_edges" not in compiled


@pytest.mark.parametrize("count", [1, 2])
def test_one_thread_has_no_second_process(
    nothing_compiled: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    started: list[int] = []
    monkeypatch.setattr(compile_helper, "person_waits", lambda: True)
    monkeypatch.setattr(compile_helper, "start", lambda rules: started.append(count))
    with using(count):
        compile_helper.start_for_a_person(compile_helper.TREES)
    assert started == ([] if count == 1 else [2])
