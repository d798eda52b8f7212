"""A run that was stopped goes on to the model it would have come to."""

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from pacboost import FilterBoostClassifier
from pacboost.errors import CheckpointWarning, DataError, FileError, NotCertified, OutOfTime
from pacboost.estimators.filtering import filter_session, filter_setup, sizes
from pacboost.ledgers.ledger import Round
from pacboost.models.file import checkpoint, container
from pacboost.models.file.format import model_bytes
from pacboost.theory.worlds import LabelNoise, hastie
from pacboost.training.filtering import candidates, engine, refilling
from pacboost.training.filtering.arrivals import CAME_AGAIN
from tests.estimators.filter_sources import noisy, small, write_parquet
from tests.grids import one_in

Fit = Callable[[FilterBoostClassifier, Path], FilterBoostClassifier]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small refills with a checkpoint before each, small pieces, and many threads."""
    monkeypatch.setattr(filter_session, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(candidates, "MAX_ROWS_PER_OFFER", 1000)
    monkeypatch.setattr(sizes, "ROWS_FOR_BINS", 1500)
    monkeypatch.setattr(refilling, "MIN_ROWS_PER_PIECE", 150)
    monkeypatch.setattr(refilling, "CELLS_PER_PIECE", 600)
    monkeypatch.setattr(engine, "usable_cores", lambda: 16)


def on_array(model: FilterBoostClassifier, folder: Path) -> FilterBoostClassifier:
    return model.fit(*noisy(6000))


def on_classes(model: FilterBoostClassifier, folder: Path) -> FilterBoostClassifier:
    return model.fit(*noisy(5000, classes=3))


def on_sparse(model: FilterBoostClassifier, folder: Path) -> FilterBoostClassifier:
    X, y = noisy(5000)
    return model.fit(sparse.csr_array(np.where(X > 0.5, X, 0.0)), y)


def on_files(model: FilterBoostClassifier, folder: Path) -> FilterBoostClassifier:
    data = folder / "data"
    if not data.exists():
        write_parquet(data, *noisy(6000))
    return model.fit_source(data, "y")


def on_csv(model: FilterBoostClassifier, folder: Path) -> FilterBoostClassifier:
    X, y = noisy(4000)
    lines = [",".join(map(repr, [*row, label])) for row, label in zip(X.tolist(), y, strict=True)]
    (folder / "rows.csv").write_text("\n".join(["a,b,c,d,y", *lines]))
    return model.fit_source(folder / "rows.csv", "y")


def on_world(model: FilterBoostClassifier, folder: Path) -> FilterBoostClassifier:
    return model.fit_source(LabelNoise(hastie(4), 0.1))


def on_stream(model: FilterBoostClassifier, folder: Path) -> FilterBoostClassifier:
    X, y = noisy(9000)
    return model.fit_source([(X[k : k + 900], y[k : k + 900]) for k in range(0, 9000, 900)])


def on_batches(model: FilterBoostClassifier, folder: Path) -> FilterBoostClassifier:
    for seed in range(3):
        model.partial_fit(*noisy(1500, seed))
    return model


SOURCES: dict[str, Fit] = {
    "array": on_array, "files": on_files, "world": on_world, "stream": on_stream,
}  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "trees": {"n_estimators": 14, "sample_rows": 700},
    "stumps": {"booster": "mada", "learner": "stump", "n_estimators": 14, "sample_rows": 500},
    "path": {"booster": "projection", "n_estimators": 8, "sample_rows": 500},
    "tested": {"booster": "mada", "learner": "stump", "edge": 0.2, "n_estimators": 4},
}


class Interrupt:
    def __init__(self, at: int, problem: type[BaseException]) -> None:
        self.at, self.problem, self.count = at, problem, 0

    def __call__(self, event: Any) -> None:
        self.count += 1
        if self.count == self.at:
            raise self.problem


@pytest.mark.parametrize(
    ("source", "way"),
    [
        pytest.param(
            source, way, marks=() if source == "files" or way == "trees" else pytest.mark.slow
        )
        for source in SOURCES
        for way in WAYS
    ],
)
def test_goes_on_to_the_same_model(source: str, way: str, tmp_path: Path) -> None:
    """Every source with trees and every way with files; the rest of the grid takes longer."""
    fit, told = SOURCES[source], {**WAYS[way], "n_certify": 300}
    whole = fit(small(**told), tmp_path)
    events = len(whole.ledger_) + len(whole.ledger_.refills)
    path = tmp_path / "run"
    for turn, at in enumerate(sorted({2, events // 2})):
        problem = (KeyboardInterrupt, RuntimeError)[turn % 2]
        model = small(**told, checkpoint=path, callbacks=[Interrupt(at, problem)])
        with pytest.raises(problem):
            fit(model, tmp_path)
        again = fit(small(**told, checkpoint=path), tmp_path)
        assert again.model_.digest() == whole.model_.digest(), (at, problem)
        told_before = {"look": 2} if problem is KeyboardInterrupt else {}
        assert again.certificate_.inputs == {**whole.certificate_.inputs, **told_before}
        assert told_before or model_bytes(again.model_) == model_bytes(whole.model_)
        assert not path.exists()


@pytest.mark.parametrize("copies", ["draws", "distinct"])
def test_rows_that_came_again_before_a_stop_are_remembered(copies: str, tmp_path: Path) -> None:
    """The rows that repeat come in the first batches; what follows would hide them."""
    X, y = noisy(9000)
    rows = np.concatenate([np.arange(900), np.arange(9000)])
    batches = [(X[part], y[part]) for part in np.array_split(rows, 11)]
    told = {"n_estimators": 40, "sample_rows": 300, "max_bins": 20, "n_certify": 300}
    whole = small(**told).fit_source(batches, copies=copies)
    events = len(whole.ledger_) + len(whole.ledger_.refills)
    model = small(
        **told, checkpoint=tmp_path / "run", callbacks=[Interrupt(events // 2, RuntimeError)]
    )
    with pytest.raises(RuntimeError):
        model.fit_source(batches, copies=copies)
    again = small(**told, checkpoint=tmp_path / "run").fit_source(batches, copies=copies)
    assert model_bytes(again.model_) == model_bytes(whole.model_)
    assert again.model_.certificate == whole.model_.certificate
    assert again._refusal == whole._refusal == (CAME_AGAIN if copies == "draws" else "")


def test_may_be_stopped_many_times(tmp_path: Path) -> None:
    whole = on_array(small(n_estimators=14, sample_rows=700), tmp_path)
    path = tmp_path / "run"
    for turn in range(100):
        stopper = Interrupt(2 + 3 * (turn % 5), RuntimeError)
        model = small(n_estimators=14, sample_rows=700, checkpoint=path, callbacks=[stopper])
        try:
            on_array(model, tmp_path)
        except RuntimeError:
            continue
        break
    assert turn > 1
    assert model_bytes(model.model_) == model_bytes(whole.model_)


def test_an_interrupt_keeps_the_rounds_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "run"
    model = small(n_estimators=14, sample_rows=700, checkpoint=path)
    model.set_params(callbacks=[Interrupt(9, KeyboardInterrupt)])
    with pytest.raises(KeyboardInterrupt) as caught:
        on_array(model, tmp_path)
    done = len(model.ledger_)
    assert done > 0
    assert f"the {done} rounds done" in caught.value.__notes__[0]
    assert str(path) in caught.value.__notes__[0]
    assert model.ledger_.stopped == "interrupted"
    assert model.score(*noisy(6000)) > 0.6
    assert model.certificate_.value < 0.6
    assert path.exists()


def test_no_certificate_that_the_checkpoint_cannot_remember(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has room for the run, but not for the look: a later run would not pay for it."""
    path = tmp_path / "run"
    stopped_run(path)
    monkeypatch.setattr(container, "write", no_room)
    model = small(n_estimators=14, sample_rows=700, checkpoint=path)
    with pytest.warns(CheckpointWarning, match="The run goes on"):
        on_array(model.set_params(callbacks=[lambda event: isinstance(event, Round)]), tmp_path)
    assert model.model_.certificate is None
    with pytest.raises(NotCertified, match="would certify again at all of delta"):
        _ = model.certificate_


