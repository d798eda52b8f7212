"""The wheel: it holds the package and nothing else, is small, and runs where it is unpacked.

Quick runs build it without kernels, which takes seconds; ``make dist`` tests the published one.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.markdown import HOUSE, commands_of_readme

MOST_BYTES = 3_000_000
SOURCES = ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "src")
IS_PUBLISHED = "PACBOOST_DIST" in os.environ
BUILT = (".so", ".pyd")
CORE = HOUSE / "src" / "native" / "core"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Take the one that ``make dist`` has built, or build it from a copy of the sources."""
    if IS_PUBLISHED:
        (built,) = (HOUSE / os.environ["PACBOOST_DIST"]).glob("*.whl")
        return built
    folder = tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        here = HOUSE / name
        copy = shutil.copytree if here.is_dir() else shutil.copy
        copy(here, folder / name)
    order = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", "dist"]
    order += ["-C", "wheel.cmake=false", "."]
    done = subprocess.run(order, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and (
        "No module named pip" in done.stderr or "scikit-build-core" in done.stderr
    ):
        pytest.skip(
            f"needs pip and scikit-build-core to build: {done.stderr.strip().splitlines()[-1]}"
        )
    assert done.returncode == 0, done.stderr
    (path,) = (folder / "dist").glob("*.whl")
    return path


def test_it_holds_the_package_and_no_tests(wheel: Path) -> None:
    assert wheel.stat().st_size < MOST_BYTES
    # auditwheel lists folders, too
    names = [name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")]
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"pacboost"}
    assert not [name for name in names if "tests/" in name or "/test_" in name or ".pyc" in name]
    packed = {name for name in names if name.startswith("pacboost/")}
    built = {name for name in packed if name.endswith(BUILT)}
    assert bool(built) is IS_PUBLISHED
    shared = {f"pacboost/kernels/cuda/core/{file.name}" for file in CORE.glob("*.h")}
    packed -= built | (shared if IS_PUBLISHED else set())
    sources = HOUSE / "src"
    here = {
        path.relative_to(sources).as_posix()
        for path in sources.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in BUILT
    }
    assert {name for name in here if name.startswith("pacboost/")} == packed


def test_it_names_its_extras_and_its_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        (points,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        headers = Parser().parsestr(archive.read(metadata).decode())
        assert {"files", "frames", "sql", "onnx", "plots"} <= set(
            headers.get_all("Provides-Extra") or []
        )
        assert "pacboost = pacboost.cli.main:main" in archive.read(points).decode()


def printed_by(program: str, wheel: Path, unpacked: Path, cwd: Path) -> str:
    """Run a program with the package of the wheel, where no compiler is found."""
    zipfile.ZipFile(wheel).extractall(unpacked)
    # without ``site``, which would put the sources of this clone before every other path
    libraries = sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
    paths = os.pathsep.join([str(unpacked), *libraries])
    done = subprocess.run(
        [sys.executable, "-S", "-W", "ignore", "-c", program], cwd=cwd, capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": paths, "PATH": str(unpacked)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_it_runs_where_it_is_unpacked(wheel: Path, tmp_path: Path) -> None:
    program = "import pacboost, sys; print(pacboost.__file__); from pacboost.cli.main import main"
    assert Path(printed_by(program, wheel, tmp_path, tmp_path)).is_relative_to(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not IS_PUBLISHED, reason="quick runs build no kernels")
def test_its_models_have_the_recorded_bytes(wheel: Path, tmp_path: Path) -> None:
    program = (
        "import pacboost; from tests.recorded_models import MODELS, digest, recorded\n"
        "print(*(n for n in MODELS if digest(MODELS[n]) != recorded()[n]), pacboost.__file__)"
    )
    answer = printed_by(program, wheel, tmp_path, HOUSE)
    assert Path(answer).is_relative_to(tmp_path)


@pytest.mark.slow
def test_a_fresh_environment_installs_and_runs_it(wheel: Path, tmp_path: Path) -> None:
    """It needs an index of packages, as every installation does."""
    venv.create(tmp_path / "fresh", with_pip=True)
    folder = tmp_path / "fresh" / ("Scripts" if os.name == "nt" else "bin")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    clean["PATH"] = str(folder)  # no compiler is found

    def call(*words: str | Path) -> str:
        done = subprocess.run(
            [folder / words[0], *words[1:]], cwd=tmp_path, env=clean, capture_output=True,
            text=True, timeout=900, check=False,
        )  # fmt: skip
        if words[0] == "pip" and "No matching distribution" in done.stderr:
            pytest.skip("needs an index of packages")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call("pip", "install", "--quiet", f"{wheel}")
    missing = call("pacboost", "doctor")
    assert "pacboost[onnx]" in missing
    assert "pacboost[files]" in missing
    shutil.copytree(HOUSE / "examples", tmp_path / "examples")
    printed = {command[0]: call("pacboost", *command) for command in commands_of_readme()}
    assert printed["fit"].startswith("At most ")
    assert (tmp_path / "answers.csv").stat().st_size
