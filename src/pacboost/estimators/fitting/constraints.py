"""What trees may ask: limits, monotone and interaction constraints, by the names of columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from pacboost.errors import ParameterError, invalid
from pacboost.estimators.parameters.values import Values
from pacboost.fit.rows import LabelledRows
from pacboost.learners.tree_parameters import NAMED_INTERACTIONS
from pacboost.numerics.checks import meant
from pacboost.sources.table import Table


def feature_number(
    parameter: str, feature: object, names: Sequence[str] | None, columns: int
) -> int:
    """Return the number of the feature that a parameter names.

    >>> feature_number("monotone_constraints", "age", ("id", "age"), 2)
    1
    """
    known = {name: j for j, name in enumerate(names or ())}
    column = known.get(feature, feature) if isinstance(feature, str) else feature
    if not isinstance(column, Integral) or not 0 <= int(column) < columns:
        raise ParameterError(
            f"{parameter} names {feature!r}, which is not a column of X{meant(feature, known)}; "
            "its columns are "
            f"{', '.join(known) if known else f'0 to {columns - 1}'}",
            parameter=parameter,
        )
    return int(column)


def interaction_sets(given: object, table: Table) -> list[tuple[int, ...]] | str | None:
    """Read interaction constraints: the features, by number, that may be used together.

    >>> import numpy as np
    >>> from pacboost.sources.arrays import ArrayTable
    >>> from pacboost.sources.kinds.dates import Dates
    >>> from pacboost.sources.levels import Levels
    >>> names = ("id", "age", "bought: year")
    >>> table = ArrayTable(np.zeros((1, 3)), names, Levels({}, {2: Dates("year")}))
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


def _numbers(feature: object, table: Table) -> list[int]:
    """Return the numbers of the columns that a feature became, such as the parts of a date."""
    names = table.names or ()
    sources = table.levels.sources(names)
    # a date became several columns, and a constraint on it is on all of them
    if isinstance(feature, str) and sources.count(feature) > (feature in names):
        return [j for j, source in enumerate(sources) if source == feature]
    return [feature_number("interaction_constraints", feature, table.names, table.n_columns)]


def _not_sets(given: object) -> ParameterError:
    return ParameterError(
        f"interaction_constraints is {given!r}; it may be a list of sets of features (names or "
        "numbers), 'pairwise', 'no_interactions', or None",
        parameter="interaction_constraints",
    )


LIMITS = ("max_leaves", "max_depth", "min_leaf_rows", "max_features")


def limits(asked: Values) -> dict[str, Any]:
    """Return the limits of trees that are set."""
    given = ((name, getattr(asked, name)) for name in LIMITS)
    return {name: value for name, value in given if value is not None}


def tree_changes(asked: Values, examples: LabelledRows) -> dict[str, Any]:
    """Read the parameters of trees that are set: limits, monotone and interaction constraints."""
    slopes = _slopes(asked.monotone_constraints, examples)
    changes = limits(asked) | ({"monotone": slopes} if slopes else {})
    sets = interaction_sets(asked.interaction_constraints, examples.table)
    if asked.interactions is not None:
        if sets is not None:
            raise ParameterError(
                "interactions and interaction_constraints were both given: the first chooses which "
                "columns may interact, the second names them; give one of them",
                parameter="interactions",
            )
        if asked.interactions and asked.warm_start:
            raise ParameterError(
                "interactions chooses its pairs in one fit, so warm_start=True has nothing to go "
                "on from; set warm_start=False, or name the pairs as interaction_constraints",
                parameter="interactions",
            )
        # pairs are chosen from what a run of single columns leaves (docs/decisions/0025)
        sets = "no_interactions"
    return changes if sets is None else changes | {"interactions": sets}


def _slopes(given: object, examples: LabelledRows) -> dict[int, int]:
    """Read monotone constraints: the features, by number, that may only rise or only fall."""
    if given is None:
        return {}
    table = examples.table
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        listed = np.asarray(given).tolist()
        if not isinstance(listed, list):
            raise invalid(
                "monotone_constraints",
                given,
                "may be a mapping from names or numbers of "
                "features to -1, 0 or +1, a sequence with one for every feature, or None",
            )
        pairs = list(enumerate(listed))
        if len(pairs) != table.n_columns:
            raise ParameterError(
                f"monotone_constraints holds {len(pairs)} numbers for {table.n_columns} features; "
                "give one for every feature, or a mapping from names or numbers",
                parameter="monotone_constraints",
            )
    slopes: dict[int, int] = {}
    for feature, slope in pairs:
        column = feature_number("monotone_constraints", feature, table.names, table.n_columns)
        if slope not in (-1, 0, 1):
            raise ParameterError(
                f"monotone_constraints sets {slope!r} on {feature!r}; it may be -1, 0 or +1",
                parameter="monotone_constraints",
            )
        if slope and column in table.levels:
            raise ParameterError(
                f"a monotone constraint is set on {feature!r}, a category: its levels have no "
                "order. Drop the constraint, or give the column as numbers",
                parameter="monotone_constraints",
            )
        if slope:
            slopes[column] = int(slope)
    return slopes
