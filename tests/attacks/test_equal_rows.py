"""Equal rows count as they fall, or once where the user says that they are copies.

Worlds of independent rows whose truth is known: whatever their values look like, certificates have
to cover. Copies are noticed and said, and count once where that is asked for.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import AdaBoostClassifier, BoostClassifier, StrongClassifier, certify, verify
from pacboost.bounds.holdout import clopper_pearson
from pacboost.bounds.wording import DISTINCT_ROWS, SHARE_BUT_ONE, SHARE_LEARNED
from pacboost.cli.main import main
from pacboost.errors import InputWarning, NotCertified, ParameterError
from pacboost.fit import division, roles
from pacboost.fit.roles import RolesAsk, draw, split_by_class
from pacboost.fit.rows import LabelledRows
from pacboost.questions.answering import certify_answers
from pacboost.samples.equal_rows import DISTINCT
from pacboost.samples.same_example import Examples, same_example, share_learned
from pacboost.sources.arrays import ArrayTable
from pacboost.theory import certify_by_training_rows
from tests.attacks.worlds import make, public_classifiers
from tests.bounds.coverage import check_coverage, check_rejected
from tests.data import HOME
from tests.grids import each_value
from tests.public import estimators
from tests.runs import several_runs

DELTA = 0.05
Rows = tuple[NDArray[Any], NDArray[Any]]
COMMON: dict[str, Any] = {"delta": DELTA, "n_jobs": 1}


class Constant:
    """A classifier that always says 0."""

    classes_ = np.arange(2)

    def predict(self, X: Any) -> NDArray[np.int64]:
        return np.zeros(len(X), dtype=np.int64)


def one_large_cell(seed: int, cell: float) -> Rows:
    """A thousand different rows, one of which holds a number far from all others."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(1000, 4))
    X[generator.integers(1000), 0] = cell
    return X, (generator.random(1000) < 0.4555).astype(int)


@several_runs(40, 300)
@pytest.mark.parametrize("cell", [1e20, 999999999.0])
def test_one_large_cell_changes_nothing(cell: float, runs: int) -> None:
    violated = 0
    for seed in range(runs):
        X, y = one_large_cell(seed, cell)
        certificate = certify(Constant(), X, y, delta=DELTA)
        assert certificate.value == clopper_pearson(int(y.sum()), 1000, DELTA)
        violated += certificate.value < 0.4555
    check_coverage(f"certify, one cell of {cell:g}", violated, runs, DELTA)


