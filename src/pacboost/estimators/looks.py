"""How often the rows set apart were looked at, where a fit goes on after a look.

Whoever sees a certificate and then boosts on has chosen when to stop by the certifying rows. So the
certificates of an estimator with ``warm_start=True`` are numbered, and the k-th pays delta/(k(k+1))
(bounds/holdout.py). One that has spent all of delta on a single look cannot go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.samples.sketch import row_hashes
from pacboost.sources.table import Table


@dataclass(frozen=True)
class Looks:
    """The number of the last look, 0 if it is the only one, and a digest of the rows looked at."""

    number: int
    rows: str


def next_look(before: Looks | None, rows: str, *, warm: bool, goes_on: bool) -> Looks:
    """Number the look that a fit is about to take, or refuse it.

    ``warm`` says that further looks may come, ``goes_on`` that the fit takes over what an earlier
    one has learned.

    >>> first = next_look(None, "rows", warm=True, goes_on=False)
    >>> next_look(first, "rows", warm=True, goes_on=True).number
    2
    """
    if not goes_on:
        return Looks(1 if warm else 0, rows)
    if before is None or before.rows != rows:
        raise ParameterError(
            "warm_start goes on with the same rows set apart for the certificate, but these are "
            "others, and what was learned before may have come from them. Fit with the same rows "
            "in the same order, or set warm_start=False to start afresh"
        )
    if before.number == 0:
        raise ParameterError(
            "the certificate of the last fit has spent all of delta on one look at the rows set "
            "apart, so nothing is left for a certificate of a fit that goes on. Start afresh with "
            "warm_start=True from the first fit on: its certificates share delta"
        )
    return Looks(before.number + 1, rows)


def digest(table: Table, labels: NDArray[Any]) -> str:
    """Hash rows and labels, in their order."""
    found = blake2b(row_hashes(table).tobytes(), digest_size=16)
    found.update(repr(labels.tolist()).encode())
    return found.hexdigest()
