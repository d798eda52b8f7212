"""A fingerprint of a vote or a forest: of every number in its rules, and of their votes.

The ledger holds it, and a certificate holds the fingerprint of the ledger. So a certificate cannot
be used with other rules than those it was computed for, nor with other values in leaves of trees.
It covers the ``tag`` and the ``FIELDS`` of each kind of rule, and the name of no class.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.vote import Vote
from pacboost.samples.bins import Bins

if TYPE_CHECKING:
    from pacboost.hypotheses.forest import Forest

WRITTEN_FLOAT, WRITTEN_WHOLE = np.dtype("<f8"), np.dtype("<i8")


def vote_digest(vote: Vote | Forest) -> str:
    """Return the SHA-256 of a vote or forest; for black boxes it covers their names only."""
    fingerprints = _Fingerprints()
    if isinstance(vote, Vote):
        fingerprints.asked = asked(vote.hypotheses)
    return _sha256(vote, fingerprints).hex()


def asked(rules: Sequence[Hypothesis]) -> list[int] | None:
    """Return the features that rules use, in order; None if they are unknown."""
    columns: set[int] = set()
    for rule in rules:
        columns_of_rule = rule.features()
        if columns_of_rule is None:
            return None
        columns |= columns_of_rule
    return sorted(columns)


class _Fingerprints(dict[int, bytes]):
    """Fingerprints of bins by their ids, restricted to the features in ``asked``."""

    asked: list[int] | None = None


def _sha256(value: object, fingerprints: _Fingerprints) -> bytes:
    parts: list[bytes] = []
    _collect(value, fingerprints, parts)
    return hashlib.sha256(b"".join(parts)).digest()


@functools.cache
def _names(kind: type) -> list[tuple[str, bytes]]:
    """Return the fields of a class in the fingerprint, as names and as bytes."""
    names: Iterable[str] = getattr(kind, "FIELDS", ())
    # a black box declares no fields of files, and all that it knows of itself counts
    names = list(names) or [field.name for field in fields(kind)]
    return [(name, name.encode()) for name in names]


def _tag(kind: type) -> bytes:
    tag: str = getattr(kind, "tag", "")
    if not tag:
        raise DataError(
            f"the class {kind.__name__} has no tag, by which certificates know a kind of rule; "
            "give it one: tag = 'a_name_of_its_own'"
        )
    return tag.encode()


def _written(array: NDArray[Any]) -> tuple[bytes, bytes]:
    kind = WRITTEN_FLOAT if array.dtype.kind == "f" else WRITTEN_WHOLE
    converted = array if array.dtype == kind else array.astype(kind)
    return repr(array.shape).encode(), converted.tobytes()


def _collect(value: object, fingerprints: _Fingerprints, parts: list[bytes]) -> None:
    """Append the bytes of a value; bins, which trees share, are replaced by their fingerprint."""
    if isinstance(value, np.ndarray):
        parts += _written(value)
        return
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool | int | float | str | None):
        parts.append(repr(value).encode())
    elif isinstance(value, Bins):
        # all trees of a vote share one object: hashed once, not a thousand times
        if id(value) not in fingerprints:
            asked_of = fingerprints.asked
            # a file holds thresholds of these features only, and its reader computes
            # the same digest
            columns = range(len(value.thresholds)) if asked_of is None else asked_of
            cuts = np.concatenate([np.empty(0), *(value.thresholds[j] for j in columns)])
            tables = [cuts, value.sizes, value.levels, value.middle]
            fingerprints[id(value)] = _sha256(tables, fingerprints)
        parts.append(fingerprints[id(value)])
    elif is_dataclass(value):
        kind_of_rule: type = type(value)
        parts.append(_tag(kind_of_rule))
        for name, written in _names(kind_of_rule):
            parts.append(written)
            content = getattr(value, name)
            if type(content) is np.ndarray:  # a short cut for the fields of trees
                parts += _written(content)
            else:
                _collect(content, fingerprints, parts)
    elif isinstance(value, Sequence):
        parts.append(repr(len(value)).encode())
        for entry in value:
            _collect(entry, fingerprints, parts)
