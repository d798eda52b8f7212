"""Changed files of models, checkpoints and monitors, and what becomes of them.

Every file has right checksums. It is refused by an error of pacboost, or all that people do with
such a file works. Another error is a failure; ``python -m tests.faults.run changed_files`` tries
many of them.

``tests.models.file.mutants`` changes bytes and the document; this changes values: one number of an
array, the length of an array, two fields of a record.
"""

import copy
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

import pacboost
from pacboost import FilterBoostClassifier, Monitor
from pacboost.errors import FileError, PacboostError
from pacboost.estimators.filtering import filter_session, sizes
from pacboost.models.file import checkpoint, container
from pacboost.monitoring import monitor as state_file
from pacboost.training.filtering import candidates
from tests.estimators.filter_sources import noisy
from tests.models.kinds import DECISIONS, KINDS, answers, saved

WHOLE = (0, 1, 2, -1, -2, 3, 7, 100, 2**15, 2**31 - 1, 2**31, 2**40, 2**53, 2**62, -(2**40))
REAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1.0000001, 0.9999999, 2.0, -0.25, 5e-324, 1e-300, 1e-9, 1e9, 1e149,
    1e150, -1e150, 1e200, 1e300, -1e300, 1.7e308,
)  # fmt: skip
WORDS = (
    "", "x", "adaboost", "brown", "logit", "three_way", "square", "filter_boost", "tree", "stump",
    "soft", "total", "lp", "quantile", "holdout.clopper_pearson",
    "training.product_bound",    "\x1b[31m", "<script>", "=1+1", "a\nb", "ü" * 300,
)  # fmt: skip


def mutated(content: dict[str, Any], random: Random) -> dict[str, Any]:
    """Change one value or some, and compute the digests of the claims again."""
    content = copy.deepcopy(content)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        entries = list(places(content))
        holder, key = random.choice(entries)
        change(holder, key, entries, random)
    for name in container.CLAIMS:
        claim = content.get(name)
        if isinstance(claim, dict) and claim:
            content[name] = {**claim, container.FIELD: ""}
    try:
        return container.sealed(content)
    except (AttributeError, LookupError, TypeError, ValueError):  # no digest goes with such content
        return content


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Return every list or dictionary within a value, with every key of it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def change(holder: Any, key: Any, places: list[tuple[Any, Any]], random: Random) -> None:
    """Change what a list or dictionary holds at a key."""
    value = holder[key]
    if random.random() < 0.05:
        other, name = random.choice(places)
        holder[key] = copy.deepcopy(other[name])
    elif random.random() < 0.04:
        del holder[key]
    elif isinstance(value, np.ndarray):
        holder[key] = _other_array(value, random)
    elif isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int):
        holder[key] = random.choice((value + 1, value - 1, 2 * value, *WHOLE))
    elif isinstance(value, float):
        holder[key] = random.choice((-value, value * 2, value / 2, *REAL))
    elif isinstance(value, str):
        holder[key] = random.choice((*WORDS, value[:-1], value + value))
    elif isinstance(value, list) and value:
        holder[key] = random.choice((value[:-1], value[1:], value[::-1], [*value, value[0]], []))
    elif isinstance(value, dict):
        holder[key] = random.choice(({}, None, value))
    else:
        holder[key] = random.choice((None, 0, 1.5, "x", [], True))


def _other_array(value: Any, random: Random) -> Any:
    """Change an entry of an array, its order or its length."""
    array = value.copy()
    if not array.size or random.random() < 0.2:
        return random.choice((array[:-1], array[1:], array[::-1], np.concatenate([array, array])))
    flat = array.reshape(-1)
    place = random.randrange(flat.size)
    if random.random() < 0.1:
        other = random.randrange(flat.size)
        flat[[place, other]] = flat[[other, place]]
    elif array.dtype.kind == "f":
        number = float(flat[place])
        new = random.choice((-number, number / 2, np.nan, np.inf, *REAL)) if number else 1.0
        with np.errstate(over="ignore"):  # 1e300 is infinite as a number of 32 bits
            flat[place] = new
    elif array.dtype.kind == "b":
        flat[place] = not flat[place]
    else:
        bounds = np.iinfo(array.dtype)
        number = int(flat[place])
        new = random.choice((number + 1, number - 1, bounds.min, bounds.max, *WHOLE))
        flat[place] = min(max(new, bounds.min), bounds.max)
    return array


UNWRITTEN, REFUSED, USED = "no file can hold it", "refused", "used"
CHECKPOINT_ROWS = 3000
SOURCES = ("array", "stream")
GENERATOR = np.random.default_rng(0)
REFERENCE = GENERATOR.normal(size=(900, 3))
NEW = GENERATOR.normal(size=(300, 3)) + np.array([1.0, 0.0, 0.0])


def uses(model: Any, path: Path, kind: str) -> list[Callable[[], object]]:
    """What people do with a model file."""
    folder = path.parent

    outcome: list[str] = []

    def asked() -> None:
        outcome.append(repr(answers(model, kind)))

    def saved_again() -> None:
        model.save(folder / "again.pacb")
        reloaded = pacboost.load(folder / "again.pacb")
        if outcome:
            assert [repr(answers(reloaded, kind))] == outcome, "another model was saved"

    return [
        asked,
        lambda: str(pacboost.verify(path)),
        lambda: getattr(model, "feature_importances_", None),
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
        patch.object(candidates, "MAX_ROWS_PER_OFFER", 1000),
        patch.object(sizes, "ROWS_FOR_BINS", 1500),
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
    return [*KINDS, *DECISIONS, *SOURCES, "monitor"]
