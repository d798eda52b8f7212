"""Copies of rows are no evidence of their own: among certifying rows they count with care."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import pacboost
from pacboost import AdaBoostClassifier, certify, certify_answers
from pacboost.bounds.holdout import clopper_pearson
from pacboost.cli.main import main
from pacboost.errors import NotCertified, ParameterError
from pacboost.samples.copies import Repeats, copied_times
from pacboost.sources.arrays import ArrayTable
from tests.bounds.coverage import check_coverage, check_rejected
from tests.runs import several_runs

Draw = tuple[NDArray[np.float64], NDArray[np.int64]]


def coins(rows: int, seed: int) -> Draw:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(rows, 3)), generator.integers(2, size=rows)


MODEL = AdaBoostClassifier(n_estimators=5).fit(*coins(300, 0))


def irregular(rows: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Each row at least once, some of them often."""
    return np.concatenate([np.arange(rows), generator.integers(rows, size=19 * rows)])


@several_runs(80, 200)
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
        careless += (
            certify(model, X[chosen], y[chosen], delta=delta, copies="independent").value < 0.5
        )
        assert "equal rows are counted once" in found.sample
    check_coverage(f"certify, {kind}", failed, runs, delta)
    check_rejected(f"twin: certify, {kind}, as separate draws", careless, runs, delta)


def test_what_is_counted() -> None:
    X, y = coins(50, 7)
    wrong = int(MODEL.mistakes(X, y).sum())
    twice = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    assert certify(MODEL, *twice).value == clopper_pearson(wrong, 50, 0.05)
    assert certify(MODEL, *twice, copies="once").value == clopper_pearson(wrong, 50, 0.05)
    every = certify(MODEL, *twice, copies="independent")
    assert every.value == clopper_pearson(2 * wrong, 100, 0.05)
    assert (
        "equal rows are counted as separate draws (100 rows, 50 of them distinct)" in every.sample
    )
    assert "equal rows" not in certify(MODEL, X, y).sample
    with pytest.raises(ParameterError, match="copies"):
        certify(MODEL, X, y, copies="never")


def test_the_worse_way_counts() -> None:
    """Copies of wrong rows make the bound over all rows the larger one."""
    X, y = coins(60, 8)
    wrong = MODEL.mistakes(X, y)
    chosen = np.concatenate([np.arange(60), np.repeat(np.flatnonzero(wrong), 5)])
    k = 6 * int(wrong.sum())
    assert certify(MODEL, X[chosen], y[chosen]).value == clopper_pearson(k, chosen.size, 0.05)


def test_honest_repeats_of_a_discrete_domain_count_in_full() -> None:
    for seed in range(20):
        generator = np.random.default_rng(seed)
        X = generator.integers(4, size=(900, 3)).astype(np.float64)
        y = np.where(X[:, 0] + generator.normal(size=900) > 1.5, 1, 0)
        model = AdaBoostClassifier(n_estimators=5).fit(X[:600], y[:600])
        found = certify(model, X[600:], y[600:])
        assert found.inputs["n"] == 300
        assert "counted as separate draws" in found.sample


def test_answers_are_refused_where_copies_are_not_explained() -> None:
    X, y = coins(50, 7)
    chosen = np.repeat(np.arange(50), 20)
    with pytest.raises(NotCertified, match="50 are distinct"):
        certify_answers(MODEL, X[chosen], y[chosen], abstain_below=0.5)
    once = certify_answers(MODEL, X[chosen], y[chosen], abstain_below=0.5, copies="once")
    assert once == certify_answers(MODEL, X, y, abstain_below=0.5)
    every = MODEL.certify_answers(X[chosen], y[chosen], abstain_below=0.5, copies="independent")
    assert every.rows == 1000


def test_compression_refuses_copies() -> None:
    X, y = coins(100, 1)
    X, y = np.repeat(X, 10, axis=0), np.repeat(y, 10)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    with pytest.raises(NotCertified, match="exactly 10 times"):
        model.compress(X, y)


@pytest.mark.parametrize("exponent", [1.2, 1.6, 3.0])
def test_draws_from_a_long_tail_are_not_called_copies(exponent: float) -> None:
    for seed in range(300):
        generator = np.random.default_rng(seed)
        _, times = np.unique(generator.zipf(exponent, size=800), return_counts=True)
        assert copied_times(times) == 0


@pytest.mark.parametrize("values", [30, 300, 3000])
def test_nor_are_uniform_draws(values: int) -> None:
    for seed in range(300):
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
