"""Recall, precision, F1, mean losses, AUC and others: bounds from counts, and their certificates.

Fix which rows fall into an event A ("is of class c", "is said to be c"). Of m such rows the number
that also falls into B is Bin(m, P[B | A]), so Clopper and Pearson's bounds hold for every m. Each
of ``claims`` many claims has delta/claims, and all hold together (docs/proofs/rates.md).

Losses in [0, C] are bounded by bets on 4096ths, rounded to the side that makes the claim weaker:
in one block if they are rare and large, else in several, in an order fixed by the number of rows.
The AUC has Chernoff's bound for min(n₊, n₋) pairs (Hoeffding 1963, section 5); if one side has far
more rows, bets on ranks among them (Massart 1990) are better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import permutations
from operator import itemgetter
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import holdout
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import BOUNDS, bound, makers
from pacboost.bounds.rounding import SLACK, downward, outward
from pacboost.bounds.wording import DRAWN, GAP, KINDS
from pacboost.errors import ParameterError, invalid
from pacboost.numerics.checks import counts, positive_whole, probability
from pacboost.numerics.kl import kl_lower, kl_upper
from pacboost.numerics.many_rates import mean_of_many_upper
from pacboost.numerics.mean_bounds import block_ends, mean_risk_upper, mean_share_upper
from pacboost.numerics.two_rates import mean_of_two_upper

P = ParamSpec("P")
CLOPPER = "Clopper and Pearson 1934"
ASSUMED = {
    "groups": "groups are drawn independently; rows of one group may depend on each other",
    "period": "each row may depend on those before it; the claim is about the period watched",
    "classes": "rows of each class are drawn independently from the new examples of that class, "
    "whose share was not taken from these rows",
}

AVERAGES = tuple(name for name, kind in KINDS.items() if kind.averages)
RATES = (
    "error", "recall", "precision", "false_negative_rate", "false_positive_rate", "jaccard",
    "top_k_error", "large_errors",
)  # fmt: skip
"""Measures that are a share of rows, which a binomial distribution bounds."""


def measure_bound(
    family: str, theorem: str, reference: str, *measures: str
) -> Callable[[Callable[P, float]], Callable[P, float]]:
    """Register a bound on ``measures`` as "family.function"; inputs recompute certificates."""

    def register(function: Callable[P, float]) -> Callable[P, float]:
        return bound(
            f"{family}.{function.__name__}", theorem=theorem, reference=reference,
            measures=measures, of=("measure",), again=lambda stored, _: made_again(stored),
        )(function)  # fmt: skip

    return register


def certificate(
    measure: str,
    bound: str,
    inputs: Mapping[str, Any],
    *,
    size: int,
    sample: str = "held-out rows",
    **details: float | int | str,
) -> Certificate:
    """Certify a measure by counts; ``inputs`` go to the bound, ``details`` into the claim."""
    if bound not in (bounds := makers("measure")):
        raise invalid("bound", bound, f"may be {', '.join(map(repr, bounds))}")
    if measure not in (allowed_measures := BOUNDS[bound].measures):
        allowed = ", ".join(map(repr, allowed_measures))
        raise ParameterError(f"measure is {measure!r}; {bound} bounds {allowed}")
    return Certificate.by(
        bound,
        inputs,
        sample=sample + _sharing(int(inputs["claims"])),
        size=size,
        independent_of="every choice made in training the model",
        assumptions=(ASSUMED.get(str(details.get("unit", "")), DRAWN), holdout.FIXED_BEFOREHAND),
        of_what=measure,
        details=details,
    )


def made_again(stored: Certificate) -> Certificate:
    """Recompute a certificate from its inputs; only the text about its rows is copied."""
    return certificate(
        stored.of_what, stored.bound, stored.inputs, size=stored.size, sample=sample_of(stored),
        **stored.details,
    )  # fmt: skip


def sample_of(certificate: Certificate) -> str:
    """Return the sample without the text about shared delta, which follows from ``claims``."""
    return certificate.sample.removesuffix(_sharing(int(certificate.inputs["claims"])))


def _sharing(claims: int) -> str:
    return f"; {claims} claims share delta, each has delta/{claims}" if claims > 1 else ""


BUEHLER = "Buehler 1957; Clopper and Pearson 1934; docs/proofs/rates.md"
MAX_PARTS = 100_000
MAX_ROWS_FOR_BUEHLER = 5_000
"""Rows of the smaller of two classes; above, a bound for each class is much faster."""


@measure_bound("rates", "P[B | A] ≤ BinInv(k, n, delta/claims), n rows in A", CLOPPER, *RATES)
def rate_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on a rate, from k of n rows.

    >>> round(rate_upper(3, 100, delta=0.05), 6)
    0.075711
    """
    return holdout.clopper_pearson(k, n, delta, claims)


