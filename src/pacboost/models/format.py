"""The model file: JSON that anybody can read, nothing in it that could run.

The part named ``model`` is the same, byte for byte, for the same data and seed: rules, votes, bins,
ledger. Clock times and column names lie outside it, under ``about``.
"""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pacboost.bounds.certificate import Certificate
from pacboost.errors import FileError
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.ledgers.ledger import OUTSIDE, Ledger
from pacboost.models.model import Model
from pacboost.samples.bins import Bins

FORMAT = "pacboost model"
VERSION = 1


def model_bytes(model: Model) -> bytes:
    """Give the part of the file that equal runs share."""
    return json.dumps(_core(model), sort_keys=True, allow_nan=False).encode()


def save(model: Model, path: str | Path) -> None:
    """Write the file whole or not at all."""
    path = Path(path)
    outside = [{name: getattr(e, name) for name in OUTSIDE} for e in model.ledger.rounds]
    content = {
        "format": FORMAT,
        "version": VERSION,
        "model": _core(model),
        "about": {"names": model.names, "rounds": outside},
        "certificate": model.certificate.to_dict(),
    }
    text = json.dumps(content, sort_keys=True, allow_nan=False, ensure_ascii=False)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as problem:
        raise FileError(f"{path}: cannot be written ({problem.strerror or problem})") from problem
    finally:
        with suppress(OSError):
            part.unlink()


def load(path: str | Path) -> Model:
    """Read a file that ``save`` wrote."""
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror or problem})") from problem
    except ValueError as problem:
        raise FileError(f"{path}: is not a {FORMAT} file ({problem})") from problem
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileError(f"{path}: is not a {FORMAT} file")
    if content.get("version") != VERSION:
        raise FileError(
            f"{path}: has version {content.get('version')}; this pacboost reads version {VERSION}"
        )
    try:
        certificate = Certificate.from_dict(content["certificate"])
        return _model(content["model"], content["about"], certificate)
    except (KeyError, TypeError, ValueError) as problem:
        raise FileError(f"{path}: is damaged ({problem!r})") from problem


def _core(model: Model) -> dict[str, Any]:
    strange = [h for h in model.vote.hypotheses if not isinstance(h, StumpRule)]
    if strange:
        raise FileError(
            f"the vote holds {type(strange[0]).__name__} rules, which are black boxes; a model "
            "file holds stumps only. Pickle the estimator, or train it with stumps."
        )
    bins = None
    if model.bins is not None:
        bins = {
            "thresholds": [t.astype(np.float64).tolist() for t in model.bins.thresholds],
            "middle": model.bins.middle.tolist(),
        }
    return {
        "classes": model.classes.tolist(),
        "features": model.n_features,
        "bins": bins,
        "rules": [_rule(h) for h in model.vote.hypotheses if isinstance(h, StumpRule)],
        "votes": model.vote.votes.tolist(),
        "ledger": model.ledger.core(),
    }


def _rule(stump: StumpRule) -> dict[str, Any]:
    """A stump as plain numbers; null stands for a threshold above every value."""
    content = asdict(stump)
    return {**content, "threshold": None if math.isinf(stump.threshold) else stump.threshold}


def _model(core: dict[str, Any], about: dict[str, Any], certificate: Certificate) -> Model:
    stumps = [
        StumpRule(
            **{**rule, "threshold": math.inf if rule["threshold"] is None else rule["threshold"]}
        )
        for rule in core["rules"]
    ]
    bins = None
    if core["bins"] is not None:
        thresholds = tuple(np.array(t, dtype=np.float32) for t in core["bins"]["thresholds"])
        bins = Bins(thresholds, np.array(core["bins"]["middle"], dtype=np.int64))
    features = core["features"]
    if len(stumps) != len(core["votes"]):
        raise ValueError("rules and votes are not as many")
    if any(not 0 <= stump.feature < features for stump in stumps):
        raise ValueError(f"a rule asks for a feature beyond the {features} there are")
    rounds = [
        {**entry, **outside}
        for entry, outside in zip(core["ledger"]["rounds"], about["rounds"], strict=True)
    ]
    return Model(
        classes=np.array(core["classes"]),
        n_features=features,
        names=None if about["names"] is None else tuple(about["names"]),
        bins=bins,
        vote=Vote(stumps, np.array(core["votes"], dtype=np.float64)),
        ledger=Ledger.from_dict({**core["ledger"], "rounds": rounds}),
        certificate=certificate,
    )