def no_room(path: Path, *_: Any) -> None:
    raise FileError(f"{path}: no room is left")


def test_the_time_limit_leaves_a_checkpoint(tmp_path: Path) -> None:
    told: dict[str, Any] = {"n_estimators": 14, "sample_rows": 700}
    path = tmp_path / "run"
    with pytest.raises(OutOfTime):
        on_array(small(**told, checkpoint=path, time_limit=1e-9), tmp_path)
    assert path.exists()
    whole = on_array(small(**told), tmp_path)
    again = on_array(small(**told, checkpoint=path, time_limit="9m"), tmp_path)
    assert model_bytes(again.model_) == model_bytes(whole.model_)
    assert not path.exists()


def stopped_run(path: Path, **told: Any) -> None:
    model = small(n_estimators=14, sample_rows=700, checkpoint=path, **told)
    with pytest.raises(RuntimeError):
        on_array(model.set_params(callbacks=[Interrupt(9, RuntimeError)]), path.parent)
    assert path.exists()


def test_without_a_random_state_the_seed_is_that_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run"
    stopped_run(path, random_state=None)
    seed = checkpoint.load(path).settings["seed"]
    model = small(n_estimators=14, sample_rows=700, checkpoint=path, random_state=None)
    assert filter_setup.seed_of_run(model) == seed
    assert len(on_array(model, tmp_path).ledger_) == 14
    assert not path.exists()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"booster": "mada"}, "booster"),
        ({"n_estimators": 15}, "n_estimators"),
        ({"delta": 0.01, "max_bins": 30}, "delta, max_bins"),
        ({"random_state": 5}, "random_state, seed"),
    ],
)
def test_other_parameters_are_refused(changes: dict[str, Any], named: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    stopped_run(path)
    told = {"n_estimators": 14, "sample_rows": 700, "checkpoint": path, **changes}
    with pytest.raises(FileError, match=rf"of another run \(other {named}\)"):
        on_array(small(**told), tmp_path)
    assert path.exists()


def test_other_rows_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    stopped_run(path)
    X, y = noisy(6000)
    model = small(n_estimators=14, sample_rows=700, checkpoint=path)
    for other in ((X[:-1], y[:-1]), (X + 1, y), (X, 1 - y)):
        with pytest.raises(FileError, match=r"\(other source\)"):
            model.fit(*other)
    with pytest.raises(FileError, match=r"\(other classes, source\)"):
        model.fit(X, np.array(["a", "b"])[y])


def test_what_has_no_part_in_the_model_may_change(tmp_path: Path) -> None:
    path = tmp_path / "run"
    stopped_run(path)
    other = tmp_path / "moved"
    path.rename(other)
    model = small(n_estimators=14, sample_rows=700, checkpoint=str(other), n_jobs=1, time_limit=600)
    whole = on_array(small(n_estimators=14, sample_rows=700), tmp_path)
    assert model_bytes(on_array(model, tmp_path).model_) == model_bytes(whole.model_)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    stopped_run(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(FileError, match="Delete it"):
        on_array(small(n_estimators=14, sample_rows=700, checkpoint=path), tmp_path)


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_no_reason_to_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run"
    stopped_run(path)
    before = path.read_bytes()
    told: dict[str, Any] = {"n_estimators": 14, "sample_rows": 700}
    whole = on_array(small(**told), tmp_path)
    seen: list[bytes] = []
    model = small(**told, checkpoint=path, callbacks=[lambda event: seen.append(path.read_bytes())])
    monkeypatch.setattr(os, "fsync", full)
    with pytest.warns(CheckpointWarning, match="No space left"):
        on_array(model, tmp_path)
    assert model_bytes(model.model_) == model_bytes(whole.model_)
    assert set(seen) == {before}
    assert not list(tmp_path.iterdir())


def test_an_interrupt_on_a_full_disk_is_still_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", full)
    model = small(checkpoint=tmp_path / "run", callbacks=[Interrupt(6, KeyboardInterrupt)])
    with (
        pytest.warns(CheckpointWarning, match="No space left"),
        pytest.raises(KeyboardInterrupt) as caught,
    ):
        on_array(model, tmp_path)
    assert "continue from" not in caught.value.__notes__[0]
    assert len(model.ledger_) > 0


def test_memory_may_allow_another_sample_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, told = tmp_path / "run", {"n_estimators": 14, "memory": "9GB", "sample_rows": None}
    limits = iter([2100, 2100, 2100, 2100, 5000, 5000])  # each fit asks twice
    monkeypatch.setattr(sizes, "rows_in", lambda *_, **__: next(limits))
    whole = on_array(small(**told), tmp_path)
    model = small(**told, checkpoint=path, callbacks=[Interrupt(5, RuntimeError)])
    with pytest.raises(RuntimeError):
        on_array(model, tmp_path)
    again = on_array(small(**told, checkpoint=path), tmp_path)
    assert model_bytes(again.model_) == model_bytes(whole.model_)


BOX = DecisionTreeClassifier(max_depth=2)
PROMISED: dict[str, Any] = {"booster": "mada", "learner": "stump", "edge": 0.5, "epsilon": 0.4}
FITS: dict[str, tuple[Fit, dict[str, Any]]] = {
    "array": (on_array, {}),
    "classes": (on_classes, {}),
    "sparse": (on_sparse, {}),
    "files": (on_files, {}),
    "csv": (on_csv, {}),
    "world": (on_world, {"n_certify": 200}),
    "stream": (on_stream, {"n_estimators": 3}),
    "promised": (on_array, {**PROMISED, "n_estimators": 2}),
    "path": (on_array, {"booster": "projection"}),
    "black box": (on_array, {"learner": BOX, "n_estimators": 3}),
    "batches": (on_batches, {"n_estimators": 2}),
}
EACH = pytest.mark.parametrize("name", FITS)


def fit(name: str, folder: Path, **told: Any) -> Any:
    source, options = FITS[name]
    return source(small(**{"n_estimators": 6, **options, **told}), folder)


def content(model: Any) -> bytes:
    """The model as a file; of black boxes, which no file holds, what they say."""
    if model.learner in {"tree", "stump"}:
        return model_bytes(model.model_)
    scores: bytes = model.decision_function(noisy(500)[0]).tobytes()
    return scores


@one_in(2)
@EACH
@pytest.mark.filterwarnings("ignore:the sparse")
def test_the_model_does_not_depend_on_threads_or_pieces(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = content(fit(name, tmp_path, n_jobs=1))
    assert content(fit(name, tmp_path, n_jobs=7)) == first
    monkeypatch.setattr(refilling, "CELLS_PER_PIECE", 10**9)
    assert content(fit(name, tmp_path, n_jobs=2)) == first


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_piece_names_its_row(threads: int, tmp_path: Path) -> None:
    X, y = noisy(3000)
    X[1234, 2] = np.inf
    source = write_parquet(tmp_path / "data", X, y, files=1)
    with pytest.raises(DataError, match=r"row group 2, row 234: .*'x2'"):
        small(n_estimators=40, n_certify=0, n_jobs=threads).fit_source(source, "y")


@pytest.mark.parametrize("name", ["array", "files"])
def test_ctrl_c_ends_at_once_and_keeps_what_was_learned(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: Any) -> bool:
        def look(self: refilling.RefillTask, piece: candidates.FilterBatch) -> refilling.RefillPart:
            if threading.current_thread() is threading.main_thread():
                raise AssertionError("pieces are looked at by other threads")
            raise KeyboardInterrupt

        monkeypatch.setattr(refilling.RefillTask, "__call__", look)
        return False

    with pytest.raises(KeyboardInterrupt) as caught:
        fit(name, tmp_path, n_estimators=60, n_jobs=3, callbacks=[interrupt])
    assert any("are kept" in note for note in caught.value.__notes__)
