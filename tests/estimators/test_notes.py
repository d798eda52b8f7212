"""What a fit warns of is kept in ``notes_``, also where it has been said before."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost.errors import DataError, OneClassWarning

WORDS = np.array(["ring", "the", "bell", "twice", "and", "leave", "it", "with", "a", "neighbour"])
RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=300)
X = pd.DataFrame(
    {
        "remark": [" ".join(RNG.choice(WORDS, 9)) for _ in Y],
        "insured by": np.where(Y, "yes", "no"),
        "weight": RNG.normal(size=Y.size),
    }
)


def about(column: str, notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if repr(column) in note]


def test_notes_are_said_once_and_kept_by_every_fit() -> None:
    first, second = (pacboost.BoostClassifier(max_iter=2) for _ in range(2))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        first.fit(X, Y)
        second.fit(X, Y)
    assert [str(one.message) for one in said] == [*first.notes_]
    assert first.notes_ == second.notes_
    assert [len(about(name, first.notes_)) for name in X.columns] == [1, 1, 0]


@pytest.mark.parametrize(
    "model",
    [
        pacboost.StrongClassifier(epsilon=0.4, random_state=0),
        pacboost.TextBoostClassifier(n_estimators=2),
    ],
    ids=["strong", "text"],
)
def test_who_reads_sentences_does_not_say_that_they_are_not_used(model: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert about("remark", model.fit(X, Y).notes_) == []


def test_warnings_at_the_end_of_a_fit_are_among_the_notes() -> None:
    with pytest.warns(OneClassWarning) as said:
        model = pacboost.BoostClassifier().fit(X[["weight"]], np.zeros(Y.size))
    assert model.notes_ == tuple(str(one.message) for one in said)


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_a_fit_that_fails_leaves_the_notes_and_a_loaded_model_has_none(tmp_path: Any) -> None:
    model = pacboost.BoostClassifier(max_iter=2)
    assert model.notes_ == ()
    notes = model.fit(X, Y).notes_
    with pytest.raises(DataError):
        model.fit(X.assign(weight="heavy"), Y[:-1])
    assert model.notes_ == notes
    model.save(tmp_path / "model.pacb")
    assert pacboost.load(tmp_path / "model.pacb").notes_ == ()
    again = pacboost.BoostClassifier(max_iter=2).fit(X[["weight"]], Y)
    assert again.notes_ == ()


def test_a_run_that_ends_at_the_automatic_maximum_while_it_improves_is_noted() -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(120, 3))
    targets = rows[:, 0] * rows[:, 1]
    slow = pacboost.BoostRegressor(learning_rate=0.0005, random_state=0).fit(rows, targets)
    assert slow.best_iteration_ > slow.settings_["n_estimators"] - 50
    assert len(slow.notes_) == 1
    for enough in ({}, {"learning_rate": 0.0005, "n_estimators": 20}, {"early_stopping": False}):
        assert not pacboost.BoostRegressor(random_state=0, **enough).fit(rows, targets).notes_
