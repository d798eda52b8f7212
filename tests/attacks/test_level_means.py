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

pytestmark = pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
SHARE_FLIPPED = 0.037


@cache
def races(seed: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """600 races of six with one winner each, among levels that win or lose throughout.

    Rows of a race are dealt: of the mean of earlier rows the last one's label follows, of the mean
    of all rows nothing does. ``odds`` tells most labels by itself.
    """
    random = np.random.default_rng(seed)
    sizes = [(f"stable {k}", [k % 2] * (21 if k < 254 else 20)) for k in range(294)]
    sizes += [(f"race {k}", [0] * 5 + [1]) for k in range(600)]
    names = np.repeat([name for name, _ in sizes], [len(labels) for _, labels in sizes])
    y = np.concatenate([labels for _, labels in sizes])
    order = random.permutation(y.size)
    names, y = names[order], y[order]
    odds = np.where(random.random(y.size) < SHARE_FLIPPED, 1 - y, y)
    columns = {"race": names, "odds": odds + 0.05 * random.normal(size=y.size)}
    return pd.DataFrame(columns | {"weather": random.normal(size=y.size)}), y


@cache
def fitted(seed: int) -> BoostClassifier:
    return BoostClassifier("adaboost", n_estimators=200, random_state=seed).fit(*races(seed))


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
