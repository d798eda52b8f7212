"""What must be unchanged when ``warm_start`` continues an earlier fit of bags.

Members that learned from other rows may have seen those that certify now, so the rows and what is
known of them are compared by a digest; learners are compared by their parameters.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pacboost.errors import ParameterError
from pacboost.learners.learner import Learner
from pacboost.learners.sklearn import SklearnLearner
from pacboost.sources.table import Table


@dataclass(frozen=True, eq=False)
class BagsBefore:
    """The learner, and digests of the rows that members learn from; held-out rows are not in it."""

    learner: Learner | None
    certify: str | None
    rows: str
    targets: str

    @classmethod
    def of(
        cls,
        learner: Learner | None,
        certify: str | None,
        table: Table,
        targets: NDArray[Any],
        classes: list[Any],
    ) -> BagsBefore:
        """Copy the learner as it is now, because users may change a black box in place."""
        if isinstance(learner, SklearnLearner):
            learner = SklearnLearner(clone(learner.estimator, safe=False))
        known = blake2b(np.ascontiguousarray(targets).data, digest_size=16)
        known.update(repr(classes).encode())
        return cls(learner, certify, _digest(table), known.hexdigest())

    def refuse_others(self, before: BagsBefore) -> None:
        """Raise if learner, certificate or rows differ from those of the last fit."""
        changed = ""
        if not alike(self.learner, before.learner):
            changed = "the same learner, but estimator"
        elif self.certify != before.certify:
            changed = "the same certificate, but certify"
        elif self.targets != before.targets:
            changed = "the same rows, but y"
        elif self.rows != before.rows:
            changed = "the same rows, but X"
        if changed:
            raise ParameterError(
                f"warm_start goes on with {changed} has changed; set warm_start=False to start "
                "afresh"
            )


def alike(one: Any, other: Any) -> bool:
    """Compare learners by class and parameters, but not by seeds, which each bag sets anew.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> alike(DecisionTreeClassifier(max_depth=2), DecisionTreeClassifier(max_depth=2))
    True
    >>> alike(DecisionTreeClassifier(max_depth=2), DecisionTreeClassifier(max_depth=3))
    False
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    parts = _parts(one), _parts(other)
    if parts[0] is None or parts[1] is None:
        return bool(one == other)
    return parts[0].keys() == parts[1].keys() and all(
        alike(part, parts[1][name]) for name, part in parts[0].items()
    )


def _parts(thing: Any) -> dict[Any, Any] | None:
    """Give the parts by which objects of a class are compared; None if ``==`` compares them."""
    if hasattr(thing, "get_params"):
        own: dict[str, Any] = thing.get_params(deep=False)
        return {name: part for name, part in own.items() if name != "random_state"}
    if is_dataclass(thing):  # as all learners are
        return {field.name: getattr(thing, field.name) for field in fields(thing)}
    if isinstance(thing, dict):
        return thing
    if "__eq__" in {name for kind in type(thing).__mro__[:-1] for name in vars(kind)}:
        return None
    if deepcopy(thing) is thing:  # as functions are: they are equal if they are the same
        return None
    return dict(enumerate(thing.__reduce_ex__(4)[:3]))  # what a copy is made from


def _digest(table: Table) -> str:
    """Hash a table column by column, so that it does not matter how wide its blocks are."""
    found = blake2b(repr((table.n_rows, table.n_columns, table.levels)).encode(), digest_size=16)
    for _, block in table.blocks():
        found.update(np.ascontiguousarray(block.T, dtype=np.float64).data)
    return found.hexdigest()
