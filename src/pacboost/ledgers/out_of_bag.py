"""Out-of-bag counts of a bagged vote."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Out-of-bag counts of all members: the only data that a certificate uses."""

    rows: int
    members_max: int
    """Maximum number of members, fixed before the first was trained."""
    outside: float
    """Probability that a row is outside a bag."""
    sizes: NDArray[np.int64]
    """Number of counted rows outside the bag of each member."""
    wrong: NDArray[np.int64]
    """Number of them that the member classifies wrongly."""
    pair_least_size: int | None
    """Minimum number of counted rows outside both bags of a pair; None if not counted."""
    tandem: float | None
    """Mean share of rows that both members of an ordered pair, also of equal members, get wrong."""
    vote_error: float | None
    """Out-of-bag error of the vote: an estimate, not a bound. None if no row was outside a bag."""
    unseen: int
    """Number of rows that are in every bag and have no out-of-bag vote."""

    @property
    def members(self) -> int:
        """The number of members."""
        return self.sizes.size

    @property
    def least_size(self) -> int:
        """The minimum number of counted rows outside the bag of a member."""
        return int(self.sizes.min(initial=self.rows))

    @property
    def first(self) -> float | None:
        """The mean share of wrong rows over members; None if a member has no rows."""
        if not self.sizes.size or not self.sizes.all():
            return None
        return math.fsum(self.wrong / self.sizes) / self.members
