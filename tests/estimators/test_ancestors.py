"""Estimators are composed of functions: few ancestors, and no method chosen by their order."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import pacboost
from tests.public import estimators

MOST = 6
"""A public estimator has at most so many ancestors within the package."""

ESTIMATORS = list(estimators().values())


def ancestors(kind: type) -> list[type]:
    return [base for base in kind.__mro__[1:] if base.__module__.startswith("pacboost")]


def methods(kind: type) -> set[str]:
    """Functions and properties that a class defines; those of Python and scikit-learn aside."""
    return {
        name
        for name, value in vars(kind).items()
        if (callable(value) or isinstance(value, property)) and not name.startswith("__")
    }


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_estimator_has_few_ancestors(kind: type) -> None:
    found = ancestors(kind)
    assert len(found) <= MOST, [base.__name__ for base in found]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_no_method_is_chosen_by_the_order_of_bases(kind: type) -> None:
    for one, other in combinations(ancestors(kind), 2):
        if not (issubclass(one, other) or issubclass(other, one)):
            assert not methods(one) & methods(other), (one, other)


def test_two_unrelated_bases_with_the_same_method_would_be_found() -> None:
    class One:
        def rules(self) -> Any: ...

    class Other:
        def rules(self) -> Any: ...

    assert methods(One) & methods(Other) == {"rules"}


def test_no_base_declares_methods_for_the_type_checker_alone() -> None:
    """Imports of types may be for the type checker; methods that another class brings may not."""
    for path in (Path(pacboost.__file__).parent / "estimators").rglob("*.py"):
        assert "    if TYPE_CHECKING" not in path.read_text(encoding="utf-8"), path
