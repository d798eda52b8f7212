"""A fingerprint of a vote: of every number in its rules, and of the votes they have.

The ledger keeps it, and a certificate the fingerprint of the ledger: so a certificate cannot be
used with other rules than those it was made for, nor with other values in the leaves of trees.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.forest import Forest
from pacboost.hypotheses.vote import Vote
from pacboost.samples.bins import Bins

NOT_SAID = ("slope",)
"""Fields that matter while a rule is learned, and never again."""
WRITTEN_FLOAT, WRITTEN_WHOLE = np.dtype("<f8"), np.dtype("<i8")


def vote_digest(vote: Vote | Forest) -> str:
    """Return the SHA-256 of a vote or forest; of black boxes it knows no more than their names.

    >>> from pacboost.hypotheses.stump import StumpRule
    >>> rule = StumpRule(0, 2.5, 2, +1, -1)
    >>> one, other = (Vote([rule], np.array([vote])) for vote in (0.25, 0.5))
    >>> vote_digest(one) == vote_digest(one), vote_digest(one) == vote_digest(other)
    (True, False)
    """
    return _sha256(vote, {}).hex()


def _sha256(value: Any, known: dict[int, bytes]) -> bytes:
    found: list[bytes] = []
    _collect(value, known, found)
    return hashlib.sha256(b"".join(found)).digest()


@functools.cache
def _names(kind: type) -> list[tuple[str, bytes]]:
    """The fields of a class that are part of the fingerprint, also as bytes."""
    names = (field.name for field in fields(kind))
    return [(name, name.encode()) for name in names if name not in NOT_SAID]


@functools.cache
def _shape(shape: tuple[int, ...]) -> bytes:
    return repr(shape).encode()


def _written(array: NDArray[Any]) -> tuple[bytes, bytes]:
    """Return the shape and the numbers of an array as bytes."""
    kind = WRITTEN_FLOAT if array.dtype.kind == "f" else WRITTEN_WHOLE
    own = array if array.dtype == kind else array.astype(kind)
    return _shape(array.shape), own.tobytes()


def _collect(value: Any, known: dict[int, bytes], found: list[bytes]) -> None:
    """Add what a value is made of; of bins, which trees share, their own fingerprint."""
    if isinstance(value, np.ndarray):
        found += _written(value)
        return
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool | int | float | str | None):
        found.append(repr(value).encode())
    elif isinstance(value, Bins):
        if id(value) not in known:
            known[id(value)] = _sha256([value.thresholds, value.levels, value.middle], known)
        found.append(known[id(value)])
    elif is_dataclass(value):
        kind_of_rule: type = type(value)
        found.append(kind_of_rule.__name__.encode())
        for name, written in _names(kind_of_rule):
            found.append(written)
            own = getattr(value, name)
            if type(own) is np.ndarray:  # most fields of trees, of which there are many
                found += _written(own)
            else:
                _collect(own, known, found)
    elif isinstance(value, Sequence):
        found.append(repr(len(value)).encode())
        for entry in value:
            _collect(entry, known, found)