def no_measurements(seed: int, rows: int = 1000) -> Rows:
    """A third of the rows have no values, and coins for labels; no error is below .175."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, 4))
    y = (X[:, 0] > 0).astype(int)
    empty = generator.random(rows) < 0.35
    X[empty], y[empty] = np.nan, generator.integers(2, size=int(empty.sum()))
    return X, y


RISK = 0.175
FITS: dict[str, Callable[[int], Any]] = {
    "strong": lambda seed: StrongClassifier(n_estimators=10, random_state=seed, **COMMON),
    "holdout": lambda seed: AdaBoostClassifier(
        n_estimators=5, certify="holdout", random_state=seed, **COMMON
    ),
}


@several_runs(20, 300)
@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@pytest.mark.parametrize("way", FITS)
def test_fits_on_rows_without_measurements(way: str, runs: int) -> None:
    violated = 0
    for seed in range(runs):
        X, y = no_measurements(seed)
        model = FITS[way](seed).fit(X, y)
        violated += model.certificate_.value < RISK
    check_coverage(f"{way}, rows without measurements", violated, runs, DELTA)


@several_runs(8, 300)
@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_questions_about_rows_without_measurements(runs: int) -> None:
    violated, twin = np.zeros(4, dtype=int), 0
    for seed in range(runs):
        model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(*no_measurements(seed))
        X, y = no_measurements(10_000 + seed, 600)
        fresh, labels = no_measurements(20_000 + seed, 100_000)
        error = float((model.predict(fresh) != labels).mean())
        recall = float((model.predict(fresh)[labels == 1] == 1).mean())
        violated[0] += certify(model, X, y, delta=DELTA).value < error
        violated[1] += certify(model, X, y, of="recall", delta=DELTA).value > recall
        sets = pacboost.sets(model, X, y, coverage=0.8, delta=DELTA)
        violated[2] += sets.predict_set(fresh)[np.arange(labels.size), labels].mean() < 0.8
        violated[3] += certify_answers(model, X, y, abstain_below=0.0, delta=DELTA).error < error
        twin += certify(model, X, y, delta=DELTA, copies="distinct").value < error
    for name, count in zip(("error", "recall", "sets", "answers"), violated, strict=True):
        check_coverage(f"{name}, rows without measurements", count, runs, DELTA)
    check_rejected("twin: draws counted as distinct rows", twin, runs, DELTA)


def visits(seed: int, patients: int = 150) -> Rows:
    """Patients come one to five times, each time with the same values of 15 digits."""
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(patients), generator.integers(1, 6, size=patients))
    X, y = generator.normal(size=(patients, 4)), generator.integers(2, size=patients)
    order = generator.permutation(who.size)
    return X[who[order]], y[who[order]]


def dated_visits(seed: int) -> Rows:
    """Likewise, with time stamps of which two are equal."""
    X, y = visits(seed)
    times = np.sort(np.random.default_rng(seed).choice(10**9, size=len(y), replace=False))
    times[1] = times[0]
    return np.column_stack([times, X]), y


def test_one_equal_visit_does_not_hide_the_others() -> None:
    """Of one patient two visits have the same stamp; all others are equal but for theirs.

    The twin has no other visits of the same patients: one row in 200 is equal, and that is said.
    """
    generator = np.random.default_rng(0)
    who, times = generator.permutation(np.arange(300) % 100), np.arange(300.0)
    X = np.column_stack([times, generator.normal(size=(100, 4))[who]])
    X[200] = X[0]
    share, but_one = share_learned(X[:200], X[200:])
    assert but_one
    assert share > 0.8
    X[:, 1:] = generator.normal(size=(300, 4))
    X[200] = X[0]
    assert share_learned(X[:200], X[200:]) == (0.01, False)


MEMORISING: dict[str, Callable[[int], Any]] = {
    "strong": lambda seed: StrongClassifier(n_estimators=30, random_state=seed, **COMMON),
    "holdout": lambda seed: BoostClassifier(
        learner="tree", n_estimators=30, certify="holdout", random_state=seed, **COMMON
    ),
}


@each_value
@several_runs(6, 300)
@pytest.mark.parametrize("way", MEMORISING)
@pytest.mark.parametrize("world", [visits, dated_visits])
def test_visits_of_patients_carry_the_warning(
    world: Callable[[int], Rows], way: str, runs: int
) -> None:
    for seed in range(runs):
        with pytest.warns(InputWarning, match=r"equal rows.*distinct"):
            model = MEMORISING[way](seed).fit(*world(seed))
        noticed = SHARE_LEARNED if world is visits else SHARE_BUT_ONE
        assert model.certificate_.details[noticed] > 0.3
        assert "equal rows it learned from" in model.certificate_.claim
    if way == "strong":
        assert "equal rows it learned from" in model.sentence_


@several_runs(10, 300)
@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@pytest.mark.parametrize("way", MEMORISING)
def test_visits_of_patients_as_distinct_rows(way: str, runs: int) -> None:
    violated = careless = 0
    for seed in range(runs):
        X, y = visits(seed)
        certificate = MEMORISING[way](seed).fit(X, y, copies="distinct").certificate_
        violated += certificate.value < 0.5
        assert certificate.details[DISTINCT_ROWS]
        assert "distinct new rows" in certificate.claim
        assert DISTINCT in certificate.assumptions
        careless += MEMORISING[way](seed).fit(X, y).certificate_.value < 0.5
    check_coverage(f"visits as distinct rows, {way}", violated, runs, DELTA)
    check_rejected(f"twin: visits as draws, {way}", careless, runs, DELTA)


@pytest.mark.parametrize("world", ["values", "ages", "one column", "continuous", "amounts"])
def test_ordinary_rows_carry_no_warning(world: str) -> None:
    for seed in range(20):
        generator = np.random.default_rng(seed)
        X = {
            "values": generator.integers(4, size=(900, 5)),
            "ages": np.column_stack(
                [generator.integers(90, size=900), generator.random(900) > 0.5]
            ),
            "one column": generator.integers(90, size=(900, 1)),
            "continuous": generator.normal(size=(900, 3)),
            "amounts": np.where(generator.random((900, 2)) < 0.5, 0, generator.integers(500)),
        }[world]
        assert share_learned(X[:600], X[600:]) == (0.0, False)


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


@pytest.mark.filterwarnings("ignore::pacboost.errors.RareClassWarning")
@pytest.mark.parametrize(
    "name", ["adult", "nursery", "house_votes_84", "breast_cancer_wisconsin", "german_credit"]
)
def test_tables_of_few_values_count_rows_as_they_fall(name: str) -> None:
    X, y = table(name)
    equal = X.duplicated(keep=False).mean()
    assert 0.1 <= equal <= 0.5
    model = BoostClassifier(n_estimators=10, certify="holdout", random_state=0).fit(X, y)
    seed = int(np.random.RandomState(0).randint(2**31)) + roles.CERTIFY
    _, held = draw(len(y), "holdout", 0.2, seed)
    wrong = int((model.predict(X.iloc[held]) != y[held]).sum())
    assert model.certificate_.value == clopper_pearson(wrong, held.size, DELTA)
    strong = StrongClassifier(n_estimators=10, random_state=0).fit(X, y)
    ask = RolesAsk(seed - roles.CERTIFY, delta=DELTA)
    parts = roles.divide(Examples(len(y), None), ask)
    wrong = int((strong.predict(X.iloc[parts.certify]) != y[parts.certify]).sum())
    assert strong.certificate_.value == clopper_pearson(wrong, parts.certify.size, DELTA)


def test_all_test_rows_of_adult_count() -> None:
    frames = []
    for part in ("train", "test"):
        path = HOME / "adult" / f"{part}.csv.gz"
        if not path.exists():
            pytest.skip("needs the data set adult; set PACBOOST_DATA to the folder that has it")
        frame = pd.read_csv(path)
        for column in frame.iloc[:, :-1].select_dtypes(exclude="number"):
            frame[column] = frame[column].astype("category")
        frames.append(frame)
    train, test = frames
    model = AdaBoostClassifier(n_estimators=20).fit(train.iloc[:, :-1], train.iloc[:, -1])
    certificate = certify(model, test.iloc[:, :-1], test.iloc[:, -1])
    assert certificate.inputs["n"] == 16_281
    assert not certificate.details


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_distinct_rows_of_a_table_with_copies(tmp_path: Path) -> None:
    X, y = table("spambase")
    count = Examples.from_rows(X, len(y), "distinct").count
    assert count < len(y)
    model = BoostClassifier(n_estimators=10, certify="holdout", random_state=0)
    certificate = model.fit(X, y, copies="distinct").certificate_
    assert certificate.inputs["n"] == round(0.2 * count)
    model.save(tmp_path / "model.pacb")
    assert all(check.holds for check in verify(tmp_path / "model.pacb"))
    strong = StrongClassifier(n_estimators=10, random_state=0).fit(X, y, copies="distinct")
    assert f"{strong.certificate_.size} distinct held-out rows" in strong.sentence_


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_whole_votes_are_certified_by_one_row_of_each_patient() -> None:
    certificate = certify_by_training_rows(
        *visits(0), 100, delta=DELTA, random_state=0, copies="distinct"
    )[0].certificate
    assert certificate.details[DISTINCT_ROWS]
    assert DISTINCT in certificate.assumptions
    assert certificate.size == 120


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
def test_rows_that_are_learned_from_and_certify_count_once(tmp_path: Path) -> None:
    X, y = visits(0)
    model = pacboost.RandomForestClassifier(60, certify="oob", random_state=0, **COMMON)
    certificate = model.fit(X, y, copies="distinct").certificate_
    assert certificate.details[DISTINCT_ROWS]
    told = model.oob_decision_function_
    assert len(told) == len(y)
    assert np.isnan(told).all(axis=1).sum() >= len(told) - 150
    model.save(tmp_path / "model.pacb")
    assert all(check.holds for check in verify(tmp_path / "model.pacb"))


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_copies_are_on_one_side_of_every_division(share: float) -> None:
    X, y = visits(3)
    divided = division.share_apart(X, y, "holdout", share, seed=5, copies="distinct")
    assert divided.apart is not None
    assert divided.rows is not None
    learned = {row.tobytes() for row in divided.X}
    apart = [row.tobytes() for row in divided.apart.X]
    assert not learned & set(apart)
    assert len(apart) == len(set(apart)) == round(share * 150)
    signs = np.where(divided.y, 1, -1).astype(np.int8)[:, None]
    rows = LabelledRows(ArrayTable(divided.X), signs, copies=divided.number)
    sides = split_by_class(rows, "validation_fraction", share, 0)
    first, second = ({row.tobytes() for row in np.asarray(side.table.rows())} for side in sides)
    assert not first & second
    assert first | second == learned


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@pytest.mark.parametrize("copies", ["draws", "distinct"])
def test_labels_have_no_say_in_what_is_counted(copies: str) -> None:
    X, y = visits(0)
    chosen = [
        division.share_apart(X, labels, "holdout", 0.2, 7, copies).rows
        for labels in (y, 1 - y, y * 0)
    ]
    assert all(np.array_equal(np.asarray(chosen[0]), np.asarray(rows)) for rows in chosen)


def double_entries(seed: int) -> tuple[Any, Rows, int]:
    """A model, and new rows of which 0.8 % are training rows that were entered twice."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(4000, 4))
    y = (X[:, 0] + generator.normal(size=4000) > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=5).fit(X[:2000], y[:2000])
    X[2000:2016], y[2000:2016] = X[:16], y[:16]
    return model, (X[2000:], y[2000:]), 16


