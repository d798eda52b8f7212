"""Attacks by what a model file or an environment holds: its size, its libraries, their versions."""

import copy
import gzip
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

import pacboost
from pacboost.errors import FileError
from pacboost.models.file import container
from pacboost.models.file import format as model_file
from pacboost.models.file.document import MemoryLimitError
from tests.faults import mutations, odd_files
from tests.faults.cases import limit_memory
from tests.kernels.hostile_folders import CALLS, hostile_folder
from tests.models.file.judging import within_bounds
from tests.models.file.large import repeated
from tests.models.file.mutants import GREEDY, sealed
from tests.models.kinds import KINDS, saved

ROOT = Path(__file__).parents[2]


def large_models(random: Random, folder: Path) -> None:
    """Save, load and verify honest models with many rules, columns or classes, or long names."""
    path, size = folder / "m.pacb", 2 ** random.randint(6, 17)
    case = random.choice(["stumps", "trees", "forest", "columns", "labels", "names", "words"])
    if case in ("stumps", "trees"):
        model = repeated(pacboost.load(saved(case)).model_, size // (1 if case == "stumps" else 8))
        model_file.save(model, path)
        rows: Any = None
    else:
        estimator, rows = large(case, size)
        estimator.save(path)
    memory = 0
    try:
        back = pacboost.load(path)
    except MemoryLimitError:  # of labels: NumPy stores each in the space of the longest
        assert case == "labels"
        memory = 4 * 10**9
        back = pacboost.load(path, memory=memory)
    if rows is not None:
        assert (back.predict(rows) == estimator.predict(rows)).all()
    checks = pacboost.verify(path, memory=memory)
    assert rows is None or all(check.holds for check in checks if check.name != "bound"), checks
    assert str(pacboost.inspect(path, memory=memory))
    assert not odd_files.run("verify", path, "--memory", "4GB")


def large(case: str, size: int) -> tuple[Any, Any]:
    """Fit to something that is large, and give the model and rows for it."""
    generator = np.random.default_rng(size)
    X: Any = generator.normal(size=(400, 3))
    y: Any = X[:, 0] > 0
    fast: dict[str, Any] = {"n_estimators": 2, "random_state": 0, "verbose": False}
    if case == "columns":
        X = sparse.random_array((400, 8 * size), density=20 / size, format="csr", rng=generator)
        y = X[:, :1].toarray()[:, 0] + generator.normal(size=400) > 0
    if case == "labels":
        y = np.array(["no", "x" * size], dtype=object)[y.astype(int)]
    if case == "names":
        import pandas as pd

        X = pd.DataFrame(X, columns=["a", "b" * size, "ü" * (size // 2)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case == "words":
            texts = [" ".join(map(str, generator.integers(0, size, 300))) for _ in range(400)]
            return pacboost.TextBoostClassifier(**fast).fit(texts, y), texts
        if case == "forest":
            X = generator.normal(size=(size // 16 + 40, 3))
            forest = pacboost.RandomForestClassifier(n_estimators=20, random_state=0)
            return forest.fit(X, generator.random(len(X)) > 0.5), X
        return pacboost.BoostClassifier(**fast).fit(X, y), X


ROOM = 2_000_000_000
"""Bytes that a process may allocate for a bomb: lines of a file may have 2**28 characters."""


def bombs(random: Random, folder: Path) -> None:
    """Read small files that claim or unpack to large sizes; refuse them with little memory."""
    limit_memory(ROOM)
    if random.random() < 0.7:
        kind = random.choice(list(KINDS))
        path = folder / f"{kind}.pacb"
        path.write_bytes(sealed(random.choice(GREEDY)(saved(kind).read_bytes(), random)))
        if random.random() < 0.6 and not with_large_numbers(path, kind, random):
            return
        within_bounds(path, kind)
        return
    name, write = random.choice(list(UNPACKED.items()))
    rows, model = folder / name, folder / "m.pacb"
    write(rows, random)
    assert rows.stat().st_size < 10_000_000
    model.write_bytes(saved("stumps").read_bytes())
    uses = (
        ("fit", rows, "--target", "y", "--rounds", 2, "--output", folder / "made.pacb"),
        ("predict", model, rows, "--output", folder / "answers.csv"),
        ("certify", model, rows, "--target", "y"),
    )
    failure = odd_files.run(*random.choice(uses))
    assert not failure, failure


def with_large_numbers(path: Path, kind: str, random: Random) -> bool:
    """Write a model whose whole numbers are as large as a forger likes; False if none can be."""
    what, content = mutations.written_model(kind)
    content = copy.deepcopy(content)
    entries = list(mutations.places(content))
    whole = [(holder, key) for holder, key in entries if type(holder[key]) is int]
    for holder, key in random.sample(whole, min(len(whole), random.randint(1, 3))):
        holder[key] = random.choice((10**6, 2**24, 2**31 - 1, 2**40, 2**62))
    try:
        container.write(path, what, content)
    except (FileError, ValueError):
        return False
    return True


def packed(
    start: bytes, piece: bytes, end: bytes = b"\n", sizes: tuple[int, ...] = (10, 100, 300)
) -> Callable[[Path, Random], object]:
    """Return what writes a file that repeats a piece for so many MB, packed to a thousandth."""

    def write(path: Path, random: Random) -> None:
        block, count = piece * (10**6 // len(piece)), random.choice(sizes)
        with gzip.open(path, "wb", compresslevel=1) as file:
            file.write(start)
            for _ in range(count):
                file.write(block)
            file.write(end)

    return write


def few_bytes_many_rows(path: Path, random: Random) -> None:
    """Write equal rows, which Parquet packs into one value and its number."""
    rows, text = 10 ** random.randint(3, 5), "x" * 10 ** random.randint(0, 3)
    column = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), [text])
    pq.write_table(pa.table({"a": column, "y": column}), path)


def far_index(path: Path, random: Random) -> None:
    index = 2 ** random.randint(20, 64)
    path.write_text("".join(f"{k % 2} 1:{k} {index}:1\n" for k in range(40)), encoding="utf-8")


UNPACKED: dict[str, Callable[[Path, Random], object]] = {
    "cell.csv.gz": packed(b"a,b,y\n1,", b"x"),
    "columns.csv.gz": packed(b"a,y", b",c"),
    "quote.csv.gz": packed(b'a,b,y\n1,"', b"2,3,4\n", sizes=(10, 100)),
    "blank.csv.gz": packed(b"a,b,y\n1,2,1\n", b"\n", sizes=(10,)),
    "line.jsonl.gz": packed(b'{"y":1,"a":"', b"x", b'"}\n'),
    "nested.jsonl.gz": packed(b'{"a":', b"[", b"}\n"),
    "list.jsonl.gz": packed(b"[{}", b",{}", b"]\n"),
    "index.svmlight": far_index,
    "rows.parquet": few_bytes_many_rows,
}
"""Files by their names, and what writes them."""


COMMANDS = """
import json, os, shlex, sys
from importlib.machinery import PathFinder
absent, lines = json.loads(sys.argv[1])
found = PathFinder.find_spec  # None in sys.modules is taken for a module by compiled imports
PathFinder.find_spec = lambda name, *rest: None if name in absent else found(name, *rest)
from pacboost.cli.main import main
for line in lines:
    try:
        main(shlex.split(line))
    except SystemExit as end:
        assert end.code in (None, 0, 1, 2, 3), (line, end.code)
"""
OPTIONAL = (
    "pandas", "pyarrow", "polars", "duckdb", "dask", "distributed", "fsspec", "matplotlib", "onnx",
    "starlette", "uvicorn", "yaml", "PIL", "IPython",
)  # fmt: skip


def other_libraries(random: Random, folder: Path) -> None:
    """Run commands without some optional libraries: what needs an absent one says which."""
    hostile_folder(folder / "work", [])
    absent = random.sample(OPTIONAL, random.randint(1, 4))
    lines = random.choice([CALLS["rows"], CALLS["model"], CALLS["new rows"], CALLS["alone"]])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMMANDS, json.dumps([absent, lines])],
        cwd=folder / "work", capture_output=True, text=True, check=False, timeout=280,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
    )  # fmt: skip
    assert done.returncode == 0, (absent, lines, done.stderr[-1500:])
    assert odd_files.BUG not in done.stdout + done.stderr, (absent, done.stderr[-1500:])
