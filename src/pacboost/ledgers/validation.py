"""The error on validation rows of a run that said how many rounds are best.

Its validation rows were learned from afterwards, in a second run on all rows, so the record of that
second run has no validation errors of its own.
"""

from __future__ import annotations

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
