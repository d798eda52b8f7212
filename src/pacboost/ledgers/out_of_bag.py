"""What a bagged vote leaves behind of the rows outside its bags, as plain numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
