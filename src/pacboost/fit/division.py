"""Rows are divided first, and only then is anything learned.

The rows that certify (fit/roles.py) are taken out of X and y before these are read, so no level,
kind of column, bin, word or class can come from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.errors import invalid
from pacboost.fit import roles
from pacboost.fit.noticing import compared, counted, repeated
from pacboost.fit.roles import CERTIFY, RolesAsk
from pacboost.fit.targets import read_labels, read_weights
from pacboost.numerics.checks import probability, real_number
from pacboost.samples.same_example import REPEATS, Examples, warn_uncounted
from pacboost.sources.rows import Numbers, Rows


@dataclass(frozen=True)
class Certifying:
    """What is to be certified, and by how many rows."""

    way: str | None = None
    """"holdout" for rows that are set apart; None for the training error."""
    share: float = 0.2
    delta: float = 0.05
    copies: str = "draws"
    """What equal rows are (samples/same_example.py)."""
    look: int = 0
    """How many looks at the same rows there have been; 0 if there is only one."""


@dataclass(frozen=True, eq=False)
class Apart:
    """The rows set apart for the certificate, unread, and their labels."""

    X: Any
    y: NDArray[Any]
    examples: Examples
    """Which of all rows are one example; of those set apart each is another one."""
    weighted: bool = False
    """Whether the rows learned from have weights; those set apart are counted without."""
    left_out: int = 0
    """How many more rows were set apart, but are validation rows."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    def without(self, rows: NDArray[np.bool_]) -> Apart:
        """Drop rows that also had a part in the fit."""
        others = np.flatnonzero(~rows)
        left_out = self.left_out + rows.size - others.size
        return replace(
            self, X=Rows.of(self.X).take(others).unread, y=self.y[others], left_out=left_out
        )

    def certificate(self, wrong: NDArray[np.bool_], delta: float, look: int = 0) -> Certificate:
        """Certify by the mistakes on these rows."""
        mistakes = int(np.count_nonzero(wrong))
        certificate = holdout.certificate(mistakes, wrong.size, delta, look=look)
        if self.left_out:
            sample = {**certificate.sample, "validation": self.left_out}
            certificate = replace(certificate, sample=sample)
        if self.weighted:  # the theorem is about rows that count alike
            certificate = certificate.counted_without_weights()
        return counted(certificate, self.examples)


@dataclass(frozen=True, eq=False)
class Division:
    """The training rows, unread, and the rows set apart, if any."""

    X: Any
    y: Any
    rows: Numbers | None = None
    """Which of the rows handed in are learned from; None for all of them."""
    apart: Apart | None = None
    examples: Examples | None = None
    """Which of the rows handed in are one example, where that was asked."""

    @property
    def number(self) -> Numbers | None:
        """The number of each training row's example; None if every row is an example."""
        if self.examples is None or self.examples.number is None or self.rows is None:
            return None
        return self.examples.number[self.rows]

    def weights(self, sample_weight: Any) -> Any:
        """Select the weights of the training rows."""
        if sample_weight is None or self.rows is None:
            return sample_weight
        values: NDArray[Any] = np.asarray(sample_weight)
        return values[self.rows] if values.ndim else values


def share_apart(
    X: Any, y: Any, name: str, share: float, seed: int, copies: str = "draws"
) -> Division:
    """Set a random share of the examples apart; ``name`` is the parameter with the share.

    All copies of an example are on one side. Of those set apart, one row each is kept.

    >>> divided = share_apart([["a"], ["b"], ["c"], ["d"]], [0, 1, 0, 1], "holdout", 0.25, seed=0)
    >>> divided.X, divided.rows.tolist(), divided.apart.X
    ([['a'], ['b'], ['d']], [0, 1, 3], [['c']])
    """
    rows = Rows.of(X)
    labels = read_labels(y, rows.count, several=True)
    examples = Examples.from_rows(rows, rows.count, copies)
    chosen = roles.divide(examples, RolesAsk(seed, share=share, share_name=name))
    learn, counted_rows = chosen.learn, chosen.certify
    counting = rows.take(counted_rows).unread
    # a table knows kinds and levels of all its rows; those that learn may not inherit them
    learned = rows.alone(learn).unread
    # Equal rows may be copies of one example, or draws that happen to agree. Only the user can
    # know, so copies="draws" counts them and warns (docs/decisions/0031).
    if not examples.distinct:
        examples = compared(examples, learned, counting)
    apart = Apart(counting, labels[counted_rows], examples)
    return Division(learned, labels[learn], learn, apart, examples)


def held_out(
    X: Any,
    y: Any,
    sample_weight: Any,
    asked: Certifying,
    seed: int,
    ways: tuple[str, ...] = ("holdout",),
    *,
    once: bool = False,
) -> Division:
    """Set the rows apart that ``certify`` asks for, before anything is learned.

    If none are set apart and ``once`` is set, the training rows certify.
    """
    way = asked.way
    if way not in (None, *ways):
        raise invalid("certify", way, f"may be {', '.join(map(repr, ways))} or None")
    probability("delta", asked.delta)
    if way != "holdout":
        return undivided(X, y, asked.copies, once=once)
    # checked here, since messages name rows, whose numbers change when some are set apart
    read_weights(sample_weight, Rows.of(X).count)
    share = real_number("holdout", asked.share)
    return share_apart(X, y, "holdout", share, seed + CERTIFY, asked.copies)


def undivided(X: Any, y: Any, copies: str, *, once: bool = False) -> Division:
    """Learn from all rows; if they also certify (``once``), from one row of each example."""
    if copies != "distinct" and not once:
        return Division(X, y)
    rows = Rows.of(X)
    every = np.arange(rows.count)
    examples = Examples.from_rows(rows, every.size, copies)
    if not examples.distinct:
        return Division(X, y, examples=repeated(examples, X))
    if not once or examples.number is None:
        return Division(X, y, None if examples.number is None else every, None, examples)
    first = examples.once(every)
    warn_uncounted(every.size - first.size, every.size, REPEATS)
    labels = read_labels(y, every.size, several=True)
    return Division(rows.alone(first).unread, labels[first], first, None, examples)
