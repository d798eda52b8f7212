"""Hold-outs whose rows are not independent: groups, and rows in the order of time.

* **Groups** (several rows a patient): groups are independent, their rows need not be. Let e_g be
  the share of mistakes in group g. The e_g are independent with values in [0, 1] and mean R, the
  risk on a row of a new group, so  R ≤ kl⁺(mean e_g, ln(1/δ)/G)  (Chernoff's bound holds for
  [0, 1]-valued variables, Hoeffding 1963, theorem 1).
* **Time**: rows come one after the other, and each may depend on those before. Let r_t be the
  chance, given the past, that the classifier errs on row t. Then
  mean r_t ≤ k/n + √(ln(1/δ)/(2n))  (Azuma 1967). This speaks of the period that was watched, not
  of a future that may differ.

Proofs: docs/proofs/dependent.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.rounding import outward
from pacboost.bounds.wording import NEW_GROUPS, PERIOD
from pacboost.numerics.checks import counts, positive_whole, probability
from pacboost.numerics.kl import kl_upper
from pacboost.numerics.plain import plain_numbers


@plain_numbers
def groups_bound(mean: float, groups: int, delta: float) -> float:
    """Bound the risk by the mean over groups of their share of mistakes.

    >>> round(groups_bound(0.1, 1000, 0.05), 6)
    0.124808
    """
    positive_whole("groups", groups)
    return kl_upper(mean, math.log(1 / probability("delta", delta)) / groups)


@plain_numbers
def ordered_bound(k: int, n: int, delta: float) -> float:
    """Bound the average risk over a period by the mistakes made in it.

    >>> round(ordered_bound(100, 1000, 0.05), 6)
    0.138702
    """
    counts(k, n)
    value = k / n + math.sqrt(math.log(1 / probability("delta", delta)) / (2 * n))
    return outward(value)


@plain_numbers
def groups_certificate(shares: Sequence[float], delta: float) -> Certificate:
    """Certify by groups; ``shares`` holds each group's share of mistakes."""
    number = positive_whole("groups", len(shares))
    return certificate_of_groups(math.fsum(shares) / number, number, delta)


@plain_numbers
def certificate_of_groups(mean: float, groups: int, delta: float) -> Certificate:
    """Certify by groups whose mean share of mistakes is known."""
    value = groups_bound(mean, groups, delta)
    return Certificate(
        value=value,
        delta=delta,
        theorem="R ≤ kl⁺(mean share of mistakes per group, ln(1/δ)/groups)",
        reference="Hoeffding 1963, theorem 1",
        sample=f"{groups:,} held-out groups, each counted once",
        size=groups,
        independent_of="every choice made in training the classifier",
        assumptions=("groups are drawn independently", "rows within a group may depend on others"),
        valid_after_looking=False,
        inputs={"mean": mean, "groups": groups, "delta": delta},
        bound="dependent.groups_bound",
        of_what=NEW_GROUPS,
    )


@plain_numbers
def ordered_certificate(k: int, n: int, delta: float) -> Certificate:
    """Certify by rows in the order of time."""
    value = ordered_bound(k, n, delta)
    return Certificate(
        value=value,
        delta=delta,
        theorem="mean risk ≤ k/n + √(ln(1/δ)/(2n)) for rows that may depend on the past",
        reference="Azuma 1967",
        sample="held-out rows in the order of time",
        size=n,
        independent_of="every choice made in training; all of them precede the first of these rows",
        assumptions=("the number of rows was fixed beforehand",),
        valid_after_looking=False,
        inputs={"k": k, "n": n, "delta": delta},
        bound="dependent.ordered_bound",
        of_what=PERIOD,
    )
