"""One digest that binds a claim in a file to the whole model that it was made for.

The digest is a SHA-256 of everything in the file but clock times and versions (rules, votes, bins,
column names, levels, classes, calibration, vocabulary, ledger, and whatever a later version adds),
together with all fields of the claim itself. So a certificate cannot be combined with other classes
or names than those it was made for. The digest is not a signature: anybody who writes a file from
scratch can compute it too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from pacboost.models.file import container

CLAIMS = ("certificate", "answering", "decision", "coverage")
"""The parts of a file that make a claim about the model; each has its digest."""
OUTSIDE = ("seconds", "versions")
"""What equal models may differ in."""
FIELD = "model_digest"


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Give the content of a file with a digest in every claim that has none.

    A claim that did not belong to the file it was read from keeps what it had (``kept``): writing
    a model again proves nothing.

    >>> content = {"model": {"classes": ["no", "yes"]}, "certificate": {"value": 0.1}}
    >>> whole = sealed(content)
    >>> binds(whole, "certificate")
    True
    >>> binds({**whole, "model": {"classes": ["yes", "no"]}}, "certificate")
    False
    """
    new = [name for name in CLAIMS if content.get(name) and not content[name].get(FIELD)]
    found = _body_digest(content) if new else b""
    claims = {name: {**content[name], FIELD: _digest(found, content[name])} for name in new}
    return {**content, **claims}


def binds(content: Mapping[str, Any], name: str) -> bool:
    """Tell whether the digest of a claim matches the content of its file."""
    claim = content[name]
    return bool(claim[FIELD] == _digest(_body_digest(content), claim))


def kept(content: Mapping[str, Any], name: str) -> str:
    """Give the digest that a claim keeps after reading: "" if the claim belongs to the model.

    Such a claim gets a new digest when the model is written again; no other claim does.
    """
    if not content[name].get(FIELD):
        raise ValueError(f"{name}.{FIELD} is not there")
    return "" if binds(content, name) else str(content[name][FIELD])


def _body_digest(content: Mapping[str, Any]) -> bytes:
    body = {name: part for name, part in content.items() if name not in CLAIMS}
    if "about" in body:
        body["about"] = _timeless(body["about"])
    return _sha256(body)


def _digest(body: bytes, claim: Mapping[str, Any]) -> str:
    fields = {name: value for name, value in claim.items() if name != FIELD}
    return _sha256({"body": body.hex(), "claim": fields}).hex()


def _timeless(part: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out clock times and versions, wherever they lie."""
    return {
        name: _timeless(value) if isinstance(value, Mapping) else value
        for name, value in part.items()
        if name not in OUTSIDE
    }


def _sha256(content: dict[str, Any]) -> bytes:
    found = hashlib.sha256()
    for piece in container.packed(content):
        found.update(piece)
    return found.digest()
