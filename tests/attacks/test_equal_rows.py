"""Equal rows: copies are one example, and draws from a domain of few values count as they fall.

Where labels are coins for each example, the risk of every classifier is 1/2, and a certificate that
counts copies as new rows claims far less.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import pacboost
from pacboost import BoostClassifier, RandomForestClassifier, StrongClassifier, verify
from pacboost.bounds.holdout import clopper_pearson
from pacboost.cli.main import main
from pacboost.errors import ParameterError
from pacboost.estimators.inputs import division
from pacboost.estimators.strong.rows import by_chance
from pacboost.fit.rows import LabelledRows, draw, split_by_class
from pacboost.samples.equal_rows import DISTINCT, SEPARATE, Examples
from pacboost.sources.arrays import ArrayTable
from tests.attacks.worlds import make, public_classifiers
from tests.bounds.coverage import allowed_violations, check_rejected
from tests.data import HOME
from tests.public import estimators

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
RUNS, DELTA = 6, 0.05
Rows = tuple[NDArray[Any], NDArray[Any]]


def visits(seed: int, patients: int = 150) -> Rows:
    """Patients come one to five times, each time with the same values of 15 digits."""
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(patients), generator.integers(1, 6, size=patients))
    X, y = generator.normal(size=(patients, 4)), generator.integers(2, size=patients)
    order = generator.permutation(who.size)
    return X[who[order]], y[who[order]]


COMMON: dict[str, Any] = {"delta": DELTA, "n_jobs": 1}
MAKERS: dict[str, Callable[[int], Any]] = {
    "strong": lambda seed: StrongClassifier(n_estimators=30, random_state=seed, **COMMON),
    "holdout": lambda seed: BoostClassifier(
        learner="tree", n_estimators=30, certify="holdout", random_state=seed, **COMMON
    ),
    "train": lambda seed: pacboost.AdaBoostClassifier(
        n_estimators=100, certify="train", random_state=seed, **COMMON
    ),
    "oob": lambda seed: RandomForestClassifier(60, certify="oob", random_state=seed, **COMMON),
    "bagged": lambda seed: pacboost.BaggingClassifier(
        n_estimators=30, certify="oob", random_state=seed, **COMMON
    ),
}


def false_claims(way: str, world: Callable[[int], Rows], **given: Any) -> int:
    found = [MAKERS[way](seed).fit(*world(seed), **given).certificate_ for seed in range(RUNS)]
    return sum(certificate.value < 0.5 for certificate in found)


@pytest.mark.parametrize("way", MAKERS)
def test_visits_of_patients(way: str) -> None:
    assert false_claims(way, visits) <= allowed_violations(RUNS, DELTA)


@pytest.mark.parametrize("way", ["strong", "holdout"])
def test_broken_twin_counts_visits_as_draws(way: str) -> None:
    found = false_claims(way, visits, copies="draws")
    check_rejected(f"twin: visits as draws, {way}", found, RUNS, DELTA)


def shuffled_copies(seed: int) -> Rows:
    """Draws from 27 values, each five times, in any order: equal draws must not be mixed."""
    generator = np.random.default_rng(seed)
    X, y = generator.integers(3, size=(150, 3)), generator.integers(2, size=150)
    order = generator.permutation(np.tile(np.arange(150), 5))
    return X[order], y[order]


def test_draws_that_were_copied_are_divided_as_draws() -> None:
    violated, mixed = 0, 0
    for seed in range(2 * RUNS):
        X, y = shuffled_copies(seed)
        model = BoostClassifier(
            learner="tree", n_estimators=40, min_leaf_rows=1, certify="holdout", random_state=seed,
            n_jobs=1,
        ).fit(X, y)  # fmt: skip
        violated += model.certificate_.value < 0.5
        assert model.certificate_.inputs["n"] == 30
        number = Examples.of(X, "auto", y).number
        assert number is not None
        assert all(np.unique(y[number == own]).size == 1 for own in range(150))
        careless = Examples.of(X).number
        assert careless is not None
        mixed += any(np.unique(y[careless == own]).size > 1 for own in range(150))
    assert violated <= allowed_violations(2 * RUNS, DELTA)
    assert mixed == 2 * RUNS


def in_time(seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    X, y = visits(seed)
    return X, y, np.arange(len(y))


def test_visits_in_the_order_of_time() -> None:
    violated = 0
    for seed in range(RUNS):
        X, y, time = in_time(seed)
        model = MAKERS["strong"](seed).fit(X, y, time=time)
        violated += model.certificate_.value < 0.5
        rows = int(model.certificate_.inputs["n"])
        before = {row.tobytes() for row in X[:-rows]}
        again = sum(row.tobytes() in before for row in X[-rows:])
        assert model.certificate_.inputs["k"] >= again > rows / 2
        assert "are copies of earlier rows, and count as mistakes" in model.certificate_.sample
    assert violated <= allowed_violations(RUNS, DELTA)


def test_draws_in_the_order_of_time_count_as_they_fall() -> None:
    generator = np.random.default_rng(0)
    X = generator.integers(3, size=(600, 3))
    y = (X[:, 0] + generator.normal(size=600) > 1).astype(int)
    model = MAKERS["strong"](0).fit(X, y, time=np.arange(600))
    wrong = int((model.predict(X[-60:]) != y[-60:]).sum())
    assert model.certificate_.inputs["k"] == wrong
    assert SEPARATE in model.certificate_.assumptions


def test_groups_that_hold_copies_are_one_group() -> None:
    """Every visit is called a group of its own."""
    violated = 0
    for seed in range(RUNS):
        X, y = visits(seed)
        model = MAKERS["strong"](seed).fit(X, y, groups=np.arange(len(y)))
        violated += model.certificate_.value < 0.5
        assert model.certificate_.size == 30  # a fifth of 150 patients
        assert any("are one group" in text for text in model.certificate_.assumptions)
    assert violated <= allowed_violations(RUNS, DELTA)


def table(name: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Read a table without the columns that tell rows apart: 10 to 50 % of the rows are equal."""
    left_out = {
        "adult": ["fnlwgt", "capital_gain", "hours_per_week", "age"],
        "nursery": ["has_nurs"],
        "house_votes_84": ["handicapped-infants"],
        "breast_cancer_wisconsin": [],
        "german_credit": [
            "credit_amount", "age", "duration", "purpose", "credit_history", "savings_status",
            "employment", "checking_status",
        ],
        "spambase": [],
    }[name]  # fmt: skip
    path = HOME / name / ("train.csv.gz" if name == "adult" else "data.csv.gz")
    if not path.exists():
        pytest.skip(f"needs the data set {name}; set PACBOOST_DATA to the folder that has it")
    frame = pd.read_csv(path).drop(columns=left_out)
    frame = frame.sample(min(len(frame), 1200), random_state=0)
    for column in frame.select_dtypes(exclude="number"):
        frame[column] = frame[column].astype("category")
    return frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).to_numpy()


