"""Copies of rows are no evidence of their own: of several copies one counts, of draws each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import (
    AdaBoostClassifier,
    certify,
    choose_threshold,
    sets,
)
from pacboost.bounds.holdout import clopper_pearson
from pacboost.cli.main import main
from pacboost.errors import NotCertified, ParameterError
from pacboost.questions.certify import certify_answers
from pacboost.questions.mistakes import mistakes
from pacboost.samples.copies import Repeats, copied_times
from pacboost.samples.equal_rows import DISTINCT, SEPARATE
from pacboost.sources.arrays import ArrayTable
from tests.bounds.coverage import check_coverage, check_rejected
from tests.data import real_data
from tests.runs import several_runs

Draw = tuple[NDArray[np.float64], NDArray[np.int64]]


def coins(rows: int, seed: int) -> Draw:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(rows, 3)), generator.integers(2, size=rows)


MODEL = AdaBoostClassifier(n_estimators=5).fit(*coins(300, 0))


def irregular(rows: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Each row at least once, some of them often."""
    return np.concatenate([np.arange(rows), generator.integers(rows, size=19 * rows)])


@several_runs(30, 200)
@pytest.mark.parametrize("kind", ["20 times", "irregular", "copies of what is right"])
@pytest.mark.parametrize("foreign", [False, True])
def test_copies_of_fifty_rows(kind: str, foreign: bool, runs: int) -> None:
    delta, failed, careless = 0.1, 0, 0
    model: Any = DecisionTreeClassifier(max_depth=3).fit(*coins(300, 0)) if foreign else MODEL
    for seed in range(runs):
        X, y = coins(50, 1000 + seed)
        generator = np.random.default_rng(seed)
        chosen = np.repeat(np.arange(50), 20)
        if kind == "irregular":
            chosen = irregular(50, generator)
        elif kind != "20 times":
            right = np.flatnonzero(model.predict(X) == y)
            chosen = np.concatenate([np.arange(50), np.repeat(right, 7)])
        found = certify(model, X[chosen], y[chosen], delta=delta)
        failed += found.value < 0.5
        careless += certify(model, X[chosen], y[chosen], delta=delta, copies="draws").value < 0.5
        assert found.sample.startswith("distinct held-out rows")
        assert found.inputs["n"] == 50
    check_coverage(f"certify, {kind}", failed, runs, delta)
    check_rejected(f"twin: certify, {kind}, as separate draws", careless, runs, delta)


def test_what_is_counted() -> None:
    X, y = coins(50, 7)
    wrong = int(MODEL.mistakes(X, y).sum())
    twice = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    for copies in ("auto", "distinct"):
        found = certify(MODEL, *twice, copies=copies)
        assert found.value == clopper_pearson(wrong, 50, 0.05)
        assert DISTINCT in found.assumptions
    every = certify(MODEL, *twice, copies="draws")
    assert every.value == clopper_pearson(2 * wrong, 100, 0.05)
    assert SEPARATE in every.assumptions
    assert not {SEPARATE, DISTINCT} & {*certify(MODEL, X, y).assumptions}
    with pytest.raises(ParameterError, match="copies"):
        certify(MODEL, X, y, copies="never")


class Constant:
    """A classifier that always says 0."""

    classes_ = np.arange(2)

    def predict(self, X: Any) -> NDArray[np.int64]:
        return np.zeros(len(X), dtype=np.int64)


