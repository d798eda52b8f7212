"""The model file: what a fit left behind, as data that cannot run (models/file/container.py).

The part named ``model`` is the same, byte for byte, for the same data and seed: rules, votes, bins,
ledger. Clock times, column names and versions lie outside it, under ``about``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pacboost.bounds.answering import Answering
from pacboost.bounds.coverage import coverage_rule
from pacboost.bounds.decision import ThresholdDecision
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import FileError
from pacboost.hypotheses.vote import Vote
from pacboost.ledgers.ledger import OUTSIDE, HardRow, Ledger, Refill, Round
from pacboost.ledgers.validation import ValidationCurve
from pacboost.models.calibration.calibrators import Calibration
from pacboost.models.file import container, meaning, parts
from pacboost.models.file import fields as records
from pacboost.models.file.fields import Fields
from pacboost.models.file.rules import from_plain, to_plain
from pacboost.models.model import Model
from pacboost.samples.sketch import Sketch
from pacboost.sources.mixed import read_features

KIND = "model"
MOST_CLASSES = 2**20

OPTIONAL: dict[str, Callable[[Any], Any]] = {"calibration": Calibration.from_dict}
"""Parts that a model may lack, by the name of the field of ``Model``, and what reads them again;
``to_dict`` of each gives plain values, with NumPy arrays as leaves where there are many numbers."""

BESIDE: dict[str, Callable[[Any], Any]] = {
    "answering": Answering.from_dict,
    "decision": ThresholdDecision.from_dict,
    "coverage": coverage_rule,
    "held_out": HeldOut.from_dict,
    "validation": ValidationCurve.from_dict,
}
"""The same for parts that lie beside the model, as its certificate does."""

ROUNDS = {"rounds": (Round, OUTSIDE), "refills": (Refill, ("seconds",)), "hard": (HardRow, ())}
"""The records of a ledger, and what of them lies outside the model."""


def model_bytes(model: Model) -> bytes:
    """Return the part of the file that equal runs share."""
    return b"".join(container.packed({"model": _core(model)}))


def save(model: Model, path: str | Path, seen: Sequence[Sketch] = ()) -> None:
    """Write the file whole or not at all; ``seen`` holds sketches of the training rows."""
    parts.write(path, KIND, model, _core(model), _about(model), BESIDE, seen)


def load(path: str | Path, memory: int = 0) -> Model:
    """Read a file that ``save`` wrote, and refuse what no fit could have written."""
    return opened(container.read(Path(path), KIND, memory), path)


def opened(content: container.Content, path: str | Path) -> Model:
    """Make the model of what a file holds."""
    try:
        whole = Fields(content.document, "content", content.room)
        core, about = whole.part("model"), whole.part("about")
        beside: dict[str, Any] = {
            name: whole.made(name, read) for name, read in BESIDE.items() if name in whole
        }
        certificate = parts.certificate_read(whole)
        beside["seen"] = parts.sketches_read(whole)
        whole.end()
        model = _model(core, about, certificate=certificate, **beside)
        meaning.check_ledger(model.ledger, model.classes.size)
        meaning.check_certificate(certificate, model.held_out, [str(c) for c in model.classes])
        meaning.check_coverage(model.coverage, model.classes.size)
        return parts.with_digests(model, content.document)
    except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
        raise FileError(f"{path}: is damaged ({problem})") from problem


def _core(model: Model) -> dict[str, Any]:
    return {
        **parts.optional(model, ("text", *OPTIONAL)),
        "classes": model.classes.tolist(),
        "features": model.n_features,
        "bins": None if model.bins is None else parts.bins_written(model.bins),
        "levels": model.levels.to_dict(),
        "rules": to_plain(model.vote.hypotheses),
        "votes": model.vote.votes.astype(np.float64),
        "outputs": model.vote.outputs,
        "ledger": _ledger_written(model.ledger),
    }


def _about(model: Model) -> dict[str, Any]:
    return {
        "fingerprint": model.fingerprint,
        **{
            name: records.columns(getattr(model.ledger, name), outside)
            for name, (_, outside) in ROUNDS.items()
        },
    }


def _ledger_written(ledger: Ledger) -> dict[str, Any]:
    written: dict[str, Any] = {
        field.name: getattr(ledger, field.name)
        for field in fields(Ledger)
        if field.name not in ROUNDS
    }
    for name, (kind, outside) in ROUNDS.items():
        held = getattr(ledger, name)
        inside = [field.name for field in fields(kind) if field.name not in outside]
        written[name] = {"count": len(held), **records.columns(held, inside)}
    return written


def _ledger_read(part: Fields, about: Fields) -> Ledger:
    found = records.checked(part, Ledger, skip=ROUNDS)
    for name, (kind, _) in ROUNDS.items():
        own = part.part(name)
        count = own.whole("count", 0, 2**31)
        found[name] = records.records((own, about.part(name)), kind, count)
    part.end()
    return Ledger(**found)


def _model(core: Fields, about: Fields, **beside: Any) -> Model:
    features = core.whole("features", 1, parts.MOST_FEATURES)
    outputs = core.whole("outputs", 1, MOST_CLASSES)
    bins = None
    if core.peek("bins") is None:
        core.any("bins")
    else:
        bins = parts.bins_read(core.part("bins"), features)
    names, levels = parts.names_read(about, features), parts.levels_read(core, features, bins)
    classes, ledger = parts.classes_read(core), _ledger_read(core.part("ledger"), about)
    each = ledger.several_labels or classes.size > 2
    if outputs != (classes.size if each else 1):
        core.refuse("outputs", f"are {outputs}, which does not go with {classes.size} classes")
    rules = from_plain(core.parts("rules"), features, bins, outputs)
    votes = core.array("votes", np.float64, len(rules))
    optional = {name: core.made(name, read) for name, read in OPTIONAL.items() if name in core}
    curves = getattr(optional.get("calibration"), "curves", ())
    if curves and len(curves) != outputs:
        core.refuse("calibration", f"has {len(curves)} curves for {outputs} outputs")
    if "text" in core:
        words = names or ()
        if names is None:
            about.refuse("names", f"are not those of {features} words")
        optional["text"] = core.made("text", lambda own: read_features(own, words))
    parts.versions_read(about)
    fingerprint = about.text("fingerprint")
    core.end()
    about.end()
    return Model(
        classes=classes,
        n_features=features,
        names=names,
        bins=bins,
        vote=Vote(rules, votes, outputs),
        ledger=ledger,
        levels=levels,
        fingerprint=fingerprint,
        **optional,
        **beside,
    )
