"""The points of a run: drawn from a world, painted, or read from a file, then edited by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError, invalid
from pacboost.lab.choices import KINDS, knob_values, world_of
from pacboost.lab.files import Shelf, read_file
from pacboost.lab.spec import MAX_POINTS, LimitError, mapping, number, sequence, text, whole
from pacboost.sources.toy import CALLS, WORDS, counted_calls, lecture_points
from pacboost.theory.pictures.learning import SHARED_BITS, long_servedio_points
from pacboost.theory.sampling import Plane

Doubles = NDArray[np.float64]
Whole = NDArray[np.int64]
TEST_ROWS = 1000
TRUTH_ROWS = 20_000
TEST_SEED, TRUTH_SEED = 1_000_000, 2_000_000
"""Added to the seed of the points, so that test rows are other draws."""


@dataclass(frozen=True, eq=False)
class Points:
    """The rows of a run, and where they are drawn."""

    X: Doubles
    y: Whole
    """-1 or +1."""
    ids: Whole
    base: int
    """Number of points before any is added by hand."""
    places: Doubles
    """Positions on the page, of shape (points, 2); equal to X if it has two features."""
    flipped: NDArray[np.bool_]
    names: tuple[str, ...]
    classes: tuple[str, str] = ("−", "+")
    plane: bool = True
    test: tuple[Doubles, Whole] | None = None
    truth: tuple[Doubles, Whole] | None = None
    notes: tuple[str, ...] = ()

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The limits of the drawing: the smallest and the largest x, then those of y.

        A painted sheet always shows the unit square.
        """
        ends: list[float] = []
        for values in self.places.T:
            shown = [*values, 0.0, 1.0] if self.base == 0 else values
            low, high = float(np.min(shown)), float(np.max(shown))
            beyond = 0.08 * (high - low) or 0.5
            ends += [low - beyond, high + beyond]
        return ends[0], ends[1], ends[2], ends[3]

    def check_classes(self) -> None:
        """Raise unless there are points of both classes."""
        if len(self.y) < 2 or np.unique(self.y).size < 2:
            raise DataError(
                f"there are {len(self.y)} points of {np.unique(self.y).size} classes; boosting "
                "needs both classes. Add points of each class"
            )

    def plain(self) -> dict[str, Any]:
        return {
            "ids": self.ids.tolist(), "base": self.base, "x": self.places[:, 0].tolist(),
            "y": self.places[:, 1].tolist(), "label": self.y.tolist(), "names": list(self.names),
            "classes": list(self.classes), "box": list(self.box), "plane": self.plane,
            "flipped": self.ids[self.flipped].tolist(), "features": self.X.shape[1],
            "test_rows": 0 if self.test is None else len(self.test[1]),
            "truth_rows": 0 if self.truth is None else len(self.truth[1]),
            "notes": list(self.notes),
        }  # fmt: skip


def make_points(spec: Mapping[str, Any], files: Shelf) -> Points:
    """Return the points that a spec describes.

    >>> points = make_points({"kind": "xor", "n": 50, "edits": {"deleted": [3]}}, Shelf())
    >>> points.X.shape, points.ids[:4].tolist(), points.test[0].shape
    ((49, 2), [0, 1, 2, 4], (1000, 2))
    """
    kind = spec.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise invalid("kind", kind, f"may be {', '.join(KINDS)}")
    if kind == "csv":
        points = _csv(spec, files)
    elif kind == "points":
        points = _plain(np.empty((0, 2)), np.empty(0, dtype=np.int64))
    elif kind == "lecture":
        points = _plain(*lecture_points())
    else:
        points = {"long_servedio": _long_servedio, "calls": _calls}.get(kind, _drawn)(spec)
    return _edited(points, mapping("edits", spec.get("edits", {})))


