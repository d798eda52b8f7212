"""Rows drawn from a pool: n of its M rows, without replacement, k of them wrong.

Nothing is assumed of how the rows of the pool came about; only the draw is random. If K of the M
rows are wrong, k is hypergeometric, and with probability at least 1 - delta

    K ≤ HypInv(k, n, delta, M) - 1,  HypInv(k, n, delta, M) = min{K : P[Hyp(M, K, n) ≤ k] ≤ delta}

(docs/proofs/pool.md). A classifier that other rows of the pool taught is fixed given those, and the
n rows are drawn at random from the M that are left.
"""

from __future__ import annotations

import math

from pacboost.bounds.certificate import certified, from_inputs
from pacboost.bounds.registry import bound
from pacboost.bounds.rounding import outward
from pacboost.bounds.wording import THIS_POOL
from pacboost.numerics.checks import counts, positive_whole, probability
from pacboost.numerics.hypergeometric import hypergeometric_inverse


@bound(
    "pool.mistaken_share",
    theorem="K ≤ HypInv(k, n, delta/models, M) - 1 of the M rows are wrong",
    reference="Leboeuf, LeBlanc and Marchand 2021; docs/proofs/pool.md",
    sample="{n:,} of {rows:,} rows of a pool, drawn at random without replacement",
    independent_of="every choice made in training the classifier",
    assumptions=("the rows were drawn at random from the pool before their labels were known",),
    of_what=THIS_POOL,
    held_out=True,
    again=from_inputs,
)
def mistaken_share(k: int, n: int, rows: int, delta: float, models: int = 1) -> float:
    """Bound the share of mistakes in a pool of ``rows`` rows after k on n that were drawn.

    >>> round(mistaken_share(3, 100, 120, 0.05), 4)
    0.05
    >>> round(mistaken_share(3, 100, 100, 0.05), 4)
    0.03
    """
    counts(k, n)
    level = math.log(positive_whole("models", models)) - math.log(probability("delta", delta))
    return outward((hypergeometric_inverse(k, n, level, rows) - 1) / rows)


certificate = certified(mistaken_share)
"""Certify the mistakes of a classifier on the rows of a pool that did not teach it."""
