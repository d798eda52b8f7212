"""verify: an intact file holds; whatever was edited by hand is found and said."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier, RandomForestClassifier
from pacboost.errors import FileError, PacboostError
from pacboost.questions.verify import Check, verify
from tests.grids import each_value
from tests.model_files import changed, forged
from tests.questions.measured import X, Y, every_measure

WAYS = (None, "holdout")
Edit = Callable[[dict[str, Any]], None]


@pytest.fixture(params=WAYS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return saved(tmp_path, certify=request.param)


def saved(folder: Path, **parameters: Any) -> Path:
    path = folder / "model.json"
    AdaBoostClassifier(n_estimators=6, random_state=0, **parameters).fit(X, Y).save(path)
    return path


def compressed(folder: Path) -> Path:
    path = folder / "model.json"
    model = AdaBoostClassifier(n_estimators=6, random_state=0).fit(X, Y)
    pacboost.theory.compress(model, X, Y).save(path)
    return path


def edited(path: Path, edit: Edit) -> list[Check]:
    """Verify a file whose digests somebody has computed again: the numbers have to tell."""
    return verify(forged(path, edit))


def refused(path: Path, edit: Edit, name: str) -> bool:
    """Whether a check fails, or verify refuses in words; any other exception is a mishap."""
    try:
        return name in failing(edited(path, edit))
    except PacboostError as problem:
        return str(problem) != ""


def failing(checks: list[Check]) -> set[str]:
    assert all(check.words for check in checks)
    return {check.name for check in checks if not check.holds}


def test_an_intact_file_holds(path: Path) -> None:
    checks = verify(path)
    assert {check.name for check in checks} == {"model", "ledger", "rounds", "bound"} | (
        {"answers"} if len(checks) == 5 else set()
    )
    assert failing(checks) == set()
    assert verify(str(path)) == checks
    assert pacboost.verify is verify


@pytest.mark.parametrize(
    "parameters",
    [{"learning_rate": 0.3}, {"max_vote": 0.2}, {"resample": True}, {"early_stopping": True}],
)
def test_other_runs_hold_too(tmp_path: Path, parameters: dict[str, Any]) -> None:
    assert failing(verify(saved(tmp_path, **parameters))) == set()


def test_weights_separable_data_and_compressed_votes_hold(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    weights = np.random.default_rng(0).random(300)
    AdaBoostClassifier(n_estimators=9).fit(X, Y, sample_weight=weights).save(path)
    assert failing(verify(path)) == set()
    AdaBoostClassifier(n_estimators=9).fit(X, X[:, 0] > 0).save(path)
    assert failing(verify(path)) == set()
    assert failing(verify(compressed(tmp_path))) == set()


NUMBERS = ["error", "edge", "vote", "normaliser", "training_error", "effective_size", "weight"]


def at(*place: Any, by: Callable[[Any], Any]) -> Edit:
    """Change what lies at a place of a file."""

    def edit(content: Any) -> None:
        for key in place[:-1]:
            content = content[key]
        content[place[-1]] = by(content[place[-1]])

    return edit


def in_rounds(name: str, number: int, by: Callable[[Any], Any]) -> Edit:
    return at("model", "ledger", "rounds", name, number, by=by)


def in_claim(name: str, value: Any) -> Edit:
    return lambda content: content["certificate"].update({name: value})


def a_round_less(content: dict[str, Any]) -> None:
    for rounds in (content["model"]["ledger"]["rounds"], content["about"]["rounds"]):
        rounds.update({name: own[:-1] for name, own in rounds.items() if name != "count"})
    content["model"]["ledger"]["rounds"]["count"] -= 1


def smaller(name: str, factor: float = 0.99) -> Edit:
    return in_rounds(name, 2, lambda v: v * factor if name != "weight" else v - 1)


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        *((smaller(name), {"ledger"}) for name in NUMBERS),
        *((smaller(name), {"rounds"}) for name in ("error", "edge", "vote", "normaliser")),
        (in_rounds("training_error", 4, lambda _: 0.99), {"ledger", "rounds"}),
        (a_round_less, {"ledger"}),
        (at("certificate", "value", by=lambda v: 0.999 * v), {"bound"}),
        (in_claim("ledger_digest", "0" * 64), {"ledger"}),
        (in_claim("size", 10**9), {"bound"}),
        (at("model", "rules", 0, "above", by=lambda v: -v), {"rounds"}),
    ],
)
def test_an_edit_is_found(path: Path, edit: Edit, names: set[str]) -> None:
    assert names <= failing(edited(path, edit))


def test_the_words_say_what_differs(tmp_path: Path) -> None:
    ledger = {check.name: check.words for check in edited(saved(tmp_path), smaller("error"))}
    assert "made for ledger" in ledger["ledger"]
    assert "round 3" in ledger["rounds"]
    value = at("certificate", "value", by=lambda v: 0.999 * v)
    bound = {check.name: check.words for check in edited(saved(tmp_path), value)}
    assert "value says" in bound["bound"]


@each_value
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [0, -1, 10_000, 1e308])
def test_absurd_numbers_are_found_and_not_stumbled_over(
    tmp_path: Path, name: str, value: float
) -> None:
    def edit(content: dict[str, Any]) -> None:
        rounds = content["model"]["ledger"]["rounds"]
        rounds[name] = [*rounds[name][:2].tolist(), value, *rounds[name][3:].tolist()]

    assert refused(saved(tmp_path), edit, "ledger")


WHOLE = {"k": 1, "n": 60, "delta": 0.05, "models": 1}
BOUNDS = [
    "", "nonsense", "holdout.nonsense", "nonsense.bound", "holdout.clopper_pearson.x",
    "..errors.x", "holdout._log_inverse", "holdout.math", "holdout.certificate",
]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "edit"),
    [
        ("holdout", at("certificate", "inputs", "k", by=lambda _: 0)),
        ("holdout", at("certificate", "inputs", "k", by=lambda k: 2 * k)),
        ("compressed", at("certificate", "inputs", "mistakes", by=lambda _: 0)),
        ("compressed", at("certificate", "inputs", "mistakes", by=lambda k: 2 * k)),
        (None, at("certificate", "inputs", "product of Z", by=lambda _: 0.0001)),
        ("holdout", in_claim("inputs", {**WHOLE, "k": 1000})),
        ("holdout", in_claim("inputs", {**WHOLE, "delta": 7})),
        ("holdout", in_claim("inputs", {**WHOLE, "more": 1})),
        ("holdout", in_claim("inputs", {"k": 1, "n": 60})),
        ("holdout", in_claim("inputs", {**WHOLE, "k": "one"})),
        ("holdout", in_claim("inputs", {})),
        ("holdout", in_claim("delta", 1e-9)),  # what is printed is what was computed with
        ("compressed", in_claim("delta", 1e-9)),
        *(("holdout", in_claim("bound", bound)) for bound in BOUNDS),
    ],
)
def test_an_edited_claim_fails_in_words(tmp_path: Path, made: str | None, edit: Edit) -> None:
    path = compressed(tmp_path) if made == "compressed" else saved(tmp_path, certify=made)
    assert refused(path, edit, "bound")


def test_a_claim_in_a_file_is_refused(path: Path) -> None:
    """It is made from the numbers whenever it is shown."""
    changed(path, lambda content: content["certificate"].update(claim="It never errs."))
    with pytest.raises(FileError, match=r"claim: .*field"):
        verify(path)


def test_an_edited_size_of_a_measure_is_found() -> None:
    made = every_measure()
    inputs = {name for own in made for name in own.inputs}
    assert inputs >= {"n", "parts", "positives", "others", "losses", "savings", "bound"}
    for certificate in made:
        assert failing(verify(certificate)) == set()
        for size in (9_000_000, certificate.size - 1):
            assert failing(verify(replace(certificate, size=size))) == {"bound"}


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        verify(tmp_path / "absent.json")
    (tmp_path / "bad.json").write_text("[1, 2")
    with pytest.raises(FileError, match="is not a"):
        verify(tmp_path / "bad.json")
    path = saved(tmp_path)
    changed(path, lambda content: content["certificate"].pop("value"))
    with pytest.raises(FileError, match="damaged"):
        verify(path)


def saved_trees(folder: Path, booster: str, classes: int) -> Path:
    path = folder / "model.json"
    y = Y if classes == 2 else np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    BoostClassifier(booster, n_estimators=6, random_state=0).fit(X, y).save(path)
    return path


SMOOTH = ("filter_boost", "measure", "smooth", "projection")
TREES = pytest.mark.parametrize("booster", ["adaboost", "logit", "gentle", "mada", *SMOOTH])


@each_value
@TREES
@pytest.mark.parametrize("classes", [2, 3])
def test_trees_hold(tmp_path: Path, booster: str, classes: int) -> None:
    checks = verify(saved_trees(tmp_path, booster, classes))
    assert {check.name for check in checks} == {"model", "ledger", "rounds", "bound"}
    assert failing(checks) == set()


@each_value
@TREES
@pytest.mark.parametrize(
    ("edit", "names"),
    [
        *((smaller(name, 0.9), {"ledger"}) for name in NUMBERS),
        (at("certificate", "value", by=lambda v: 0.999 * v), {"bound"}),
        (at("model", "votes", 3, by=lambda _: 2.0), {"rounds"}),
    ],
)
def test_an_edit_of_trees_is_found(
    tmp_path: Path, booster: str, edit: Edit, names: set[str]
) -> None:
    assert names <= failing(edited(saved_trees(tmp_path, booster, 3), edit))


RULES = {"cut": 1, "values": 2.0**-30, "gain": 1.0, "cover": 1.0}


@each_value
@TREES
@pytest.mark.parametrize("name", RULES)
def test_an_edited_tree_is_found(tmp_path: Path, booster: str, name: str) -> None:
    def edit(content: dict[str, Any]) -> None:
        content["model"]["rules"][0][name].reshape(-1)[0] += RULES[name]

    checks = edited(saved_trees(tmp_path, booster, 3), edit)
    assert failing(checks) == {"rounds"}
    assert "rules or their votes" in next(c.words for c in checks if c.name == "rounds")


def test_rounded_votes_that_were_edited_are_found(tmp_path: Path) -> None:
    twice = at("model", "votes", 0, by=lambda v: 2 * v)
    assert failing(edited(compressed(tmp_path), twice)) == {"rounds"}


def saved_forest(folder: Path, way: str | None = "oob") -> Path:
    path = folder / "forest"
    RandomForestClassifier(10, certify=way, random_state=0).fit(X, Y).save(path)
    return path


@pytest.mark.parametrize("way", ["oob", "tandem", "holdout"])
def test_forests_hold(tmp_path: Path, way: str) -> None:
    checks = verify(saved_forest(tmp_path, way))
    assert [check.name for check in checks] == ["model", "trees", "bound"]
    assert failing(checks) == set()
    assert failing(verify(saved_forest(tmp_path, None))) == {"bound"}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("trees", lambda content: content["model"]["importances"].fill(0)),
        ("bound", lambda content: content["certificate"].update(value=0.01)),
        ("bound", lambda content: content["certificate"].update(theorem="It errs never.")),
        ("bound", lambda content: content["certificate"].update(bound="os.system")),
        ("bound", lambda content: content["certificate"].update(delta=1e-9)),
        ("bound", lambda content: content["certificate"]["inputs"].clear()),
    ],
)
def test_an_edited_forest_is_found(tmp_path: Path, name: str, change: Any) -> None:
    path = forged(saved_forest(tmp_path), change, "forest")
    assert failing(verify(path)) == {name}
