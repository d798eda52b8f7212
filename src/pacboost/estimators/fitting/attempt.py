"""Fit all or nothing: a fit that fails leaves the estimator as it was; others leave their notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sklearn.base import BaseEstimator

from pacboost.errors import noting


@dataclass
class Attempt:
    """A fit in progress; ``keep`` is called if Ctrl-C interrupts it.

    It turns what is done so far into a model and says in words what was kept, or gives None if
    nothing can be kept.
    """

    keep: Callable[[], str | None] = lambda: None


@contextmanager
def all_or_nothing(estimator: BaseEstimator) -> Iterator[Attempt]:
    """Undo every change of the estimator if the block raises; Ctrl-C may keep finished rounds.

    Every exception is raised again.

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
    with noting() as notes:
        try:
            yield attempt
        # Ctrl-C, too, may not leave half of a fit behind
        except BaseException as problem:
            kept = attempt.keep() if isinstance(problem, KeyboardInterrupt) else None
            if kept is None:
                estimator.__dict__ = before
            else:
                estimator.notes_ = tuple(notes)
                problem.add_note(f"pacboost: {kept}")
            raise
        estimator.notes_ = tuple(notes)