def test_double_entries_are_left_out_and_the_sentence_says_how_many() -> None:
    model, (X, y), twice = double_entries(0)
    with pytest.warns(InputWarning, match="16 of 2,000 rows"):
        certificate = certify(model, X, y, copies="distinct")
    wrong = int(model.mistakes(X[twice:], y[twice:]).sum())
    assert certificate.value == clopper_pearson(wrong, 2000 - twice, DELTA)
    assert (certificate.sample["training"], certificate.sample["of"]) == (16, 2_000)
    with pytest.raises(NotCertified, match="trained on"):
        certify(model, X[:twice], y[:twice], copies="distinct")


def test_what_is_counted() -> None:
    X, y = visits(7, 50)
    model = AdaBoostClassifier(n_estimators=5).fit(*visits(8))
    every = certify(model, X, y)
    assert every.value == clopper_pearson(int(model.mistakes(X, y).sum()), len(y), DELTA)
    assert not every.details
    with pytest.warns(InputWarning, match="equal other rows"):
        once = certify(model, X, y, copies="distinct")
    first = np.unique(X, axis=0, return_index=True)[1]
    assert once.value == clopper_pearson(int(model.mistakes(X[first], y[first]).sum()), 50, DELTA)
    assert "distinct new rows" in once.claim
    for wrong in ("auto", "never"):
        with pytest.raises(ParameterError, match="copies is"):
            certify(model, X, y, copies=wrong)
    with pytest.raises(ParameterError, match="groups or ordered"):
        certify(model, X, y, groups=np.arange(len(y)), copies="distinct")


