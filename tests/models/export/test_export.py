"""What the door of exports takes, and what it refuses in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import pacboost as pb
from pacboost import theory
from pacboost.errors import FileError, ParameterError
from pacboost.models.export.export import export
from pacboost.models.export.program import program_of
from tests.models.export.cases import case

X = np.random.default_rng(0).normal(size=(120, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def test_the_ending_of_the_path_says_the_kind(tmp_path: Path) -> None:
    model = case("stumps").estimator
    export(model, tmp_path / "m.py")
    export(model.model_, str(tmp_path / "other.txt"), kind="python")
    assert (tmp_path / "m.py").read_bytes() == (tmp_path / "other.txt").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.py", "other.txt"]


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("m.java", None, "the extension of 'm.java' is no known kind"),
        ("m.py", "fortran", "kind is 'fortran'"),
    ],
)
def test_other_kinds_are_refused(name: str, kind: str | None, said: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=said):
        export(case("stumps").estimator, tmp_path / name, kind=kind)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"m\.py: cannot be written"):
        export(case("stumps").estimator, tmp_path / "nowhere" / "m.py")


def boxes() -> Any:
    return pb.AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=3).fit(X, Y)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (pb.BoostClassifier, "holds no vote of rules and no forest"),
        (lambda: pb.BaggingClassifier(n_estimators=3).fit(X, Y), "BaggingClassifier cannot be"),
        (boxes, "Function rules"),
        (lambda: theory.BaggedBoost(3, random_state=0).fit(X, Y), "Decision rules"),
        (
            lambda: theory.ThreeLearnerBoost(random_state=0).fit(X, Y),
            "Three rules|one vote each",
        ),
    ],
)
def test_what_cannot_be_exported_says_what_can(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        program_of(make())


@pytest.mark.parametrize("name", ["forest", "trees"])
def test_too_many_splits_are_refused(name: str) -> None:
    model = case(name).estimator
    size = program_of(model).trees.feature.size
    assert program_of(model, most=size).trees.feature.size == size
    with pytest.raises(ParameterError, match=f"have {size:,} splits, and .* holds {size - 1:,}"):
        program_of(model, most=size - 1)


def test_it_says_what_it_is_and_what_was_certified() -> None:
    model = pb.AdaBoostClassifier(certify="holdout", n_estimators=5, random_state=0).fit(X, Y)
    what, certified = program_of(model).about
    assert what == "A model of pacboost: 3 columns in, 2 classes out."
    claim = model.certificate_.claim
    assert certified == f"Certified: {claim} That may fail with probability 0.05."
