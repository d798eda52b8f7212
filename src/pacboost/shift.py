"""How the world has moved since the rows were drawn: values for ``shift=`` of ``certify``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from pacboost.errors import invalid

__all__ = ["new_rows", "ratio", "shares"]


@dataclass(frozen=True, eq=False)
class Ratio:
    """A ratio of densities, new to old, up to a factor; see ``ratio``."""

    weights: object
    bound: float
    seed: int


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of the classes among new examples; see ``shares``."""

    shares: object


@dataclass(frozen=True, eq=False)
class UnlabelledRows:
    """Rows of the new world without labels; see ``new_rows``."""

    rows: object
    bound: float
    seed: int


Shift = Ratio | Shares | UnlabelledRows
DEFAULT_BOUND = 10.0
"""Learned weights are clipped here."""


def ratio(weights: ArrayLike | Callable[..., ArrayLike], *, bound: float, seed: int = 0) -> Ratio:
    """Say how much more likely each row is in the new world than here, up to a factor.

    A row is kept with probability weight/bound, and the rows that are kept certify.

    Parameters
    ----------
    weights : array, or function of X
        The ratio of each row.
    bound : float
        The largest possible ratio, fixed before the rows are seen: the largest ratio of these rows
        is no such number. If none is known, fix one, such as 10, and clip the ratio there; the
        claim is then about the examples that the clipped ratio describes.
    seed : int, default=0
        The seed of the random choice. Trying several is trying several models.
    """
    return Ratio(weights, _bound(bound), _seed(seed))


def shares(shares: Mapping[Any, object] | str) -> Shares:
    """Say which shares the classes have among new examples, which are otherwise like these rows.

    Parameters
    ----------
    shares : mapping or "any"
        For each class its share, or a pair with its smallest and largest share; "any" for whatever
        the shares are. They must be known beforehand or come from other rows.
    """
    return Shares(shares)


def new_rows(X: object, *, bound: float = DEFAULT_BOUND, seed: int = 0) -> UnlabelledRows:
    """Learn the ratio from rows of the new world, which need no labels.

    A third of all rows is set apart to learn it; the claim is about the examples that the learned
    weights describe.

    Parameters
    ----------
    X : table of rows
        Rows of the new world.
    bound : float, default=10
        Learned weights are clipped here.
    seed : int, default=0
        The seed of the random choice. Trying several is trying several models.
    """
    return UnlabelledRows(X, _bound(bound), _seed(seed))


def _bound(bound: float) -> float:
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not 0 < bound < math.inf:
        raise invalid("bound", bound, "is a finite number above 0")
    return float(bound)


def _seed(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise invalid("seed", seed, "is a whole number from 0 to 2^32 - 1")
    return seed
