"""A counter-example: weighted rows under which no rule that was found has the promised edge.

By the minimax theorem one of two things is true of finitely many rules. Either a vote of them has a
margin of at least γ on every row, or there is a distribution over the rows under which all of them
have an edge below γ. A booster of rules with a promised edge finds one or the other; this is the
record of the second, and everything in it can be recomputed by adding whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError

ROWS_NAMED = 5
"""Number of rows that the sentence names."""
NEGLIGIBLE = 2.0**-30
"""Rows below this share of the heaviest weight are left out: weights are at least one unit."""


@dataclass(frozen=True)
class Counterexample:
    """Rows with whole weights, and on which of them each rule that was found is right."""

    promised: float
    """The edge that every rule was promised to have, 1 - 2·error."""
    rows: tuple[int, ...]
    """The numbers of the rows among those passed to fit."""
    weights: tuple[int, ...]
    kinds: tuple[int, ...]
    """The kind of each row; every rule is right, wrong or silent on all rows of a kind."""
    agreement: tuple[tuple[int, ...], ...]
    """For every rule that was found, +1, -1 or 0 for each kind."""

    @property
    def edges(self) -> tuple[Fraction, ...]:
        """The edge of every rule under the weights: Σ weight·agreement / Σ weight."""
        sums = [0] * (max(self.kinds) + 1)
        for kind, weight in zip(self.kinds, self.weights, strict=True):
            sums[kind] += weight
        return tuple(
            Fraction(sum(a * b for a, b in zip(signs, sums, strict=True)), sum(sums))
            for signs in self.agreement
        )

    @property
    def edge(self) -> float:
        """The largest edge of a rule that was found; 0 if no rule was."""
        return float(max(self.edges, default=Fraction(0)))

    @property
    def shares(self) -> NDArray[np.float64]:
        """The weights as a distribution."""
        return np.array(self.weights) / sum(self.weights)

    @property
    def heaviest(self) -> list[int]:
        """The numbers of the rows of the largest weights."""
        order = np.argsort(-self.shares, kind="stable")[:ROWS_NAMED]
        return [self.rows[place] for place in order]

    @property
    def rows_of_half(self) -> int:
        """The least number of rows that have half of the weight."""
        return int((np.cumsum(-np.sort(-self.shares)) < 0.5).sum()) + 1

    @property
    def sentence(self) -> str:
        """What it shows, in a sentence."""
        count, half = len(self.rows), self.rows_of_half
        rows = f"{count:,} row{'s' * (count != 1)}"
        named = ", ".join(map(str, self.heaviest))
        more = ", …" if count > ROWS_NAMED else ""
        most = f"; half of the weight is on {half:,}" if count > ROWS_NAMED else ""
        return (
            f"the learner is not weak here: on {rows} ({named}{more}{most}), weighted like the "
            f"counter-example, its best rule has edge {self.edge:.3g} of the promised "
            f"{self.promised:g}; a richer learner, other features or a smaller promise may help"
        )

    def __str__(self) -> str:
        return self.sentence

    def problem(self, rounds: int = 0) -> str | None:
        """Return why this is no counter-example to the rules of so many rounds, or None."""
        rows, kinds = self.rows, self.kinds
        if not rows or not len(rows) == len(self.weights) == len(kinds):
            return "rows, weights and kinds are not lists of one length"
        if len(set(rows)) < len(rows) or min(rows) < 0 or min(kinds) < 0 or min(self.weights) < 1:
            return "a row is named twice, or a row, a kind or a weight is negative"
        if any(len(signs) <= max(kinds) or not {*signs} <= {-1, 0, 1} for signs in self.agreement):
            return "a rule is neither right, wrong nor silent on a kind of rows"
        # rules of the vote that it leaves out may have the promised edge under these weights
        if len(self.agreement) < rounds:
            return f"it has {len(self.agreement)} rules, and the vote {rounds}"
        if 0 < self.promised <= 1 and max(self.edges, default=Fraction(0)) < self.promised:
            return None
        return f"a rule has edge {self.edge:.4g}, not less than the promised {self.promised:g}"

    def among(self, rows: NDArray[np.integer]) -> Counterexample:
        """Return it with the numbers that rows have in a larger table."""
        return replace(self, rows=tuple(int(rows[row]) for row in self.rows))

    def to_dict(self) -> dict[str, Any]:
        """Return it as objects that JSON supports; the edge is what ``edges`` give."""
        lists = {name: list(getattr(self, name)) for name in ("rows", "weights", "kinds")}
        agreement = [list(signs) for signs in self.agreement]
        return {"promised": self.promised, "edge": self.edge, **lists, "agreement": agreement}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Counterexample:
        """Read the result of ``to_dict``, and refuse what no run could have written."""
        lists = {name: _whole(content[name]) for name in ("rows", "weights", "kinds")}
        agreement = tuple(_whole(signs) for signs in content["agreement"])
        found = cls(promised=float(content["promised"]), agreement=agreement, **lists)
        problem = found.problem()
        if problem is None and content["edge"] != found.edge:
            problem = f"its edge is {content['edge']!r}, but its rules have {found.edge!r}"
        if problem is not None:
            raise DataError(f"this is no counter-example: {problem}")
        return found


def _whole(numbers: Iterable[Any]) -> tuple[int, ...]:
    values = tuple(numbers)
    if any(type(value) is not int for value in values):
        raise TypeError("a counter-example holds whole numbers")
    return values


def counterexample(
    promised: float,
    weights: NDArray[np.int64],
    kinds: NDArray[np.integer],
    columns: NDArray[np.int8] | Sequence[Sequence[int]],
    numbers: NDArray[np.integer] | None,
) -> Counterexample | None:
    """Return the counter-example of whole weights of rows, if rounding left one.

    >>> found = counterexample(0.5, np.array([3, 3, 2]), np.arange(3), [[1, -1, 1]], None)
    >>> found.edge, found.rows
    (0.25, (0, 1, 2))
    >>> counterexample(0.2, np.array([3, 3, 2]), np.arange(3), [[1, -1, 1]], None) is None
    True
    """
    agreement = np.asarray(columns, dtype=np.int8).reshape(len(columns), int(kinds.max()) + 1)
    heavy = np.flatnonzero(weights > NEGLIGIBLE * int(weights.max()))
    # Without its light rows it is easier to read, but edges move a little: if one reaches the
    # promise by that, all rows stay.
    for rows in (heavy, np.arange(weights.size)):
        occurring, places = np.unique(kinds[rows], return_inverse=True)
        found = Counterexample(
            promised,
            tuple((rows if numbers is None else numbers[rows]).tolist()),
            tuple(weights[rows].tolist()),
            tuple(places.tolist()),
            tuple(map(tuple, agreement[:, occurring].tolist())),
        )
        if found.problem() is None:
            return found
    return None