@pytest.mark.filterwarnings("ignore::pacboost.errors.InputWarning")
@pytest.mark.parametrize("question", ["recall", "sets", "answers"])
def test_other_questions_count_alike(question: str) -> None:
    model = AdaBoostClassifier(n_estimators=5).fit(*visits(8))
    ask: Callable[..., Any] = {
        "recall": lambda X, y, **given: (
            pacboost.choose_threshold(model, X, y, recall=0.5, **given).certificate_
        ),
        "sets": lambda X, y, **given: (
            pacboost.sets(model, X, y, coverage=0.5, **given).certificate_
        ),
        "answers": lambda X, y, **given: (
            certify_answers(model, X, y, abstain_below=0.5, **given).certificate
        ),
    }[question]
    X, y = visits(7, 80)
    first = np.sort(np.unique(X, axis=0, return_index=True)[1])
    once, alone = ask(X, y, copies="distinct"), ask(X[first], y[first])
    assert (once.value, once.size) == (alone.value, alone.size)
    assert DISTINCT in once.assumptions
    assert ask(X, y).size > 1.5 * once.size


@pytest.mark.parametrize("kind", ["array", "list", "frame", "sparse", "objects", "table"])
def test_equal_rows_are_found_in_whatever_comes(kind: str) -> None:
    X = np.array([[1.0, 0.0], [2.0, np.nan], [1.0, -0.0], [2.0, np.nan], [1.0, 1e-300]])
    rows = {
        "array": X,
        "list": X.tolist(),
        "frame": pd.DataFrame(X),
        "sparse": sparse.csr_array(X),
        "objects": np.array([["a", 1], ["b", 2], ["a", 1], ["b", 2], ["A", 1]], dtype=object),
        "table": ArrayTable(X),
    }[kind]
    number = same_example(rows, "distinct")
    assert number is not None
    assert number.tolist() == [0, 1, 0, 1, 2]
    assert same_example(rows) is None


