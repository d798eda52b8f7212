"""Model files of BoostClassifier: what goes in comes out and verifies, damage is refused."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier
from pacboost.boosters import AdaBoost
from pacboost.errors import FileError
from pacboost.hypotheses.fields import MAX_UNITS
from pacboost.learners.tree import Tree
from pacboost.loading import load
from pacboost.models.file import format as model_file
from pacboost.models.file.document import MemoryBudget, MemoryLimitError
from pacboost.models.file.format import model_bytes
from pacboost.models.model import Model
from tests.grids import each_value, one_in
from tests.model_files import changed
from tests.models import kinds
from tests.models.file.large import lists, repeated, vocabulary
from tests.models.kinds import comes_back

Edit = Callable[[dict[str, Any], dict[str, Any]], Any]


def rows(*, holes: bool = False) -> tuple[pd.DataFrame, Any]:
    """Two numbers and a category, and the score that labels are read off."""
    generator = np.random.default_rng(0)
    colour = generator.choice(["red", "green", "blue", "grey"], size=300)
    a, b = generator.normal(size=(2, 300))
    score = a * b + np.where(np.isin(colour, ["red", "blue"]), 1, -1)
    frame = pd.DataFrame({"a": a, "colour": colour, "b": b})
    if holes:
        frame.loc[::5, "a"] = np.nan
        frame.loc[::7, "colour"] = None
    return frame, score


def labels(kind: str) -> Any:
    _, score = rows()
    return {
        "two": score > 0,
        "four": np.digitize(score, [-1, 0, 1]),
        "words": np.array(["low", "middle", "high"])[np.digitize(score, [-0.5, 0.5])],
        "several": np.stack([score > 0, score > 1, score < -1], axis=1).astype(int),
    }[kind]


def fit(kind: str = "two", *, holes: bool = False, **options: Any) -> BoostClassifier:
    model = BoostClassifier(**{"n_estimators": 6, "random_state": 0, **options})
    return model.fit(rows(holes=holes)[0], labels(kind))


@each_value
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("two", {}),
        ("two", {"booster": "adaboost"}),
        ("two", {"booster": "projection"}),
        ("two", {"booster": "measure", "learner": "stump"}),
        ("two", {"learner": "stump"}),
        ("two", {"monotone_constraints": {"a": 1}, "subsample": 0.7}),
        ("two", {"calibrate": "sigmoid"}),
        ("two", {"certify": "holdout"}),
        ("two", {"class_weight": "balanced", "early_stopping": True}),
        ("words", {}),
        ("words", {"booster": "mada", "learner": "stump"}),
        ("words", {"booster": AdaBoost(multiclass="m1")}),
        ("words", {"calibrate": "isotonic", "validation_fraction": 0.3}),
        ("four", {}),
        ("four", {"booster": "adaboost"}),
        ("several", {"booster": "adaboost"}),
        ("several", {"booster": "gentle", "learner": "stump"}),
    ],
)
@pytest.mark.usefixtures("isotonic_from_few_rows")
def test_what_goes_in_comes_out(
    tmp_path: Path, kind: str, options: dict[str, Any], holes: bool
) -> None:
    frame, _ = rows(holes=holes)
    model = fit(kind, holes=holes, **options)
    back = comes_back(model, tmp_path)
    assert back.booster == model.ledger_.booster
    assert back.learner == options.get("learner", "tree")
    assert back.classes_.tolist() == model.classes_.tolist()
    assert back.several_labels_ == (kind == "several")
    assert np.array_equal(back.decision_function(frame), model.decision_function(frame))
    assert np.array_equal(back.predict_proba(frame), model.predict_proba(frame))
    assert np.array_equal(back.predict(frame), model.predict(frame))
    assert all(check.holds for check in pacboost.verify(tmp_path / "one"))


def test_stumps_of_adaboost_come_back_as_adaboost(tmp_path: Path) -> None:
    for kind in ("two", "four"):
        fit(kind, booster="adaboost", learner="stump").save(tmp_path / "m.json")
        assert isinstance(pacboost.load(tmp_path / "m.json"), AdaBoostClassifier)


def test_samme_comes_back_without_a_certificate(tmp_path: Path) -> None:
    model = fit("four", booster=AdaBoost(multiclass="samme"))
    model.save(tmp_path / "m.json")
    assert model_bytes(pacboost.load(tmp_path / "m.json").model_) == model_bytes(model.model_)
    checks = {check.name: check.holds for check in pacboost.verify(tmp_path / "m.json")}
    assert checks == {"rounds": True, "bound": False}


def first(name: str, value: Any) -> Edit:
    """Put something else in the first place of a part of the trees."""
    return lambda trees, core: trees[name].__setitem__(0, value)


def cut_short(name: str) -> Edit:
    return lambda trees, core: trees.update({name: trees[name][:-1]})


def with_trees(**parts: Any) -> Edit:
    return lambda trees, core: trees.update(parts)


def with_core(**parts: Any) -> Edit:
    return lambda trees, core: core.update(parts)


def with_rounds(**parts: Any) -> Edit:
    return lambda trees, core: core["ledger"]["rounds"].update(parts)


DAMAGE: dict[str, tuple[str, Edit]] = {
    "children out of order": ("left", lambda t, core: t.update(left=t["left"][::-1])),
    "a split that is its own child": ("left", first("left", 0)),
    "a child beyond all splits": ("left", first("left", 1_000)),
    "a leaf beyond all leaves": ("left", first("left", -1_000)),
    "a leaf that hangs twice": ("right", lambda trees, core: trees.update(right=trees["left"])),
    "a leaf missing": ("values", cut_short("values")),
    "a split without a cut": ("cut", cut_short("cut")),
    "a cut below all codes": ("cut", first("cut", -2)),
    "a split without a child": ("right", cut_short("right")),
    "a node without cover": ("cover", cut_short("cover")),
    "a cover below 0": ("cover", first("cover", -1.0)),
    "a feature beyond all features": ("feature", first("feature", 99)),
    "a feature below all features": ("feature", first("feature", -1)),
    "a cut of more than 32 bits": ("cut", lambda t, core: t.update(cut=t["cut"].astype(np.int64))),
    "a set of levels that is not there": ("member", first("member", 99)),
    "a member below none": ("member", first("member", -2)),
    "a value that is not a number": ("values", first("values", float("nan"))),
    "an infinite value": ("values", first("values", float("inf"))),
    "a value beyond all that adds up": ("values", first("values", 1e200)),
    "values for one class more": ("values", lambda t, _: t.update(values=np.tile(t["values"], 2))),
    "a gain that is not a number": ("gain", first("gain", float("nan"))),
    "no splits at all": ("splits", lambda trees, core: trees.pop("splits")),
    "a kind of rule that is none": ("kind", with_trees(kind="bush")),
    "a field of another version": ("colour", with_trees(colour="green")),
    "no bins": ("rules", with_core(bins=None)),
    "bins of fewer features": ("sizes", lambda t, core: cut_short("sizes")(core["bins"], core)),
    "bins without levels": ("levels", lambda t, core: cut_short("levels")(core["bins"], core)),
    "other levels than categories": ("levels", lambda t, core: core["bins"]["levels"].put(1, 3)),
    "thresholds out of order": (
        "thresholds",
        lambda trees, core: core["bins"]["thresholds"].put([0, 1], [5.0, -5.0]),
    ),
    "a median beyond all bins": ("middle", lambda trees, core: core["bins"]["middle"].fill(999)),
    "another number of features": ("sizes", with_core(features=2)),
    "other outputs": ("outputs", with_core(outputs=2)),
    "more classes than outputs": ("outputs", with_core(classes=[0, 1, 2])),
    "a class twice": ("classes", with_core(classes=["a", "a"])),
    "classes of two kinds": ("classes", with_core(classes=["a", 1])),
    "levels out of order": ("levels", lambda trees, core: core["levels"]["1"].reverse()),
    "levels of a column that is not there": ("levels", with_core(levels={"7": ["a", "b"]})),
    "a vote that is not a number": ("votes", lambda trees, core: core["votes"].put(0, np.nan)),
    "a calibration of no known kind": ("calibration", with_core(calibration={"method": "x"})),
    "a round without an error": ("error", lambda t, core: core["ledger"]["rounds"].pop("error")),
    "a round of words": ("error", with_rounds(error=["much"] * 6)),
    "more rounds than there are": ("rounds", with_rounds(count=7)),
    "more rounds than memory": ("rounds", with_rounds(count=10**8)),
}


@one_in(2)
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_refused_and_the_field_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "m.json"
    fit(holes=True).save(path)
    field, edit = DAMAGE[damage]

    def change(content: dict[str, Any]) -> None:
        edit(content["model"]["rules"][0], content["model"])

    changed(path, change)
    with pytest.raises(FileError, match=rf"m\.json: .*content\..*{field}"):
        pacboost.load(path)
    with pytest.raises(FileError):
        pacboost.verify(path)


# Large models: they come back, and reading them takes no more memory than the file allows.


def many_words() -> Model:
    return vocabulary(kinds.words().model_, 500_000)


def long_lists(more: int = 0) -> Model:
    model = vocabulary(kinds.words().model_, 20_000)
    return lists(model, 10_000, more + MAX_UNITS // (3 * 10_001))


def longer_lists() -> Model:
    return long_lists(1)


def many_rounds() -> Model:
    """Two hundred thousand stumps, each with its round."""
    return repeated(kinds.stumps().model_, 200_000)


def many_trees() -> Model:
    """Ten thousand copies of a tree with subsets of levels."""
    return repeated(kinds.trees().model_, 10_000)


def many_small_trees() -> Model:
    """Twenty thousand trees of two leaves, which take much more memory than the file."""
    return repeated(fit(learner=Tree(max_leaves=2)).model_, 20_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [many_words, long_lists, longer_lists, many_rounds, many_trees, many_small_trees]
)
def test_large_models_come_back(make: Callable[[], Model], tmp_path: Path) -> None:
    model, path = make(), tmp_path / "large"
    model_file.save(model, path)
    model_file.load(path)  # whatever is loaded once is loaded
    tracemalloc.start()
    try:
        back = model_file.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= MemoryBudget.of(path.stat().st_size).left
    assert model_file.model_bytes(back) == model_file.model_bytes(model)
    assert back.names == model.names


@pytest.mark.parametrize("length", [10**5, 10**7])
def test_a_long_label_is_a_limit_and_not_damage(length: int, tmp_path: Path) -> None:
    """NumPy stores every label in the space of the longest, so a long one takes much memory."""
    model, path = fit("words").model_, tmp_path / "m.pacb"
    labels = sorted([*(f"class {k}" for k in range(40)), "x" * length])
    text = replace(model, classes=np.array(["a", "b", "c"]))
    model_file.save(text, path)
    changed(path, lambda content: content["model"].update(classes=labels))
    with pytest.raises(FileError, match="outputs" if length < 10**6 else "limit") as refusal:
        load(path)
    assert isinstance(refusal.value, MemoryLimitError) == (length > 10**6)
    if length > 10**6:
        for read in (pacboost.verify, load):
            with pytest.raises(FileError, match="outputs"):
                read(path, memory=10**10)
