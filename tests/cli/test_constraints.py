"""Constraints on trees, and the share of huber and quantile losses, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pacboost
from tests.cli.running import run, well


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 3))
    y = X[:, 0] + 0.3 * np.sin(4 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * generator.normal(size=300)
    path = tmp_path_factory.mktemp("constraints") / "rows.csv"
    lines = [
        ",".join([*(repr(float(v)) for v in (*x, own)), "high" if own > 0 else "low"])
        for x, own in zip(X, y, strict=True)
    ]
    path.write_text("\n".join(["a,b,c,number,label", *lines]))
    return path


NUMBERS = ("--target", "number", "--drop", "label", "--rounds", "30", "--loss")
CLASSES = ("--target", "label", "--drop", "number", "--rounds", "30", "--learner", "tree")


def rows(a: Any) -> Any:
    """Rows with these values of the first column, and 0 in the others."""
    return pytest.importorskip("pandas").DataFrame({"a": a, "b": 0.0, "c": 0.0})


def fitted(data: Path, *options: str) -> Any:
    model = data.parent / "m.pacb"
    well("fit", data, *options, "--output", model)
    return pacboost.load(model)


@pytest.mark.parametrize("options", [(*NUMBERS, "squared_error"), (*CLASSES, "--booster", "logit")])
def test_predictions_only_fall_in_a_column(data: Path, options: tuple[str, ...]) -> None:
    grid = rows(np.linspace(-3, 3, 50))
    score = "predict" if "--loss" in options else "decision_function"
    free = getattr(fitted(data, *options), score)(grid)
    assert (np.diff(free) < 0).any()
    if "--loss" not in options:  # "low" is the second class
        bound = getattr(fitted(data, *options, "--monotone", "a=-1"), score)(grid)
        assert (np.diff(bound) <= 0).all()
    else:
        bound = getattr(fitted(data, *options, "--monotone", "a=+1"), score)(grid)
        assert (np.diff(bound) >= 0).all()


def asked_together(model: Any) -> set[frozenset[int]]:
    return {
        frozenset(int(tree.feature[split]) for split, _ in tree.path(leaf))
        for tree, _ in model.model_.vote.trees
        for leaf in range(len(tree.values))
    }


def test_columns_are_used_together_as_allowed(data: Path) -> None:
    options = (*NUMBERS, "squared_error")
    assert any(len(asked) == 3 for asked in asked_together(fitted(data, *options)))
    apart = fitted(data, *options, "--interact", "no-interactions")
    assert all(len(asked) <= 1 for asked in asked_together(apart))
    some = fitted(data, *options, "--interact", "b, c", "--interact", "a")
    allowed = (frozenset({0}), frozenset({1, 2}))
    assert all(any(asked <= one for one in allowed) for asked in asked_together(some))


def test_alpha_is_that_of_huber_and_quantile(data: Path) -> None:
    low = fitted(data, *NUMBERS, "quantile", "--alpha", "0.1")
    same = fitted(data, *NUMBERS, "quantile", "--quantile", "0.1")
    row = rows(np.zeros(1))
    assert low.predict(row) == same.predict(row)
    tight = fitted(data, *NUMBERS, "huber", "--alpha", "0.5")
    assert tight.predict(row) != fitted(data, *NUMBERS, "huber").predict(row)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((*NUMBERS, "squared_error", "--alpha", "0.5"), "--alpha belongs to --loss huber"),
        ((*NUMBERS, "quantile", "--alpha", "0.5", "--quantile", "0.5"), "leave one of them out"),
        (("--target", "label", "--alpha", "0.5"), "--alpha requires --loss huber or"),
        (("--target", "label", "--monotone", "a=+1"), "--monotone requires --booster or"),
        (("--target", "label", "--learner", "stump", "--interact", "a,b"), "add --learner tree"),
        ((*NUMBERS, "squared_error", "--monotone", "a"), "as in --monotone age=+1"),
        ((*NUMBERS, "squared_error", "--monotone", "a=2"), "as in --monotone age=+1"),
        ((*NUMBERS, "squared_error", "--monotone", "a=+1", "--monotone", "a=-1"), "both +1 and -1"),
        ((*NUMBERS, "squared_error", "--monotone", "z=+1"), "'z'"),
        ((*NUMBERS, "squared_error", "--interact", "pairwise", "--interact", "a"), "stands alone"),
        ((*NUMBERS, "squared_error", "--interact", "a,z"), "'z'"),
    ],
)
def test_what_makes_no_sense_is_refused(data: Path, options: tuple[str, ...], said: str) -> None:
    refused = run("fit", data, *options)
    assert refused.exit_code == 2
    assert said in " ".join(refused.stderr.replace("│", "").split())