def _drawn(spec: Mapping[str, Any]) -> Points:
    knobs = knob_values(spec)
    world, n, seed = world_of(spec), int(knobs["n"]), int(knobs["seed"])
    if isinstance(world, Plane):
        X, y, flipped = world.draw_marked(n, seed)
    else:
        X, y = world.draw(n, seed)
        flipped = world.truth(X) != y

    def more(rows: int, offset: int) -> tuple[Doubles, Whole]:
        X, y = world.draw(rows, seed + offset)
        return X, y.astype(np.int64)

    return Points(
        X, y.astype(np.int64), np.arange(n), n, X, flipped, ("x0", "x1"),
        test=more(TEST_ROWS, TEST_SEED), truth=more(TRUTH_ROWS, TRUTH_SEED),
    )  # fmt: skip


def _plain(X: Doubles, y: Whole) -> Points:
    n = len(y)
    return Points(X, y, np.arange(n), n, X, np.zeros(n, dtype=np.bool_), ("x0", "x1"))


def _long_servedio(spec: Mapping[str, Any]) -> Points:
    knobs = knob_values(spec)
    n, seed, noise = int(knobs["n"]), int(knobs["seed"]), float(knobs["noise"])
    X, y, true = long_servedio_points(n, noise, seed)
    X_test, _, y_test = long_servedio_points(TEST_ROWS, noise, seed + TEST_SEED)
    fresh, _, truth = long_servedio_points(TRUTH_ROWS // 4, noise, seed + TRUTH_SEED)
    jitter = np.random.default_rng(seed).uniform(-0.06, 0.06, (n, 2))
    means = [X[:, :SHARED_BITS].mean(axis=1), X[:, SHARED_BITS:].mean(axis=1)]
    return Points(
        X, y, np.arange(n), n, np.stack(means, axis=1) + jitter, y != true,
        tuple(f"bit {j}" for j in range(X.shape[1])),
        plane=False, test=(X_test, y_test), truth=(fresh, truth),
        notes=(
            "A point is a row of 21 bits. Across: the mean of the first 11; up: the mean of the "
            "other 10. Test rows have their true labels.",
        ),
    )  # fmt: skip


def _calls(spec: Mapping[str, Any]) -> Points:
    knobs = knob_values(spec)
    n, seed = int(knobs["n"]), int(knobs["seed"])
    X, y, types = counted_calls(n, seed)
    jitter = np.random.default_rng(seed).uniform(-0.3, 0.3, (n, 2))
    places = np.stack([X.sum(axis=1), np.searchsorted(list(CALLS), types)], axis=1) + jitter
    return replace(
        _plain(X, y), places=places, names=tuple(f"'{word}'" for word in WORDS), plane=False,
        test=counted_calls(TEST_ROWS, seed + TEST_SEED)[:2],
        truth=counted_calls(TRUTH_ROWS // 4, seed + TRUTH_SEED)[:2],
        notes=(
            "A point is what a caller says; + wants a call to be placed. Across: the number of "
            f"words; up: the type of the call, from {min(CALLS)} to {max(CALLS)}. Rules count a "
            "word.",
        ),
    )  # fmt: skip


def _csv(spec: Mapping[str, Any], files: Shelf) -> Points:
    file = files.get(spec.get("digest"), str(spec.get("name", "")))
    target = text("target", spec.get("target"))
    features = [text("a feature", name) for name in sequence("features", spec.get("features"))]
    usable = [name for name in features if name in file.numbers and name != target]
    if len(features) != 2 or len(usable) < 2 or features[0] == features[1]:
        raise DataError(
            f"features are {features}; give two different columns of numbers, other than the "
            f"target: {', '.join(name for name in file.numbers if name != target) or 'none'}"
        )
    levels = dict(file.levels(target))
    positive = spec.get("positive")
    if not isinstance(positive, str) or positive not in levels or len(levels) < 2:
        raise DataError(
            f"column {target!r} has {', '.join(list(levels)[:8])}, and positive is {positive!r}; "
            "give a column of two classes, and one of them as positive"
        )
    X = np.stack([file.numbers[name] for name in features], axis=1)
    y = np.where(file.texts[target] == positive, 1, -1).astype(np.int64)
    return _divided(X, y, spec, tuple(features), (f"not {positive}", str(positive)))


def _divided(
    X: Doubles, y: Whole, spec: Mapping[str, Any], names: tuple[str, ...], classes: tuple[str, str]
) -> Points:
    """Drop rows with missing numbers, sample the rows if they are many, and hold out test rows."""
    whole_rows = np.isfinite(X).all(axis=1)
    notes = []
    if not whole_rows.all():
        notes.append(f"{int((~whole_rows).sum()):,} rows with missing numbers are dropped.")
    rng = np.random.default_rng(whole("seed", spec.get("seed", 0), 0, 2**31))
    rows = rng.permutation(np.flatnonzero(whole_rows))
    # test rows are taken before the points are limited: the limit must not change who tests
    apart = int(number("test", spec.get("test", 0.3), 0.0, 0.9) * rows.size)
    tested, training = rows[:apart], np.sort(rows[apart : apart + MAX_POINTS])
    if rows.size - apart > MAX_POINTS:
        notes.append(f"{MAX_POINTS:,} of {rows.size - apart:,} rows, a random sample, are shown.")
    return replace(
        _plain(X[training], y[training]), names=names, classes=classes, notes=tuple(notes),
        test=(X[tested], y[tested]) if tested.size else None,
    )  # fmt: skip


def _edited(points: Points, edits: Mapping[str, Any]) -> Points:
    """Move, flip, delete and add points; ids do not change."""
    if not edits:
        return points
    X, y = points.X.copy(), points.y.copy()
    ids, flipped = points.ids, points.flipped.copy()
    added = [_point(entry) for entry in sequence("added", edits.get("added", []))]
    moved = mapping("moved", edits.get("moved", {}))
    if (added or moved) and not points.plane:
        raise ParameterError(
            "points cannot be added or moved: these rows have more than two features"
        )
    if len(points.y) + len(added) > MAX_POINTS:
        raise LimitError(f"there may be at most {MAX_POINTS:,} points; delete some to add others")
    if added:
        X = np.concatenate([X, np.array([place for place, _ in added])])
        y = np.concatenate([y, np.array([label for _, label in added])])
        ids = np.concatenate([ids, points.base + np.arange(len(added))])
        flipped = np.concatenate([flipped, np.zeros(len(added), dtype=np.bool_)])
    # edits name points by id, since rows move up when a point is deleted
    where = {int(point_id): row for row, point_id in enumerate(ids)}
    for point_id, place in moved.items():
        X[_row(where, point_id)] = _place(place)
    for point_id in sequence("flipped", edits.get("flipped", [])):
        row = _row(where, point_id)
        y[row], flipped[row] = -y[row], not flipped[row]
    gone = [_row(where, point_id) for point_id in sequence("deleted", edits.get("deleted", []))]
    keep = np.setdiff1d(np.arange(len(y)), gone)
    places = X if points.plane else points.places
    return replace(
        points, X=X[keep], y=y[keep], ids=ids[keep], flipped=flipped[keep], places=places[keep]
    )


def _row(where: Mapping[int, int], point_id: object) -> int:
    try:
        return where[int(str(point_id))]
    except (KeyError, ValueError) as problem:
        raise ParameterError(f"there is no point with the id {point_id!r}") from problem


def _place(content: object) -> tuple[float, float]:
    pair = sequence("a place", content)
    if len(pair) != 2:
        raise ParameterError(f"a place is {pair!r}; it has two numbers")
    return number("x", pair[0], -1e6, 1e6), number("y", pair[1], -1e6, 1e6)


def _point(content: object) -> tuple[tuple[float, float], int]:
    parts = sequence("a point", content)
    if len(parts) != 3 or parts[2] not in (-1, 1):
        raise ParameterError(f"a point is {parts!r}; it has x, y and a label of -1 or 1")
    return _place(list(parts[:2])), int(parts[2])


def csv_points(path: Path, spec: Mapping[str, Any]) -> tuple[Doubles, Whole, Doubles, Whole]:
    """Read a CSV file as the lab does: points, labels, test points and test labels."""
    files = Shelf()
    file = files.add(read_file(path.name, path.read_bytes()))
    points = make_points({**spec, "kind": "csv", "digest": file.digest}, files)
    return points.X, points.y, *(points.test or (points.X[:0], points.y[:0]))
