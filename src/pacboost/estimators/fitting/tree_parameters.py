"""The parameters that estimators of boosted trees share: what they mean, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pacboost.boosters.base.booster import Booster
from pacboost.errors import ParameterError
from pacboost.estimators.fitting.feature_names import feature_number, interaction_sets
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.estimators.inputs.parameters import integer, positive_integer, real_number


def rows_or_share(name: str, value: Any) -> Any:
    """Check a number of rows, or a share of them below 1.

    >>> rows_or_share("min_leaf_rows", 20), rows_or_share("min_leaf_rows", 0.1)
    (20, 0.1)
    """
    if real_number(name, value) > 1 and value != round(value):
        raise ParameterError(
            f"{name} is {value}; it may be a whole number of rows, or a share of them as a float "
            "below 1"
        )
    return value


LIMITS: dict[str, Callable[[str, Any], Any]] = {
    "max_leaves": integer,
    "max_depth": integer,
    "min_leaf_rows": rows_or_share,
    "max_features": real_number,
}


def most_rounds(estimator: Any, default: int, booster: Booster[Any]) -> int:
    """Read how many rounds to run at most."""
    rounds = alias(estimator, "n_rounds", "n_estimators", positive_integer)
    return default if rounds is None else with_a_rule(rounds, booster)


def with_a_rule(rounds: int, booster: Booster[Any]) -> int:
    """Give enough rounds for one rule: where the first round is a constant, a rule follows it."""
    return max(rounds, 2 if booster.prior else 1)


def share_of_rows(estimator: Any) -> float:
    """Read the share of rows that each tree is grown on; all if it is not set."""
    if estimator.subsample is None:
        return 1.0
    share = float(real_number("subsample", estimator.subsample))
    if not 0 < share <= 1:
        raise ParameterError(f"subsample is {share}; it must lie in (0, 1]")
    return share


def limits(estimator: Any) -> dict[str, Any]:
    """Read the limits of trees that are set."""
    return {
        name: read(name, getattr(estimator, name))
        for name, read in LIMITS.items()
        if getattr(estimator, name) is not None
    }


def tree_changes(estimator: Any, examples: LabelledRows) -> dict[str, Any]:
    """Read what is set of the tree: its limits, monotone and interaction constraints."""
    slopes = _slopes(estimator.monotone_constraints, examples)
    changes = limits(estimator) | ({"monotone": slopes} if slopes else {})
    sets = interaction_sets(estimator.interaction_constraints, examples.table)
    return changes if sets is None else changes | {"interactions": sets}


def step_size(estimator: Any) -> Any:
    """Read the factor of what every round adds, None if it is not set."""
    return alias(estimator, "shrinkage", "learning_rate", real_number)


def alias(estimator: Any, name: str, other: str, read: Callable[[str, Any], Any]) -> Any:
    """Read the parameter, or the one that means the same; None if neither is set."""
    value, same = getattr(estimator, name), getattr(estimator, other)
    if value is not None and same is not None and value != same:
        raise ParameterError(
            f"{name} is {value} and {other} is {same}; they mean the same, so give one of them"
        )
    given, found = (name, value) if value is not None else (other, same)
    return None if found is None else read(given, found)


def _slopes(given: Any, examples: LabelledRows) -> dict[int, int]:
    """Read monotone constraints: which features, by number, may only rise or only fall."""
    if given is None:
        return {}
    table = examples.table
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        listed = np.asarray(given).tolist()
        if not isinstance(listed, list):
            raise ParameterError(
                f"monotone_constraints is {given!r}; it may be a mapping from names or numbers of "
                "features to -1, 0 or +1, a sequence with one for every feature, or None"
            )
        pairs = list(enumerate(listed))
        if len(pairs) != table.n_columns:
            raise ParameterError(
                f"monotone_constraints holds {len(pairs)} numbers for {table.n_columns} features; "
                "give one for every feature, or a mapping from names or numbers"
            )
    slopes: dict[int, int] = {}
    for feature, slope in pairs:
        column = feature_number("monotone_constraints", feature, table.names, table.n_columns)
        if slope not in (-1, 0, 1):
            raise ParameterError(
                f"monotone_constraints sets {slope!r} on {feature!r}; it may be -1, 0 or +1"
            )
        if slope and column in table.levels:
            raise ParameterError(
                f"a monotone constraint is set on {feature!r}, a category: its levels have no "
                "order. Drop the constraint, or give the column as numbers"
            )
        if slope:
            slopes[column] = int(slope)
    return slopes
