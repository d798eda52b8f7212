"""The checker that knows nothing of pacboost agrees with ``verify``, on whole and altered files."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from pacboost import pacboost_check as checker
from pacboost.bounds import counted_rows
from pacboost.bounds.deciding import claims_at_once
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.registry import BOUNDS
from pacboost.errors import NotCertified, PacboostError
from pacboost.models.file import container
from pacboost.models.file import format as model_file
from tests import checker_words
from tests.cli.running import well
from tests.grids import each_value
from tests.model_files import changed, forged, opened
from tests.models.kinds import KINDS, saved

Random = np.random.Generator
CLAIMS = ("certificate", "answering", "decision", "coverage")
WORDS = ("model_digest", "by", "vc_dimension", "log_size")
"""What the checker does not read."""


def world(rows: int, random: Random, classes: int = 2) -> tuple[Any, Any]:
    X = random.normal(size=(rows, 3))
    score = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=rows)
    return X, np.digitize(score, np.linspace(-1, 1, classes + 1)[1:-1])


def votes(random: Random) -> Any:
    booster = str(random.choice(["adaboost", "gentle", "mada", "logit", "smooth", "arc_gv"]))
    certify = [None, "holdout"][int(random.integers(2))]
    learner = ["stump", "tree"][int(random.integers(2))]
    model = pacboost.BoostClassifier(
        booster, learner, n_estimators=int(random.integers(1, 6)), certify=certify, random_state=0,
        delta=float(random.uniform(0.001, 0.3)),
    )  # fmt: skip
    classes = 2 if learner == "stump" else int(random.integers(2, 5))
    return model.fit(*world(int(random.integers(60, 200)), random, classes))


def plain(random: Random) -> Any:
    model = pacboost.AdaBoostClassifier(n_estimators=int(random.integers(1, 9)), random_state=0)
    return model.fit(*world(int(random.integers(40, 120)), random))


def forests(random: Random) -> Any:
    model = pacboost.RandomForestClassifier(2, certify="holdout", random_state=0)
    return model.fit(*world(120, random, int(random.integers(2, 4))))


def thresholds(random: Random) -> Any:
    model = plain(random)
    wishes: list[Any] = [
        {"recall": 0.6}, {"false_positive_rate": 0.5}, {"precision": 0.5}, {"cost": (3, 1)},
        {"cost": (1, 900)}, {"cost": (900, 1)},
    ]  # fmt: skip
    rows = world(int(random.integers(100, 400)), random)
    wish = wishes[int(random.integers(len(wishes)))]
    return pacboost.choose_threshold(model, *rows, positive=1, **wish)


def covered(random: Random) -> Any:
    model = pacboost.BoostClassifier(n_estimators=2, random_state=0).fit(*world(100, random, 3))
    rows = world(int(random.integers(200, 400)), random, 3)
    return pacboost.sets(model, *rows, coverage=0.7, by_class=bool(random.integers(2)))


def intervals(random: Random) -> Any:
    X, _ = world(100, random)
    model = pacboost.BoostRegressor(n_estimators=2, random_state=0).fit(X, X[:, 0])
    X, _ = world(int(random.integers(60, 200)), random)
    return pacboost.intervals(model, X, X[:, 0], coverage=0.7)


MAKERS: tuple[Callable[[Random], Any], ...] = (
    votes, votes, votes, plain, forests, thresholds, covered, intervals,
)  # fmt: skip


def written(seed: int, path: Path) -> Path:
    """Write a small random model; a threshold that nothing certifies is drawn again."""
    for again in count():
        random = np.random.default_rng([seed, again])
        try:
            MAKERS[seed % len(MAKERS)](random).save(path)
        except NotCertified:
            continue
        return path
    raise AssertionError


def stands(path: Path) -> bool:
    try:
        return all(check.holds for check in pacboost.verify(path))
    except PacboostError:
        return False


def answers(path: Path) -> set[str]:
    return {answer for _, answer, _ in checker.check(path.read_bytes())}


def numbers(value: Any) -> Iterator[tuple[Any, Any]]:
    """Return what holds every number, truth value or digest, and its key."""
    for key in value if isinstance(value, dict) else range(len(value)):
        if key in WORDS:
            continue
        if isinstance(value[key], dict | list):
            yield from numbers(value[key])
        elif not isinstance(value[key], str):
            yield value, key


def altered(value: Any, random: Random) -> Any:
    if isinstance(value, np.ndarray):
        other = value.copy()
        if value.size:
            at = int(random.integers(value.size))
            other.flat[at] = altered(value.flat[at].item(), random)
        return other
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(random.choice([-2, -1, 1, 2, 10]))
    if isinstance(value, float):
        return value * float(random.choice([0.5, 0.99, 1 - 1e-6, 1 + 1e-6, 1.01, -1])) + 1e-12
    return 1


def alter(path: Path, random: Random) -> None:
    """Change one number of a claim, of the ledger or of the rules, and seal the file anew."""
    kind = container.kind_of(path)

    def change(content: dict[str, Any]) -> None:
        claims = [content[name] for name in CLAIMS if content.get(name)]
        model = content["model"]
        rules = [{name: model[name]} for name in ("rules", "votes", "blocks") if name in model]
        ledger = [model["ledger"]] if "ledger" in model else []
        parts = (claims, claims, ledger or claims, rules)
        places = list(numbers(parts[int(random.integers(4))]))
        holder, key = places[int(random.integers(len(places)))]
        holder[key] = altered(holder[key], random)

    forged(path, change, kind)
    if kind != "model" or random.random() < 0.5:
        return
    try:
        ledger = model_file.load(path).ledger.digest()
    except PacboostError:
        return
    forged(path, lambda content: (content["certificate"] or {}).update(ledger_digest=ledger), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_every_kind(kind: str) -> None:
    path = saved(kind)
    said = answers(path)
    assert checker.FAILS not in said
    assert stands(path) or said != {checker.HOLDS}


def agree(seed: int, path: Path) -> None:
    """Compare answers for a model, and after one number of its file was changed."""
    written(seed, path)
    found = checker.check(path.read_bytes())
    assert stands(path), (seed, pacboost.verify(path))
    assert {answer for _, answer, _ in found} == {checker.HOLDS}, (seed, found)
    alter(path, np.random.default_rng([seed, 1]))
    said, whole = answers(path), stands(path)
    assert whole or said != {checker.HOLDS}, seed
    assert not whole or checker.FAILS not in said, (seed, checker.check(path.read_bytes()))


@pytest.mark.parametrize("part", range(2))
def test_random_and_altered_models(part: int, tmp_path: Path) -> None:
    for seed in range(6 * part, 6 * part + 6):
        agree(seed, tmp_path / "m.pacb")


@pytest.mark.slow
def test_two_thousand_random_and_altered_models(tmp_path: Path) -> None:
    for seed in range(2000):
        agree(seed, tmp_path / "m.pacb")


@each_value
@pytest.mark.parametrize("k", [0, 1, 17, 60, 119, 120])
@pytest.mark.parametrize("n", [120, 5000])
@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-9, 1e-200])
def test_tails_are_those_of_clopper_and_pearson(k: int, n: int, delta: float) -> None:
    exact, stated = checker.upper(k, n, Fraction(delta)), clopper_pearson(k, n, delta)
    assert exact <= stated <= exact * (1 + Fraction(1, 10**11))


@pytest.mark.parametrize(("k", "n"), [(100, 10**6), (10**6 - 3, 10**6), (5, 10**11)])
def test_many_rows(k: int, n: int) -> None:
    exact, stated = checker.upper(k, n, Fraction(0.05)), clopper_pearson(k, n, 0.05)
    assert exact <= stated <= exact * (1 + Fraction(1, 10**11))


def test_more_rows_than_can_be_summed_cannot_be_checked() -> None:
    with pytest.raises(checker.UndecidedError, match="too long to sum"):
        checker.upper(10**11, 10**12, Fraction(0.05))


def _update(name: str, fields: dict[str, Any], content: dict[str, Any]) -> None:
    content[name].update(fields)


def test_a_number_a_little_too_good_does_not_hold(tmp_path: Path) -> None:
    """The exact bound holds, and so does one that is rounded outward; nothing below it does."""
    path = written(4, tmp_path / "m.pacb")
    inputs = opened(path, "forest")["certificate"]["inputs"]
    exact = checker.upper(inputs["k"], inputs["n"], Fraction(inputs["delta"]))
    for factor, answer in ((1 - 1e-14, checker.FAILS), (1 + 1e-11, checker.HOLDS)):
        other = {"value": float(exact) * factor}
        forged(path, partial(_update, "certificate", other), "forest")
        assert answer in {
            own for name, own, _ in checker.check(path.read_bytes()) if name != "file"
        }


def test_labels_swapped_and_sealed_anew_pass_by_design(tmp_path: Path) -> None:
    path = written(4, tmp_path / "m.pacb")
    changed(path, lambda content: content["model"]["classes"].reverse(), "forest")
    assert not stands(path)
    assert checker.FAILS in answers(path)
    forged(path, lambda content: None, "forest")
    assert stands(path)
    assert answers(path) == {checker.HOLDS}
    assert "not who wrote it" in well("verify", path, "--memory", "1GB")


def test_what_it_does_not_know_cannot_be_checked(tmp_path: Path) -> None:
    random, path = np.random.default_rng(0), tmp_path / "m.pacb"
    X, y = world(400, random)
    model = pacboost.AdaBoostClassifier(n_estimators=9, random_state=0).fit(X, y)
    pacboost.theory.compress(model, X, y).save(path)
    assert stands(path)
    assert answers(path) == {checker.HOLDS, checker.UNKNOWN}


@pytest.mark.parametrize(
    ("n", "delta"), [(1, 0.05), (2, 0.3), (10, 0.05), (99, 0.025), (200, 1e-4)]
)
def test_claims_at_all_ranks_are_counted_alike(n: int, delta: float) -> None:
    """By integers, rounded down, and by floats."""
    assert checker.claims_at_once(n, Fraction(delta)) == claims_at_once(n, delta)


def test_claims_that_fail_more_often_than_they_say(tmp_path: Path) -> None:
    path = written(5, tmp_path / "m.pacb")
    forged(path, lambda content: content["decision"].update(others_delta=0.01))
    assert not stands(path)
    assert checker.FAILS in answers(path)


@pytest.mark.parametrize("cost", [(900, 1), (1, 900)])
def test_constant_rules_cost_what_constant_rules_do(cost: Any, tmp_path: Path) -> None:
    """Neither another threshold with the claim, nor the claim of a constant without the rule."""
    path, random = tmp_path / "model.pacb", np.random.default_rng(1)
    model = plain(random)
    pacboost.choose_threshold(model, *world(300, random), positive=1, cost=cost).save(path)
    assert answers(path) == {checker.HOLDS}
    assert stands(path)
    kept = path.read_bytes()

    def moved(content: Any) -> None:
        own = content["decision"]
        own["threshold"] = 0.5
        for one in (own["certificate"], *own["others"]):
            one["details"]["threshold"] = 0.5

    changes: list[Callable[[Any], object]] = [
        moved,
        lambda content: content["decision"]["certificate"]["inputs"].pop("constant"),
        lambda content: content["decision"]["certificate"]["inputs"].update(missed=1),
    ]
    for change in changes:
        path.write_bytes(kept)
        forged(path, change)
        assert checker.FAILS in answers(path)
        assert not stands(path)


def test_it_knows_the_words_of_certificates() -> None:
    """A text that changes here has to change there: tests/checker_words.py prints the digests."""
    assert checker_words.grounds() == checker.GROUNDS
    assert checker_words.assumed() == checker.ASSUMED
    others = {*counted_rows.ROWS} - {*checker.ROWS.split()}
    assert others == {"in_time", "bags", *counted_rows.OF_FILTERING}
    assert checker.ORDERS.split() == [*counted_rows.ORDERS]
    assert checker.FACTS.keys() <= counted_rows.TYPES.keys()
    lower = {name.split(".")[1] for name in checker.OF_ROWS if BOUNDS[name].side == "lower"}
    assert lower == {*checker.LOWER.split()}


def test_many_arrays_are_read_one_after_the_other(tmp_path: Path) -> None:
    """A list that is copied for each array takes minutes for 300,000 of them, not seconds."""
    content = {"model": {"many": [checker.Array("u1", (1,), b"7")] * 300_000}}
    raw = b"pacboost forest 4\n" + b"".join(checker.written(content))
    path = tmp_path / "m.pacb"
    path.write_bytes(raw + sha256(raw).digest())
    alone = [sys.executable, "-I", "-S", checker.__file__, str(path)]
    done = subprocess.run(alone, capture_output=True, text=True, check=False, timeout=90)
    assert "holds              file:" in done.stdout


def test_it_runs_alone(tmp_path: Path) -> None:
    path, own = written(3, tmp_path / "m.pacb"), tmp_path / "check.py"
    well("verify", "--checker", own)
    assert len(own.read_text().splitlines()) <= 515
    alone = [sys.executable, "-I", "-S", str(own), str(path)]
    done = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "holds              certificate:" in done.stdout
    assert checker.NOTE in done.stdout
    path.write_bytes(path.read_bytes()[:-1])
    assert subprocess.run(alone, capture_output=True, check=False).returncode == 2
