"""Fit all or nothing, and what a fit saw: whether a later one may go on from it.

Rounds and members that learned from other rows may have seen those that certify now, and other
parameters, chosen after a look at what was learned, would be a choice that no certificate has paid
for. So rows, labels and weights are compared by digests, and parameters by their values.

Whoever sees a certificate and then goes on has chosen when to stop by the certifying rows. So the
looks at held-out rows are counted, and the k-th certificate pays delta/(k(k+1))
(docs/proofs/holdout.md). A certificate of a fit without ``warm_start`` spends all of delta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pacboost.errors import ParameterError

FREE = (
    "n_estimators", "warm_start", "callbacks", "n_jobs", "verbose", "random_state", "settle",
    "device",
)  # fmt: skip
"""Parameters that a fit may go on with changed; its seed stays, or its rows tell."""
SPENT = (
    "the certificate of the last fit has spent all of delta on one look at the rows set apart, so "
    "nothing is left for a certificate of a fit that goes on. Start afresh with warm_start=True "
    "from the first fit on: its certificates share delta"
)


@dataclass(frozen=True)
class Memory:
    """What a fit saw, by the names that users know; ``looks`` counts those at held-out rows.

    >>> first = Memory({"X": "digest"}, looks=1)
    >>> Memory({"X": "digest"}, looks=1).going_on_from(first).looks
    2
    """

    seen: Mapping[str, Any]
    looks: int | None = None
    """None without held-out rows; 0 if the only look has spent all of delta."""

    def going_on_from(self, before: Memory | None) -> Memory:
        """Return the memory of a fit that goes on from another; raise if it may not."""
        if before is not None and before.looks == 0 and self.looks is not None:
            raise ParameterError(SPENT)
        refuse(["certify"] if before is None else changed(self.seen, before.seen))
        if before is None or before.looks is None:
            return self
        return replace(self, looks=before.looks + 1)


def refuse(names: list[str]) -> None:
    """Raise if something has changed since the fit that is to go on."""
    if names:
        raise ParameterError(
            f"warm_start goes on with the same rows and parameters, but {', '.join(names)} "
            "changed; after a look at what was learned that would void certificates. Go on with "
            "what was there before, or set warm_start=False to start afresh"
        )


def refuse_fewer(asked: int, done: int, what: str) -> None:
    """Raise if a fit that goes on asks for less than there is."""
    if asked < done:
        raise ParameterError(
            f"n_estimators is {asked}, but the last fit has {done} {what} already; give at least "
            "as many, or set warm_start=False"
        )


def parameters(estimator: Any) -> dict[str, Any]:
    """Return copies of the parameters that must stay, for users may change them in place."""
    given = estimator.get_params(deep=False)
    return {name: clone(own, safe=False) for name, own in given.items() if name not in FREE}


def digest(*parts: NDArray[Any] | str) -> str:
    """Return a hash of arrays and words."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).data)
    return found.hexdigest()


def changed(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[str]:
    """Return the names of what is not as it was."""
    names = dict.fromkeys([*now, *before])
    return [name for name in names if not alike(now.get(name), before.get(name))]


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
    """Return the parts by which objects of a class are compared; None if ``==`` compares them."""
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


# Fit all or nothing: a fit that fails leaves the estimator as it was before.


@dataclass
class Attempt:
    """A fit in progress; ``keep`` is called if Ctrl-C interrupts it.

    It turns what is done so far into a model and says in words what was kept, or gives None if
    nothing can be kept.
    """

    keep: Callable[[], str | None] = lambda: None


@contextmanager
def all_or_nothing(estimator: Any) -> Iterator[Attempt]:
    """Undo every change of the estimator if the block raises; Ctrl-C may keep what is done.

    Whatever was raised is raised again.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier(max_depth=3)
    >>> try:
    ...     with all_or_nothing(model):
    ...         model.max_depth = 5
    ...         raise ValueError("something is wrong with y")
    ... except ValueError:
    ...     print(model.max_depth)
    3
    """
    before = estimator.__dict__.copy()
    attempt = Attempt()
    try:
        yield attempt
    except BaseException as problem:
        kept = attempt.keep() if isinstance(problem, KeyboardInterrupt) else None
        if kept is None:
            estimator.__dict__ = before
        else:
            problem.add_note(f"pacboost: {kept}")
        raise
