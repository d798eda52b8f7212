"""Validation rows as users give them to fit: one set by X_val and y_val, or several by eval_set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pacboost.errors import ParameterError

Pair = tuple[Any, Any]


@dataclass(frozen=True, eq=False)
class EvaluationSets:
    """The set that stops a run early, None if there is none, and others that are only measured."""

    name: str = "validation_0"
    X: Any = None
    y: Any = None
    others: dict[str, Pair] = field(default_factory=dict)


def read_sets(X_val: Any, y_val: Any, eval_set: Any) -> EvaluationSets:
    """Return names to all sets; the first one decides when to stop.

    >>> sets = read_sets(None, None, [("rows", "labels"), ("other rows", "other labels")])
    >>> sets.name, sets.X, sets.others
    ('validation_0', 'rows', {'validation_1': ('other rows', 'other labels')})
    """
    if eval_set is None:
        return EvaluationSets(X=X_val, y=y_val)
    if X_val is not None or y_val is not None:
        raise ParameterError(
            "eval_set and X_val (or y_val) were both given; put all validation rows into eval_set, "
            "first those that stop early"
        )
    pairs = _named(eval_set)
    if not pairs:
        raise ParameterError("eval_set is empty; give at least one pair (X, y), or leave it out")
    (name, (X, y)), *others = pairs.items()
    return EvaluationSets(name, X, y, dict(others))


def _named(eval_set: Any) -> dict[str, Pair]:
    if isinstance(eval_set, Mapping):
        return {str(name): _pair(repr(name), own) for name, own in eval_set.items()}
    if not isinstance(eval_set, list | tuple):
        raise ParameterError(
            f"eval_set is a {type(eval_set).__name__}; it must be a list of pairs (X, y), or a "
            "mapping from names to such pairs"
        )
    single = isinstance(eval_set, tuple) and len(eval_set) == 2
    if single and not all(isinstance(own, tuple) for own in eval_set):
        eval_set = [eval_set]  # one pair, as LightGBM takes it
    return {
        f"validation_{number}": _pair(f"number {number}", own)
        for number, own in enumerate(eval_set)
    }


def _pair(which: str, own: Any) -> Pair:
    if not isinstance(own, list | tuple) or len(own) != 2:
        raise ParameterError(
            f"set {which} of eval_set is not a pair (X, y): give rows and their labels or numbers"
        )
    X, y = own
    if X is None or y is None:
        raise ParameterError(f"set {which} of eval_set holds None; a pair is (X, y)")
    return X, y
