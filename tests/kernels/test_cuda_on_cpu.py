"""The kernels for a GPU, compiled for the CPU: their models are those of the CPU's kernels.

Where no card is, this is as near as a test can come. What it cannot show are races between blocks
and accesses beyond the end of an array: `make gpu` and `make sanitize` are for those.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pacboost.kernels.cuda import device

HERE = Path(__file__).parent / "cuda_on_cpu"
ROOT = Path(__file__).parents[2]
QUICK = ["38", "160", "f20", "f27"]
"""Seeds of 60 rows of two classes, for LogitBoost with stumps and trees; and two of forests."""
SLOW = range(240)


def compiled(folder: Path) -> None:
    """Compile every .cu file for the CPU."""
    running = []
    for file in device.FOLDER.glob("*.cu"):
        code = device.source_of(file.name)
        text = re.sub(
            r"extern __shared__ (\w+) (\w+)\[\];", r"alignas(16) static \1 \2[1 << 18];", code
        )
        source = folder / f"{file.stem}.cpp"
        source.write_text(f'#include "cuda_on_cpu.h"\n{text}')
        source.with_suffix(".first").write_text(code.splitlines()[0])
        options = ["-O1", "-w", "-U_FORTIFY_SOURCE", "-ffp-contract=off", "-shared", "-fPIC"]
        command = ["g++", *options, "-std=c++20", f"-I{HERE}", f"-I{device.FOLDER}"]
        command += [f"-I{device.CORE}", "-o", str(source.with_suffix(".so"))]
        running.append(subprocess.Popen([*command, str(source)]))
    assert [child.wait() for child in running] == [0] * len(running)


def run(folder: Path, seeds: list[str]) -> str:
    path = os.pathsep.join([str(HERE), str(ROOT), str(ROOT / "src"), *sys.path])
    actual = subprocess.run(
        [sys.executable, "-m", "tests.kernels.cuda_on_cpu.run_settings", *seeds],
        env={**os.environ, "PYTHONPATH": path, "PACBOOST_CUDA_ON_CPU": str(folder)}, cwd=ROOT,
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert actual.returncode == 0, actual.stderr[-3_000:]
    return actual.stdout


needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None
    or sys.platform != "linux"
    or platform.machine() not in ("x86_64", "aarch64"),
    reason="kernels are called as g++ compiles functions for Linux on these processors",
)


@needs_compiler
def test_kernels_of_the_gpu_give_the_same_models_on_the_cpu(tmp_path: Path) -> None:
    compiled(tmp_path)
    assert run(tmp_path, QUICK).endswith("done\n")


@pytest.mark.slow
@needs_compiler
def test_many_settings_give_the_same_models(tmp_path: Path) -> None:
    compiled(tmp_path)
    from tests.gpu.settings import forest_of, setting_of

    small = [str(seed) for seed in SLOW if len(setting_of(seed).X) == 60]
    small += [f"f{seed}" for seed in SLOW if len(forest_of(seed).X) == 60]
    small += ["f97", "f148"]  # values are missing, and the last code is the first row's
    assert run(tmp_path, small).endswith("done\n")
