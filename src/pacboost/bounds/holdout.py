"""Hold-out bounds: rows that had no part in choosing the classifier, and k mistakes on them.

The classifier must be fixed in every respect before the rows are looked at, and the split a plain
random one. Then with probability at least 1 - delta

    R ≤ BinInv(k, n, delta)                exact (Clopper and Pearson 1934; docs/proofs/holdout.md)
      ≤ kl⁺(k/n, ln(1/delta)/n)            Chernoff
      ≤ k/n + √(ln(1/delta)/(2n))          Hoeffding 1963

Where ``models`` classifiers are scored on the same rows each gets delta/models, and the look with
number ``look`` gets delta/(look·(look+1)).

If groups of rows are independent, R is the risk on a row of a new group, and ``group_bets`` is
never above Chernoff's ``groups_bound``. If rows come in the order of time and each may depend on
those before, ``ordered_mixture`` bounds the mean over the period of the chances to err given the
past (docs/proofs/dependent.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pacboost.bounds.certificate import Certificate, certified
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.bounds.search import examples_at_rate
from pacboost.bounds.wording import DRAWN, NEW_GROUPS, PERIOD
from pacboost.errors import ParameterError
from pacboost.numerics.binomial import binomial_lower, binomial_upper
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability
from pacboost.numerics.kl import kl_upper
from pacboost.numerics.mean_bounds import mean_risk_upper, mean_share_upper

FIXED_BEFOREHAND = (
    "columns, their names and types are known beforehand; levels, words and bins were learned "
    "without these rows, and so were the classes unless it is said that they are known; no step "
    "before the fit has used the labels of these rows"
)
"""Assumption of a certificate by held-out rows: what was fixed without them."""
CLASSES = (
    "the set of classes is known beforehand: it was given, or read from labels of all rows, also "
    "of those that certify"
)
"""A further assumption where rows are set apart while the source is read."""
PLANNED = (
    "the earlier looks had a say in whether to go on, but not in after how many rounds to look"
)


@bound(
    "holdout.clopper_pearson",
    reference="Clopper and Pearson 1934; Langford 2005",
    held_out=True,
    again=lambda stored, _: replace(certificate(**stored.inputs), sample=stored.sample),  # type: ignore[has-type]
    of=("model", "forest"),
)
def clopper_pearson(k: int, n: int, delta: float, models: int = 1, look: int = 0) -> float:
    """Bound the risk after k mistakes on n held-out rows, exactly.

    R ≤ BinInv(k, n, delta/models) (Clopper and Pearson 1934; Langford 2005). ``look`` numbers the
    looks at the same rows, if there may be several; 0 says that there is one.

    >>> round(clopper_pearson(100, 1000, delta=0.05), 6)
    0.116992
    >>> round(clopper_pearson(100, 1000, delta=0.05, look=2), 6)
    0.124913
    """
    counts(k, n)
    return binomial_upper(k, n, _log_inverse(share_of_delta(delta, look), models))


@plain_numbers
def share_of_delta(delta: float, look: int) -> float:
    """Return the part of delta for one look; number 0 is a single look with all of delta."""
    probability("delta", delta)
    # 1/2 + 1/6 + 1/12 + … = 1: all looks hold together, however many there will be
    # (docs/proofs/holdout.md)
    return delta if look == 0 else delta / (positive_whole("look", look) * (look + 1))


@plain_numbers
def clopper_pearson_lower(k: int, n: int, delta: float, models: int = 1) -> float:
    """Bound the risk from below, exactly: R ≥ inf{p : P[Bin(n, p) ≥ k] ≥ delta/models}."""
    counts(k, n)
    return binomial_lower(k, n, _log_inverse(delta, models))


@plain_numbers
def chernoff_kl(k: int, n: int, delta: float, models: int = 1) -> float:
    """Bound the risk by R ≤ kl⁺(k/n, ln(models/delta)/n) (Chernoff 1952; Langford 2005)."""
    counts(k, n)
    return outward(kl_upper(k / n, _log_inverse(delta, models) / n))


@plain_numbers
def hoeffding(k: int, n: int, delta: float, models: int = 1) -> float:
    """Bound the risk by R ≤ k/n + √(ln(models/delta)/(2n)) (Hoeffding 1963)."""
    counts(k, n)
    return outward(k / n + math.sqrt(_log_inverse(delta, models) / (2 * n)))


@plain_numbers
def examples_for(
    bound: Callable[..., float], epsilon: float, delta: float, rate: float = 0.0, models: int = 1
) -> int:
    """Return an n for which ⌈rate·n⌉ mistakes certify epsilon, but not for n - 1."""
    return examples_at_rate(lambda k, n: bound(k, n, delta, models), epsilon, rate)


@plain_numbers
def certificate(
    k: int, n: int, delta: float, models: int = 1, sample: Any = None, look: int = 0
) -> Certificate:
    """Certify a fixed classifier by its mistakes on held-out rows."""
    several = f" and of the other {models - 1} scored on them" if models > 1 else ""
    spent = "delta/(look·(look+1))" if look else "delta/models"
    numbered = {"look": look} if look else {}
    return Certificate.by(
        "holdout.clopper_pearson",
        {"k": k, "n": n, "delta": delta, "models": models, **numbered},
        theorem=f"R ≤ BinInv(k, n, {spent}), exact binomial inversion",
        sample={"rows": "votes"} if sample is None else sample,
        size=n,
        independent_of=f"every choice made in training the classifier{several}",
        assumptions=(DRAWN, FIXED_BEFOREHAND, *([PLANNED] if look > 1 else [])),
    )


def _log_inverse(delta: float, models: int) -> float:
    return math.log(positive_whole("models", models)) - math.log(probability("delta", delta))


Shares = Sequence[Sequence[int]]
"""Pairs of a share, in 4096ths, and how often it occurs."""
PARTS = 4096
"""Shares of mistakes are rounded up to multiples of 1/4096."""


@plain_numbers
def groups_bound(mean: float, groups: int, delta: float) -> float:
    """Bound the risk by the mean over groups of their share of mistakes."""
    positive_whole("groups", groups)
    return kl_upper(mean, _nats(delta) / groups)


@bound(
    "dependent.group_bets",
    theorem="R ≤ the least m at which bets on the groups' shares of mistakes reach 1/δ",
    reference="Waudby-Smith and Ramdas 2024; Hoeffding 1963; docs/proofs/dependent.md",
    independent_of="every choice made in training the classifier",
    assumptions=("groups are drawn independently", "rows within a group may depend on others"),
    sample="{size:,} held-out groups, each counted once",
    of_what=NEW_GROUPS,
    again=lambda stored, _: certificate_of_shares(**stored.inputs),  # type: ignore[has-type]
)
def group_bets(shares: Shares, delta: float) -> float:
    """Bound the risk by betting on the groups' shares of mistakes, as ``counted``.

    >>> round(group_bets([[0, 40], [2048, 20]], 0.05), 4), round(groups_bound(10 / 60, 60, 0.05), 4)
    (0.262, 0.304)
    """
    return mean_share_upper([read_shares(shares)], delta)


@bound(
    "dependent.ordered_mixture",
    theorem="Σ w_j (1 - c_j)^k/(1 - r̄ c_j)^n < 1/δ for the mean risk r̄ of rows that may depend "
    "on the past",
    reference="Ville 1939; Howard, Ramdas, McAuliffe and Sekhon 2021; docs/proofs/dependent.md",
    independent_of="every choice made in training; all of them precede the first of these rows",
    assumptions=("the number of rows was fixed beforehand",),
    of_what=PERIOD,
    held_out=True,
    again=lambda stored, _: replace(ordered_certificate(**stored.inputs), sample=stored.sample),
)
def ordered_mixture(k: int, n: int, delta: float) -> float:
    """Bound the mean risk over a period by its mistakes; rows may depend on earlier ones.

    >>> round(ordered_mixture(5, 1000, 0.05), 4)
    0.015
    """
    return mean_risk_upper(k, n, delta)


def counted(shares: ArrayLike) -> list[list[int]]:
    """Return how often each share occurs, in 4096ths: [[0, 40], [2048, 20]] for 20 halves."""
    values = np.asarray(shares, dtype=np.float64)
    positive_whole("groups", values.size)
    if not ((values >= 0) & (values <= 1)).all():
        raise ParameterError("a group's share of mistakes is missing or not between 0 and 1")
    # rounded up, so that a bound by the counted shares is no smaller than one by the shares
    # themselves
    parts, times = np.unique(np.ceil(values * PARTS * (1 - 1e-12)), return_counts=True)
    return np.stack([parts.astype(np.int64), times], axis=1).tolist()  # type: ignore[no-any-return]


def mean_share(shares: Shares) -> float:
    """Return the mean of counted shares."""
    times, values = read_shares(shares)
    return float(times @ values / times.sum())


@plain_numbers
def groups_certificate(shares: ArrayLike, delta: float) -> Certificate:
    """Certify by groups; ``shares`` holds each group's share of mistakes."""
    return certificate_of_shares(counted(shares), delta)


