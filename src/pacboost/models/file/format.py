"""The model file: a fitted model as data without code (models/file/container.py).

The part named ``model`` is the same, byte for byte, for the same data and seed: rules, votes, bins,
ledger. Clock times, column names and versions lie outside it, under ``about``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.answering import Answering
from pacboost.bounds.coverage import coverage_rule
from pacboost.bounds.decision import ThresholdDecision
from pacboost.bounds.held_out import HeldOut
from pacboost.hypotheses.forest import Forest
from pacboost.hypotheses.shapes import Counts
from pacboost.hypotheses.vote import Vote
from pacboost.hypotheses.vote_digest import asked
from pacboost.ledgers.counterexample import Counterexample
from pacboost.ledgers.ledger import UNCOMPARED, HardRow, Ledger, Refill, Round
from pacboost.models.calibration import Calibration
from pacboost.models.file import container, parts
from pacboost.models.file.fields import (
    MAX_NUMBER,
    Fields,
    check_claims,
    checked,
    columns,
    derived_read,
    records,
)
from pacboost.models.file.rules import block_read, from_plain, to_plain
from pacboost.models.model import Model, without_rounds
from pacboost.models.schema import Schema
from pacboost.samples.sketch import Sketch
from pacboost.sources.mixed import read_features

MAX_CLASSES = 2**20
FORESTS = ("random_forest", "extra_trees")

BESIDE: dict[str, Callable[[Any], Any]] = {
    "answering": Answering.from_dict,
    "decision": ThresholdDecision.from_dict,
    "coverage": coverage_rule,
    "held_out": HeldOut.from_dict,
    "counts": Counts.from_dict,
}
"""Optional parts of a file beside the model and its certificate, and their readers. ``to_dict`` of
each returns plain values, with NumPy arrays for many numbers. A forest has neither answering nor
counts."""

COUNTER = "counterexample"
"""The field of a ledger that only a broken promise leaves."""
ROUNDS = {"rounds": (Round, UNCOMPARED), "refills": (Refill, ("seconds",)), "hard": (HardRow, ())}
"""The records of a ledger, and their fields that are stored outside the model."""
ASKED = ("asked", "asked_to_certify", "price")
"""Numbers of a ledger that only runs with an example oracle have."""


def model_bytes(model: Model) -> bytes:
    """Return the part of the file that equal runs share."""
    return b"".join(container.packed({"model": _core(model)}))


def save(model: Model, path: str | Path, seen: Sequence[Sketch] = ()) -> None:
    """Write the file whole or not at all; ``seen`` are sketches of the training rows."""
    names = None if model.names is None else list(model.names)
    content = {
        "model": _core(model),
        "about": {"names": names, "versions": parts.versions(), **_about(model)},
        "certificate": None if model.certificate is None else model.certificate.stored(),
        **parts.optional(model, BESIDE),
        **({"rows_seen": [sketch.to_dict() for sketch in seen]} if seen else {}),
    }
    container.write(Path(path), kind_of(model), container.sealed(content))


def read(path: str | Path, memory: int = 0) -> container.Content:
    """Read the file of a vote or of a forest, and refuse other kinds of files."""
    kind = container.kind_of(Path(path))
    return container.read(Path(path), kind if kind == "forest" else "model", memory)


def kind_of(model: Model) -> str:
    """Return the kind of file for a model, as in its first line."""
    return "forest" if model.forest else "model"


def load(path: str | Path, memory: int = 0) -> Model:
    """Read a file that ``save`` wrote, and refuse content that no fit could have written.

    Reading may take ``memory`` bytes, if that is more than the size of the file allows.
    """
    return opened(read(path, memory), path)


def opened(content: container.Content, path: str | Path) -> Model:
    """Build the model from the content of a file."""
    with container.refusing_damage(path):
        document = Fields(content.document, "content", content.room)
        core, about = document.part("model"), document.part("about")
        check_claims(document)
        beside = {
            name: document.made(name, reader) for name, reader in BESIDE.items() if name in document
        }
        beside["certificate"] = parts.certificate_read(document)
        beside["seen"] = parts.sketches_read(document)
        document.end()
        parts.versions_read(about)
        read_core = _forest if content.kind == "forest" else _vote
        classes = parts.classes_read(core)
        model = Model(classes=classes, **read_core(core, about, classes), **beside)
        core.end()
        about.end()
        parts.check_model(model)
        return parts.with_digests(model, content.document)


def _core(model: Model) -> dict[str, Any]:
    columns_stored = model.schema.to_dict()
    common = {"classes": parts.classes_written(model.classes), "levels": columns_stored["levels"]}
    if model.forest:
        return common | _forest_core(model)
    vote, bins = model.vote, model.bins
    core = {**columns_stored, **common, **parts.optional(model, ("calibration",))}
    core["bins"] = None if bins is None else parts.bins_written(bins, asked(vote.hypotheses))
    core |= {"rules": to_plain(vote.hypotheses), "votes": vote.votes.astype(np.float64)}
    return core | {"outputs": vote.outputs, "ledger": _ledger_written(model.ledger)}


def _about(model: Model) -> dict[str, Any]:
    if model.forest:
        return {}
    ledger = model.ledger
    tables = {
        name: columns(getattr(ledger, name), outside) for name, (_, outside) in ROUNDS.items()
    }
    return {"fingerprint": model.fingerprint, **tables}


def _ledger_written(ledger: Ledger) -> dict[str, Any]:
    names = [field.name for field in fields(Ledger) if field.name not in (*ROUNDS, COUNTER)]
    written: dict[str, Any] = {name: getattr(ledger, name) for name in names}
    for name in ASKED:  # few runs ask an oracle, and files of others are as they were
        if not written[name]:
            del written[name]
    if ledger.counterexample is not None:
        written[COUNTER] = ledger.counterexample.to_dict()
    for name, (kind, outside) in ROUNDS.items():
        entries = getattr(ledger, name)
        inside = [field.name for field in fields(kind) if field.name not in outside]
        written[name] = {"count": len(entries), **columns(entries, inside)}
    return written


def _ledger_read(part: Fields, about: Fields) -> Ledger:
    values = checked(part, Ledger, skip=(*ROUNDS, COUNTER))
    if COUNTER in part:
        values[COUNTER] = part.made(COUNTER, Counterexample.from_dict)
    for name, (kind, _) in ROUNDS.items():
        inside = part.part(name)
        count = inside.whole("count", 0, 2**31)
        values[name] = records((inside, about.part(name)), kind, count)
    part.end()
    return Ledger(**values)


def _vote(core: Fields, about: Fields, classes: NDArray[Any]) -> dict[str, Any]:
    given = core.whole("features", 1, parts.MAX_FEATURES)
    derived = derived_read(core, given)
    features = given + len(derived)
    outputs = core.whole("outputs", 1, MAX_CLASSES)
    if classes.dtype == object:
        core.refuse("classes", "are sets of labels, which only forests predict")
    stored = core.optional_part("bins")
    bins = None if stored is None else parts.bins_read(stored, features)
    names, levels = parts.names_read(about, given), parts.levels_read(core, features, bins)
    ledger = _ledger_read(core.part("ledger"), about)
    # two classes share a score, labels do not
    each = ledger.several_labels or classes.size > 2
    if outputs != (classes.size if each else 1):
        core.refuse("outputs", f"are {outputs}, which does not go with {classes.size} classes")
    rules = from_plain(core.parts("rules"), features, bins, outputs)
    # a file keeps the thresholds of these features only
    asked_of = [] if bins is None else asked(rules) or []
    if bins is not None and any(bins.thresholds[j].size < bins.sizes[j] for j in asked_of):
        core.refuse("bins", "lack thresholds of a feature that a rule asks for")
    votes = core.array("votes", np.float64, len(rules))
    optional: dict[str, Any] = {}
    text = None
    if "calibration" in core:
        optional["calibration"] = core.made("calibration", Calibration.from_dict)
        curves = optional["calibration"].curves
        if curves and len(curves) != outputs:
            core.refuse("calibration", f"has {len(curves)} curves for {outputs} outputs")
    if "text" in core:
        words = names or ()
        if names is None:
            about.refuse("names", f"are not those of {features} words")
        text = core.made("text", lambda value: read_features(value, words))
    return {
        "schema": Schema(given, names, levels, text, derived=derived), "bins": bins,
        "vote": Vote(rules, votes, outputs), "ledger": ledger,
        "fingerprint": about.get("fingerprint", str), **optional,
    }  # fmt: skip


def _forest_core(model: Model) -> dict[str, Any]:
    forest = model.vote
    blocks = [
        {"nodes": b.nodes, "firsts": b.firsts, "table": b.table, "bases": b.bases}
        for b in forest.blocks
    ]
    return {
        "kind": model.ledger.booster, "middle": forest.middle, "scale": forest.scale,
        "hard": forest.hard,
        "bins": parts.bins_written(forest.bins), "importances": forest.importances,
        "blocks": blocks,
    }  # fmt: skip


def _forest(core: Fields, about: Fields, classes: NDArray[Any]) -> dict[str, Any]:
    kind = core.word("kind", FORESTS)
    labels = len(classes[0]) if classes.dtype == object else 0
    bins = parts.bins_read(core.part("bins"))
    features = len(bins.thresholds)
    if bins.missing > 255 or features == 0:
        core.refuse("bins", "are none, or have codes of more than 8 bits")
    importances = core.array("importances", np.float64, features, within=(0, MAX_NUMBER))
    n_classes = max(2, classes.size) if classes.size else 0
    blocks = tuple(block_read(part, features, n_classes) for part in core.parts("blocks"))
    levels, names = parts.levels_read(core, features, bins), parts.names_read(about, features)
    middle, scale, hard = core.number("middle"), core.number("scale"), core.get("hard", bool)
    return {
        "schema": Schema(features, names, levels), "bins": bins,
        "vote": Forest(bins, n_classes, importances, blocks, middle, scale, hard),
        "ledger": without_rounds(kind), "labels": labels,
    }  # fmt: skip
