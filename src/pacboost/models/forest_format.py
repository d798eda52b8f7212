"""The file of a forest: arrays as they lie in memory, in a zip that NumPy reads without pickle.

A thousand trees have some ten million nodes, which no text should hold. The same data and seed give
the same bytes; column names and the certificate lie in a part of their own, ``about``.
"""

from __future__ import annotations

import json
import os
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.errors import FileError
from pacboost.hypotheses.forest import LOW, Block, Forest
from pacboost.kernels.forest_grow import LEAF
from pacboost.samples.bins import Bins
from pacboost.sources.levels import NO_LEVELS, Levels

FORMAT = "pacboost forest"
VERSION = 1
Arrays = dict[str, NDArray[Any]]


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

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.forest.bins.thresholds)

    @property
    def column_names(self) -> tuple[str, ...]:
        """What to call every column."""
        return self.names or tuple(f"x{j}" for j in range(self.n_features))


def is_forest(path: str | Path) -> bool:
    """Tell a file that ``save`` wrote from others, by its first bytes."""
    try:
        with Path(path).open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def model_bytes(model: ForestModel) -> bytes:
    """Give the part that equal fits share."""
    text, arrays = _core(model)
    parts = [json.dumps(text, sort_keys=True).encode()]
    return b"".join([*parts, *(array.tobytes() for array in arrays.values())])


def save(model: ForestModel, path: str | Path) -> None:
    """Write the file whole or not at all."""
    path = Path(path)
    core, arrays = _core(model)
    certificate = None if model.certificate is None else model.certificate.to_dict()
    content = {
        "format": FORMAT,
        "version": VERSION,
        "model": core,
        "about": {"names": model.names, "certificate": certificate},
    }
    text = json.dumps(content, sort_keys=True, allow_nan=False).encode()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            held: Any = {"content": np.frombuffer(text, np.uint8), **arrays}
            np.savez(file, allow_pickle=False, **held)
        part.replace(path)
    except OSError as problem:
        raise FileError(f"{path}: cannot be written ({problem.strerror or problem})") from problem
    finally:
        with suppress(OSError):
            part.unlink()


def load(path: str | Path) -> ForestModel:
    """Read a file that ``save`` wrote, and refuse one that no fit could have written."""
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            arrays: Arrays = {name: found[name] for name in found.files}
        content = json.loads(arrays.pop("content").tobytes())
        if content["format"] != FORMAT or content["version"] != VERSION:
            raise ValueError(f"{content['format']}, version {content['version']}")
        return _model(content["model"], content["about"], arrays)
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror or problem})") from problem
    except (
        AttributeError, LookupError, ArithmeticError, TypeError, ValueError, EOFError,
        zipfile.BadZipFile,
    ) as problem:  # fmt: skip
        raise FileError(
            f"{path}: is no {FORMAT} file of version {VERSION} ({problem!r})"
        ) from problem


def _core(model: ForestModel) -> tuple[dict[str, Any], Arrays]:
    forest, bins = model.forest, model.forest.bins
    text = {
        "kind": model.kind,
        "classes": model.classes.tolist(),
        "levels": model.levels.to_dict(),
        "middle": forest.middle,
        "scale": forest.scale,
        "hard": forest.hard,
        "blocks": len(forest.blocks),
    }
    arrays: Arrays = {
        "sizes": np.array([t.size for t in bins.thresholds]),
        "thresholds": np.concatenate(bins.thresholds),
        "medians": bins.middle,
        "level_counts": bins.levels,
        "importances": forest.importances,
    }
    for k, block in enumerate(forest.blocks):
        arrays |= {f"nodes_{k}": block.nodes, f"firsts_{k}": block.firsts}
        arrays |= {f"table_{k}": block.table, f"bases_{k}": block.bases}
    return text, arrays


def _model(text: dict[str, Any], about: dict[str, Any], arrays: Arrays) -> ForestModel:
    ends = np.cumsum(arrays["sizes"])[:-1]
    bins = Bins(
        tuple(np.split(arrays["thresholds"].astype(np.float32), ends)),
        arrays["medians"].astype(np.int64),
        arrays["level_counts"].astype(np.int64),
    )
    features = len(bins.thresholds)
    if not {bins.middle.size, bins.levels.size, arrays["importances"].size} == {features}:
        raise ValueError(f"the bins are not of {features} features")
    if bins.missing > 255 or not all((np.diff(t) >= 0).all() for t in bins.thresholds):
        raise ValueError("thresholds are not in order")
    classes = np.array(text["classes"])
    blocks = tuple(
        Block(*(arrays[f"{name}_{k}"] for name in ("nodes", "firsts", "table", "bases")))
        for k in range(text["blocks"])
    )
    most = max(2, classes.size) if classes.size else 0
    for block in blocks:
        _refuse_impossible(block, features, most)
    forest = Forest(
        bins,
        most,
        arrays["importances"],
        blocks,
        float(text["middle"]),
        float(text["scale"]),
        bool(text["hard"]),
    )
    given = about["certificate"]
    return ForestModel(
        text["kind"],
        classes,
        forest,
        None if about["names"] is None else tuple(about["names"]),
        Levels.from_dict(text["levels"]),
        None if given is None else Certificate.from_dict(given),
    )


def _refuse_impossible(block: Block, features: int, classes: int) -> None:
    """Check that every row comes to a leaf, and that every leaf has something to say.

    Children lie further on, within their tree; so the last node of a tree has to be a leaf.
    """
    nodes, firsts, table, bases = block.nodes, block.firsts, block.table, block.bases
    ok = nodes.dtype == np.uint64 and firsts.dtype == bases.dtype == np.int64
    ok = ok and table.dtype == np.float32 and table.ndim == 2
    ok = ok and firsts.size == bases.size >= 2 and firsts[0] == 0 and bases[0] == 0
    ok = ok and bool((np.diff(firsts) > 0).all() and (np.diff(bases) >= 0).all())
    ok = ok and bool(firsts[-1] == nodes.size and bases[-1] == len(table))
    ok = ok and bool(np.isfinite(table).all()) and table.shape[1] == (classes if classes > 2 else 1)
    if not ok:
        raise ValueError("the trees do not lie side by side")
    sizes = np.diff(firsts)
    tree = np.repeat(np.arange(sizes.size), sizes)
    place = np.arange(nodes.size) - firsts[:-1][tree]
    feature, payload = nodes >> np.uint64(41), (nodes & LOW).astype(np.int64)
    leaf = feature == LEAF
    inner = ~leaf
    ok = bool((feature[inner] < features).all() and leaf[firsts[1:] - 1].all())
    ok = ok and bool((payload > place + 1)[inner].all() and (payload < sizes[tree])[inner].all())
    if classes > 2:
        ok = ok and bool((payload < classes + np.diff(bases)[tree])[leaf].all())
    else:
        said = payload[leaf].astype(np.uint32).view(np.float32)
        ok = ok and bool(np.isfinite(said).all())
    if not ok:
        raise ValueError("a tree does not hang together")
