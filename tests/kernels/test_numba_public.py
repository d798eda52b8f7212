"""Kernels that are compiled with numba's public API alone give models of the same bytes."""

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
QUICK = ["AdaBoostClassifier plain"]  # compiles ten kernels, "all" takes minutes
OTHER_VERSIONS = {(0, 60): False, (0, 61): True, (0, 68): True, (0, 69): False, (1, 0): False}
FITS = """
import json, sys
from pacboost.kernels.runtime import jit
from tests.recorded_models import MODELS, digest
print(json.dumps([jit.HAS_ENTRIES, {name: digest(MODELS[name]) for name in sys.argv[1:]}]))
"""
VERSIONS = """
import json, sys
import numba
for version in json.loads(sys.argv[1]):
    numba.version_info = (*version, 0)
    from pacboost.kernels.runtime import jit
    print(json.dumps(jit.HAS_ENTRIES))
    for name in [name for name in sys.modules if name.startswith("pacboost")]:
        del sys.modules[name]
"""


def answer(program: str, *arguments: str, **variables: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **variables}, cwd=ROOT,
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip


@on_linux
@pytest.mark.parametrize(
    "names", [QUICK, pytest.param(list(MODELS), marks=pytest.mark.slow)], ids=["quick", "all"]
)
def test_models_have_the_same_bytes(names: list[str]) -> None:
    models = json.loads(answer(FITS, *names, PACBOOST_NUMBA="public"))
    assert models == [False, {name: digest(MODELS[name]) for name in names}]


def test_other_versions_of_numba_are_used_by_their_public_api() -> None:
    assert numba.version_info[:2] <= (0, 68)
    lines = answer(VERSIONS, json.dumps(list(OTHER_VERSIONS)), PACBOOST_NUMBA="").splitlines()
    assert list(map(json.loads, lines)) == list(OTHER_VERSIONS.values())


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