def popular(rows: int, generator: np.random.Generator) -> Draw:
    """Draws from few values, on the most frequent of which the constant is mostly wrong."""
    value = np.where(generator.random(rows) < 0.3, 0, generator.integers(343, size=rows))
    labels = (value == 0) & (generator.random(rows) < 0.9)
    return np.column_stack([value % 7, value // 7 % 7, value // 49]).astype(float), labels * 1


RISK = 0.9 * (0.3 + 0.7 / 343)


@several_runs(60, 300)
@pytest.mark.parametrize("order", ["repeated", "tiled", "by chance"])
@pytest.mark.parametrize("times", [5, 10])
def test_draws_from_few_values_that_were_copied(times: int, order: str, runs: int) -> None:
    """Neither each row nor each distinct one is a draw, and the worse of both is wrong as well."""
    failed = worse = 0
    for seed in range(runs):
        generator = np.random.default_rng(seed)
        X, y = popular(60, generator)
        every = np.arange(60)
        chosen = np.repeat(every, times) if order == "repeated" else np.tile(every, times)
        chosen = generator.permutation(chosen) if order == "by chance" else chosen
        found = certify(Constant(), X[chosen], y[chosen])
        assert found.inputs["n"] == 60
        assert found.inputs["k"] == y.sum()
        failed += found.value < RISK
        both = certify(Constant(), X[chosen], y[chosen], copies="draws").value
        worse += max(both, certify(Constant(), X, y, copies="distinct").value) < RISK
    check_coverage(f"certify, draws copied {times} times, {order}", failed, runs, 0.05)
    check_rejected(f"twin: the worse of two counts, {times}, {order}", worse, runs, 0.05)


def ages(rows: int, generator: np.random.Generator) -> Draw:
    """One or two columns of few values: that they tell distinct rows apart says nothing."""
    young = generator.random(rows) < 0.7
    age = np.where(young, generator.integers(20, 30, rows), generator.integers(30, 90, rows))
    labels = young & (generator.random(rows) < 0.5)
    return np.column_stack([age, generator.integers(2, size=rows)]).astype(float), labels * 1


@pytest.mark.parametrize("columns", [1, 2])
def test_tables_of_one_or_two_columns_of_few_values_are_draws(columns: int) -> None:
    X, y = ages(600, np.random.default_rng(0))
    found = certify(Constant(), X[:, :columns], y)
    assert found.value == clopper_pearson(int(y.sum()), 600, 0.05)
    twice = np.random.default_rng(1).integers(60, size=200)
    scattered = np.random.default_rng(2).random((60, columns))
    assert certify(Constant(), scattered[twice], y[twice]).size == np.unique(twice).size


@pytest.mark.parametrize("ours", [False, True])
def test_a_value_that_half_of_all_rows_share(ours: bool) -> None:
    """A column that tells most rows apart, as amounts do, and is 0 for the others."""

    def draw(generator: np.random.Generator) -> Draw:
        amount = np.where(generator.random(600) < 0.5, 0, generator.random(600))
        labels = (amount == 0) & (generator.random(600) < 0.5)
        return np.column_stack([amount, generator.integers(2, size=600)]), labels * 1

    failed = 0
    for seed in range(12):
        generator = np.random.default_rng(seed)
        model: Any = Constant()
        if ours:
            model = AdaBoostClassifier(n_estimators=3).fit(*draw(generator))
        found = certify(model, *draw(generator), delta=0.1)
        assert found.size > 590
        failed += found.value < 0.25
    check_coverage(f"certify, half of the amounts are 0, {ours}", failed, 12, 0.1)


def test_the_rates_of_two_values() -> None:
    class Sure:
        classes_ = np.arange(2)

        def predict(self, X: Any) -> Any:
            return (np.asarray(X)[:, 0] > 0.5).astype(int)

    X = np.array([[0.9]] * 97 + [[0.1]] * 403)
    y = np.array([1] * 100 + [0] * 400)
    assert certify(Sure(), X, y, of="recall").value == pytest.approx(0.924289, abs=5e-7)


def visits(seed: int) -> Draw:
    """Patients with one to ten visits each; the coin of a patient is the same at all of them."""
    generator = np.random.default_rng(seed)
    chosen = np.repeat(np.arange(120), generator.integers(1, 11, size=120))
    X, y = coins(120, 5000 + seed)
    chosen = generator.permutation(chosen)
    return X[chosen], y[chosen]


@several_runs(6, 100)
def test_patients_with_several_visits(runs: int) -> None:
    """Nobody names the patients; a random division puts visits of one on both sides."""
    failed = 0
    for seed in range(runs):
        X, y = visits(seed)
        half = len(y) // 2
        model = AdaBoostClassifier(n_estimators=100).fit(X[:half], y[:half])
        try:
            failed += certify(model, X[half:], y[half:], delta=0.1).value < 0.5
        except NotCertified as refusal:
            assert "trained on" in str(refusal)  # noqa: PT017
    check_coverage("certify, visits of patients", failed, runs, 0.1)


QUESTIONS: dict[str, Callable[..., Any]] = {
    "recall": lambda X, y, **given: choose_threshold(MODEL, X, y, recall=0.5, **given).certificate_,
    "sets": lambda X, y, **given: sets(MODEL, X, y, coverage=0.5, **given).certificate_,
    "answers": lambda X, y, **given: (
        certify_answers(MODEL, X, y, abstain_below=0.5, **given).certificate
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_other_questions_count_alike(question: str) -> None:
    ask = QUESTIONS[question]
    X, y = coins(50, 7)
    chosen = irregular(50, np.random.default_rng(0))
    for copies in ("auto", "distinct"):
        found = ask(X[chosen], y[chosen], copies=copies)
        assert (found.value, found.size) == (ask(X, y).value, ask(X, y).size)
        assert DISTINCT in found.assumptions
    every = ask(X[chosen], y[chosen], copies="draws")
    assert every.size > 5 * found.size
    assert SEPARATE in every.assumptions


def test_honest_repeats_of_a_discrete_domain_count_in_full() -> None:
    for seed in range(6):
        generator = np.random.default_rng(seed)
        X = generator.integers(4, size=(900, 3)).astype(np.float64)
        y = np.where(X[:, 0] + generator.normal(size=900) > 1.5, 1, 0)
        model = AdaBoostClassifier(n_estimators=5).fit(X[:600], y[:600])
        found = certify(model, X[600:], y[600:])
        assert found.inputs["n"] == 300
        assert SEPARATE in found.assumptions


@pytest.mark.parametrize(
    ("name", "target", "columns"),
    [
        ("nursery", "class", 7),
        ("house_votes_84", "Class", 14),
        ("breast_cancer_wisconsin", "Class", 9),
        ("german_credit", "class", 4),
        ("spambase", "class", 57),
    ],
)
def test_ordinary_tables(name: str, target: str, columns: int) -> None:
    """Rows of few values count as they fall, and copies once."""
    given = real_data(name, target, categories=True)
    order = np.random.default_rng(0).permutation(given.table.n_rows)[:3000]
    X, y = given.table.rows()[order, :columns], given.labels[order]
    half = len(y) // 2
    first = np.unique(X[half:], axis=0, return_index=True)[1]
    assert 0.03 < 1 - first.size / (len(y) - half) < 0.8
    for model in (AdaBoostClassifier(n_estimators=10), DecisionTreeClassifier(max_depth=4)):
        model.fit(X[:half], y[:half])
        found = certify(model, X[half:], y[half:])
        wrong = mistakes(model, X[half:], y[half:])
        if name == "spambase":
            known = hasattr(model, "overlap") & _among(X[half:], X[:half])
            assert found.inputs["n"] == np.setdiff1d(first, np.flatnonzero(known)).size
            assert DISTINCT in found.assumptions
        else:
            assert found.value == clopper_pearson(int(wrong.sum()), wrong.size, 0.05)
            assert SEPARATE in found.assumptions


def _among(X: Any, others: Any) -> NDArray[np.bool_]:
    known = {row.tobytes() for row in others}
    return np.array([row.tobytes() in known for row in X])


def test_compression_refuses_copies() -> None:
    X, y = coins(100, 1)
    X, y = np.repeat(X, 10, axis=0), np.repeat(y, 10)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(NotCertified, match="exactly 10 times"):
        pacboost.theory.compress(model, X, y)


@pytest.mark.parametrize("exponent", [1.2, 1.6, 3.0])
def test_draws_from_a_long_tail_are_not_called_copies(exponent: float) -> None:
    for seed in range(100):
        generator = np.random.default_rng(seed)
        _, times = np.unique(generator.zipf(exponent, size=800), return_counts=True)
        assert copied_times(times) == 0


@pytest.mark.parametrize("values", [30, 300, 3000])
def test_nor_are_uniform_draws(values: int) -> None:
    for seed in range(100):
        generator = np.random.default_rng(seed)
        _, times = np.unique(generator.integers(values, size=900), return_counts=True)
        assert copied_times(times) == 0


@pytest.mark.parametrize("times", [2, 3, 7, 50])
def test_copied_tables_are(times: int) -> None:
    X = np.repeat(coins(40, 1)[0], times, axis=0)
    assert Repeats.of(ArrayTable(X)).copied == times


def test_a_class_that_was_copied() -> None:
    """The usual mistake: a rare class is copied before rows are held out."""
    X, _ = coins(500, 1)
    X = np.concatenate([X, np.repeat(X[:40], 9, axis=0)])
    assert Repeats.of(ArrayTable(X)).copied == 10


@pytest.mark.parametrize("kind", ["array", "list", "frame", "sparse", "objects"])
def test_equal_rows_are_found_in_whatever_comes(kind: str) -> None:
    import pandas as pd

    X = np.array([[1.0, 0.0], [2.0, np.nan], [1.0, 0.0], [2.0, np.nan]])
    rows = {
        "array": X,
        "list": X.tolist(),
        "frame": pd.DataFrame(X),
        "sparse": sparse.csr_array(np.nan_to_num(X)),
        "objects": np.array([["a", 1], ["b", 2], ["a", 1], ["b", 2]], dtype=object),
    }[kind]
    assert Repeats.of_any(rows).distinct == 2
    assert Repeats.of_any(rows, np.array(["x", "x", "y", "x"])).distinct == 3


def test_the_command_line_refuses_the_file_it_was_fitted_on(tmp_path: Path) -> None:
    X, y = coins(300, 1)
    for name, (rows, labels) in {"train": (X, y), "fresh": coins(300, 2)}.items():
        lines = [*map(",".join, np.column_stack([rows, labels]).astype(str).tolist())]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,c,y", *lines]))
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