def test_nothing_is_rounded() -> None:
    near = np.array([[1.0, 2.0], [1.0 + 2**-52, 2.0], [1.0, 2.0]])
    assert Examples.from_rows(near, 3, "distinct").count == 2
    large = np.array([[2**60], [2**60 + 1], [2**60]])
    assert Examples.from_rows(large, 3, "distinct").count == 2


CERTIFYING = [name for name in public_classifiers() if "Regressor" not in name]


@pytest.mark.parametrize("name", CERTIFYING)
def test_every_fit_takes_the_word(name: str) -> None:
    parameter = inspect.signature(estimators()[name].fit).parameters["copies"]
    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    assert parameter.default == "draws"
    X, y = visits(0, 20)
    with pytest.raises(ParameterError, match=r"'auto'; .*'draws' or 'distinct'"):
        make(name).fit(X, y, copies="auto")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", public_classifiers("certify"))
def test_what_the_word_changes(name: str) -> None:
    X, y = visits(0)
    rows = [" ".join(map(str, row)) for row in X.tolist()] if "Text" in name else X
    sizes = {
        word: make(name, certify="holdout", random_state=0).fit(rows, y, copies=word)
        for word in ("draws", "distinct")
    }
    counted = {word: int(model.certificate_.inputs["n"]) for word, model in sizes.items()}
    assert counted == {"draws": round(0.2 * len(y)), "distinct": 30}


def test_the_command_line(tmp_path: Path) -> None:
    X, y = visits(0)
    data = tmp_path / "visits.csv"
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_csv(data, index=False)

    def run(*words: str) -> str:
        result = CliRunner().invoke(main, ["fit", str(data), "--target", "y", *words])
        assert result.exit_code == 0, result.output
        return " ".join((result.output + result.stderr).split())

    rows = round(0.2 * len(y))
    assert f"{rows} held-out rows" in run("--rounds", "20")
    assert "equal rows it learned from" in run("--rounds", "20")
    assert "30 distinct held-out rows" in run("--rounds", "20", "--copies", "distinct")
    assert "30 distinct held-out rows" in run("--learner", "stump", "--copies", "distinct")


def test_the_command_line_refuses_the_file_it_was_fitted_on(tmp_path: Path) -> None:
    for name, seed in {"train": 1, "fresh": 2}.items():
        generator = np.random.default_rng(seed)
        frame = pd.DataFrame(generator.normal(size=(300, 3)), columns=list("abc"))
        frame.assign(y=generator.integers(2, size=300)).to_csv(tmp_path / f"{name}.csv")
    train, fresh, model = (str(tmp_path / n) for n in ("train.csv", "fresh.csv", "m.pacb"))

    def run(*words: str) -> Any:
        return CliRunner().invoke(main, list(words))

    fit = ["fit", train, "--target", "y", "--learner", "stump", "--rounds", "5", "--output", model]
    assert run(*fit).exit_code == 0
    refused = run("certify", model, train, "--target", "y")
    assert refused.exit_code == 1
    assert "trained on" in refused.output + refused.stderr
    assert run("certify", model, fresh, "--target", "y").exit_code == 0
    assert run(*fit, "--forget-rows").exit_code == 0
    told = run("certify", model, train, "--target", "y")
    assert "If these rows are new" in " ".join(told.output.split())
    assert not pacboost.load(model)._sketches
