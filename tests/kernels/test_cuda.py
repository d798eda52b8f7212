"""What of the GPU's side can be checked without one: its choice, its sources, its names."""

import re
import shutil
import subprocess
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pacboost import BoostClassifier, RandomForestClassifier
from pacboost.errors import ParameterError
from pacboost.kernels import device, layout
from pacboost.kernels import forest as forest_grow
from pacboost.kernels.cuda import device as cuda
from pacboost.kernels.cuda import encode, forest, launches, predict, twins, weighing
from pacboost.kernels.native import native
from pacboost.numerics import same_bits
from pacboost.numerics.same_bits import MAX_NUMBERS_TO_COPY, total
from pacboost.training.bags.bagging import tree_maker

SOURCES = Path(__file__).parents[2] / "src" / "native"


def rows() -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(60, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("kind", [BoostClassifier, RandomForestClassifier])
def test_without_a_gpu_cuda_is_refused_and_auto_is_the_cpu(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "what_is_missing", lambda: "CUDA finds no GPU")
    for name in ("cuda", "gpu"):
        with pytest.raises(ParameterError, match=f"'{name}', but CUDA finds no"):
            kind(n_estimators=2, device=name).fit(*rows())
    with pytest.raises(ParameterError, match=r"'tpu'; .*'cpu', 'cuda', 'gpu'"):
        kind(n_estimators=2, device="tpu").fit(*rows())
    assert kind(n_estimators=2, device="auto").fit(*rows()).n_features_in_ == 3
    assert not device.use_gpu("auto", 10**12)


def test_auto_takes_a_gpu_for_large_tables_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "what_is_missing", lambda: "")
    assert not device.use_gpu("auto", 5_000 * 28)
    assert device.use_gpu("auto", 1_000_000 * 28)
    assert device.use_gpu("cuda", 1)


@pytest.mark.parametrize("file", sorted(path.name for path in cuda.FOLDER.glob("*.cu")))
def test_every_source_compiles(file: str, tmp_path: Path) -> None:
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("no nvcc: CUDA's compiler is not installed")
    options = [option for option in cuda.OPTIONS if not option.startswith("-I")]
    out = tmp_path / "out.ptx"
    folders = f"-I{cuda.FOLDER}", f"-I{cuda.CORE}"
    command = [compiler, "-ptx", "-arch=sm_90", *options, *folders, "-o", str(out)]
    subprocess.run([*command, str(cuda.FOLDER / file)], check=True, capture_output=True)
    text = out.read_text()
    assert not re.search(r"\bfma\.rn\.f64", text)  # it would round differently from the CPU
    source = cuda.source_of(file)
    for name in re.findall(r"__global__ void (?:__launch_bounds__\(\S+ \S+\)\s*)?(\w+)\(", source):
        assert f".entry {name}(" in text


def test_every_twin_is_named_as_its_original() -> None:
    for name in twins.TWINS:
        assert hasattr(native, name), name
    launched = set(re.findall(r'_launch\(\s*"(\w+)"', Path(twins.__file__).read_text()))
    assert launched <= set(re.findall(r"__global__ void (\w+)\(", cuda.source_of("rows.cu")))


def found_in(file: str, pattern: str) -> str:
    """What a group of a pattern stands for in a source."""
    actual = re.search(pattern, cuda.source_of(file), re.DOTALL)
    assert actual is not None, pattern
    return actual[1]


def test_constants_are_those_of_python() -> None:
    places = (cuda.CORE / "core" / "places.h").read_text(encoding="utf-8")
    for names in re.findall(r"^enum : i64 \{ (.*?) \};", places, re.MULTILINE | re.DOTALL):
        for place, name in enumerate(re.split(r",\s*", names)):
            assert getattr(layout, name) == place
    assert int(found_in("tree.cuh", r"#define BATCH (\d+)")) == launches.BATCH
    sums = (SOURCES / "rounds" / "sums.h").read_text()
    for name, ours in [("TILE", "ROWS_PER_TILE"), ("PARTS", "PARTS")]:
        actual = int(found_in("rows.cu", rf"#define {name} (\d+)"))
        assert actual == getattr(weighing, name)
        assert f"constexpr i64 {ours} = {actual};" in sums
    plan = found_in("tree.cuh", r"enum \{ (COUNT, [^}]*), PLAN_WORDS \}").split(", ")
    assert plan.index("LEAVES") == launches.LEAVES
    assert len(plan) == launches.PLAN_WORDS
    fields = found_in("tree.cuh", r"struct Tree \{(.*?)\border\[2\]")
    text = re.sub(r"//[^\n]*", "", fields)
    assert text.count(";") + text.count(",") == launches.ORDER


