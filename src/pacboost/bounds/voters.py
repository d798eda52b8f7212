"""x"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pacboost.bounds.pac_bayes import first_order_bound, tandem_bound
from pacboost.bounds.search import check_rate, smallest
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers
from pacboost.numerics.same_bits import log


def divergence(posterior: ArrayLike, prior: ArrayLike | None = None) -> float:
    """KL(ρ‖π) of votes, which are normalised first; the prior is uniform unless given.

    >>> round(divergence([3.0, 1.0, 0.0, 0.0]), 4)
    0.824
    """
    rho = _distribution("posterior", posterior)
    pi = np.full(rho.size, 1 / rho.size) if prior is None else _distribution("prior", prior)
    if pi.size != rho.size:
        raise ParameterError(f"there are {rho.size} votes but {pi.size} prior weights")
    used = rho > 0
    if (pi[used] == 0).any():
        raise ParameterError("the prior is 0 for a voter that has a vote; give it some weight")
    total = math.fsum(rho[used] * log(rho[used] / pi[used]))
    return max(0.0, total) * (1 + 1e-12) + 1e-15 * rho.size


def out_of_bag_sizes(in_bag: ArrayLike) -> tuple[int, int]:
    """Fewest rows outside the bag of a voter, and outside both bags of a pair of voters.

    ``in_bag`` has a line per voter and a column per row.

    >>> out_of_bag_sizes([[True, False, False, True], [False, False, True, True]])
    (2, 1)
    """
    bags = np.asarray(in_bag)
    if bags.ndim != 2 or bags.shape[0] < 1 or bags.dtype != np.bool_:
        raise ParameterError("in_bag must be a table of True and False, a line for each voter")
    outside = (~bags).astype(np.float64)
    overlaps = outside @ outside.T
    return int(overlaps.diagonal().min()), int(overlaps.min())


@plain_numbers
def examples_for_first_order(epsilon: float, gibbs: float, divergence: float, delta: float) -> int:
    """Find the smallest n at which the first-order bound is at most ε.

    >>> examples_for_first_order(0.5, 0.2, 0.0, 0.05)
    1022
    """
    check_rate(2 * gibbs, epsilon)
    return smallest(
        lambda n: first_order_bound(gibbs, n, divergence, delta) <= epsilon, 1, "the first order"
    )


@plain_numbers
def examples_for_tandem(epsilon: float, tandem: float, divergence: float, delta: float) -> int:
    """Find the smallest n (rows of a pair) at which the tandem bound is at most ε.

    >>> examples_for_tandem(0.45, 0.08, 0.0, 0.05)
    1248
    """
    check_rate(4 * tandem, epsilon)
    return smallest(
        lambda n: tandem_bound(tandem, n, divergence, delta) <= epsilon, 1, "the tandem bound"
    )


def _distribution(name: str, weights: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = np.asarray(weights, dtype=np.float64).ravel()
    if values.size == 0 or not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ParameterError(f"{name} must be finite weights, none below 0, not all of them 0")
    return values / math.fsum(values)
