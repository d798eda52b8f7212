"""The file of a forest: its arrays as they lie in memory (models/file/container.py).

A thousand trees have some ten million nodes of 8 bytes. The same data and seed give the same bytes;
column names and the certificate lie in parts of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverage import IntervalRule, SetRule, coverage_rule
from pacboost.bounds.decision import ThresholdDecision
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import FileError
from pacboost.hypotheses.forest import LOW, Block, Forest
from pacboost.hypotheses.hypothesis import Names
from pacboost.kernels.forest import LEAF
from pacboost.models.file import container, meaning, parts
from pacboost.models.file.fields import LARGEST, Fields
from pacboost.samples.sketch import Sketch
from pacboost.sources.levels import NO_LEVELS, Levels

KIND = "forest"
KINDS = ("random_forest", "extra_trees")
NODES_AT_ONCE = 2**18
MOST_LABELS = 2**16


@dataclass(frozen=True, eq=False)
class ForestModel:
    """What the fit of a forest leaves behind."""

    kind: str
    """Which estimator it came from: "random_forest" or "extra_trees"."""
    classes: NDArray[Any]
    """Empty for numbers."""
    forest: Forest
    names: tuple[str, ...] | None = None
    levels: Levels = NO_LEVELS
    certificate: Certificate | None = None
    decision: ThresholdDecision | None = None
    """A threshold that was chosen with a guarantee."""
    coverage: SetRule | IntervalRule | None = None
    """Prediction sets or intervals that were calibrated, on the way to or from a file."""
    held_out: HeldOut | None = None
    """Classes and predictions on the certifying rows, counted; estimates, if rows were held out."""
    seen: tuple[Sketch, ...] = ()
    """Sketches of the training rows, on the way from a file to an estimator."""
    labels: int = 0
    """How many labels a row may have at once; 0 where it has one. Then every class stands for a set
    of labels, named by a 1 for each label that is in it and a 0 for each that is not."""

    @property
    def sets(self) -> NDArray[np.int64] | None:
        """The sets of labels that the classes stand for, (classes, labels); None for one label."""
        if not self.labels:
            return None
        return np.array([[int(sign) for sign in name] for name in self.classes.tolist()])

    @property
    def label_names(self) -> list[str]:
        """What to call every label: the classes, or numbers where a row may have several."""
        return [
            str(name) for name in (range(self.labels) if self.labels else self.classes.tolist())
        ]

    def __repr__(self) -> str:
        """Return the size only: arrays of all trees would fill megabytes."""
        trees, classes = len(self.forest), self.classes.size
        return f"ForestModel(trees={trees}, features={self.n_features}, classes={classes})"

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.forest.bins.thresholds)

    def say(self) -> Names:
        """Return the names that curves are drawn with."""

        def level(column: int, number: int) -> str:
            return str(self.levels.columns[column][number])

        names, answers = self.column_names, tuple(str(own) for own in self.classes.tolist())
        return Names(lambda j: names[j], answers, level)

    @property
    def column_names(self) -> tuple[str, ...]:
        """What to call every column."""
        return self.names or tuple(f"x{j}" for j in range(self.n_features))


def model_bytes(model: ForestModel) -> bytes:
    """Return the part that equal fits share."""
    return b"".join(container.packed({"model": _core(model)}))


def save(model: ForestModel, path: str | Path, seen: Sequence[Sketch] = ()) -> None:
    """Write the file whole or not at all; ``seen`` holds sketches of the training rows."""
    parts.write(path, KIND, model, _core(model), {}, ("held_out", "decision", "coverage"), seen)


def load(path: str | Path, memory: int = 0) -> ForestModel:
    """Read a file that ``save`` wrote, and refuse one that no fit could have written."""
    return opened(container.read(Path(path), KIND, memory), path)


def opened(content: container.Content, path: str | Path) -> ForestModel:
    """Make the forest of what a file holds."""
    try:
        whole = Fields(content.document, "content", content.room)
        core, about = whole.part("model"), whole.part("about")
        certificate, seen = parts.certificate_read(whole), parts.sketches_read(whole)
        counted = whole.made("held_out", HeldOut.from_dict) if "held_out" in whole else None
        made = whole.made("decision", ThresholdDecision.from_dict) if "decision" in whole else None
        rule = whole.made("coverage", coverage_rule) if "coverage" in whole else None
        whole.end()
        model = _model(core, about, certificate)
        meaning.check_certificate(certificate, counted, [str(c) for c in model.classes])
        meaning.check_coverage(rule, model.classes.size)
        model = replace(model, held_out=counted, seen=seen, decision=made, coverage=rule)
        return parts.with_digests(model, content.document)
    except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
        raise FileError(f"{path}: is damaged ({problem})") from problem


def _core(model: ForestModel) -> dict[str, Any]:
    forest = model.forest
    blocks = [
        {"nodes": b.nodes, "firsts": b.firsts, "table": b.table, "bases": b.bases}
        for b in forest.blocks
    ]
    return {
        "kind": model.kind,
        "classes": model.classes.tolist(),
        "levels": model.levels.to_dict(),
        "middle": forest.middle,
        "scale": forest.scale,
        "hard": forest.hard,
        **({"labels": model.labels} if model.labels else {}),
        "bins": parts.bins_written(forest.bins),
        "importances": forest.importances,
        "blocks": blocks,
    }


def _model(core: Fields, about: Fields, certificate: Certificate | None) -> ForestModel:
    kind, classes = core.word("kind", KINDS), parts.classes_read(core)
    labels = core.whole("labels", 2, MOST_LABELS) if "labels" in core else 0
    if labels and not all(
        isinstance(name, str) and len(name) == labels and set(name) <= {"0", "1"}
        for name in classes.tolist()
    ):
        core.refuse("classes", "are no sets of as many labels")
    bins = parts.bins_read(core.part("bins"))
    features = len(bins.thresholds)
    if bins.missing > 255 or features == 0:
        core.refuse("bins", "are none, or have codes of more than 8 bits")
    importances = core.array("importances", np.float64, features, within=(0, LARGEST))
    most = max(2, classes.size) if classes.size else 0
    blocks = tuple(_block(part, features, most) for part in core.parts("blocks"))
    levels, names = parts.levels_read(core, features, bins), parts.names_read(about, features)
    middle, scale, hard = core.number("middle"), core.number("scale"), core.flag("hard")
    forest = Forest(bins, most, importances, blocks, middle, scale, hard)
    parts.versions_read(about)
    core.end()
    about.end()
    return ForestModel(kind, classes, forest, names, levels, certificate, labels=labels)


def _block(part: Fields, features: int, classes: int) -> Block:
    """Read trees that lie side by side."""
    nodes = part.array("nodes", np.uint64, None, within=(0, np.inf))
    firsts = part.array("firsts", np.int64, None, within=(0, nodes.size))
    bases = part.array("bases", np.int64, firsts.size, within=(0, np.inf))
    table = part.array("table", np.float32, None, classes if classes > 2 else 1)
    part.end()
    whole = firsts.size >= 2 and firsts[0] == bases[0] == 0
    if not (whole and (firsts[1:] > firsts[:-1]).all() and (bases[1:] >= bases[:-1]).all()):
        part.refuse("firsts", "do not say where tree after tree begins")
    if firsts[-1] != nodes.size or bases[-1] != len(table):
        part.refuse("firsts", "are not those of as many nodes and lines")
    for start in range(0, nodes.size, NODES_AT_ONCE):
        _refuse_impossible(part, Block(nodes, firsts, table, bases), start, features, classes)
    return Block(nodes, firsts, table, bases)


def _refuse_impossible(part: Fields, block: Block, start: int, features: int, classes: int) -> None:
    """Check, for some nodes, that rows come to a leaf and that every leaf has something to say.

    Children lie further on, within their tree; so the last node of a tree has to be a leaf.
    """
    nodes = block.nodes[start : start + NODES_AT_ONCE]
    number = np.arange(start, start + nodes.size)
    tree = np.searchsorted(block.firsts, number, side="right") - 1
    sizes, place = np.diff(block.firsts)[tree], number - block.firsts[tree]
    feature, payload = nodes >> np.uint64(41), (nodes & LOW).astype(np.int64)
    leaf, inner = feature == LEAF, feature != LEAF
    if not (feature[inner] < features).all():
        part.refuse("nodes", f"ask for a feature beyond the {features} there are")
    children = (payload > place + 1) & (payload < sizes)
    if not children[inner].all() or not leaf[place == sizes - 1].all():
        part.refuse("nodes", "name a child that is not further on in its tree")
    if classes > 2:
        fits = payload < classes + np.diff(block.bases)[tree]
    else:
        fits = np.isfinite(payload.astype(np.uint32).view(np.float32))
    if not fits[leaf].all():
        part.refuse("nodes", "hold a leaf that has nothing to say")
