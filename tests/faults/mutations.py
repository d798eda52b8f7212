"""Changed files of models, checkpoints and monitors, and what becomes of them.

    python -m tests.faults.mutations --count 100000 --processes 16

Every file has right checksums. It is refused by an error of pacboost, or all that people do with
such a file works. Anything else is a failure: another error, a crash, or no answer after a minute.
The command prints each failure and a summary, and ends with 1 if there was one.
"""

from __future__ import annotations

import argparse
import copy
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

import pacboost
from pacboost import FilterBoostClassifier, Monitor
from pacboost.errors import FileError, PacboostError
from pacboost.estimators.boosting.filtering import filter_session, filter_setup
from pacboost.models.file import checkpoint, container
from pacboost.monitoring import state_file
from pacboost.training.filtering.drawing import candidates
from tests.estimators.filter_sources import noisy
from tests.faults.structured import REAL, WHOLE, WORDS, mutated, places
from tests.models.kinds import FOLDER, KINDS, answers

UNWRITTEN, REFUSED, USED = "no file can hold it", "refused", "used"
SECONDS = 60
CASES_AT_ONCE = 50
CHECKPOINT_ROWS = 3000
SOURCES = ("array", "stream")
GENERATOR = np.random.default_rng(0)
REFERENCE = GENERATOR.normal(size=(900, 3))
NEW = GENERATOR.normal(size=(300, 3)) + np.array([1.0, 0.0, 0.0])


def uses(model: Any, path: Path, kind: str) -> list[Callable[[], object]]:
    """What people do with a model file."""
    folder = path.parent

    def saved() -> object:
        model.save(folder / "again.pacb")
        return pacboost.load(folder / "again.pacb")

    return [
        lambda: answers(model, kind),
        lambda: str(pacboost.verify(path)),
        lambda: model.feature_importances_,
        lambda: list(model.rules()) if hasattr(model, "rules") else None,
        lambda: model.report(folder / "page.html") if hasattr(model, "report") else None,
        lambda: pacboost.export(model, folder / "model.py"),
        lambda: pacboost.export(model, folder / "model.c"),
        model._repr_html_,
        saved,
    ]


def changed_model(kind: str, random: Random, folder: Path) -> str:
    """Change the file of a model, and use it in all ways."""
    source, path = FOLDER / f"{kind}.pacb", folder / "changed.pacb"
    what = container.kind_of(source)
    content = mutated(container.read(source, what).document, random)
    try:
        container.write(path, what, content)
    except (FileError, AttributeError, ValueError):
        return UNWRITTEN
    with suppress(FileError):
        str(pacboost.inspect(path))
    try:
        model = pacboost.load(path)
    except FileError:
        return REFUSED
    for use in uses(model, path, kind):
        with suppress(PacboostError):
            use()
    return USED


@contextmanager
def small_refills() -> Iterator[None]:
    """Write a checkpoint before every refill, and keep refills small."""
    with (
        patch.object(filter_session, "SECONDS_BETWEEN", 0.0),
        patch.object(candidates, "MOST_AT_ONCE", 1000),
        patch.object(filter_setup, "ROWS_FOR_BINS", 1500),
    ):
        yield


def fit_on(source: str, path: Path) -> FilterBoostClassifier:
    """Fit from an array or a stream, with a checkpoint."""
    X, y = noisy(CHECKPOINT_ROWS)
    model = FilterBoostClassifier(n_rounds=8, sample_rows=400, random_state=0, checkpoint=path)
    if source == "array":
        return model.fit(X, y)
    cuts = range(0, CHECKPOINT_ROWS, 900)
    return model.fit_source([(X[k : k + 900], y[k : k + 900]) for k in cuts])


@cache
def last_checkpoint(source: str) -> dict[str, Any]:
    """Give what the last checkpoint of a run holds."""
    written: list[dict[str, Any]] = []
    save = checkpoint.Checkpoint.save

    def saving(self: checkpoint.Checkpoint, to: str | Path) -> None:
        save(self, to)
        written.append(container.read(Path(to), checkpoint.KIND).document)

    with (
        tempfile.TemporaryDirectory() as folder,
        small_refills(),
        patch.object(checkpoint.Checkpoint, "save", saving),
    ):
        fit_on(source, Path(folder) / "run.ckpt")
    return written[-1]


