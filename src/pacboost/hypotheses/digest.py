"""A fingerprint of a vote: of every number in its rules, and of the votes they have.

The ledger keeps it, and a certificate the fingerprint of the ledger: so a certificate cannot be
used with other rules than those it was made for, nor with other values in the leaves of trees.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pacboost.hypotheses.forest import Forest
from pacboost.hypotheses.vote import Vote
from pacboost.samples.bins import Bins

NOT_SAID = ("slope",)
"""Fields that matter while a rule is learned, and never again."""


def vote_digest(vote: Vote | Forest) -> str:
    """Give the SHA-256 of a vote or forest; of black boxes it knows no more than their names.

    >>> from pacboost.hypotheses.stump import StumpRule
    >>> rule = StumpRule(0, 2.5, 2, +1, -1)
    >>> one, other = (Vote([rule], np.array([vote])) for vote in (0.25, 0.5))
    >>> vote_digest(one) == vote_digest(one), vote_digest(one) == vote_digest(other)
    (True, False)
    """
    return _sha256(vote, {}).hex()


def _sha256(value: Any, known: dict[int, bytes]) -> bytes:
    found = hashlib.sha256()
    for piece in _pieces(value, known):
        found.update(piece)
    return found.digest()


def _pieces(value: Any, known: dict[int, bytes]) -> Iterator[bytes]:
    """Give what a value is made of; of bins, which trees share, their own fingerprint."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.ndarray):
        kind: type = np.float64 if value.dtype.kind == "f" else np.int64
        yield repr(value.shape).encode()
        yield np.ascontiguousarray(value, dtype=np.dtype(kind).newbyteorder("<")).tobytes()
    elif isinstance(value, bool | int | float | str | None):
        yield repr(value).encode()
    elif isinstance(value, Bins):
        if id(value) not in known:
            known[id(value)] = _sha256([value.thresholds, value.levels, value.middle], known)
        yield known[id(value)]
    elif is_dataclass(value):
        yield type(value).__name__.encode()
        for field in fields(value):
            if field.name not in NOT_SAID:
                yield field.name.encode()
                yield from _pieces(getattr(value, field.name), known)
    elif isinstance(value, Sequence):
        yield repr(len(value)).encode()
        for entry in value:
            yield from _pieces(entry, known)
