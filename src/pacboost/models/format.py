"""The model file: JSON that anybody can read, nothing in it that could run.

The part named ``model`` is the same, byte for byte, for the same data and seed: rules, votes, bins,
ledger. Clock times and column names lie outside it, under ``about``.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from pacboost.bounds.certificate import Certificate
from pacboost.errors import FileError
from pacboost.hypotheses.vote import Vote
from pacboost.ledgers.ledger import OUTSIDE, Ledger
from pacboost.models.calibration import Calibration
from pacboost.models.model import Model
from pacboost.models.rules import from_plain, to_plain
from pacboost.samples.bins import Bins
from pacboost.sources.levels import Levels
from pacboost.sources.text import TextFeatures

FORMAT = "pacboost model"
VERSION = 2


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
        "certificate": None if model.certificate is None else model.certificate.to_dict(),
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
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
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
        given = content["certificate"]
        certificate = None if given is None else Certificate.from_dict(given)
        return _model(content["model"], content["about"], certificate)
    except (AttributeError, LookupError, ArithmeticError, TypeError, ValueError) as problem:
        raise FileError(f"{path}: is damaged ({problem!r})") from problem


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number that a fit writes")


def _core(model: Model) -> dict[str, Any]:
    bins = None
    if model.bins is not None:
        bins = {
            "thresholds": [t.astype(np.float64).tolist() for t in model.bins.thresholds],
            "middle": model.bins.middle.tolist(),
            "levels": model.bins.levels.tolist(),
        }
    text = {} if model.text is None else {"text": model.text.to_dict()}
    return {
        **text,
        "classes": model.classes.tolist(),
        "features": model.n_features,
        "bins": bins,
        "levels": model.levels.to_dict(),
        "rules": [to_plain(rule) for rule in model.vote.hypotheses],
        "votes": model.vote.votes.tolist(),
        "outputs": model.vote.outputs,
        "calibration": None if model.calibration is None else model.calibration.to_dict(),
        "ledger": model.ledger.core(),
    }


def _model(core: dict[str, Any], about: dict[str, Any], certificate: Certificate | None) -> Model:
    features, outputs = core["features"], core["outputs"]
    bins = None if core["bins"] is None else _bins(core["bins"], features)
    rules = [from_plain(rule, features, bins, outputs) for rule in core["rules"]]
    if len(rules) != len(core["votes"]):
        raise ValueError("rules and votes are not as many")
    classes = np.array(core["classes"])
    each = core["ledger"]["several_labels"] or classes.size > 2
    if outputs != (classes.size if each else 1):
        raise ValueError(f"{outputs} outputs do not go with {classes.size} classes")
    calibration = core["calibration"]
    rounds = [
        {**entry, **outside}
        for entry, outside in zip(core["ledger"]["rounds"], about["rounds"], strict=True)
    ]
    names = None if about["names"] is None else tuple(about["names"])
    if "text" in core and (names is None or len(names) != features):
        raise ValueError(f"the names are not those of {features} words")
    return Model(
        classes=classes,
        n_features=features,
        names=names,
        bins=bins,
        vote=Vote(rules, np.array(core["votes"], dtype=np.float64), outputs),
        ledger=Ledger.from_dict({**core["ledger"], "rounds": rounds}),
        certificate=certificate,
        levels=Levels.from_dict(core["levels"]),
        calibration=None if calibration is None else Calibration.from_dict(calibration),
        text=TextFeatures.from_dict(core["text"], names or ()) if "text" in core else None,
    )


def _bins(content: dict[str, Any], features: int) -> Bins:
    """Read the bins; kernels count on one sorted list of thresholds for every feature."""
    thresholds = tuple(np.array(t, dtype=np.float32) for t in content["thresholds"])
    middle, levels = (np.array(content[k], dtype=np.int64) for k in ("middle", "levels"))
    if not {len(thresholds), middle.size, levels.size} == {features}:
        raise ValueError(f"the bins are not of {features} features")
    if not all(np.isfinite(t).all() and (np.diff(t) >= 0).all() for t in thresholds):
        raise ValueError("thresholds are not in order")
    return Bins(thresholds, middle, levels)
