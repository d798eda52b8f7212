"""Fit all or nothing: a fit that fails leaves the estimator as it was before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.samples.sketch import row_hashes
from pacboost.sources.table import Table


def _nothing() -> str | None:
    return None


@dataclass
class Attempt:
    """A fit in progress; ``keep`` is called if Ctrl-C interrupts it.

    It turns what is done so far into a model and says in words what was kept, or gives None if
    nothing can be kept.
    """

    keep: Callable[[], str | None] = _nothing


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


# How often held-out rows were evaluated, where ``warm_start`` continues after a certificate.
#
# Whoever sees a certificate and then goes on has chosen when to stop by the certifying rows. So the
# certificates of an estimator with ``warm_start=True`` are numbered, and the k-th pays
# delta/(k(k+1)) (docs/proofs/holdout.md). That holds for fits that go on with the same rows and
# parameters; others are refused, and so is going on from a certificate that has spent all of delta
# on a single look.

MAY_CHANGE = (
    "n_estimators", "warm_start", "callbacks", "n_jobs", "verbose", "random_state",
)  # fmt: skip
"""Parameters that a fit may go on with changed; that the seed is the same is checked elsewhere."""


@dataclass(frozen=True)
class Looks:
    """The number of the last look, 0 if it is the only one, and digests of rows and parameters."""

    number: int
    rows: str = ""
    settings: str = ""


def next_look(before: Looks | None, now: Looks, *, goes_on: bool) -> Looks:
    """Number the look at the held-out rows that a fit is about to take, or raise.

    ``now`` has the number 0 if no further look may come, else 1; ``goes_on`` says that the fit
    takes over what an earlier one has learned.

    >>> first = next_look(None, Looks(1, "rows"), goes_on=False)
    >>> next_look(first, Looks(1, "rows"), goes_on=True).number
    2
    """
    if not goes_on:
        return now
    if before is not None and before.number == 0:
        raise ParameterError(
            "the certificate of the last fit has spent all of delta on one look at the rows set "
            "apart, so nothing is left for a certificate of a fit that goes on. Start afresh with "
            "warm_start=True from the first fit on: its certificates share delta"
        )
    if before is None or before.rows != now.rows:
        raise ParameterError(
            "warm_start goes on with the same rows learned from and set apart for the certificate, "
            "but these are others, and rows that certify now may have been learned from before. "
            "Fit with the same rows in the same order, or set warm_start=False to start afresh"
        )
    if before.settings != now.settings:
        raise ParameterError(
            "warm_start goes on with the same parameters after a look at the rows set apart, but "
            f"others than {', '.join(MAY_CHANGE[:2])} have changed: to choose them by a look would "
            "void the certificate. Set them as they were, or set warm_start=False to start afresh"
        )
    return Looks(before.number + 1, now.rows, now.settings)


def look_at(estimator: Any, *parts: tuple[Table, NDArray[Any]]) -> Looks:
    """Describe the first look of a fit by its parameters and its parts: rows and their labels."""
    if not estimator.warm_start:
        return Looks(0)
    found = blake2b(digest_size=16)
    for table, labels in parts:
        found.update(row_hashes(table).tobytes())
        found.update(repr(labels.tolist()).encode())
    return Looks(1, found.hexdigest(), _settings(estimator))


def _settings(estimator: Any) -> str:
    """Return a digest of the parameters; functions count by name, because pickling moves them."""
    named = {
        name: getattr(value, "__qualname__", value)
        for name, value in sorted(estimator.get_params(deep=True).items())
        if name not in MAY_CHANGE
    }
    return blake2b(repr(named).encode(), digest_size=16).hexdigest()