@measure_bound(
    "rates", "P[B | A] ≥ 1 - BinInv(n - k, n, delta/claims), n rows in A", CLOPPER, *RATES
)
def rate_lower(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on a rate, from k of n rows.

    >>> round(rate_lower(97, 100, delta=0.05), 6)
    0.924289
    """
    return holdout.clopper_pearson_lower(k, n, delta, claims)


HOEFFDING = "Hoeffding 1956, theorem 4; docs/proofs/rates.md"


@measure_bound(
    "rates", "mean chance ≤ max((k + 1)/n, BinInv(k, n, delta/claims))", HOEFFDING, *RATES
)
def pooled_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the mean chance of n rows of several groups.

    >>> pooled_upper(99, 100, delta=0.05), round(rate_upper(99, 100, delta=0.05), 6)
    (1.0, 0.999487)
    """
    # theorem 4 is for k ≤ n·mean - 1; for any other k the mean is below (k + 1)/n
    return max(rate_upper(k, n, delta, claims), outward(min(1.0, (k + 1) / n)))


@measure_bound(
    "rates", "mean chance ≥ min((k - 1)/n, 1 - BinInv(n - k, n, delta/claims))", HOEFFDING, *RATES
)
def pooled_lower(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the mean chance of n rows of several groups."""
    return min(rate_lower(k, n, delta, claims), downward(max(0, k - 1) / n))


@measure_bound("rates", "F1 = 2J/(1 + J), J binomial in the union", CLOPPER, "f1")
def f1_lower(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on F1, if k of the n rows labelled or predicted positive are both.

    >>> round(rate_lower(80, 110, delta=0.05), 6), round(f1_lower(80, 110, delta=0.05), 6)
    (0.648749, 0.786959)
    """
    return downward(_f1(rate_lower(k, n, delta, claims)))


@measure_bound("rates", "F1 = 2J/(1 + J), J binomial in the union", CLOPPER, "f1")
def f1_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on F1.

    >>> round(f1_upper(80, 110, delta=0.05), 6)
    0.886634
    """
    return outward(_f1(rate_upper(k, n, delta, claims)))


@measure_bound(
    "rates",
    "largest mean of rates not ruled out by the mean that was seen",
    BUEHLER,
    "balanced_error",
)
def balanced_upper(parts: str, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the mean of the classes' error rates; ``parts``: mistakes/rows.

    Two classes have Buehler's limit, ordered by the observed mean, unless both have very many
    rows; then each has a bound, with half of delta. More classes have Chernoff's bound on the mean.

    >>> round(balanced_upper("3/100 5/50", delta=0.05), 4)
    0.1128
    """
    pairs = read_parts(parts)
    smaller, larger = min(pairs, key=itemgetter(1)), max(reversed(pairs), key=itemgetter(1))
    if len(pairs) == 2 and smaller[1] <= MAX_ROWS_FOR_BUEHLER:
        return outward(mean_of_two_upper(smaller, larger, _level(delta, claims)))
    if len(pairs) > 2:
        return outward(mean_of_many_upper(pairs, _level(delta, claims)))
    uppers = [rate_upper(k, n, delta, claims * len(pairs)) for k, n in pairs]
    return outward(sum(uppers) / len(pairs))


@measure_bound(
    "rates",
    "smallest mean of rates not ruled out by the mean that was seen",
    BUEHLER,
    "balanced_error",
)
def balanced_lower(parts: str, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the mean of the classes' error rates.

    >>> round(balanced_lower("3/100 5/50", delta=0.05), 4)
    0.0325
    """
    right = write_parts([(n - k, n) for k, n in read_parts(parts)])
    return downward(max(0.0, 1 - balanced_upper(right, delta, claims)))


@measure_bound("rates", "largest upper end less smallest lower end of two groups", CLOPPER, GAP)
def gap_upper(parts: str, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the largest difference of a rate between groups.

    Both ends of every group have the same share of delta: claims is 2 for each group and measure.

    >>> round(gap_upper("3/100 5/50", delta=0.05, claims=4), 6)
    0.231257
    """
    pairs = read_parts(parts)
    if len(pairs) < 2:
        raise ParameterError(f"parts is {parts!r}; a difference needs at least two groups")
    # one of the groups may be a pool; for groups of equal chances the ends are hardly ever others
    ends = [
        (pooled_lower(k, n, delta, claims), pooled_upper(k, n, delta, claims)) for k, n in pairs
    ]
    widest = max(upper - lower for (_, upper), (lower, _) in permutations(ends, 2))
    # A difference of numbers below 1 is off by no more than their own rounding.
    return min(1.0, max(widest, 0.0) + SLACK)


@measure_bound(
    "rates",
    "mixture of conditional moment bounds",
    "docs/proofs/dependent.md",
    *(name for name in AVERAGES if KINDS[name].rate),
)
def ordered_upper(k: int, n: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the mean chance of an event over a period.

    >>> round(ordered_upper(5, 1000, 0.05), 4)
    0.015
    """
    counts(k, n)
    return mean_risk_upper(k, n, _level(delta, claims))


def write_parts(parts: list[tuple[int, int]]) -> str:
    """Return counts as a text that a certificate can hold."""
    return " ".join(f"{k}/{n}" for k, n in parts)


def read_parts(parts: str) -> list[tuple[int, int]]:
    """Read the result of ``write_parts``; refuse impossible counts."""
    pairs = [word.partition("/")[::2] for word in str(parts).split()]
    if not 0 < len(pairs) <= MAX_PARTS or not all(
        a.isdecimal() and b.isdecimal() for a, b in pairs
    ):
        raise ParameterError(
            f"parts is {parts!r:.80}; it must hold two whole numbers for each part, as in "
            "'3/100 5/50'"
        )
    return [counts(int(k), int(n)) for k, n in pairs]


def _f1(jaccard: float) -> float:
    return 2 * jaccard / (1 + jaccard)


HOEFFDING = "Hoeffding 1963; Maurer 2004; Waudby-Smith and Ramdas 2024; docs/proofs/rates.md"
MASSART = "Massart 1990; Waudby-Smith and Ramdas 2024; docs/proofs/rates.md"
MIN_RATIO_FOR_RANKS = 40
"""The AUC is bounded by ranks if one side has at least this many times the rows of the other."""


@measure_bound("losses", "bet on independent numbers in [0, 1]", HOEFFDING, *AVERAGES)
def mean_upper(losses: str, scale: float, delta: float, claims: int = 1) -> float:
    """Return an upper bound on a mean loss; ``losses`` counts 4096ths of ``scale``.

    >>> round(mean_upper("40x0 20x2048", 2.0, 0.05), 4)
    0.5241
    """
    return _scale(scale) * _share(losses, delta, claims) * (1 + SLACK)


@measure_bound("losses", "bet on independent numbers in [0, 1]", HOEFFDING, *AVERAGES)
def mean_lower(savings: str, scale: float, delta: float, claims: int = 1) -> float:
    """Return a lower bound on a mean loss; ``savings`` counts 4096ths of ``scale`` minus the loss.

    >>> round(mean_lower("40x4096 20x2048", 2.0, 0.05), 4)
    0.1927
    """
    return max(0.0, _scale(scale) * (1 - _share(savings, delta, claims)) * (1 - SLACK))


@measure_bound(
    "losses", "AUC ≥ kl⁻(U, ln(claims/delta)/min(n₊, n₋))", "Hoeffding 1963, section 5", "auc"
)
def auc_lower(halves: int, positives: int, negatives: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the AUC; a pair in the right order counts 2 ``halves``, a tie 1.

    >>> round(auc_lower(73_600, 200, 200, delta=0.05), 6)
    0.864733
    """
    return kl_lower(*_auc(halves, positives, negatives, delta, claims))


@measure_bound(
    "losses", "AUC ≤ kl⁺(U, ln(claims/delta)/min(n₊, n₋))", "Hoeffding 1963, section 5", "auc"
)
def auc_upper(halves: int, positives: int, negatives: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the AUC.

    >>> round(auc_upper(73_600, 200, 200, delta=0.05), 6)
    0.958694
    """
    return kl_upper(*_auc(halves, positives, negatives, delta, claims))


@measure_bound("losses", "bet on ranks among many rows", MASSART, "auc")
def ranks_lower(losses: str, others: int, delta: float, claims: int = 1) -> float:
    """Return a lower bound on the AUC by the ranks of the smaller side among ``others``.

    ``losses`` counts, for each row of the smaller side, the share of others that are on the wrong
    side of it.

    >>> round(ranks_lower("100x0 100x512", 10_000, 0.05), 4)
    0.8913
    """
    return max(0.0, 1 - _ranked(losses, others, delta, claims))


@measure_bound("losses", "bet on ranks among many rows", MASSART, "auc")
def ranks_upper(savings: str, others: int, delta: float, claims: int = 1) -> float:
    """Return an upper bound on the AUC; ``savings`` counts shares of others on the right side.

    >>> round(ranks_upper("100x3584 100x4096", 10_000, 0.05), 4)
    0.9705
    """
    return min(1.0, _ranked(savings, others, delta, claims))


def written(losses: NDArray[np.float64], rare: bool = True) -> str:
    """Write losses, as shares of the largest, as counts of 4096ths; by blocks unless ``rare``."""
    clipped = np.clip(losses, 0.0, 1.0)
    if rare:
        return holdout.counted(clipped.tolist())
    order = np.random.default_rng(clipped.size).permutation(clipped.size)
    blocks = np.split(clipped[order], block_ends(clipped.size)[:-1])
    return " | ".join(holdout.counted(block.tolist()) for block in blocks)


def wrong_shares(smaller: NDArray[np.float64], larger: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for every score, the share of ``others`` that is larger; ties count half."""
    order = np.sort(larger)
    below = np.searchsorted(order, smaller, side="left").astype(np.float64)
    return 1 - (below + np.searchsorted(order, smaller, side="right")) / (2 * larger.size)


def halves_of_pairs(positives: NDArray[np.float64], negatives: NDArray[np.float64]) -> int:
    """Return twice the number of pairs in which the positive row scores higher; ties count 1."""
    order = np.sort(negatives)
    below = np.searchsorted(order, positives, side="left")
    return int(below.sum()) + int(np.searchsorted(order, positives, side="right").sum())


def _share(losses: str, delta: float, claims: int) -> float:
    blocks = [holdout.read_shares(block) for block in str(losses).split("|")]
    sizes = [int(times.sum()) for times, _ in blocks]
    if len(blocks) > 1 and np.cumsum(sizes).tolist() != block_ends(sum(sizes)):
        raise ParameterError(
            f"the blocks have {sizes} rows; each but the first must have half of the rows so far"
        )
    return mean_share_upper(blocks, _level(delta, claims))


def _ranked(shares: str, others: int, delta: float, claims: int) -> float:
    """Bound a mean of shares by bets, and the larger side by Massart's inequality."""
    level = _level(delta, claims) / 2
    reach = math.sqrt(-math.log(level) / (2 * positive_whole("others", others)))
    return (_share(shares, level, 1) + reach) * (1 + SLACK)


def _auc(
    halves: int, positives: int, negatives: int, delta: float, claims: int
) -> tuple[float, float]:
    pairs = positive_whole("positives", positives) * positive_whole("negatives", negatives)
    if type(halves) is not int or not 0 <= halves <= 2 * pairs:
        raise ParameterError(f"halves is {halves!r}; {pairs:,} pairs give 0 to {2 * pairs:,}")
    cost = -math.log(_level(delta, claims)) / min(positives, negatives)
    return halves / (2 * pairs), cost


def _level(delta: float, claims: int) -> float:
    return probability("delta", delta) / positive_whole("claims", claims)


def _scale(scale: float) -> float:
    if not 0 < scale < math.inf:
        raise ParameterError(f"scale is {scale!r}; the largest loss is a finite number above 0")
    return scale
