"""The N-vote PAC-Bayes margin bound: the chance that k₀ of N voters, drawn by their votes, err.

Where the vote errs, ties included, at least k₀ of N drawn voters err with probability at least
p = P[Bin(N, ½) ≥ k₀]. So with probability 1-δ and for all votes ρ at once

    R ≤ kl⁺( L̂, (N·KL(ρ‖π) + ln(2√n/δ))/n ) / p

(docs/proofs/pac_bayes.md). (1,1) is the first-order bound and (2,2) the tandem bound. To choose
(N, k₀) after looking, fix a grid of pairs before and use δ divided by their number. The rules and
the prior must be fixed before the n rows are seen; the votes need not be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from pacboost.bounds.certificate import certified
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.numerics.kl import kl_upper
from pacboost.numerics.same_bits import log, product

SIZES = (
    *(1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 17, 21, 25),
    *(31, 37, 45, 51, 61, 75, 91, 101, 121, 151, 175, 201),
)
"""The values of N on the grid of ``best_pair``; with each of them, k₀ runs from 1 to N."""

_MAX_DISTINCT_SHARES = 4096


class NVote(NamedTuple):
    """A pair of the grid with its loss and its bound."""

    voters: int
    wrong: int
    loss: float
    bound: float


def wrong_share(margins: ArrayLike) -> NDArray[np.float64]:
    """Turn normalised margins y·f in [-1, 1] into shares of votes that err, (1 - y·f)/2.

    >>> wrong_share([1.0, 0.6, -0.2]).tolist()
    [0.0, 0.2, 0.6]
    """
    return _shares((1 - np.asarray(margins, dtype=np.float64)) / 2)


def _shares(values: ArrayLike) -> NDArray[np.float64]:
    shares = np.asarray(values, dtype=np.float64).ravel()
    if shares.size == 0 or not (np.abs(shares - 0.5) <= 0.5 + 1e-9).all():
        raise ParameterError(
            "there are no votes, or a share of them that err is outside [0, 1]; normalised margins "
            "lie in [-1, 1]"
        )
    return np.clip(shares, 0.0, 1.0)  # a sum of votes may be off by its last digits


@plain_numbers
def vote_loss(shares: ArrayLike, voters: int, wrong: int) -> float:
    """Average P[Bin(N, w_i) ≥ k₀] over rows, rounded up; N is ``voters`` and k₀ ``wrong``.

    >>> round(vote_loss([0.2] * 95 + [0.6] * 5, 11, 5), 6)
    0.092921
    """
    _pair(voters, wrong)
    cells, weights = _cells(shares)
    return _losses(cells, weights, voters, np.array([wrong]))[0]


@bound(
    "nvote.nvote_bound",
    theorem="N-vote PAC-Bayes: R ≤ kl⁺(loss of N drawn voters)/P[Bin(N, ½) ≥ k₀]",
    reference="after Langford and Seeger 2001; proof in the documentation of this bound",
    subject="the weighted vote",
    sample="the counted rows, which may be the training rows",
    independent_of="the rules and the prior, fixed before these rows; the votes may depend",
    assumptions=("rows are drawn independently", "the grid of pairs was fixed before"),
    valid_after_looking=True,
    loose=True,
)
def nvote_bound(
    loss: float, voters: int, wrong: int, n: int, divergence: float, delta: float, pairs: int = 1
) -> float:
    """Bound the error of a vote from the loss of N voters drawn from it.

    ``pairs`` is the number of pairs (N, k₀) that were tried: 1 if it was fixed before.
    """
    _pair(voters, wrong)
    positive_whole("n", n)
    positive_whole("pairs", pairs)
    probability("delta", delta)
    if not 0 <= divergence < math.inf or not 0 <= loss <= 1:
        raise ParameterError(
            f"loss is {loss!r} and divergence {divergence!r}; the first lies between 0 and 1, "
            f"the second is 0 or more, and finite"
        )
    # N independent draws from ρ have N times its divergence
    budget = voters * divergence + math.log(2 * math.sqrt(n) * pairs / delta)
    upper = kl_upper(loss, budget / n * (1 + 1e-12))
    return outward(upper / _tail(voters, wrong))


@plain_numbers
def best_pair(
    shares: ArrayLike, divergence: float, delta: float, sizes: Sequence[int] = SIZES
) -> tuple[NVote, int]:
    """Search the grid of all k₀ for every N in ``sizes``; return the best, and the grid's size.

    >>> best, pairs = best_pair([0.2] * 9500 + [0.6] * 500, 5.0, 0.05)
    >>> best.voters, best.wrong, round(best.bound, 4), pairs
    (37, 15, 0.1212, 1273)
    """
    if len(sizes) == 0:
        raise ParameterError("sizes is empty; give at least one number of voters")
    pairs = sum(positive_whole("voters", size) for size in sizes)
    cells, weights = _cells(shares)
    n = np.asarray(shares).size
    candidates = []
    for size in sizes:
        wrongs = np.arange(1, size + 1)
        losses = _losses(cells, weights, size, wrongs)
        candidates += [(loss / _tail(size, k), size, k, loss) for k, loss in enumerate(losses, 1)]
    best = NVote(1, 1, 1.0, math.inf)
    for floor, size, wrong, loss in sorted(candidates):
        if floor >= best.bound:  # the bound is never below loss/p, so nothing better follows
            break
        value = nvote_bound(loss, size, wrong, n, divergence, delta, pairs)
        if value < best.bound:
            best = NVote(size, wrong, loss, value)
    return best, pairs


certificate = certified(nvote_bound)
"""Certify a vote by the N-vote bound."""


def _pair(voters: int, wrong: int) -> None:
    positive_whole("voters", voters)
    if positive_whole("wrong", wrong) > voters:
        raise ParameterError(f"wrong is {wrong}; of {voters} voters at most {voters} can err")


def _tail(voters: int, wrong: int) -> float:
    """P[Bin(N, ½) ≥ k₀], rounded down."""
    return float(betainc(wrong, voters - wrong + 1, 0.5)) * (1 - 1e-12)


def _cells(shares: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distinct shares and their weights; many distinct shares are rounded up first."""
    values = _shares(shares)
    if np.unique(values).size > _MAX_DISTINCT_SHARES:
        # The loss grows with w, so rounding up can only make the bound larger.
        values = np.ceil(values * _MAX_DISTINCT_SHARES) / _MAX_DISTINCT_SHARES
    cells, numbers = np.unique(values, return_counts=True)
    return cells, numbers / values.size


def _losses(
    cells: NDArray[np.float64], weights: NDArray[np.float64], voters: int, wrong: NDArray[np.int_]
) -> list[float]:
    # P[Bin(N, w) ≥ k₀] is a regularised incomplete beta function, for all shares at once
    tails = betainc(wrong[:, None], voters - wrong[:, None] + 1, cells[None, :])
    return [min(1.0, float(loss) * (1 + 1e-12)) for loss in product(tails, weights)]


def divergence(posterior: ArrayLike, prior: ArrayLike | None = None) -> float:
    """Return KL(ρ‖π) of votes, which are normalised first; the default prior is uniform.

    The bounds of bounds/out_of_bag.py need it for votes that are not majorities.

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


def _distribution(name: str, weights: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = np.asarray(weights, dtype=np.float64).ravel()
    if values.size == 0 or not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ParameterError(f"{name} must be finite weights, none below 0, not all of them 0")
    return values / math.fsum(values)
