"""Hold-outs whose rows are not independent: groups, and rows in the order of time.

* **Groups** (several rows a patient): groups are independent, their rows need not be. Let e_g be
  the share of mistakes in group g. The e_g are independent with values in [0, 1] and mean R, the
  risk on a row of a new group. ``group_bets`` bounds R by the e_g themselves, and is never above
  kl⁺(mean e_g, ln(1/δ)/G), Chernoff's bound (``groups_bound``, Hoeffding 1963, theorem 1).
* **Time**: rows come one after the other, and each may depend on those before. Let r_t be the
  chance, given the past, that the classifier errs on row t. ``ordered_mixture`` bounds the mean of
  the r_t by a mixture of conditional moment bounds; for few mistakes it is far below
  k/n + √(ln(1/δ)/(2n)), Azuma's bound of 1967. This speaks of the period that was watched, not of a
  future that may differ.

Proofs: docs/proofs/dependent.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.bounds.wording import NEW_GROUPS, PERIOD
from pacboost.errors import ParameterError
from pacboost.numerics.checks import plain_numbers, positive_whole, probability
from pacboost.numerics.kl import kl_upper
from pacboost.numerics.mean_bounds import mean_risk_upper, mean_share_upper

PARTS = 4096
"""Shares of mistakes are kept in multiples of 1/4096, rounded up."""


@plain_numbers
def groups_bound(mean: float, groups: int, delta: float) -> float:
    """Bound the risk by the mean over groups of their share of mistakes.

    >>> round(groups_bound(0.1, 1000, 0.05), 6)
    0.124808
    """
    positive_whole("groups", groups)
    return kl_upper(mean, _nats(delta) / groups)


@bound(
    "dependent.group_bets",
    theorem="R ≤ the least m at which bets on the groups' shares of mistakes reach 1/δ",
    reference="Waudby-Smith and Ramdas 2024; Hoeffding 1963; docs/proofs/dependent.md",
    again=lambda given, _: certificate_of_shares(**given.inputs),
)
def group_bets(shares: str, delta: float) -> float:
    """Bound the risk by the shares of mistakes of all groups, in the form that ``counted`` gives.

    >>> round(group_bets("40x0 20x2048", 0.05), 4), round(groups_bound(10 / 60, 60, 0.05), 4)
    (0.262, 0.304)
    """
    return mean_share_upper([read_shares(shares)], delta)


@bound(
    "dependent.ordered_mixture",
    theorem="Σ w_j (1 - c_j)^k/(1 - r̄ c_j)^n < 1/δ for the mean risk r̄ of rows that may depend "
    "on the past",
    reference="Ville 1939; Howard, Ramdas, McAuliffe and Sekhon 2021; docs/proofs/dependent.md",
    held_out=True,
    again=lambda given, _: replace(ordered_certificate(**given.inputs), sample=given.sample),
)
def ordered_mixture(k: int, n: int, delta: float) -> float:
    """Bound the mean risk over a period by the mistakes made in it, whatever rows depend on.

    >>> round(ordered_mixture(5, 1000, 0.05), 4)
    0.015
    """
    return mean_risk_upper(k, n, delta)


def counted(shares: Sequence[float]) -> str:
    """Count equal shares of mistakes, rounded up to multiples of 1/4096, in a text.

    "40x0 20x2048" are 40 groups without a mistake and 20 with a half of their rows wrong.

    >>> counted([0.5, 0.0, 1 / 3, 0.0])
    '2x0 1x1366 1x2048'
    """
    positive_whole("groups", len(shares))
    values = np.asarray(shares, dtype=np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        raise ParameterError("a group's share of mistakes is missing or not between 0 and 1")
    parts, times = np.unique(np.ceil(values * PARTS * (1 - 1e-12)), return_counts=True)
    return " ".join(f"{time}x{part:.0f}" for part, time in zip(parts, times, strict=True))


def mean_share(shares: str) -> float:
    """Return the mean of shares that ``counted`` gave.

    >>> mean_share("40x0 20x2048") == 1 / 6
    True
    """
    times, values = read_shares(shares)
    return float(times @ values / times.sum())


@plain_numbers
def groups_certificate(shares: Sequence[float], delta: float) -> Certificate:
    """Certify by groups; ``shares`` holds each group's share of mistakes."""
    return certificate_of_shares(counted(shares), delta)


@plain_numbers
def certificate_of_shares(shares: str, delta: float) -> Certificate:
    """Certify by groups whose shares of mistakes were counted.

    >>> certificate_of_shares("40x0 20x2048", 0.05).size
    60
    """
    groups = int(read_shares(shares)[0].sum())
    return Certificate.by(
        "dependent.group_bets",
        {"shares": shares, "delta": delta},
        sample=f"{groups:,} held-out groups, each counted once",
        size=groups,
        independent_of="every choice made in training the classifier",
        assumptions=("groups are drawn independently", "rows within a group may depend on others"),
        valid_after_looking=False,
        of_what=NEW_GROUPS,
    )


@plain_numbers
def ordered_certificate(k: int, n: int, delta: float) -> Certificate:
    """Certify by rows in the order of time."""
    return Certificate.by(
        "dependent.ordered_mixture",
        {"k": k, "n": n, "delta": delta},
        sample="held-out rows in the order of time",
        size=n,
        independent_of="every choice made in training; all of them precede the first of these rows",
        assumptions=("the number of rows was fixed beforehand",),
        valid_after_looking=False,
        of_what=PERIOD,
    )


def _nats(delta: float) -> float:
    """ln(1/δ). Near 1 the quotient would lose digits; elsewhere files hold what it gives."""
    probability("delta", delta)
    return math.log(1 / delta) if delta < 0.9 else -math.log(delta)


def read_shares(shares: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read how often each share occurs, and the shares."""
    pairs = [word.partition("x")[::2] for word in str(shares).split()]
    proper = all(time.isdecimal() and part.isdecimal() for time, part in pairs)
    if not pairs or not proper or any(int(part) > PARTS for _, part in pairs):
        raise ParameterError(
            f"shares is {shares!r}; it must count groups as in '40x0 20x2048', with numbers of "
            f"4096ths from 0 to {PARTS}"
        )
    times = np.array([float(time) for time, _ in pairs])
    if not times.sum() >= 1:
        raise ParameterError(f"shares is {shares!r}; it must count at least one group")
    return times, np.array([int(part) for _, part in pairs]) / PARTS
