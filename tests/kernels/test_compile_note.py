"""A first fit says that it compiles, if somebody waits for it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from pacboost.kernels.runtime import jit
from pacboost.kernels.runtime.jit import CompileNote
from pacboost.numerics import interactive


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_said", False)


@pytest.mark.usefixtures("fresh")
def test_a_person_at_a_terminal_reads_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    jit.say_to_a_person()
    jit.say_to_a_person()
    assert screen.getvalue() == jit.NOTE + "\n"


@pytest.mark.usefixtures("fresh")
def test_nobody_reads_it_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    jit.say_to_a_person()
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("fresh")
def test_a_notebook_shows_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = types.SimpleNamespace(kernel=object())
    module = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", module)
    assert interactive.in_notebook()
    jit.say_to_a_person()
    assert capsys.readouterr().err == jit.NOTE + "\n"


@pytest.mark.usefixtures("fresh")
def test_kernels_of_others_are_not_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    for function in (test_nobody_reads_it_in_a_file, None):
        heard = types.SimpleNamespace(data={"dispatcher": types.SimpleNamespace(py_func=function)})
        CompileNote().on_start(heard)
    assert screen.getvalue() == ""


PROGRAM = """
import sys
import numpy as np
sys.stderr.isatty = lambda: True
from pacboost.estimators.boosting.adaboost import AdaBoostClassifier
AdaBoostClassifier(n_estimators=1, n_jobs=1).fit(np.arange(8.0)[:, None], np.arange(8) > 3)
"""


@pytest.mark.slow
def test_a_fit_announces_what_it_compiles_and_not_what_it_loads(tmp_path: Path) -> None:
    def stderr() -> str:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            check=True, capture_output=True, text=True,
        ).stderr  # fmt: skip

    assert stderr().count(jit.NOTE) == 1
    assert jit.NOTE not in stderr()
