"""Validation rows that users give: one pair (X_val, y_val), or several by name as eval_set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacboost.errors import ParameterError
from pacboost.fit.ask import ValidationSet
from pacboost.numerics.memory import in_host_memory


def read_sets(X_val: Any, y_val: Any, eval_set: Any) -> tuple[ValidationSet, ...]:
    """Return all sets by name; the first one decides when to stop, the others are only measured.

    >>> sets = read_sets(None, None, [("rows", "labels"), ("more rows", "more labels")])
    >>> [(one.name, one.X) for one in sets]
    [('validation_0', 'rows'), ('validation_1', 'more rows')]
    """
    if eval_set is None:
        if (X_val is None) != (y_val is None):
            present, absent = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
            raise ParameterError(
                f"{present} was given without {absent}; give both or neither", parameter=absent
            )
        return () if X_val is None else (ValidationSet("validation_0", X_val, y_val),)
    if X_val is not None or y_val is not None:
        raise ParameterError(
            "eval_set and X_val (or y_val) were both given; put all validation rows into eval_set, "
            "first those that stop early",
            parameter="eval_set",
        )
    if not isinstance(eval_set, Mapping | list | tuple):
        raise ParameterError(
            f"eval_set is a {type(eval_set).__name__}; it must be a list of pairs (X, y), or a "
            "mapping from names to such pairs",
            parameter="eval_set",
        )
    if not eval_set:
        raise ParameterError(
            "eval_set is empty; give at least one pair (X, y), or leave it out",
            parameter="eval_set",
        )
    if isinstance(eval_set, Mapping):
        return tuple(_set(str(name), repr(name), pair) for name, pair in eval_set.items())
    single = isinstance(eval_set, tuple) and len(eval_set) == 2
    if single and not all(isinstance(pair, tuple) for pair in eval_set):
        eval_set = [eval_set]  # one pair, as LightGBM takes it
    pairs = enumerate(eval_set)
    return tuple(_set(f"validation_{k}", f"number {k}", pair) for k, pair in pairs)


def _set(name: str, which: str, pair: Any) -> ValidationSet:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise ParameterError(
            f"set {which} of eval_set is not a pair (X, y): give rows and their labels or numbers",
            parameter="eval_set",
        )
    X, y = pair
    if X is None or y is None:
        raise ParameterError(
            f"set {which} of eval_set holds None; a pair is (X, y)", parameter="eval_set"
        )
    return ValidationSet(name, X, in_host_memory(y))