def test_rows_of_codes_fit_into_the_memory_of_a_block() -> None:
    for columns in (1, 28, 150, 151, 700, encode.MAX_COLUMNS):
        tile = encode.rows_per_tile(columns)
        assert encode.MIN_ROWS_PER_TILE <= tile <= encode.MAX_ROWS_PER_TILE
        assert columns * (tile + encode.GAP) <= encode.MAX_TILE_BYTES
    assert int(found_in("encode.cu", r"#define GAP (\d+)")) == encode.GAP


def test_trees_are_grouped_by_what_a_block_can_hold() -> None:
    sizes = np.array([0, 1000, 3000, 72, 3000, 1, 1])
    starts = np.cumsum(sizes)
    groups = predict._groups(starts)
    assert groups[0] == 0
    assert groups[-1] == sizes.size - 1
    held = np.diff(starts[groups])
    assert (held <= predict.MAX_ENTRIES_PER_BLOCK).all()
    assert (np.diff(groups) > 0).all()


def test_models_of_a_gpu_predict_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    model = BoostClassifier(n_estimators=2, random_state=0).fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr(device, "what_is_missing", lambda: "CUDA finds no GPU")
    monkeypatch.setattr(device, "MIN_CELLS_TO_SCORE", 1)
    assert np.array_equal(model.set_params(device="cuda").decision_function(X), expected)


def test_auto_takes_a_gpu_for_many_trees_of_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "what_is_missing", lambda: "")
    table = SimpleNamespace(n_columns=28)
    real = np.random.default_rng(0).uniform(1, 2, 1_000_000)

    def kind(classes: int, trees: int = 1_000, rows: int = 1_000_000, base: Any = None) -> str:
        given = np.ones(1) if base is None else base
        sample: Any = SimpleNamespace(n_rows=rows, table=table, base=given)
        return tree_maker("auto", trees, sample, classes, rows).__name__

    assert kind(2) == kind(26) == kind(2, base=real) == "GpuTreeMaker"
    assert kind(2, trees=100) == kind(2, rows=5_000) == kind(3, base=real) == "TreeMaker"


def test_constants_of_forests_are_those_of_the_cpu() -> None:
    text = cuda.source_of("forest.cuh")
    assert f"#define CODES {forest.CODES}\n" in text
    assert f"#define LEAF {int(forest_grow.LEAF):#X}ull".replace("0X", "0x") in text
    plan = found_in("forest.cuh", r"whole (classes, [^;]*);  // the plan of")
    assert tuple(plan.split(", ")) == forest_grow.ForestPlan._fields


def test_arrays_of_forests_are_in_the_order_of_the_struct() -> None:
    text = found_in("forest.cuh", r"struct Forest \{(.*?)\n\};")
    fields = re.findall(r"(\w+)\s*[,;]", re.sub(r"//[^\n]*", "", text))
    names = list(forest.ForestOnGpu._shapes(_Sizes(), 1, 1))  # type: ignore[arg-type]
    assert fields[-len(names) :] == names


class _Sizes:
    """What the shapes of arrays depend on."""

    _weighted, _classes, _features = True, 3, 4


class OutOfMemoryError(Exception):
    """Named as CuPy's."""


def test_too_little_memory_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        device, "_too_large", lambda each, columns, _: f"{columns} columns do not fit"
    )
    with pytest.raises(ParameterError, match="28 columns do not fit"), device.using_gpu(True, 28):
        raise OutOfMemoryError
    with pytest.raises(OutOfMemoryError), device.using_gpu(False, 28):
        raise OutOfMemoryError


class OnCard(np.ndarray):
    """An array that says it is on a GPU."""

    __cuda_array_interface__ = None


@pytest.mark.parametrize(
    "size",
    [0, 1, 64, 65, MAX_NUMBERS_TO_COPY, MAX_NUMBERS_TO_COPY + 1, 3 * MAX_NUMBERS_TO_COPY + 7],
)
def test_totals_have_the_same_bits_on_a_gpu(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = []

    def copy(array: np.ndarray) -> np.ndarray:
        copied.append(array.size)
        return np.asarray(array)

    monkeypatch.setattr(same_bits, "in_host_memory", copy)
    numbers = np.random.default_rng(size).normal(size=size) * 1e6
    halved = numbers.tolist()
    while len(halved) > 1:
        half = (len(halved) + 1) // 2
        halved = [a + b for a, b in zip_longest(halved[:half], halved[half:], fillvalue=0.0)]
    assert total(numbers.view(OnCard)) == total(numbers) == sum(halved)
    assert max(copied, default=0) <= MAX_NUMBERS_TO_COPY
