"""The parameters that estimators of boosted trees share: what they mean, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pacboost.errors import ParameterError
from pacboost.estimators.inputs.examples import Examples
from pacboost.estimators.inputs.parameters import integer, positive_integer, real_number

ROWS_TO_SPARE = 25_000
"""Of so many rows a tenth can be spared to stop early on; and so many bear larger steps."""


LIMITS: dict[str, Callable[[str, Any], Any]] = {
    "max_leaves": integer,
    "max_depth": integer,
    "min_leaf_rows": real_number,
    "max_features": real_number,
}


class TreesMixin:
    """Reads rounds, rates, shares and the limits of trees."""

    n_rounds: int | None
    n_estimators: int | None
    shrinkage: float | None
    learning_rate: float | None
    subsample: float
    max_leaves: int | None
    max_depth: int | None
    min_leaf_rows: float | None
    max_features: float | None
    monotone_constraints: Any
    early_stopping: bool | str
    warm_start: bool

    _rounds_name = "n_rounds"
    _rows_to_stop = ROWS_TO_SPARE
    """With "auto", from so many rows on some are held back to stop early on."""

    def _rounds(self, unless_told: int) -> int:
        """How many rounds to run at most."""
        rounds = self._alias("n_rounds", "n_estimators")
        return unless_told if rounds is None else positive_integer("n_rounds", rounds)

    def _share(self) -> float:
        """The share of rows that each tree looks at."""
        share = float(real_number("subsample", self.subsample))
        if not 0 < share <= 1:
            raise ParameterError(f"subsample is {share}; it must lie in (0, 1]")
        return share

    def _tree_changes(self, examples: Examples) -> dict[str, Any]:
        """What is set of the tree."""
        changes: dict[str, Any] = {
            name: read(name, getattr(self, name))
            for name, read in LIMITS.items()
            if getattr(self, name) is not None
        }
        slopes = _slopes(self.monotone_constraints, examples)
        return changes | ({"monotone": slopes} if slopes else {})

    def _alias(self, name: str, other: str) -> Any:
        """Give the parameter, or the one that means the same."""
        value, alias = getattr(self, name), getattr(self, other)
        if value is not None and alias is not None and value != alias:
            raise ParameterError(
                f"{name} is {value} and {other} is {alias}; they mean the same, so give one of them"
            )
        return alias if value is None else value

    def _stops_early(self, examples: Examples) -> bool:
        if isinstance(self.early_stopping, str):
            if self.early_stopping not in ("auto", "refit"):
                raise ParameterError(
                    f"early_stopping is {self.early_stopping!r}; it may be True, False, 'refit' or "
                    "'auto'"
                )
            return self.early_stopping == "refit" or examples.n_rows >= self._rows_to_stop
        return bool(self.early_stopping)

    def _refits(self, examples: Examples) -> bool:
        if self.warm_start or not isinstance(self.early_stopping, str):
            return False
        few = examples.n_rows < ROWS_TO_SPARE
        return self._stops_early(examples) and (few or self.early_stopping == "refit")


def _slopes(given: Any, examples: Examples) -> dict[int, int]:
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
    names = {name: j for j, name in enumerate(table.names or ())}
    for feature, slope in pairs:
        column = names.get(feature, feature) if isinstance(feature, str) else feature
        if not isinstance(column, int | np.integer) or not 0 <= column < table.n_columns:
            raise ParameterError(
                f"monotone_constraints names {feature!r}, which is no column of X; its columns are "
                f"{', '.join(names) if names else f'0 to {table.n_columns - 1}'}"
            )
        if slope not in (-1, 0, 1):
            raise ParameterError(
                f"monotone_constraints sets {slope!r} on {feature!r}; it may be -1, 0 or +1"
            )
        if slope and int(column) in table.levels:
            raise ParameterError(
                f"a monotone constraint is set on {feature!r}, a category: its levels have no "
                "order. Drop the constraint, or give the column as numbers"
            )
        if slope:
            slopes[int(column)] = int(slope)
    return slopes
