"""Parts that all files share (bins, classes, names and versions), and checks of their numbers.

A model that loads can be reported on, verified and saved: all sentences about it are written once
while its numbers are checked.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import metadata
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import estimates, training
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import FileError, NotCertified
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.models.file import fields
from pacboost.models.file.container import CLAIMS, kept
from pacboost.models.file.fields import MAX_NUMBER, Fields
from pacboost.models.model import Model, classes_of_sets
from pacboost.samples.bins import MAX_BINS, Bins
from pacboost.samples.sketch import Sketch
from pacboost.sources.levels import Levels

MAX_FLOAT32 = float(np.finfo(np.float32).max)
MAX_FEATURES, MAX_LABELS = 2**24, 2**16
BYTES_A_FEATURE, BYTES_A_LABEL = 112, 48
Held = TypeVar("Held", bound=Any)


def bins_written(bins: Bins, kept: Sequence[int] | None = None) -> dict[str, Any]:
    """Concatenate the thresholds of all features, or of those with the numbers ``kept``."""
    thresholds = bins.thresholds if kept is None else [bins.thresholds[j] for j in kept]
    return {
        "sizes": bins.sizes.astype(np.int32),
        "thresholds": np.concatenate([np.empty(0, np.float32), *thresholds]),
        "middle": bins.middle.astype(np.int64),
        "levels": bins.levels.astype(np.int64),
        **({} if kept is None else {"kept": np.array(kept, dtype=np.int32)}),
    }


def bins_read(part: Fields, features: int | None = None) -> Bins:
    """Read the bins; kernels require one sorted list of thresholds for every feature."""
    sizes = part.array("sizes", np.int32, features, within=(0, MAX_BINS - 1))
    part.room.take(BYTES_A_FEATURE * sizes.size, part.where)
    sizes_kept = sizes
    if "kept" in part:
        places = part.array("kept", np.int32, None, within=(0, sizes.size - 1))
        if (places[1:] <= places[:-1]).any():
            part.refuse("kept", "are not in order")
        sizes_kept = np.zeros_like(sizes)
        sizes_kept[places] = sizes[places]
    total = int(sizes_kept.sum(dtype=np.int64))
    bound = (-MAX_FLOAT32, MAX_FLOAT32)
    thresholds = part.array("thresholds", np.float32, total, within=bound)
    middle = part.array("middle", np.int64, sizes.size, within=(0, MAX_BINS))
    levels = part.array("levels", np.int64, sizes.size, within=(0, MAX_BINS + 1))
    part.end()
    if (middle > sizes).any():
        part.refuse("middle", "lies beyond the bins of its feature")
    ends = np.cumsum(sizes_kept, dtype=np.int64)
    # thresholds may fall where the next feature begins, and nowhere else
    falls = np.flatnonzero(thresholds[1:] < thresholds[:-1]) + 1
    if not np.isin(falls, ends).all():
        part.refuse("thresholds", "are not in order")
    thresholds_of = tuple(np.split(thresholds, ends[:-1])) if sizes.size else ()
    return Bins(thresholds_of, middle, levels, sizes.astype(np.int64))


def classes_written(classes: NDArray[Any]) -> list[Any] | NDArray[np.uint8]:
    """Return the labels of the classes; refuse labels that a file would change."""
    labels: list[Any] = classes.tolist()
    if labels and isinstance(labels[0], tuple):  # sets of labels, with a 0 or 1 for each label
        return np.array(labels, dtype=np.uint8)
    for label in labels:
        if isinstance(label, str) and label.endswith("\0"):  # NumPy would drop it when reading
            raise FileError(f"class {label!r:.60} cannot be saved: it ends in a null character")
        if isinstance(label, int) and label >= 2**63:
            raise FileError(f"class {label} cannot be saved: it has more than 63 bits")
    return labels


def classes_read(part: Fields) -> NDArray[Any]:
    """Read the labels of the classes, or sets of labels: distinct, and all of one kind."""
    if isinstance(part.peek("classes"), np.ndarray):
        sets = part.array("classes", np.uint8, None, None, within=(0, 1))
        part.room.take(BYTES_A_LABEL * sets.size, f"{part.where}.classes")
        fits = len(sets) > 0 and 2 <= sets.shape[1] <= MAX_LABELS
        if not fits or len(np.unique(sets, axis=0)) != len(sets):
            part.refuse("classes", "are no distinct sets of two labels or more")
        return classes_of_sets(sets)
    labels = part.get("classes", list)
    # True equals 1, so that NumPy would merge classes of mixed kinds
    kinds = {type(label) for label in labels}
    if len(kinds) > 1 or not kinds <= {str, bool, int, float}:
        part.refuse("classes", "are not words, numbers or truth values, all of one kind")
    if len(set(labels)) != len(labels):
        part.refuse("classes", "hold one label twice")
    if kinds == {str}:  # NumPy stores each in the space of the longest
        part.room.take(4 * len(labels) * max(map(len, labels)), f"{part.where}.classes")
    if kinds == {int} and not all(-(2**63) <= label < 2**63 for label in labels):
        part.refuse("classes", "hold a number of more than 64 bits")
    return np.array(labels)


def names_read(part: Fields, features: int) -> tuple[str, ...] | None:
    """Read the names of columns; None if there are none."""
    if part.peek("names") is None:
        part.any("names")
        return None
    names = tuple(part.words("names"))
    if len(names) != features:
        part.refuse("names", f"are {len(names)} for {features} features")
    return names


def levels_read(part: Fields, features: int, bins: Bins | None) -> Levels:
    """Read the levels of categorical columns, and compare their numbers with the bins."""
    levels = part.made("levels", Levels.from_dict)
    if any(column >= features for column in levels.columns):
        part.refuse("levels", f"name a column beyond the {features} there are")
    if bins is not None and not np.array_equal(levels.counts(features), bins.levels):
        part.refuse("levels", "are not as many as the bins say")
    return levels


def certificate_read(part: Fields) -> Certificate | None:
    """Read a certificate; None if there is none."""
    stored = part.optional_part("certificate")
    if stored is None:
        return None
    values = fields.checked(stored, Certificate)
    stored.end()
    return Certificate.from_stored(values)


def with_digests(model: Held, document: Mapping[str, Any]) -> Held:
    """Set the digest of each claim that does not belong to the model of the file."""
    claims = {name: getattr(model, name, None) for name in CLAIMS}
    for name, claim in claims.items():
        if claim is not None:
            claims[name] = replace(claim, model_digest=kept(document, name))
    return replace(model, **claims)


def sketches_read(part: Fields) -> tuple[Sketch, ...]:
    """Read the sketches of the training rows, if there are any."""
    if "rows_seen" not in part:
        return ()
    sketches = {str(k): sketch for k, sketch in enumerate(part.get("rows_seen", list))}
    stored = Fields(sketches, "rows_seen", part.room)
    return tuple(stored.made(name, Sketch.from_dict) for name in sketches)


def optional(model: Model, names: Iterable[str]) -> dict[str, Any]:
    """Return the named parts that a model has, as plain values."""
    parts = {name: getattr(model, name, None) for name in names}
    return {name: part.to_dict() for name, part in parts.items() if part is not None}


def versions() -> dict[str, str]:
    """Return the versions of the software that writes a file."""
    return {"pacboost": own_version(), "numpy": np.__version__, "python": platform.python_version()}


@cache
def own_version() -> str:
    """Return the installed version of pacboost."""
    try:
        return metadata.version("pacboost")
    except metadata.PackageNotFoundError:  # imported from a folder without installation
        return "unknown"


def versions_read(part: Fields) -> None:
    """Refuse versions that are not words."""
    versions = part.any("versions")
    if not isinstance(versions, dict) or not all(isinstance(v, str) for v in versions.values()):
        part.refuse("versions", "are not words")


MAX_ROWS = 2**62
COMMITTEES = ("three_way", "three_learners", "majority_of", "subsampled", "bagged")


def _check_ledger(ledger: Ledger, classes: int) -> None:
    """Refuse a ledger that no run could have written."""
    _within("ledger.rows", ledger.rows, 0, MAX_ROWS)
    _within("ledger.classes", ledger.classes, 1, MAX_ROWS)
    _within("ledger.factor", ledger.factor, 0, MAX_NUMBER)
    for name in ("vc_dimension", "log_size"):
        value = getattr(ledger, name)
        if value is not None:
            _within(f"ledger.{name}", value, 0, MAX_NUMBER)
    if classes == 0 and (not ledger.regression or ledger.booster in COMMITTEES):
        raise ValueError(f"there are no classes, but {ledger.booster!r} names classes")
    for place, entry in enumerate(ledger.rounds):
        _check_round(f"ledger.rounds[{place}]", entry, ledger)
    check_numbers("ledger.refills", ledger.refills)
    check_numbers("ledger.hard", ledger.hard)
    counter = ledger.counterexample
    if counter is not None and (problem := counter.problem(len(ledger.rounds))):
        raise ValueError(f"ledger.counterexample: {problem}")
    ledger.columns()
    # the numbers have to go through the theorem, whether or not it certifies anything
    with suppress(NotCertified):
        training.product_bound(ledger)


def check_model(model: Model) -> None:
    """Refuse a ledger, a certificate, or sets and intervals that do not fit the model."""
    classes = model.classes.size
    if not model.forest:
        _check_ledger(model.ledger, classes)
    decision, answering, coverage = model.decision, model.answering, model.coverage
    claims = [] if decision is None else [decision.certificate, *decision.others]
    claims += [] if coverage is None else coverage.certificates
    if answering is not None and answering.chosen is not None:
        claims.append(answering.certificate)
    for claim in claims:
        _check_certificate(claim, None, ())
    if decision is not None and (classes < 2 or decision.positive not in model.classes.tolist()):
        raise ValueError(f"the threshold is for {decision.positive!r:.40}, which is no class of it")
    if model.certificate is not None:
        _check_certificate(model.certificate, model.held_out, [str(c) for c in model.classes])
    counts = model.counts
    if counts is not None:
        codes = 0 if model.bins is None else model.bins.missing + 1
        if counts.columns.max(initial=0) >= model.n_features or counts.rows.shape[1] != codes:
            raise ValueError("the counts are not those of the columns and bins")
    if coverage is not None:
        groups = len(getattr(coverage, "groups", ()))
        allowed = (groups,) if groups else (1, classes)
        if hasattr(coverage, "score") != bool(classes) or len(coverage.cutoffs) not in allowed:
            raise ValueError(f"the sets or intervals are not those of a model of {classes} classes")


def _check_certificate(
    certificate: Certificate, held_out: HeldOut | None, names: Sequence[str]
) -> None:
    """Refuse a certificate whose numbers are out of range or whose sentences fail."""
    _within("certificate.value", certificate.value, 0, MAX_NUMBER)
    _within("certificate.size", certificate.size, 0, MAX_ROWS)
    if not 0 <= certificate.delta < 1:
        raise ValueError(f"certificate.delta is {certificate.delta!r:.40}; it must lie in [0, 1)")
    _check_numbers("certificate.inputs", certificate.inputs)
    _check_numbers("certificate.details", certificate.details)
    # made once here, so that a damaged number is refused at the door and not in a report
    str(certificate)
    estimates.in_words(certificate, held_out, names)
    estimates.next_step(certificate, held_out)


def _check_round(where: str, entry: Round, ledger: Ledger) -> None:
    _check_numbers(where, vars(entry))
    exponential = ledger.potential in ("exponential", "projected")
    _within(f"{where}.weight", entry.weight, 1 if exponential else 0, MAX_ROWS)
    if not entry.normaliser > 0:
        raise ValueError(f"{where}.normaliser is {entry.normaliser!r}; it must be above 0")
    if ledger.plain_votes and abs(entry.edge) > 1:
        raise ValueError(f"{where}.edge is {entry.edge!r}; it must lie in [-1, 1]")
    if not ledger.regression:
        _within(f"{where}.training_error", entry.training_error, 0, 1 + 1e-9)
    for name in ("effective_size", "seconds"):
        _within(f"{where}.{name}", getattr(entry, name), 0, MAX_NUMBER)


def check_numbers(where: str, entries: Sequence[Any]) -> None:
    """Refuse records with numbers that no run writes."""
    for place, entry in enumerate(entries):
        _check_numbers(f"{where}[{place}]", vars(entry))


def _check_numbers(where: str, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        for number in value if isinstance(value, list) else (value,):
            if isinstance(number, int | float):
                _within(f"{where}.{name}", number, -MAX_NUMBER, MAX_NUMBER)


def _within(where: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise ValueError(f"{where} is {value!r:.40}; it must lie in [{low:g}, {high:g}]")
