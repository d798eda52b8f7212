"""What of the GPU's side can be checked without one: its choice, its sources, its names."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pacboost import BoostClassifier
from pacboost.errors import ParameterError
from pacboost.kernels import best_split, shares
from pacboost.kernels.cuda import device, launches, module, twins
from pacboost.kernels.update import LN2_HIGH, LN2_LOW, LOG_UNITS, MOST


def rows() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(60, 3))
    return X, (X[:, 0] > 0).astype(int)


def test_without_a_gpu_cuda_is_refused_and_auto_is_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "what_is_missing", lambda: "CUDA finds no GPU")
    with pytest.raises(ParameterError, match=r"device is 'cuda', but CUDA finds no GPU\. Set"):
        BoostClassifier(device="cuda").fit(*rows())
    assert not device.use_gpu("auto", 10**12)
    with pytest.raises(ParameterError, match=r"device is 'tpu'; it may be 'cpu', 'cuda', 'auto'"):
        BoostClassifier(device="tpu").fit(*rows())


def test_auto_takes_a_gpu_for_large_tables_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "what_is_missing", lambda: "")
    assert not device.use_gpu("auto", 5_000 * 28)
    assert device.use_gpu("auto", 1_000_000 * 28)
    assert device.use_gpu("cuda", 1)


def test_the_package_does_not_load_cupy() -> None:
    code = "import sys, pacboost; pacboost.BoostClassifier; assert 'cupy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("file", sorted(path.name for path in module.FOLDER.glob("*.cu")))
def test_every_source_compiles(file: str, tmp_path: Path) -> None:
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("no nvcc: CUDA's compiler is not installed")
    options = [option for option in module.OPTIONS if not option.startswith("-I")]
    out = tmp_path / "out.ptx"
    command = [compiler, "-ptx", "-arch=sm_90", *options, f"-I{module.FOLDER}", "-o", str(out)]
    subprocess.run([*command, str(module.FOLDER / file)], check=True, capture_output=True)
    text = out.read_text()
    assert not re.search(r"\bfma\.rn\.f64", text)  # it would round differently from the CPU
    source = module.source_of(file)
    for name in re.findall(r"__global__ void (?:__launch_bounds__\(\S+ \S+\)\s*)?(\w+)\(", source):
        assert f".entry {name}(" in text


def test_every_twin_is_named_as_its_original() -> None:
    for name in twins.TWINS:
        assert hasattr(shares, name), name
    launched = set(re.findall(r'_launch\(\s*"(\w+)"', Path(twins.__file__).read_text()))
    assert launched <= set(re.findall(r"__global__ void (\w+)\(", module.source_of("rows.cu")))


def test_constants_are_those_of_the_cpu() -> None:
    exact = module.source_of("exact.cuh")
    for name, value in [("LN2_HIGH", LN2_HIGH), ("LN2_LOW", LN2_LOW)]:
        found = re.search(rf"#define {name} (\S+)", exact)
        assert found is not None
        assert float.fromhex(found[1]) == value
    for name, value in [("MOST_LOG", MOST), ("LOG_UNITS", LOG_UNITS)]:
        found = re.search(rf"#define {name} (\S+)", exact)
        assert found is not None
        assert float(found[1]) == value
    tree = module.source_of("tree.cuh")
    columns = re.search(r"enum \{ (LANE, .*), FEATURE_COLUMNS \}", tree)
    assert columns is not None
    for place, name in enumerate(columns[1].split(", ")):
        assert getattr(best_split, name) == place
    rules = re.search(r"enum \{ (CRITERION, .*), RULES \};", tree)
    assert rules is not None
    for place, name in enumerate(rules[1].split(", ")):
        assert getattr(best_split, name) == place
    batch = re.search(r"#define BATCH (\d+)", tree)
    assert batch is not None
    assert int(batch[1]) == launches.BATCH
    plan = re.search(r"enum \{ (COUNT, .*), PLAN_WORDS \}", tree)
    assert plan is not None
    assert plan[1].split(", ").index("LEAVES") == launches.LEAVES
    assert len(plan[1].split(", ")) == launches.PLAN_WORDS