@pytest.mark.parametrize(
    "name", ["adult", "nursery", "house_votes_84", "breast_cancer_wisconsin", "german_credit"]
)
def test_tables_of_few_values_count_rows_as_they_fall(name: str) -> None:
    X, y = table(name)
    equal = X.duplicated(keep=False).mean()
    assert 0.1 <= equal <= 0.5
    model = BoostClassifier(n_estimators=10, certify="holdout", random_state=0).fit(X, y)
    seed = int(np.random.RandomState(0).randint(2**31)) + division.CERTIFY
    _, held = draw(len(y), "holdout", 0.2, seed)
    wrong = int((model.predict(X.iloc[held]) != y[held]).sum())
    certificate = model.certificate_
    assert certificate.value == clopper_pearson(wrong, held.size, DELTA)
    assert certificate.sample == "held-out rows, ties counted as errors"
    assert SEPARATE in certificate.assumptions
    strong = StrongClassifier(n_estimators=10, random_state=0).fit(X, y)
    parts = by_chance(len(y), None, DELTA, seed - division.CERTIFY)
    wrong = int((strong.predict(X.iloc[parts.certify]) != y[parts.certify]).sum())
    assert strong.certificate_.value == clopper_pearson(wrong, parts.certify.size, DELTA)
    assert f"{parts.certify.size} held-out rows" in strong.sentence_


def twice(X: pd.DataFrame, y: NDArray[Any]) -> tuple[pd.DataFrame, NDArray[Any]]:
    return pd.concat([X, X], ignore_index=True), np.concatenate([y, y])


def irregular(X: pd.DataFrame, y: NDArray[Any]) -> tuple[pd.DataFrame, NDArray[Any]]:
    chosen = np.random.default_rng(0).integers(len(y), size=2 * len(y))
    return X.iloc[chosen].reset_index(drop=True), y[chosen]


@pytest.mark.parametrize(
    ("name", "how"),
    [("spambase", None), ("spambase", irregular), ("nursery", twice), ("german_credit", twice)],
)
def test_copied_tables_count_distinct_rows(name: str, how: Any, tmp_path: Path) -> None:
    X, y = table(name) if how is None else how(*table(name))
    examples = Examples.of(X)
    assert examples.copied
    model = BoostClassifier(n_estimators=10, certify="holdout", random_state=0).fit(X, y)
    certificate = model.certificate_
    assert certificate.inputs["n"] == round(0.2 * examples.count)
    assert certificate.sample.startswith("distinct held-out rows")
    assert DISTINCT in certificate.assumptions
    model.save(tmp_path / "model.pacb")
    assert all(check.holds for check in verify(tmp_path / "model.pacb"))
    strong = StrongClassifier(n_estimators=10, random_state=0).fit(X, y)
    assert f"{strong.certificate_.size} distinct held-out rows" in strong.sentence_


