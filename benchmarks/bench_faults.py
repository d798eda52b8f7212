"""The same faults for pacboost, LightGBM and XGBoost.

Saves that are killed, a full disk, damaged files and odd cells.

    python benchmarks/bench_faults.py [--kills 50] [--files 300]

Every case runs in a forked process, which may be killed or crash.
A full disk is imitated by a limit on the size of files (RLIMIT_FSIZE).
"""

from __future__ import annotations

import argparse
import datetime
import os
import resource
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import xgboost

import pacboost

SECONDS = 20
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(2000, 10))
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
ODD_CELLS: dict[str, Any] = {
    "date": datetime.date(2020, 1, 1), "dictionary": {"a": 1}, "list": [1, 2], "set": {1},
    "Decimal": Decimal("1.5"), "10^400": 10**400, "infinity": float("inf"), "complex": 1 + 2j,
    "bytes": b"x", "object": object(), "NaT": pd.NaT, "function": len,
}  # fmt: skip


@dataclass(frozen=True)
class Library:
    """How a library fits, saves, loads and predicts."""

    name: str
    file: str
    fit: Callable[[Any, Any, int], Any]
    save: Callable[[Any, Path], object]
    load: Callable[[Path], Any]
    predict: Callable[[Any], Any]


LIBRARIES = (
    Library(
        "pacboost", "model.pacb",
        lambda X, y, seed: pacboost.BoostClassifier(
            n_estimators=300, early_stopping=False, n_jobs=1, random_state=seed, verbose=False
        ).fit(X, y),
        lambda model, path: model.save(path), pacboost.load,
        lambda model: model.decision_function(X[:200]),
    ),
    Library(
        "LightGBM", "model.txt",
        lambda X, y, seed: lightgbm.LGBMClassifier(n_estimators=300, n_jobs=1, verbose=-1,
                                                   random_state=seed).fit(X, y),
        lambda model, path: getattr(model, "booster_", model).save_model(str(path)),
        lambda path: lightgbm.Booster(model_file=str(path)),
        lambda model: getattr(model, "booster_", model).predict(X[:200], raw_score=True),
    ),
    Library(
        "XGBoost", "model.json",
        lambda X, y, seed: xgboost.XGBClassifier(n_estimators=300, n_jobs=1,
                                                 random_state=seed).fit(X, y),
        lambda model, path: getattr(model, "get_booster", lambda: model)().save_model(path),
        lambda path: xgboost.Booster(model_file=path),
        lambda model: getattr(model, "get_booster", lambda: model)().predict(
            xgboost.DMatrix(X[:200]), output_margin=True
        ),
    ),
)  # fmt: skip


def in_a_process(work: Callable[[], str]) -> str:
    """Run the work in a forked process; return its text, or how the process ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        signal.alarm(SECONDS)
        try:
            output = work()
        except Exception:
            output = "an error"
        os.write(writer, output.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        output = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        late = os.WTERMSIG(status) == signal.SIGALRM
        return "no answer" if late else "a crash"
    return output or "a crash"


def state_of(library: Library, path: Path, expected: list[Any]) -> str:
    """Check whether a file holds one of two models."""
    predictions = library.predict(library.load(path))
    same = any(np.array_equal(predictions, array) for array in expected)
    return "a whole model" if same else "another model"


def killed_saves(library: Library, models: list[Any], folder: Path, kills: int) -> Counter[str]:
    """Kill a process that saves two models in turns, and check the file."""
    path, random, outcomes = folder / library.file, Random(0), Counter[str]()
    expected = []
    for model in models:
        library.save(model, path)
        expected.append(library.predict(library.load(path)))
    for _ in range(kills):
        child = os.fork()
        if child == 0:
            while True:
                for model in models:
                    library.save(model, path)
        time.sleep(random.uniform(0.02, 0.2))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        outcomes[in_a_process(lambda: state_of(library, path, expected))] += 1
        library.save(models[0], path)
    return outcomes


def full_disk(library: Library, models: list[Any], folder: Path) -> str:
    """Save to a disk with room for half of the file; say if the old file survives."""
    path = folder / library.file
    library.save(models[0], path)
    before, old = path.read_bytes(), library.predict(library.load(path))

    def saving() -> str:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, len(before) // 2))
        try:
            library.save(models[1], path)
        except Exception:
            return "an error"
        return "no error"

    outcome = in_a_process(saving)
    is_unchanged = path.read_bytes() == before
    after = "as it was" if is_unchanged else in_a_process(lambda: state_of(library, path, [old]))
    library.save(models[0], path)
    return f"{outcome}; the old file is {after if is_unchanged else f'gone (loading: {after})'}"


def damaged_files(library: Library, model: Any, folder: Path, files: int) -> Counter[str]:
    """Change some bytes of a model file, load it and predict."""
    path, outcomes = folder / library.file, Counter[str]()
    library.save(model, path)
    saved, expected = path.read_bytes(), library.predict(library.load(path))
    for number in range(files):
        random, content = Random(number), bytearray(saved)
        for _ in range(random.choice((1, 2, 8))):
            place = random.randrange(len(content))
            digit = chr(content[place]).isdigit() and random.random() < 0.7
            content[place] = random.choice(b"0123456789") if digit else random.randrange(256)
        cut = random.random() < 0.2
        path.write_bytes(content[: random.randrange(len(content))] if cut else content)
        outcomes[in_a_process(lambda: state_of(library, path, [expected]))] += (
            path.read_bytes() != saved
        )
    return outcomes


def odd_cells(library: Library) -> Counter[str]:
    """Fit a frame with one odd cell in the column "age", row 7; return what the error names."""
    outcomes = Counter[str]()
    for cell in ODD_CELLS.values():
        frame = pd.DataFrame(X[:200, :9], columns=[*"abcdefghi"])
        ages: list[Any] = X[:200, 9].tolist()
        ages[7] = cell
        frame["age"] = pd.Series(ages, dtype=object)

        def fitting(frame: pd.DataFrame = frame) -> str:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    library.fit(frame, Y[:200], 0)
                except Exception as problem:
                    text = str(problem)
                    names = ("column" if "age" in text else "", "row" if "row 7" in text else "")
                    message = " and ".join(filter(None, names))
                    return (
                        f"an error that names the {message}"
                        if message
                        else "an error without place"
                    )
            return "no error"

        outcomes[in_a_process(fitting)] += 1
    return outcomes


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--files", type=int, default=300)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for library in LIBRARIES:
        models = [library.fit(X, Y, 0), library.fit(X[::-1], Y[::-1] ^ (X[::-1, 3] > 1), 1)]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            print(f"{library.name}, a file of {_size(library, models[0], folder):,} bytes")
            print("  killed saves: ", _said(killed_saves(library, models, folder, asked.kills)))
            print("  a full disk:  ", full_disk(library, models, folder))
            print("  damaged files:", _said(damaged_files(library, models[0], folder, asked.files)))
            print("  odd cells:    ", _said(odd_cells(library)))


def _size(library: Library, model: Any, folder: Path) -> int:
    library.save(model, folder / library.file)
    return (folder / library.file).stat().st_size


def _said(outcomes: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in outcomes.most_common())


if __name__ == "__main__":
    main()
