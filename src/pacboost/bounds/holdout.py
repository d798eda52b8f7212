"""Hold-out bounds: rows that had no part in choosing the classifier, and k mistakes on them.

Then k is binomial with the true risk R, and with probability at least 1 - delta

    R ≤ BinInv(k, n, delta)                exact (Clopper and Pearson 1934)
      ≤ kl⁺(k/n, ln(1/delta)/n)            Chernoff
      ≤ k/n + √(ln(1/delta)/(2n))          Hoeffding 1963

BinInv(k, n, delta) = sup{p : P[Bin(n, p) ≤ k] ≥ delta} is the smallest number a bound that knows
only k and n can give. Where ``models`` classifiers are scored on the same rows and any of them may
be kept, each gets delta/models. Where it is not known beforehand how many there will be, because a
fit goes on after every look at the rows, the look with number ``look`` gets delta/(look·(look+1)):
1/2 + 1/6 + 1/12 + … = 1, so all of the claims hold together with probability at least 1 - delta.

The classifier must be fixed in every respect before the rows are looked at: votes, rounds,
threshold, scaling. The split must be a plain random one; a stratified split fixes the number of
rows per class, and k is then no longer binomial. A refit on all rows is another classifier.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.bounds.search import examples_at_rate
from pacboost.numerics.binomial import binomial_lower, binomial_upper
from pacboost.numerics.checks import counts, plain_numbers, positive_whole, probability
from pacboost.numerics.kl import kl_upper

KNOWN = (
    "columns, their names and types are known beforehand; levels, words and bins were learned "
    "without these rows, and so were the classes unless it is said that they are known; no step "
    "before the fit has used the labels of these rows"
)
"""What a certificate by held-out rows takes as known, and what it does not."""
PLANNED = (
    "the earlier looks had a say in whether to go on, but not in after how many rounds to look"
)


@bound(
    "holdout.clopper_pearson",
    reference="Clopper and Pearson 1934; Langford 2005",
    held_out=True,
    again=lambda given, _: replace(certificate(**given.inputs), sample=given.sample),
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
    """Return the part of delta that a look pays; 0 stands for a single look, which pays all.

    >>> share_of_delta(0.06, 0), share_of_delta(0.06, 1), round(share_of_delta(0.06, 2), 9)
    (0.06, 0.03, 0.01)
    """
    probability("delta", delta)
    return delta if look == 0 else delta / (positive_whole("look", look) * (look + 1))


@plain_numbers
def clopper_pearson_lower(k: int, n: int, delta: float, models: int = 1) -> float:
    """Bound the risk from below, exactly; both sides together cost delta twice.

    R ≥ inf{p : P[Bin(n, p) ≥ k] ≥ delta/models} (Clopper and Pearson 1934).

    >>> round(clopper_pearson_lower(10, 200, delta=0.05), 6)
    0.027374
    """
    counts(k, n)
    return binomial_lower(k, n, _log_inverse(delta, models))


@plain_numbers
def chernoff_kl(k: int, n: int, delta: float, models: int = 1) -> float:
    """Bound the risk by Chernoff's inequality; never below the exact bound.

    R ≤ kl⁺(k/n, ln(models/delta)/n) (Chernoff 1952; Langford 2005).

    >>> round(chernoff_kl(100, 1000, delta=0.05), 6)
    0.124808
    """
    counts(k, n)
    return outward(kl_upper(k / n, _log_inverse(delta, models) / n))


@plain_numbers
def hoeffding(k: int, n: int, delta: float, models: int = 1) -> float:
    """Bound the risk by Hoeffding's inequality, the form of the textbooks.

    R ≤ k/n + √(ln(models/delta)/(2n)) (Hoeffding 1963).

    >>> round(hoeffding(100, 1000, delta=0.05), 6)
    0.138702
    """
    counts(k, n)
    return outward(k / n + math.sqrt(_log_inverse(delta, models) / (2 * n)))


@plain_numbers
def examples_for_clopper_pearson(
    epsilon: float, delta: float, rate: float = 0.0, models: int = 1
) -> int:
    """Count the rows to hold out so that a classifier wrong on ``rate`` of them is certified.

    The n at which ⌈rate·n⌉ mistakes give a bound of at most epsilon, while n - 1 rows do not.

    >>> examples_for_clopper_pearson(epsilon=0.1, delta=0.05)
    29
    """
    return _examples(clopper_pearson, epsilon, delta, rate, models)


@plain_numbers
def examples_for_chernoff_kl(
    epsilon: float, delta: float, rate: float = 0.0, models: int = 1
) -> int:
    """Count the rows to hold out where the bound will be Chernoff's.

    >>> examples_for_chernoff_kl(epsilon=0.1, delta=0.05, rate=0.05)
    194
    """
    return _examples(chernoff_kl, epsilon, delta, rate, models)


@plain_numbers
def examples_for_hoeffding(epsilon: float, delta: float, rate: float = 0.0, models: int = 1) -> int:
    """Count the rows to hold out where the bound will be Hoeffding's.

    >>> examples_for_hoeffding(epsilon=0.1, delta=0.05)
    150
    """
    return _examples(hoeffding, epsilon, delta, rate, models)


@plain_numbers
def certificate(
    k: int, n: int, delta: float, models: int = 1, sample: str = "", look: int = 0
) -> Certificate:
    """Certify a fixed classifier by its mistakes on held-out rows.

    >>> certificate(100, 1000, delta=0.05).claim
    'The classifier is wrong on at most 11.70 % of new examples.'
    """
    several = f" and of the other {models - 1} scored on them" if models > 1 else ""
    spent = "delta/(look·(look+1))" if look else "delta/models"
    more = {"look": look} if look else {}
    return Certificate.by(
        "holdout.clopper_pearson",
        {"k": k, "n": n, "delta": delta, "models": models, **more},
        theorem=f"R ≤ BinInv(k, n, {spent}), exact binomial inversion",
        sample=(sample or "held-out rows, ties counted as errors") + _also(look),
        size=n,
        independent_of=f"every choice made in training the classifier{several}",
        assumptions=(
            "rows are drawn independently from the distribution of new examples",
            KNOWN,
            *([PLANNED] if look > 1 else []),
        ),
        valid_after_looking=False,
    )


def _also(look: int) -> str:
    """Return what else is to be known of the rows."""
    paid = f"; look number {look} at these rows, which pays 1/{look * (look + 1)} of delta"
    return paid if look else ""


def _log_inverse(delta: float, models: int) -> float:
    return math.log(positive_whole("models", models)) - math.log(probability("delta", delta))


def _examples(
    bound: Callable[[int, int, float, int], float],
    epsilon: float,
    delta: float,
    rate: float,
    models: int,
) -> int:
    return examples_at_rate(lambda k, n: bound(k, n, delta, models), epsilon, rate)
