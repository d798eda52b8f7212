"""Features that parameters name: by the names of their columns, or by their numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from numbers import Integral
from typing import Any

from pacboost.errors import ParameterError
from pacboost.learners.tree_parameters import NAMED_INTERACTIONS
from pacboost.sources.dates import DERIVED
from pacboost.sources.table import Table


def feature_number(parameter: str, feature: Any, names: Sequence[str] | None, columns: int) -> int:
    """Give the number of a feature that a parameter names.

    >>> feature_number("monotone_constraints", "age", ("id", "age"), 2)
    1
    """
    known = {name: j for j, name in enumerate(names or ())}
    column = known.get(feature, feature) if isinstance(feature, str) else feature
    if not isinstance(column, Integral) or not 0 <= int(column) < columns:
        raise ParameterError(
            f"{parameter} names {feature!r}, which is no column of X; its columns are "
            f"{', '.join(known) if known else f'0 to {columns - 1}'}"
        )
    return int(column)


def interaction_sets(given: Any, table: Table) -> list[tuple[int, ...]] | str | None:
    """Read interaction constraints: which features, by number, may be asked for together.

    >>> import numpy as np
    >>> from pacboost.sources.arrays import ArrayTable
    >>> table = ArrayTable(np.zeros((1, 3)), ("id", "age", "bought (year)"))
    >>> interaction_sets([["age", "bought"], [0]], table)
    [(1, 2), (0,)]
    """
    if given is None or (isinstance(given, str) and given in NAMED_INTERACTIONS):
        return given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise _not_sets(given)
    sets = list(given)
    if not all(isinstance(own, Collection) and not isinstance(own, str) for own in sets):
        raise _not_sets(given)
    return [tuple(sorted({j for feature in own for j in _numbers(feature, table)})) for own in sets]


def _numbers(feature: Any, table: Table) -> list[int]:
    """Give the numbers of the columns that a feature became: a date becomes several."""
    names = table.names or ()
    if isinstance(feature, str) and feature not in names:
        found = [(j, DERIVED.fullmatch(name)) for j, name in enumerate(names)]
        parts = [j for j, match in found if match is not None and match[1] == feature]
        if parts:
            return parts
    return [feature_number("interaction_constraints", feature, table.names, table.n_columns)]


def _not_sets(given: Any) -> ParameterError:
    return ParameterError(
        f"interaction_constraints is {given!r}; it may be a list of sets of features (names or "
        "numbers), 'pairwise', 'no_interactions', or None"
    )
