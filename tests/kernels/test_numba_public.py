"""Kernels that are compiled with numba's public API alone give models of the same bytes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from pacboost.kernels.runtime import jit
from tests.oldest import requirements
from tests.recorded_models import MODELS, digest, on_linux

ROOT = Path(__file__).parents[2]
NAMES = ["logit tree two", "AdaBoostClassifier plain", "square", "sparse", "text"]
PROGRAM = """
import json, sys
import numba
if sys.argv[1]:
    numba.version_info = (*json.loads(sys.argv[1]), 0)
from pacboost.kernels.runtime import jit
names = json.loads(sys.argv[2])
if names:
    from pacboost.kernels.runtime import jit
from tests.oldest import requirements
from tests.recorded_models import MODELS, digest
print(json.dumps([jit.HAS_ENTRIES, {name: digest(MODELS[name]) for name in names}]))
"""


def fitted(names: list[str], version: list[int] | None = None, way: str = "public") -> list[object]:
    """Fit models in another process; say whether its kernels have entries, and what it made."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(version) if version else "", json.dumps(names)],
        env={**os.environ, "PACBOOST_NUMBA": way}, cwd=ROOT,
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    result: list[object] = json.loads(done.stdout)
    return result


@on_linux
def test_models_have_the_same_bytes() -> None:
    assert fitted(NAMES) == [False, {name: digest(MODELS[name]) for name in NAMES}]


@on_linux
@pytest.mark.slow
def test_models_of_all_kinds_have_the_same_bytes() -> None:
    assert fitted(list(MODELS)) == [False, {name: digest(fit) for name, fit in MODELS.items()}]


@pytest.mark.parametrize(
    ("version", "private"),
    [((0, 60), False), ((0, 61), True), ((0, 68), True), ((0, 69), False), ((1, 0), False)],
)
def test_other_versions_of_numba_are_used_by_their_public_api(
    version: tuple[int, int], private: bool
) -> None:
    assert numba.version_info[:2] <= (0, 68)
    assert fitted([], list(version), way="") == [private, {}]


def test_no_untested_version_of_numba_is_installed() -> None:
    (versions,) = (version for name, version in requirements() if name == "numba")
    bounds = [tuple(map(int, bound.split("."))) for bound in re.findall(r"[\d.]+", versions)]
    tested = "FIRST_TESTED, LAST_TESTED = ({}, {}), ({}, {})".format(
        *bounds[0], 0, bounds[1][1] - 1
    )
    assert tested in (ROOT / "src/pacboost/kernels/runtime/numba_private.py").read_text()


@pytest.mark.skipif(not jit.HAS_ENTRIES, reason="arrays are read by numba")
def test_arrays_of_another_layout_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert jit.compiler.reads_arrays()
    for name, other in (("DATA", "STRIDES"), ("DIMENSIONS", "STRIDES"), ("STRIDES", "DIMENSIONS")):
        with monkeypatch.context() as patch:
            patch.setattr(jit.compiler, name, getattr(jit.compiler, other))
            assert not jit.compiler.reads_arrays()


@pytest.mark.parametrize("way", ["", "public"])
def test_numba_that_does_not_compile_is_named(way: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import pacboost.kernels.runtime.jit"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PACBOOST_NUMBA": way}, cwd=ROOT,
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    last = done.stderr.splitlines()[-1]
    assert last.startswith("pacboost.errors.PacboostError: ")
    assert "NUMBA_DISABLE_JIT" in last


def test_private_api_is_used_in_one_file() -> None:
    words = ("numba.core", "numba.np", "llvmlite", "._impl", "_nrt", "gc.disable")
    users = {
        file.name
        for file in (ROOT / "src").rglob("*.py")
        if any(word in file.read_text(encoding="utf-8") for word in words)
    }
    assert users == {"numba_private.py"}
