"""Changed files of models, checkpoints and monitors, and what becomes of them.

    python -m tests.faults.mutations --count 100000 --processes 16

Every file has right checksums. It is refused by an error of pacboost, or all that people do with
such a file works. Anything else is a failure: another error, a crash, or no answer after a minute.
The command prints each failure and a summary, and ends with 1 if there was one.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

import pacboost
from pacboost import FilterBoostClassifier, Monitor
from pacboost.errors import FileError, PacboostError
from pacboost.estimators.filtering import filter_session, filter_setup
from pacboost.models.file import checkpoint, container
from pacboost.monitoring import monitor as state_file
from pacboost.training.filtering import candidates
from tests.estimators.filter_sources import noisy
from tests.faults.forked import FAILED, Case, forked
from tests.faults.structured import REAL, WHOLE, WORDS, mutated, places
from tests.models import kinds
from tests.models.kinds import KINDS, answers, saved

UNWRITTEN, REFUSED, USED = "no file can hold it", "refused", "used"
MEMORY = Path("/dev/shm")  # a disk that is memory
CHECKPOINT_ROWS = 3000
SOURCES = ("array", "stream")
GENERATOR = np.random.default_rng(0)
REFERENCE = GENERATOR.normal(size=(900, 3))
NEW = GENERATOR.normal(size=(300, 3)) + np.array([1.0, 0.0, 0.0])


def uses(model: Any, path: Path, kind: str) -> list[Callable[[], object]]:
    """What people do with a model file."""
    folder = path.parent

    said: list[str] = []

    def asked() -> None:
        said.append(repr(answers(model, kind)))

    def saved_again() -> None:
        model.save(folder / "again.pacb")
        again = pacboost.load(folder / "again.pacb")
        if said:
            assert [repr(answers(again, kind))] == said, "another model was saved"

    return [
        asked,
        lambda: str(pacboost.verify(path)),
        lambda: model.feature_importances_,
        lambda: list(model.rules()) if hasattr(model, "rules") else None,
        lambda: model.report(folder / "page.html") if hasattr(model, "report") else None,
        lambda: pacboost.export(model, folder / "model.py"),
        lambda: pacboost.export(model, folder / "model.c"),
        model._repr_html_,
        saved_again,
    ]


@cache
def written_model(kind: str) -> tuple[str, dict[str, Any]]:
    """Return what the file of a model says that it holds, and its content."""
    source = saved(kind)
    what = container.kind_of(source)
    return what, container.read(source, what).document


def changed_model(kind: str, random: Random, folder: Path) -> str:
    """Change the file of a model, and use it in all ways."""
    path = folder / "changed.pacb"
    what, content = written_model(kind)
    content = mutated(content, random)
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
    model = FilterBoostClassifier(n_estimators=8, sample_rows=400, random_state=0, checkpoint=path)
    if source == "array":
        return model.fit(X, y)
    cuts = range(0, CHECKPOINT_ROWS, 900)
    return model.fit_source([(X[k : k + 900], y[k : k + 900]) for k in cuts])


@cache
def last_checkpoint(source: str) -> dict[str, Any]:
    """Return what the last checkpoint of a run holds."""
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
    """Return the state of a monitor that has seen rows and mistakes."""
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


def tried_in_memory(case: Case, seed: object) -> str:
    """Try one changed file on a disk that is memory, where there is one."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        return tried(*case, seed, Path(folder))


@contextmanager
def computed_once() -> Iterator[None]:
    """Keep what is the same in every case: docstrings of parameters, and rows that are asked."""
    with (
        patch.object(inspect, "cleandoc", cache(inspect.cleandoc)),
        patch.object(kinds, "rows", cache(kinds.rows)),
    ):
        yield


def warm_up() -> None:
    """Do once what every case would do: load kernels, and read the files that are changed."""
    for kind in all_kinds():
        for number in range(3):
            with suppress(Exception):  # those of a case are seen when it is tried
                tried_in_memory((kind, number), seed="warm")


def main() -> int:
    """Try many files on several processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none later")
    asked = parser.parse_args()
    with computed_once():
        return try_many(asked.count, asked.seed, asked.processes, asked.seconds)


def try_many(count: int, seed: str, processes: int, seconds: float) -> int:
    """Try so many files of every kind in turn; print failures and a summary."""
    every, started = all_kinds(), time.monotonic()
    cases = [(every[k % len(every)], k // len(every)) for k in range(count)]
    warm_up()
    found = Counter[str]()
    left = seconds - (time.monotonic() - started)
    attempt = partial(tried_in_memory, seed=seed)
    for (kind, number), what, failure in forked(cases, attempt, processes, left):
        found[what] += 1
        if failure:
            print(f"{kind} {number}:\n{failure}", flush=True)  # noqa: T201
    failures = found.pop(FAILED, 0)
    told = ", ".join(f"{count:,} {what}" for what, count in sorted(found.items()))
    print(  # noqa: T201
        f"{found.total() + failures:,} changed files of {len(every)} kinds, seed {seed}: {told}; "
        f"{failures:,} failures; {time.monotonic() - started:.0f} s on {processes} processes"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
