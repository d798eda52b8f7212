"""Means of levels: rows are learned from with other values than ``predict`` computes for them."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pacboost import BoostClassifier
from pacboost import pacboost_check as checker
from pacboost.bounds.training import training_error
from pacboost.errors import NotCertified
from pacboost.models.file import format as files
from pacboost.models.model import Model
from pacboost.models.training_claim import training_certificate
from pacboost.questions.compare import Labelled, measure
from pacboost.questions.verify import verify
from pacboost.sources import level_means

pytestmark = pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
SHARE_FLIPPED = 0.037


@cache
def races(seed: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """600 races with one winner each, among levels that win or lose throughout.

    Rows of a race are dealt: of the mean of earlier rows the last one's label follows, of the mean
    of all rows nothing does. ``odds`` tells most labels by itself. Of no number of rows there are
    many races.
    """
    random = np.random.default_rng(seed)
    sizes = [(f"stable {k}", [k % 2] * (21 if k < 254 else 20)) for k in range(294)]
    sizes += [(f"race {k}", [0] * (2 + k // 30) + [1]) for k in range(600)]
    return shuffled(sizes, random)


def pairs(seed: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """1,600 pairs of which one wins: the label of the first row tells that of the second."""
    sizes = [(f"stable {k}", [k % 2] * (151 if k < 254 else 150)) for k in range(274)]
    sizes += [(f"pair {k}", [0, 1]) for k in range(1600)]
    return shuffled(sizes, np.random.default_rng(seed))


def shuffled(
    sizes: list[tuple[str, list[int]]], random: np.random.Generator
) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    names = np.repeat([name for name, _ in sizes], [len(labels) for _, labels in sizes])
    y = np.concatenate([labels for _, labels in sizes])
    order = random.permutation(y.size)
    names, y = names[order], y[order]
    odds = np.where(random.random(y.size) < SHARE_FLIPPED, 1 - y, y)
    columns = {"race": names, "odds": odds + 0.05 * random.normal(size=y.size)}
    return pd.DataFrame(columns | {"weather": random.normal(size=y.size)}), y


def nothing_dealt(numbers: Any, targets: Any, counts: Any) -> Any:
    """The twin of the gate: no level is taken for one whose labels were dealt."""
    return np.zeros(counts.size, dtype=np.bool_)


@cache
def fitted(seed: int) -> BoostClassifier:
    model = BoostClassifier("adaboost", n_estimators=200, random_state=seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(level_means, "_dealt", nothing_dealt)
        return model.fit(*races(seed))


def overstates(model: Model, wrong: float, certify: Any = training_certificate) -> bool:
    """Check whether the training certificate of a model is below its error on those rows."""
    try:
        return bool(certify(model).value < wrong)
    except NotCertified:
        return False


def twin(model: Model) -> Any:
    """The broken twin: it certifies what the run measured, whatever ``predict`` reads."""
    return training_error(model.ledger)


@pytest.mark.parametrize("seed", [0, 1])
def test_training_error_is_not_certified_where_predict_reads_other_means(seed: int) -> None:
    (X, y), model = races(seed), fitted(seed)
    assert model.model_.derived_names == ("mean of race",)
    wrong = float((model.predict(X) != y).mean())
    assert not hasattr(model, "certificate_")
    assert model.model_.certificate is None
    assert not overstates(model.model_, wrong)
    assert overstates(model.model_, wrong, twin)


def test_it_is_certified_without_means() -> None:
    X, y = races(0)
    model = BoostClassifier("adaboost", n_estimators=30, random_state=0, derive=False).fit(X, y)
    assert model.certificate_.value >= (model.predict(X) != y).mean()


@pytest.mark.parametrize(("dealing", "kind"), [(pairs, "pair"), (races, "race")])
def test_levels_whose_labels_were_dealt_have_no_means(
    dealing: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trees learn that earlier rows of a race tell the last, and predict by the mean of all.

    Without means 3.7 % are wrong; with them, the twin, up to a half.
    """
    X, y = dealing(0)
    rows = X["race"].str.startswith(kind)

    def wrong() -> float:
        model = BoostClassifier("adaboost", n_estimators=60, random_state=0, n_jobs=1).fit(X, y)
        assert model.model_.derived_names == ("mean of race",)
        return float((model.predict(X[rows]) != y[rows]).mean())

    noticed = wrong()
    assert noticed < 2 * SHARE_FLIPPED
    monkeypatch.setattr(level_means, "_dealt", nothing_dealt)
    assert wrong() > 2 * noticed


def test_honest_levels_are_not_called_dealt() -> None:
    """At four standard deviations, whatever the labels are: rare ones, tails, real differences."""
    random = np.random.default_rng(0)
    for k in range(30):
        counts = random.integers(2, 9, size=3000)
        numbers = np.repeat(np.arange(3000), counts)
        chances = random.beta(1, 1 + k % 9, size=3000) if k % 2 else np.full(3000, 0.02)
        for labels in (
            (random.random(numbers.size) < chances[numbers]) * 1.0,
            random.standard_t(3, size=numbers.size),
        ):
            assert not level_means._dealt(numbers, labels, counts).any()


def test_a_comparison_measures_what_predict_answers() -> None:
    (X, y), model = races(0), fitted(0)
    compared, _ = measure("means", model, Labelled(X, y), None, share=0.05, delta=0.05, boosters=1)
    assert compared.bound is None
    assert compared.training_error == (model.predict(X) != y).mean()


def test_a_file_with_such_a_certificate_does_not_hold(tmp_path: Path) -> None:
    model, path = fitted(0).model_, tmp_path / "model.pacb"
    files.save(replace(model, certificate=training_error(model.ledger)), path)
    assert [check.holds for check in verify(path) if check.name == "bound"] == [False]
    answers = {name: answer for name, answer, _ in checker.check(path.read_bytes())}
    assert answers["certificate"] == checker.FAILS
    files.save(replace(model, certificate=None), path)
    assert checker.FAILS not in {answer for _, answer, _ in checker.check(path.read_bytes())}
