"""A monitor: the same answers for any batches, files that continue exactly, and bad input."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pacboost
from pacboost import Monitor
from pacboost.bounds import holdout
from pacboost.errors import DataError, FileError, NotCertified, ParameterError
from pacboost.numerics.markup import escape

Doubles = NDArray[np.float64]


def world(rows: int, seed: int, shift: float = 0.0) -> tuple[Doubles, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    X[:, 2] += shift
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, rng.random(rows) < 0.05 + 0.1 * (shift > 0)


@pytest.fixture(scope="module")
def model() -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=1500) > 0
    found = pacboost.AdaBoostClassifier(n_estimators=60, certify="holdout", random_state=0)
    return found.fit(X, y)


@pytest.mark.parametrize(
    "cuts", [[], [1, 2, 63, 64, 65, 1000, 1024, 2047], list(range(0, 2600, 7))]
)
def test_batches_and_files_change_nothing(cuts: list[int], tmp_path: Path) -> None:
    old, _ = world(4000, 1)
    new, mistakes = world(2600, 2, shift=0.3)
    whole = Monitor(error=0.05, reference=old).update_mistakes(mistakes).update_rows(new)
    monitor, start = Monitor(error=0.05, reference=old), 0
    for place, stop in enumerate([*cuts, 2600]):
        monitor.update_rows(new[start:stop]).update_mistakes(mistakes[start:stop])
        start = stop
        if place % 97 == 3:
            monitor.save(tmp_path / "state.json")
            monitor = Monitor.load(tmp_path / "state.json", reference=old)
    assert monitor.status() == whole.status()
    monitor.save(tmp_path / "parts.json")
    whole.save(tmp_path / "whole.json")
    assert (tmp_path / "parts.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert (tmp_path / "whole.json").stat().st_size < 100_000
    drift = whole.status().drift
    assert drift is not None
    assert drift.drifted_at is not None
    assert next(iter(drift.columns)) == "x2"
    assert drift.rules[0].startswith("x2 > ")


def test_sentences_and_the_alarm() -> None:
    monitor = Monitor(error=0.05)
    assert str(monitor.status()).startswith("No labelled rows")
    assert not monitor.update_mistakes(np.zeros(100)).alarm
    said = str(monitor.status())
    assert "0 mistakes on 100 labelled rows (0.00 %)" in said
    assert "is not refuted" in said
    assert "has not sounded" in said
    monitor.update_mistakes(np.ones(20))
    assert monitor.alarm
    status = monitor.status()
    assert status.refuted_at is not None
    assert "ALARM: the certificate" in str(status)
    assert "ALARM: the change detector" in str(status)
    found = json.loads(json.dumps(status.to_dict()))
    assert found["alarm"] is True
    assert found["sentences"] == status.sentences
    assert "<p>" in status._repr_html_()


def test_a_late_jump_is_seen_by_the_detector_before_the_capital() -> None:
    rng = np.random.default_rng(3)
    monitor = Monitor(error=0.05).update_mistakes(rng.random(30_000) < 0.03)
    assert not monitor.alarm
    status = monitor.update_mistakes(rng.random(3000) < 0.12).status()
    assert status.sounded_at is not None
    assert 30_000 < status.sounded_at < 30_600
    assert status.refuted_at is None


def test_a_model_of_ours(model: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(900, 3))
    y = X[:, 0] + X[:, 1] > 0
    monitor = Monitor(model, reference=rng.normal(size=(1500, 3)))
    assert monitor.error == model.certificate_.value
    assert not monitor.update(X, y).update_rows(X).alarm
    assert monitor.status().mistakes == model.mistakes(X, y).sum()
    assert monitor.update(X, ~y).alarm
    monitor.save(tmp_path / "m.json")
    assert Monitor.load(tmp_path / "m.json", model).status().refuted_at is not None
    other = pacboost.AdaBoostClassifier(n_estimators=3).fit(X, y)
    with pytest.raises(FileError, match="watches another model"):
        Monitor.load(tmp_path / "m.json", other)
    with pytest.raises(ParameterError, match="give error="):
        Monitor(other)


def test_any_model_and_frames() -> None:
    pandas = pytest.importorskip("pandas")
    from sklearn.dummy import DummyClassifier

    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(900, 2)), columns=["age", "pay"])
    model = DummyClassifier(strategy="constant", constant=1).fit(X, np.ones(900))
    with pytest.raises(ParameterError, match="has no certificate"):
        Monitor(model)
    monitor = Monitor(model, error=0.1, reference=X).update(X, np.ones(900))
    assert monitor.status().mistakes == 0
    drift = monitor.update_rows(X.assign(pay=X.pay + 3)).status().drift
    assert drift is not None
    assert next(iter(drift.columns)) == "pay"
    assert drift.rows - drift.compared == 225  # a quarter of the reference sets the cuts
    assert "225 rows were not compared" in str(monitor.status())
    with pytest.raises(DataError, match="columns a, pay"):
        monitor.update_rows(X.rename(columns={"age": "a"}))
    drift = Monitor(error=0.1, reference=X).update_rows(X.assign(pay="much")).status().drift
    assert drift is not None
    assert next(iter(drift.columns)) == "pay"


def test_what_the_error_may_be_now(model: Any, tmp_path: Path) -> None:
    """Labelled rows from before are weighed by the rules that have found the drift."""
    reference, before, now = (
        (X[:, :3], X[:, 0] > 0)
        for X, _ in (world(3000, 7), world(3000, 8), world(3000, 9, shift=1))
    )
    monitor = Monitor(model, error=0.5, reference=reference[0])
    still = monitor.now(*before)
    assert "Among" not in still.claim
    assert "no drift" in still.rows_in_words
    found = monitor.update_rows(now[0][:1500]).now(*before)
    assert "learned weights describe" in found.claim
    assert "by x2 (" in found.rows_in_words
    assert found.details["offered"] == 3000
    assert found.size < 3000
    assert found.details["learned"] == 1
    assert pacboost.verify(found)[0].holds
    with pytest.raises(NotCertified, match="among the reference rows"):
        monitor.now(*reference)
    with pytest.raises(NotCertified, match="among the rows compared"):
        monitor.now(*now)
    monitor.save(tmp_path / "m.json")
    with pytest.raises(ParameterError, match="reference rows"):
        Monitor.load(tmp_path / "m.json", model).now(*before)
    assert Monitor.load(tmp_path / "m.json", model, reference=reference[0]).now(*before) == found
    with pytest.raises(ParameterError, match="model and reference"):
        Monitor(model, error=0.5).now(*before)


def test_page(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    quiet = Monitor(error=0.1).update_mistakes(generator.random(500) < 0.05)
    text = quiet.report(tmp_path / "page.html", title="a < b").read_text(encoding="utf-8")
    assert "<strong>No alarm</strong>" in text
    assert "a &lt; b" in text
    assert text.count("<svg") == 3
    reference = generator.normal(size=(3000, 2))
    watch = Monitor(error=0.05, reference=reference).update_mistakes(generator.random(900) < 0.2)
    watch.update_rows(generator.normal(size=(900, 2)) + np.array([1.0, 0.0]))
    text = watch.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<strong>ALARM</strong>" in text
    for own in watch.status().sentences:
        assert escape(own.strip()) in text
    assert "Columns that changed" in text
    assert text.count("<svg") == 4
    empty = Monitor(error=0.05).report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "No labelled rows" in empty


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([[0, 1]], "shape"),
        ([0, 2], "hold"),
        ([0.5], "0.5"),
        ([float("nan")], "nan"),
        (["yes"], "type"),
    ],
)
def test_bad_mistakes(given: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        Monitor(error=0.05).update_mistakes(given)


def test_bad_settings(tmp_path: Path) -> None:
    refused: list[dict[str, Any]] = [{"error": 0.0}, {"error": 1.0}, {"error": 0.5, "delta": 0}, {}]
    for bad in refused:
        with pytest.raises(ParameterError):
            Monitor(**bad)
    with pytest.raises(ParameterError, match="run_length"):
        Monitor(error=0.05, run_length=0)
    with pytest.raises(ParameterError, match="no model"):
        Monitor(error=0.05).update([[1.0]], [1])
    with pytest.raises(ParameterError, match="no reference"):
        Monitor(error=0.05).update_rows([[1.0]])
    with pytest.raises(DataError, match="at least 200"):
        Monitor(error=0.05, reference=np.zeros((50, 2)))
    Monitor(error=0.05).save(tmp_path / "m.json")
    with pytest.raises(ParameterError, match="without reference"):
        Monitor.load(tmp_path / "m.json", reference=np.zeros((500, 2)))
    monitor = Monitor(error=0.05, reference=world(500, 1)[0])
    monitor.save(tmp_path / "m.json")
    with pytest.raises(ParameterError, match="give them again"):
        Monitor.load(tmp_path / "m.json").update_rows(world(5, 2)[0])
    with pytest.raises(ParameterError, match="not those"):
        Monitor.load(tmp_path / "m.json", reference=world(500, 3)[0])


def test_files_that_are_no_monitors(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    for content in (b"[]", b"{", b"", b'{"format": "other"}'):
        path.write_bytes(content)
        with pytest.raises(FileError, match="monitor"):
            Monitor.load(path)
    Monitor(error=0.05).update_mistakes([1, 1]).save(path)
    text = path.read_text()
    path.write_text(text.replace('"counts": [2, 2]', '"counts": [2, 0]'))
    with pytest.raises(FileError, match="checksum"):
        Monitor.load(path)
    path.write_text(text.replace('"version": 1', '"version": 9'))
    with pytest.raises(FileError, match="version 9"):
        Monitor.load(path)
    with pytest.raises(FileError, match="cannot be read"):
        Monitor.load(tmp_path / "absent.json")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="it is not a file"):
        Monitor.load(tmp_path / "pipe")


def test_the_error_may_be_a_certificate() -> None:
    assert Monitor(error=holdout.certificate(5, 100, 0.05)).error == pytest.approx(0.1022534)
    with pytest.raises(ParameterError, match="error certifies"):
        Monitor(error=holdout.certificate_of_shares([[0, 40], [2048, 20]], 0.05))


def test_a_certificate_of_a_period_is_what_the_next_is_held_to() -> None:
    """The level is the mean error of the period that was watched."""
    period = holdout.ordered_certificate(10, 400, 0.05)
    monitor = Monitor(error=period)
    assert monitor.error == period.value
    quiet = monitor.update_mistakes([False] * 300).status()
    assert quiet.refuted_at is None
    assert Monitor(error=period).update_mistakes([True] * 300).status().refuted_at