def changed_checkpoint(source: str, random: Random, folder: Path) -> str:
    """Change a checkpoint, and go on from it."""
    path = folder / "run.ckpt"
    content = mutated(last_checkpoint(source), random)
    try:
        container.write(path, checkpoint.KIND, content)
    except (FileError, AttributeError, ValueError):
        return UNWRITTEN
    try:
        with small_refills():
            fit_on(source, path)
    except PacboostError:
        return REFUSED
    finally:
        path.unlink(missing_ok=True)
    return USED


@cache
def monitor_state() -> dict[str, Any]:
    """Give the state of a monitor that has seen rows and mistakes."""
    monitor = Monitor(error=0.05, reference=REFERENCE)
    monitor.update_mistakes(np.random.default_rng(1).random(700) < 0.06).update_rows(NEW)
    with tempfile.TemporaryDirectory() as folder:
        monitor.save(Path(folder) / "state.json")
        return state_file.read_state(Path(folder) / "state.json")


def other_state(state: dict[str, Any], random: Random) -> dict[str, Any]:
    """Change one value of a state, or two."""
    state = copy.deepcopy(state)
    others: tuple[Any, ...] = (*WHOLE, *REAL, *WORDS, None, True, [], {}, [[]], 10**400, "\ud800")
    for _ in range(random.choice((1, 1, 2))):
        holder, key = random.choice(list(places(state)))
        if random.random() < 0.1:
            del holder[key]
        else:
            holder[key] = random.choice(others)
    return state


def use_state(state: dict[str, Any], folder: Path) -> str:
    """Write the state of a monitor with its checksum, and use it in all ways."""
    path = folder / "changed.json"
    try:
        state_file.write_state(path, state)
    except UnicodeEncodeError:
        return UNWRITTEN
    try:
        monitor = Monitor.load(path, reference=REFERENCE)
    except PacboostError:
        return REFUSED
    for use in (
        lambda: monitor.update_mistakes([0, 1] * 40),
        lambda: monitor.update_rows(NEW),
        lambda: str(monitor.status()),
        monitor._mistakes.curves,
        lambda: monitor.save(path),
        lambda: Monitor.load(path),
    ):
        with suppress(PacboostError):
            use()
    return USED


def tried(kind: str, number: int, seed: object, folder: Path) -> str:
    """Try one changed file; what is no error of pacboost is raised."""
    random = Random(f"{seed} {kind} {number}")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if kind == "monitor":
            return use_state(other_state(monitor_state(), random), folder)
        if kind in SOURCES:
            return changed_checkpoint(kind, random, folder)
        return changed_model(kind, random, folder)


def all_kinds() -> list[str]:
    """Every kind of file; checkpoints are tried from an array and from a stream."""
    return [*KINDS, *SOURCES, "monitor"]


def try_some(cases: list[tuple[str, int]], seed: object) -> tuple[Counter[str], list[str]]:
    """Try some files; give how many came to what, and what failed."""
    found, failures = Counter[str](), []
    signal.signal(signal.SIGALRM, _late)
    with tempfile.TemporaryDirectory() as folder:
        for kind, number in cases:
            signal.alarm(SECONDS)
            try:
                found[tried(kind, number, seed, Path(folder))] += 1
            except Exception:  # whatever it is, it is not one of ours
                failures.append(f"{kind} {number}:\n{traceback.format_exc(limit=-4)}")
            finally:
                signal.alarm(0)
    return found, failures


def _late(number: int, frame: Any) -> None:
    raise AssertionError(f"no answer after {SECONDS} seconds")


def main() -> int:
    """Try many files on several processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", default="0")
    asked = parser.parse_args()
    kinds, started = all_kinds(), time.monotonic()
    cases = [(kinds[k % len(kinds)], k // len(kinds)) for k in range(asked.count)]
    parts = [cases[k : k + CASES_AT_ONCE] for k in range(0, len(cases), CASES_AT_ONCE)]
    found, failures = Counter[str](), []
    with ProcessPoolExecutor(asked.processes, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(try_some, part, asked.seed): part for part in parts}
        for future in as_completed(waiting):
            try:
                some, failed = future.result()
            except Exception as problem:  # the process died
                first, last = waiting[future][0], waiting[future][-1]
                some, failed = Counter(), [f"{first} to {last}: {type(problem).__name__} {problem}"]
            found += some
            failures += failed
            for failure in failed:
                print(failure, flush=True)  # noqa: T201
    told = ", ".join(f"{count:,} {what}" for what, count in sorted(found.items()))
    print(  # noqa: T201
        f"{asked.count:,} changed files of {len(kinds)} kinds, seed {asked.seed}: {told}; "
        f"{len(failures):,} failures; {time.monotonic() - started:.0f} s on "
        f"{asked.processes} processes"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
