"""What users may name as a booster; a booster is one file, in pacboost or elsewhere."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import boosters
from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.booster import Booster
from pacboost.boosters.choose import as_booster
from pacboost.boosters.registry import BOOSTERS, LOSSES
from pacboost.errors import FileError, ParameterError
from tests.cli.running import well, write_csv
from tests.worlds import noisy

ONE_FILE = '''
"""AdaBoost with votes that are cut to a part of what they would be."""

from dataclasses import dataclass
from typing import ClassVar

from pacboost.boosters.booster import Measured
from pacboost.boosters.maximal_margin import MarginGoal


@dataclass(frozen=True)
class Timid(MarginGoal):
    name: ClassVar[str] = "timid"

    tolerance: float = 0.01
    part: float = 0.5

    def goal(self, state, edge):
        return self.part * edge
'''
OWN_POTENTIAL = (
    ONE_FILE.replace("Timid", "Shy").replace("timid", "shy")
    + """
    potential: ClassVar[str] = "squared hinge"

    def costs(self, margins, rounds):
        return (1 - margins.clip(max=1)) ** 2
"""
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a single file, which holds a new booster."""
    (tmp_path / "timid.py").write_text(ONE_FILE)
    yield tmp_path
    sys.modules.pop("timid", None)


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_name_stands_for_the_booster_with_its_defaults(name: str) -> None:
    booster = as_booster(name)
    assert booster == BOOSTERS[name]()
    assert booster.name == name


def test_every_named_booster_is_registered() -> None:
    modules = [
        import_module(f"pacboost.boosters.{m.name}") for m in iter_modules(boosters.__path__)
    ]
    kinds = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    named = {kind.name for kind in kinds if issubclass(kind, Booster) and "name" in vars(kind)} - {
        "custom_objective",
        "custom_loss",
    }  # which users define
    assert named == {*BOOSTERS}
    assert {LOSSES[name].potential for name in LOSSES} == {*LOSSES} > {"square", "huber"}


@pytest.mark.parametrize("choice", ["boost", AdaBoost, None, 3])
def test_anything_else_is_refused(choice: Any) -> None:
    with pytest.raises(ParameterError, match="'adaboost'"):
        as_booster(choice)


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("no_such_module:Timid", "cannot be imported: No module named 'no_such_module'"),
        ("pacboost.boosters.soft_margin:Timid", "cannot be imported.*PYTHONPATH"),
        ("pacboost.boosters.soft_margin:", "cannot be imported"),
        (":LP", "cannot be imported"),
        ("pathlib:Path", "not a subclass of pacboost's Booster"),
    ],
)
def test_a_path_that_leads_to_no_booster_is_refused(path: str, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        as_booster(path)


def test_one_file_of_your_own_is_a_booster_in_python(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    X, signs = noisy(200, 3, seed=1)
    model = pacboost.BoostClassifier("timid:Timid", "stump", n_estimators=5).fit(X, signs)
    assert model.ledger_.booster == "timid"
    assert model.certificate_.value >= np.mean(model.predict(X) != signs)
    model.set_params(booster__part=0.25).fit(X, signs)
    assert model.ledger_.rounds[0].vote > 0


def test_one_file_of_your_own_is_a_booster_on_the_command_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    X, signs = noisy(200, 3, seed=1)
    columns = {f"x{j}": column for j, column in enumerate(X.T.tolist())}
    data = write_csv(folder / "rows.csv", {**columns, "y": signs})
    output = folder / "model.json"
    asked = ["--target", "y", "--booster", "timid:Timid", "--rounds", "5", "--output", output]
    well("fit", data, *asked)
    loaded = pacboost.load(output)
    assert loaded.ledger_.booster == "timid"
    assert all(check.holds for check in pacboost.verify(output))


def test_a_model_file_cannot_have_code_imported(folder: Path) -> None:
    """The name of a booster in a file is a name: no path to a class."""
    X, signs = noisy(60, 2, seed=1)
    model = pacboost.BoostClassifier("gentle", "stump", n_estimators=2).fit(X, signs)
    ledger = replace(model.ledger_, booster="timid:Timid")
    model.model_ = replace(model.model_, ledger=ledger)
    model.save(folder / "model.json")
    with pytest.raises(FileError, match="'timid:Timid'"):
        pacboost.load(folder / "model.json")


def test_a_potential_of_your_own_certifies_the_training_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shy.py").write_text(OWN_POTENTIAL)
    monkeypatch.syspath_prepend(tmp_path)
    X, signs = noisy(200, 3, seed=1)
    labels = np.where(X[:, 1] > 0.5, 2, signs)
    for y, factor in ((signs, 1), (labels, 3)):
        model = pacboost.BoostClassifier("shy:Shy", "stump", n_estimators=5).fit(X, y)
        assert model.ledger_.potential == "squared hinge"
        assert model.ledger_.factor == factor
        error = model.ledger_.rounds[-1].training_error
        assert error <= model.certificate_.value <= factor
        assert "costs that shy defines" in model.certificate_.theorem
    sys.modules.pop("shy", None)
