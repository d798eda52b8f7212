"""A model that certifies nothing about new examples says so wherever its certificate is read."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost import BoostClassifier
from pacboost.bounds import wording
from pacboost.bounds.training import training_error
from pacboost.models.file.inspect import inspect
from pacboost.questions.verify import of_training
from tests.attacks.worlds import coins
from tests.cli.running import answer, well

NOTHING = "Nothing is certified"


def table(seed: int, rows: int) -> pd.DataFrame:
    X, y = coins(seed, rows)
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=np.where(y > 0, "yes", "no"))


@pytest.fixture(scope="module")
def model() -> BoostClassifier:
    """Coins: the training error is bounded, and nothing else is."""
    rows = table(0, 120)
    return BoostClassifier("adaboost", "stump", n_estimators=60, random_state=0).fit(
        rows[["a", "b", "c"]], rows.label
    )


@pytest.fixture(scope="module")
def path(model: BoostClassifier, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plain") / "coins.pacb"
    model.save(path)
    return path


def begins(text: str) -> bool:
    """Check whether a text says first that nothing is certified."""
    return text.startswith(NOTHING)


def test_its_claim_and_its_sentence(model: BoostClassifier) -> None:
    own = model.certificate_
    assert own.value < 1
    assert own.of_what in wording.OF_TRAINING
    assert begins(own.claim)
    assert begins(own.sentence)
    assert own == training_error(model.ledger_)
    # the broken twin: the claim of the same number for new examples does not begin so
    assert not begins(pacboost.bounds.holdout.certificate(10, 100, 0.05).claim)


def test_its_file(path: Path) -> None:
    assert of_training(path)
    assert begins(inspect(path).sentence)
    assert begins(answer("verify", path)["sentence"])
    assert "the certificate holds" not in well("verify", path)


def test_its_export(model: BoostClassifier, tmp_path: Path) -> None:
    pacboost.export(model, tmp_path / "coins.py")
    text = (tmp_path / "coins.py").read_text()
    assert NOTHING in text
    assert "Certified:" not in text


def test_a_report_by_new_rows_certifies_by_them(
    model: BoostClassifier, path: Path, tmp_path: Path
) -> None:
    new, page = table(1, 300), tmp_path / "page.html"
    new.to_csv(tmp_path / "new.csv", index=False)
    options: list[Any] = ["report", path, "--target", "label", "--output", page, "--data"]
    made = answer(*options, tmp_path / "new.csv")["certificate"]
    expected = pacboost.certify(model, new[["a", "b", "c"]], new.label)
    assert made["size"] == 300
    assert made["value"] == expected.value > 0.4
    assert NOTHING not in page.read_text()
    # rows of the fit certify nothing
    table(0, 120).to_csv(tmp_path / "old.csv", index=False)
    assert answer(*options, tmp_path / "old.csv")["certificate"] is None
    assert NOTHING in page.read_text()
