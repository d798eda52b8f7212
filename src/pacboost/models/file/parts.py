"""What files of votes, of forests and checkpoints share: bins, classes, names and versions."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.certificate import Certificate
from pacboost.errors import FileError
from pacboost.models.file import container, fields
from pacboost.models.file.container import CLAIMS, kept, sealed
from pacboost.models.file.fields import Fields
from pacboost.samples.bins import MOST_BINS, Bins
from pacboost.samples.sketch import Sketch
from pacboost.sources.levels import Levels

LARGEST_FLOAT = float(np.finfo(np.float32).max)
MOST_FEATURES = 2**24
BYTES_A_FEATURE = 112
Held = TypeVar("Held", bound=Any)


def bins_written(bins: Bins) -> dict[str, Any]:
    """Put the thresholds of all features side by side; ``sizes`` says how many each has."""
    return {
        "sizes": np.array([own.size for own in bins.thresholds], dtype=np.int32),
        "thresholds": np.concatenate([np.empty(0, np.float32), *bins.thresholds]),
        "middle": bins.middle.astype(np.int64),
        "levels": bins.levels.astype(np.int64),
    }


def bins_read(part: Fields, features: int | None = None) -> Bins:
    """Read the bins; kernels count on one sorted list of thresholds for every feature."""
    sizes = part.array("sizes", np.int32, features, within=(0, MOST_BINS - 1))
    part.room.take(BYTES_A_FEATURE * sizes.size, part.where)
    total = int(sizes.sum(dtype=np.int64))
    bound = (-LARGEST_FLOAT, LARGEST_FLOAT)
    thresholds = part.array("thresholds", np.float32, total, within=bound)
    middle = part.array("middle", np.int64, sizes.size, within=(0, MOST_BINS))
    levels = part.array("levels", np.int64, sizes.size, within=(0, MOST_BINS + 1))
    part.end()
    if (middle > sizes).any():
        part.refuse("middle", "lies beyond the bins of its feature")
    ends = np.cumsum(sizes, dtype=np.int64)
    falls = np.flatnonzero(thresholds[1:] < thresholds[:-1]) + 1
    if not np.isin(falls, ends).all():
        part.refuse("thresholds", "are not in order")
    return Bins(tuple(np.split(thresholds, ends[:-1])) if sizes.size else (), middle, levels)


def classes_read(part: Fields) -> NDArray[Any]:
    """Read the labels that stand for the classes: distinct, and all of one kind."""
    found = part.entries("classes")
    kinds = {type(label) for label in found}
    if len(kinds) > 1 or not kinds <= {str, bool, int, float}:
        part.refuse("classes", "are not words, numbers or truth values, all of one kind")
    if len(set(found)) != len(found):
        part.refuse("classes", "hold one label twice")
    if kinds == {str}:  # all take as much room as the longest of them
        part.room.take(4 * len(found) * max(map(len, found)), f"{part.where}.classes")
    if kinds == {int} and not all(-(2**63) <= label < 2**63 for label in found):
        part.refuse("classes", "hold a number of more than 64 bits")
    return np.array(found)


def names_read(part: Fields, features: int) -> tuple[str, ...] | None:
    """Read what columns are called."""
    if part.peek("names") is None:
        part.any("names")
        return None
    names = tuple(part.words("names"))
    if len(names) != features:
        part.refuse("names", f"are {len(names)} for {features} features")
    return names


def levels_read(part: Fields, features: int, bins: Bins | None) -> Levels:
    """Read the levels of categorical columns, as many as the bins say."""
    levels = part.made("levels", Levels.from_dict)
    if any(column >= features for column in levels.columns):
        part.refuse("levels", f"name a column beyond the {features} there are")
    if bins is not None and not np.array_equal(levels.counts(features), bins.levels):
        part.refuse("levels", "are not as many as the bins say")
    return levels


def certificate_read(part: Fields) -> Certificate | None:
    """Read a certificate, if there is one."""
    if part.peek("certificate") is None:
        part.any("certificate")
        return None
    own = part.part("certificate")
    found = fields.checked(own, Certificate)
    own.end()
    return Certificate.from_dict(found)


def with_digests(model: Held, document: Mapping[str, Any]) -> Held:
    """Keep the digests of the claims of a model where they do not belong to the file."""
    found = {name: getattr(model, name, None) for name in CLAIMS}
    claims = {
        name: replace(claim, model_digest=kept(document, name))
        for name, claim in found.items()
        if claim is not None
    }
    return replace(model, **claims)


def sketches_written(seen: Sequence[Sketch]) -> dict[str, Any]:
    """Return the part that holds sketches of the training rows; nothing if there are none."""
    return {"rows_seen": [sketch.to_dict() for sketch in seen]} if seen else {}


def sketches_read(part: Fields) -> tuple[Sketch, ...]:
    """Read the sketches of the training rows, if there are any."""
    if "rows_seen" not in part:
        return ()
    found = part.entries("rows_seen")
    own = Fields({str(k): sketch for k, sketch in enumerate(found)}, "rows_seen", part.room)
    return tuple(own.made(str(k), Sketch.from_dict) for k in range(len(found)))


def optional(model: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the parts of these names that a model has, as files hold them."""
    found = {name: getattr(model, name) for name in names}
    return {name: part.to_dict() for name, part in found.items() if part is not None}


def write(
    path: str | Path,
    kind: str,
    model: Any,
    core: Mapping[str, Any],
    about: Mapping[str, Any],
    beside: Iterable[str],
    seen: Sequence[Sketch],
) -> None:
    """Write the file of a model whole or not at all.

    ``core`` is what equal fits share; ``beside`` names the parts that lie next to it, as the
    certificate does, and ``seen`` holds sketches of the training rows.
    """
    names = None if model.names is None else list(model.names)
    content = {
        "model": core,
        "about": {"names": names, "versions": versions(), **about},
        "certificate": None if model.certificate is None else model.certificate.stored(),
        **optional(model, beside),
        **sketches_written(seen),
    }
    try:
        container.write(Path(path), kind, sealed(content))
    except OSError as problem:
        raise FileError(f"{path}: cannot be written ({problem.strerror or problem})") from problem


def versions() -> dict[str, str]:
    """Return what a file was written with."""
    own = own_version()
    return {"pacboost": own, "numpy": np.__version__, "python": platform.python_version()}


@cache
def own_version() -> str:
    """Return the version of pacboost that is installed."""
    try:
        return metadata.version("pacboost")
    except metadata.PackageNotFoundError:  # run from a folder, not installed
        return "unknown"


def versions_read(part: Fields) -> dict[str, str]:
    """Read what a file was written with."""
    found = part.any("versions")
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        part.refuse("versions", "are not words")
    return found