@pytest.mark.parametrize(("way", "rows"), [("train", 120), ("oob", 150)])
def test_rows_that_are_learned_from_and_certify_count_once(
    way: str, rows: int, tmp_path: Path
) -> None:
    model = MAKERS[way](0).fit(*visits(0))
    certificate = model.certificate_
    assert certificate.sample.startswith("distinct ")
    assert DISTINCT in certificate.assumptions
    assert (certificate.size if way == "train" else model.model_.vote.hard) in (rows, True)
    if way == "oob":
        told = model.oob_decision_function_
        assert len(told) == len(visits(0)[1])
        assert np.isnan(told).all(axis=1).sum() >= len(told) - rows
    model.save(tmp_path / "model.pacb")
    assert all(check.holds for check in verify(tmp_path / "model.pacb"))


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_copies_are_on_one_side_of_every_division(share: float) -> None:
    X, y = visits(3)
    divided = division.divide(X, y, "holdout", share, seed=5)
    assert divided.apart is not None
    assert divided.rows is not None
    learned = {row.tobytes() for row in divided.X}
    held = [row.tobytes() for row in divided.apart.X]
    assert not learned & set(held)
    assert len(held) == len(set(held)) == round(share * 150)
    signs = np.where(divided.y, 1, -1).astype(np.int8)[:, None]
    rows = LabelledRows(ArrayTable(divided.X), signs, copies=divided.number)
    sides = split_by_class(rows, "validation_fraction", share, 0)
    first, second = ({row.tobytes() for row in np.asarray(own.table.rows())} for own in sides)
    assert not first & second
    assert first | second == learned


def test_a_copy_is_counted_whatever_its_label() -> None:
    """One copy is chosen by its place, and labels have no say."""
    X, y = visits(0)
    chosen = [division.divide(X, own, "holdout", 0.2, 7).rows for own in (y, 1 - y, y * 0)]
    assert all(np.array_equal(np.asarray(chosen[0]), np.asarray(own)) for own in chosen)


CERTIFYING = [name for name in public_classifiers() if "Regressor" not in name]


@pytest.mark.parametrize("name", CERTIFYING)
def test_every_fit_takes_the_word(name: str) -> None:
    own = inspect.signature(estimators()[name].fit).parameters
    assert own["copies"].kind is inspect.Parameter.KEYWORD_ONLY
    assert own["copies"].default == "auto"
    X, y = visits(0, 20)
    with pytest.raises(ParameterError, match="copies is 'never'; it may be 'auto', 'draws', 'dist"):
        make(name).fit(X, y, copies="never")


@pytest.mark.parametrize("name", public_classifiers("certify"))
def test_what_the_word_changes(name: str) -> None:
    X, y = visits(0)
    rows = [" ".join(map(str, row)) for row in X.tolist()] if "Text" in name else X
    counted = {
        word: make(name, certify="holdout", random_state=0).fit(rows, y, copies=word)
        for word in ("auto", "draws", "distinct")
    }
    sizes = {word: int(model.certificate_.inputs["n"]) for word, model in counted.items()}
    assert sizes == {"auto": 30, "draws": round(0.2 * len(y)), "distinct": 30}


def test_the_command_line(tmp_path: Path) -> None:
    X, y = visits(0)
    data = tmp_path / "visits.csv"
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_csv(data, index=False)

    def said(*words: str) -> str:
        found = CliRunner().invoke(main, ["fit", str(data), "--target", "y", *words])
        assert found.exit_code == 0, found.output
        return " ".join(found.output.split())

    assert "20 distinct held-out rows" in said("--rounds", "20")
    drawn = round(0.1 * len(y))
    assert f"{drawn} held-out rows" in said("--rounds", "20", "--copies", "draws")
    assert "30 distinct held-out rows" in said("--learner", "stump", "--copies", "distinct")


def test_advice_does_not_ask_for_rows_because_of_copies() -> None:
    """Copies are no mistakes, so the number of rows that would do follows from distinct rows."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    again = generator.integers(300, size=300)
    X, y = np.concatenate([X, X[again]]), np.concatenate([y, y[again]])
    model = StrongClassifier(epsilon=0.2, n_estimators=50, random_state=0).fit(X, y)
    assert model.verdict_.reached
    assert "60 distinct held-out rows" in model.sentence_
