"""Filtering on several threads: the same model, few rows in flight, errors and Ctrl-C at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from pacboost import StrongClassifier
from pacboost.errors import DataError
from pacboost.estimators.filtering import filter_setup
from pacboost.kernels import hashing
from pacboost.models.file.format import model_bytes
from pacboost.theory.worlds import hastie
from pacboost.training.filtering import candidates, engine, refilling
from tests.estimators.filter_sources import noisy, small, write_parquet

ROUNDS = 6
Fit = Callable[..., Any]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have several pieces in an offer, several offers in a refill, and more threads than cores."""
    monkeypatch.setattr(candidates, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(filter_setup, "ROWS_FOR_BINS", 1500)
    monkeypatch.setattr(refilling, "LEAST_PER_PIECE", 150)
    monkeypatch.setattr(refilling, "CELLS_PER_PIECE", 600)
    monkeypatch.setattr(engine, "usable_cores", lambda: 16)


def array(folder: Path, **told: Any) -> Any:
    return small(**{"n_estimators": ROUNDS, **told}).fit(*noisy(5000))


def classes(folder: Path, **told: Any) -> Any:
    return small(n_estimators=ROUNDS, **told).fit(*noisy(5000, classes=3))


def stored(folder: Path, **told: Any) -> Any:
    X, y = noisy(5000)
    return small(n_estimators=ROUNDS, **told).fit(sparse.csr_array(np.where(X > 0.5, X, 0.0)), y)


def parquet(folder: Path, **told: Any) -> Any:
    source = write_parquet(folder / "data", *noisy(6000))
    return small(**{"n_estimators": ROUNDS, **told}).fit_source(source, "y")


def csv(folder: Path, **told: Any) -> Any:
    X, y = noisy(4000)
    lines = [",".join(map(repr, [*row, label])) for row, label in zip(X.tolist(), y, strict=True)]
    (folder / "rows.csv").write_text("\n".join(["a,b,c,d,y", *lines]))
    return small(n_estimators=ROUNDS, **told).fit_source(folder / "rows.csv", "y")


def world(folder: Path, **told: Any) -> Any:
    return small(n_estimators=ROUNDS, n_certify=200, **told).fit_source(hastie(4))


def stream(folder: Path, **told: Any) -> Any:
    X, y = noisy(9000)
    batches = [(X[k : k + 700], y[k : k + 700]) for k in range(0, 9000, 700)]
    return small(n_estimators=3, **told).fit_source(iter(batches))


def promised(folder: Path, **told: Any) -> Any:
    named = {"booster": "mada", "learner": "stump", "edge": 0.5, "epsilon": 0.4, "n_estimators": 2}
    return small(**named, **told).fit(*noisy(20_000))


def path(folder: Path, **told: Any) -> Any:
    return small(booster="projection", n_estimators=ROUNDS, **told).fit(*noisy(5000))


def black_box(folder: Path, **told: Any) -> Any:
    return small(learner=DecisionTreeClassifier(max_depth=2), n_estimators=3, **told).fit(
        *noisy(3000)
    )


def batches(folder: Path, **told: Any) -> Any:
    model = small(n_estimators=2, **told)
    for seed in range(3):
        model.partial_fit(*noisy(1500, seed))
    return model


FITS = [array, classes, stored, parquet, csv, world, stream, promised, path, black_box, batches]
EACH = pytest.mark.parametrize("fit", FITS)


def content(model: Any) -> bytes:
    """The model as a file; of black boxes, which no file holds, what they say."""
    if model.learner in {"tree", "stump"}:
        return model_bytes(model.model_)
    scores: bytes = model.decision_function(noisy(500)[0]).tobytes()
    return scores


@pytest.mark.thinned(2)
@EACH
@pytest.mark.filterwarnings("ignore:the sparse")
def test_the_model_does_not_depend_on_threads(fit: Fit, tmp_path: Path) -> None:
    first = content(fit(tmp_path, n_jobs=1))
    for threads in (2, 3, 7):
        assert content(fit(tmp_path, n_jobs=threads)) == first


@EACH
@pytest.mark.filterwarnings("ignore:the sparse")
def test_the_model_does_not_depend_on_pieces(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = content(fit(tmp_path, n_jobs=1))
    monkeypatch.setattr(refilling, "CELLS_PER_PIECE", 10**9)
    assert content(fit(tmp_path, n_jobs=1)) == first


@pytest.mark.parametrize("fit", [array, stored, parquet])
@pytest.mark.filterwarnings("ignore:the sparse")
def test_the_model_does_not_depend_on_how_rows_are_hashed(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_numpy = fit(tmp_path, n_jobs=1)
    monkeypatch.setattr(hashing, "CELLS_WORTH_COMPILING", 0)
    compiled = fit(tmp_path, n_jobs=2)
    assert content(compiled) == content(by_numpy)
    first, second = by_numpy._sketches[0].to_dict(), compiled._sketches[0].to_dict()
    assert all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.slow
def test_strong_classifiers_of_files_do_not_depend_on_threads(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "data", *noisy(1500))

    def fitted(threads: int) -> Any:
        options: dict[str, Any] = {"n_estimators": 5, "random_state": 0, "n_jobs": threads}
        return StrongClassifier(**options).fit(source, "y")

    assert model_bytes(fitted(3).model_) == model_bytes(fitted(1).model_)


@pytest.mark.parametrize("fit", [array, parquet, world, stream])
def test_several_threads_look_at_rows(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: set[str] = set()
    both, met, original = threading.Barrier(2), threading.Event(), refilling.Look.__call__

    def look(self: refilling.Look, piece: candidates.Offer) -> refilling.Looked:
        names.add(threading.current_thread().name)
        if not met.is_set() and piece.batch.n_rows > 100:  # the first rows of an array are few
            both.wait(600)
            met.set()
        return original(self, piece)

    monkeypatch.setattr(refilling.Look, "__call__", look)
    fit(tmp_path, n_jobs=2)
    assert len(names) == 2
    assert threading.current_thread().name not in names


def test_black_boxes_are_asked_by_one_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, original = set(), refilling.Look.__call__

    def look(self: refilling.Look, piece: candidates.Offer) -> refilling.Looked:
        names.add(threading.current_thread().name)
        return original(self, piece)

    monkeypatch.setattr(refilling.Look, "__call__", look)
    black_box(tmp_path, n_jobs=3)
    assert names == {threading.current_thread().name}


@pytest.mark.parametrize("fit", [array, parquet])
def test_few_pieces_are_in_flight(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = most = 0
    lock, original, cut = threading.Lock(), refilling.Look.__call__, candidates.Offer.pieces

    def pieces(*arguments: Any) -> Iterator[candidates.Offer]:
        nonlocal alive, most
        for piece in cut(*arguments):
            with lock:
                alive += 1
                most = max(most, alive)
            yield piece

    def look(self: refilling.Look, piece: candidates.Offer) -> refilling.Looked:
        nonlocal alive
        found = original(self, piece)
        with lock:
            alive -= 1
        return found

    monkeypatch.setattr(refilling.Look, "__call__", look)
    monkeypatch.setattr(candidates.Offer, "pieces", pieces)
    fit(tmp_path, n_jobs=3)
    assert 1 < most <= 2 * 3


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_piece_names_its_row(threads: int, tmp_path: Path) -> None:
    X, y = noisy(3000)
    X[1234, 2] = np.inf
    source = write_parquet(tmp_path / "data", X, y, files=1)
    with pytest.raises(DataError, match=r"row group 2, row 234: column 'x2' holds inf"):
        small(n_estimators=40, n_certify=0, n_jobs=threads).fit_source(source, "y")


@pytest.mark.parametrize("fit", [array, parquet])
def test_ctrl_c_ends_at_once_and_keeps_what_was_learned(
    fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: Any) -> bool:
        def look(self: refilling.Look, piece: candidates.Offer) -> refilling.Looked:
            if threading.current_thread() is threading.main_thread():
                raise AssertionError("pieces are looked at by other threads")
            raise KeyboardInterrupt

        monkeypatch.setattr(refilling.Look, "__call__", look)
        return False

    with pytest.raises(KeyboardInterrupt) as caught:
        fit(tmp_path, n_estimators=60, n_jobs=3, callbacks=[interrupt])
    assert any("are kept" in note for note in caught.value.__notes__)
