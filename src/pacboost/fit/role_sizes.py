"""How many rows certify and validate.

The number of certifying rows is a share of the examples, or follows from epsilon and delta: enough
that a classifier with half of the allowed error passes.
"""

from __future__ import annotations

from collections.abc import Callable

from pacboost.bounds import holdout

NO_CERTIFYING_BELOW = 40
"""Of fewer rows none certifies: what they could certify is worth less than what they teach."""
SHARE, LARGEST_SHARE = 0.05, 0.2
"""Every row that certifies is missing where rows are learned from. A fifth of 500, 1,000 and 2,000
rows in place of a tenth up to 100 makes certificates .87, .86 and .76 times as large, errors 1.03,
1.03 and 1.06 times, log losses 1.03, 1.03 and 1.05 times (docs/strong.md)."""
FEW_CERTIFYING_ROWS = 400
"""Where a twentieth would be fewer, so many certify, or a fifth if that is fewer. Of 4,000 rows 400
in place of 200 make certificates .84, errors 1.03 and log losses 1.01 times as large."""
MAX_CERTIFYING_ROWS = 10_000
"""With this many, a certificate is mostly within half a point of the share of mistakes."""
ENDLESS_ROWS = 10**12
LOOKS = 2
"""Certifying rows are looked at no more often than this; planned for the worst."""
VALIDATION_SHARE, MAX_VALIDATION_ROWS = 0.1, 10_000


def certifying_rows(
    rows: int,
    epsilon: float | None,
    delta: float,
    bound: Callable[..., float] = holdout.clopper_pearson,
    looks: int = LOOKS,
) -> int:
    """Return how many rows (or groups) certify.

    A fifth up to 400 (2,000 rows), then 400 up to 8,000 rows, then a twentieth, at most 10,000;
    with epsilon more, if an error of epsilon/2 needs as many to be certified; never more than a
    fifth.

    >>> [certifying_rows(rows, None, 0.05) for rows in (100, 500, 2000, 5000, 20_000)]
    [20, 100, 400, 400, 1000]
    >>> certifying_rows(10_000, 0.01, 0.05), certifying_rows(30, None, 0.05)
    (1705, 0)
    """
    if rows < NO_CERTIFYING_BELOW:
        return 0
    count = max(FEW_CERTIFYING_ROWS, min(MAX_CERTIFYING_ROWS, round(SHARE * rows)))
    if epsilon is not None:
        count = max(count, holdout.examples_for(bound, epsilon, delta, epsilon / 2, looks))
    return min(count, round(LARGEST_SHARE * rows))


def certifying_draws(rows: int | None, epsilon: float | None, delta: float) -> int:
    """Return how many drawn rows certify; None if their number is unlimited.

    >>> certifying_draws(None, None, 0.05), certifying_draws(1000, 0.1, 0.05)
    (10000, 200)
    """
    return certifying_rows(ENDLESS_ROWS if rows is None else rows, epsilon, delta)


def validation_rows(rows: int) -> int:
    """Return how many of the remaining rows validate.

    >>> validation_rows(1000), validation_rows(1_000_000), validation_rows(5)
    (100, 10000, 0)
    """
    share = round(VALIDATION_SHARE * rows)
    return min(MAX_VALIDATION_ROWS, share) if rows >= NO_CERTIFYING_BELOW else 0
