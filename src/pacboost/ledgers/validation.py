"""The error on validation rows of a run that said how many rounds are best.

Its validation rows were learned from afterwards, in a second run on all rows, so the record of that
second run has no validation errors of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ValidationCurve:
    """The share of validation rows that is wrong after each round of the first run."""

    rows: int
    errors: NDArray[np.float64]

    @classmethod
    def of(cls, rows: int, errors: Sequence[float]) -> ValidationCurve | None:
        """Keep what was measured; None if nothing was.

        >>> ValidationCurve.of(40, [0.25, 0.2]).errors.tolist()
        [0.25, 0.2]
        """
        return cls(rows, np.array(errors, dtype=np.float64)) if len(errors) and rows else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for a file."""
        return {"rows": self.rows, "errors": self.errors}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> ValidationCurve:
        """Read what ``to_dict`` gave, and refuse what no run could have measured."""
        made = cls(**content)
        if type(made.rows) is not int or made.rows < 1:
            raise ValueError(f"rows is {made.rows!r}; it has to be 1 or more")
        known = isinstance(made.errors, np.ndarray) and made.errors.dtype == np.float64
        if not known or made.errors.ndim != 1 or not made.errors.size:
            raise ValueError("errors have to be an array of float64, one for each round")
        if not ((made.errors >= 0) & (made.errors <= 1)).all():
            raise ValueError("errors have to lie in [0, 1]")
        return made


# What a bagged vote leaves behind of the rows outside its bags, as plain numbers.


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """The counts that a finished tally leaves: all that a certificate looks at."""

    rows: int
    """Rows that are counted."""
    members_max: int
    """The most members there could have been, fixed before any was made."""
    outside: float
    """The chance that a row is outside a bag."""
    sizes: NDArray[np.int64]
    """Counted rows outside the bag of each member."""
    wrong: NDArray[np.int64]
    """How many of them the member gets wrong."""
    pair_least_size: int | None
    """The fewest counted rows outside both bags of a pair; None if pairs were not kept."""
    tandem: float | None
    """Mean over ordered pairs, also of a member with itself, of the share both get wrong."""
    vote_error: float | None
    """Error of the votes out of bag: an estimate, never a bound. None if no row was outside."""
    unseen: int
    """Rows that are in every bag, so that no vote out of bag is about them."""

    @property
    def members(self) -> int:
        """The number of members that were made."""
        return self.sizes.size

    @property
    def least_size(self) -> int:
        """The fewest counted rows outside the bag of a member."""
        return int(self.sizes.min(initial=self.rows))

    @property
    def first(self) -> float | None:
        """The mean over members of their share of wrong rows; None if a member has no rows."""
        if not self.sizes.size or not self.sizes.all():
            return None
        return math.fsum(self.wrong / self.sizes) / self.members
