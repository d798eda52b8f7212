"""Hypotheses that the user lists, as functions of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pacboost.hypotheses.function import Function
from pacboost.learners.version_space.finite_class import FiniteClass, SearchResult
from pacboost.samples.sample import Signs, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.table import Values


@dataclass(frozen=True)
class Listed(FiniteClass):
    """Functions of rows, each giving a number per row that is above 0 for +1."""

    functions: Sequence[Callable[..., Any]] = field(default=())

    def size(self, features: int) -> int:
        """As many as there are, whether they differ or not."""
        return len(self.functions)

    def search(self, X: Values, signs: Signs) -> SearchResult:
        """Ask them all; the first wins a tie."""
        sample = unlabelled(ArrayTable(X))
        rules = [Function(f, _name(f, i)) for i, f in enumerate(self.functions, start=1)]
        errors = [int((rule.answers(sample) != signs).sum()) for rule in rules]
        least = min(errors)
        return SearchResult(rules[errors.index(least)], least, errors.count(0))


def _name(function: Callable[..., Any], number: int) -> str:
    name = getattr(function, "__name__", "<lambda>")
    return f"hypothesis {number}" if name == "<lambda>" else str(name)
