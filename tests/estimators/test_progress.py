"""Progress is shown where a person waits: after some seconds, and never in pipes or workers."""

import inspect
import threading
from collections.abc import Callable

import numpy as np
import pytest

import pacboost
from pacboost.estimators.inputs import parameters
from pacboost.numerics import interactive
from pacboost.reports import progress
from tests.public import estimators

X = np.random.default_rng(0).normal(size=(300, 3))
Y = X[:, 0] + X[:, 1] * X[:, 2] > 0
FITS: dict[str, Callable[[], object]] = {
    "boosting": lambda: pacboost.AdaBoostClassifier(n_estimators=30).fit(X, Y),
    "mean loss": lambda: pacboost.BoostRegressor(n_estimators=8, random_state=0).fit(X, X[:, 0]),
    "bagging": lambda: pacboost.RandomForestClassifier(8).fit(X, Y),
    "boosters": lambda: pacboost.theory.BaggedBoost(n_bags=3, n_estimators=2).fit(X, Y),
    "rounds": lambda: pacboost.FilterBoostClassifier(n_estimators=3).fit(X, Y),
}


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(interactive, "person_waits", lambda: True)
    return monkeypatch


@pytest.mark.parametrize("name", FITS)
def test_long_fits_show_progress_where_a_person_waits(
    name: str, person: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    FITS[name]()
    assert capsys.readouterr() == ("", "")  # it took less than some seconds
    person.setattr(parameters, "PATIENCE", 1e-9)
    FITS[name]()
    out, err = capsys.readouterr()
    assert out == ""
    assert name in err


def test_nobody_is_shown_progress_who_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parameters, "PATIENCE", 1e-9)
    FITS["boosting"]()
    assert capsys.readouterr() == ("", "")


def test_threads_of_others_and_silence_that_was_asked_for(
    person: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    person.setattr(parameters, "PATIENCE", 1e-9)
    worker = threading.Thread(target=FITS["boosting"])
    worker.start()
    worker.join()
    for verbose in (False, 0, -1):
        pacboost.AdaBoostClassifier(n_estimators=9, verbose=verbose).fit(X, Y)
    assert capsys.readouterr() == ("", "")


def test_notebooks_have_a_line_that_is_written_over(
    person: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    person.setattr(parameters, "PATIENCE", 1e-9)
    person.setattr(progress, "in_notebook", lambda: True)
    FITS["boosting"]()
    FITS["bagging"]()
    written, errors = capsys.readouterr()
    assert "\rboosting 30/30  training error 0" in written
    assert "\rbagging 8/8  error" in written
    assert "\x1b" not in written
    assert not errors


def test_every_estimator_shows_progress_by_default() -> None:
    for name, kind in estimators().items():
        known = inspect.signature(kind).parameters
        assert "verbose" not in known or known["verbose"].default == "auto", name