@plain_numbers
def certificate_of_shares(shares: Shares, delta: float) -> Certificate:
    """Certify by groups whose shares of mistakes were counted."""
    groups = int(read_shares(shares)[0].sum())
    return Certificate.by(
        "dependent.group_bets",
        {"shares": shares, "delta": delta},
        size=groups,
    )


def ordered_certificate(k: int, n: int, delta: float) -> Certificate:
    """Certify the mean risk over a period by the mistakes on its rows."""
    return replace(_ordered(k, n, delta), sample={"rows": "in_time"})


_ordered = certified(ordered_mixture)


def _nats(delta: float) -> float:
    probability("delta", delta)
    # Near 1 the quotient loses digits; below, stored certificates hold its exact bits.
    return math.log(1 / delta) if delta < 0.9 else -math.log(delta)


def read_shares(shares: Shares) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how often each counted share occurs, and the shares."""
    is_list = isinstance(shares, list | tuple) and len(shares) > 0
    if not is_list or not all(
        isinstance(pair, list | tuple) and [*map(type, pair)] == [int, int] for pair in shares
    ):
        raise _bad(shares)
    if any(not 0 <= part <= PARTS or time < 0 for part, time in shares):
        raise _bad(shares)
    times = np.array([float(time) for _, time in shares])
    if not times.sum() >= 1:
        raise ParameterError(f"shares are {shares!r:.80}; they must count at least one group")
    return times, np.array([part for part, _ in shares]) / PARTS


def _bad(shares: object) -> ParameterError:
    return ParameterError(
        f"shares are {shares!r:.80}; they are pairs of whole numbers, 4096ths from 0 to {PARTS} "
        "and how often they occur, as in [[0, 40], [2048, 20]]"
    )
