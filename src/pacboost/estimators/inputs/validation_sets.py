"""Validation rows that users give: one pair (X_val, y_val), or several by name as eval_set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacboost.errors import ParameterError
from pacboost.numerics.memory import in_host_memory

Pair = tuple[Any, Any]


def read_sets(X_val: Any, y_val: Any, eval_set: Any) -> dict[str, Pair]:
    """Return all sets by name; the first one decides when to stop, the others are only measured.

    >>> read_sets(None, None, [("rows", "labels"), ("more rows", "more labels")])
    {'validation_0': ('rows', 'labels'), 'validation_1': ('more rows', 'more labels')}
    """
    if eval_set is None:
        return {"validation_0": (X_val, y_val)}
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
        return {str(name): _pair(repr(name), own) for name, own in eval_set.items()}
    single = isinstance(eval_set, tuple) and len(eval_set) == 2
    if single and not all(isinstance(own, tuple) for own in eval_set):
        eval_set = [eval_set]  # one pair, as LightGBM takes it
    pairs = enumerate(eval_set)
    return {f"validation_{number}": _pair(f"number {number}", own) for number, own in pairs}


def _pair(which: str, own: Any) -> Pair:
    if not isinstance(own, list | tuple) or len(own) != 2:
        raise ParameterError(
            f"set {which} of eval_set is not a pair (X, y): give rows and their labels or numbers",
            parameter="eval_set",
        )
    X, y = own
    if X is None or y is None:
        raise ParameterError(
            f"set {which} of eval_set holds None; a pair is (X, y)", parameter="eval_set"
        )
    return X, in_host_memory(y)
