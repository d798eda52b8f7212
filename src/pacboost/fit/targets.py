"""Labels, targets and sample weights, checked once where they enter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, is_multilabel, type_of_target
from sklearn.utils.validation import column_or_1d

from pacboost.errors import DataError, OneClassWarning, warn
from pacboost.kernels.threads import ROWS_PER_SPAN, each_rows
from pacboost.numerics.same_bits import mean
from pacboost.sources.explained_errors import checked_by_scikit_learn, refuse_masked, refuse_text
from pacboost.sources.odd_cells import odd_value, shown
from pacboost.sources.targets import refuse_mixed_labels, refuse_unsaved_labels, unmerged
from pacboost.sources.values import is_unicode

MIN_ROWS_TO_COUNT, MAX_LABEL_SPAN = 100_000, 256
"""This many whole labels, within this span, are numbered by counting: sorting ten million labels
takes a second, counting them a hundredth of that."""
MAX_TARGET = 1e100


def lowest_label(labels: NDArray[Any]) -> int | None:
    """Return the lowest label if labels are many integers close together; else None."""
    if labels.ndim != 1 or labels.size < MIN_ROWS_TO_COUNT or labels.dtype.kind not in "biuf":
        return None
    low, high = _ends(labels)
    if not (np.isfinite(low) and np.isfinite(high)) or float(high) - float(low) >= MAX_LABEL_SPAN:
        return None
    if max(abs(float(low)), abs(float(high))) >= 2**53:
        return None
    if labels.dtype.kind == "f" and not all(_are_whole(part) for part in _parts(labels)):
        return None
    return int(low)


def number_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer]]:
    """Return the sorted classes and the number of each label's class, as numpy.unique does."""
    low = lowest_label(labels)
    if low is None:
        return np.unique(labels, return_inverse=True)
    places = np.empty(labels.size, dtype=np.uint8)
    wide = np.int64 if labels.dtype.kind in "bu" else labels.dtype

    def count(first: int, last: int) -> None:
        part, numbers = labels[first:last], places[first:last]
        np.subtract(part, part.dtype.type(low), out=numbers, dtype=wide, casting="unsafe")

    each_rows(count, labels.size)
    last = int(_ends(places)[1])
    if last > 1:
        counts = sum(np.bincount(part, minlength=last + 1) for part in _parts(places))
    used = np.arange(last + 1) if last < 2 else np.flatnonzero(counts)
    classes = (used + low).astype(labels.dtype)
    if used[-1] == used.size - 1:  # no number between them is missing
        return classes, places
    ranks = np.zeros(MAX_LABEL_SPAN, dtype=np.uint8)
    ranks[used] = np.arange(used.size)
    return classes, ranks[places]


def _ends(labels: NDArray[Any]) -> tuple[Any, Any]:
    ends: list[tuple[Any, Any]] = []
    each_rows(lambda i, j: ends.append((labels[i:j].min(), labels[i:j].max())), labels.size)
    lows, highs = zip(*ends, strict=True)
    return np.min(lows), np.max(highs)


def _parts(labels: NDArray[Any]) -> list[NDArray[Any]]:
    return [labels[k : k + ROWS_PER_SPAN] for k in range(0, labels.size, ROWS_PER_SPAN)]


def _are_whole(part: NDArray[Any]) -> bool:
    """Check whether all floats are whole numbers; -0 is not one, because it prints differently."""
    whole = part.astype(np.int64).astype(part.dtype)
    return bool((whole == part).all() and not np.signbit(part[part == 0]).any())


def read_labels(y: Any, rows: int, *, several: bool = False) -> NDArray[Any]:
    """Check labels: one per row, none missing.

    Where a row may have ``several``, y may also hold a column of 0 and 1 for each of them.
    """
    if y is None:
        raise DataError("this classifier requires y to be passed, but the target y is None")
    refuse_text(y, "y")
    refuse_masked(y, "y")
    # Labels that are missing are looked for below.
    with np.errstate(invalid="ignore"), checked_by_scikit_learn():
        matrix = several and is_multilabel(y)
    if matrix:
        dense: Any = y.toarray() if hasattr(y, "toarray") else y
        labels: NDArray[Any] = np.asarray(dense)
        if not np.isin(labels, (0, 1)).all():
            strange = labels[~np.isin(labels, (0, 1))][0].item()
            raise DataError(
                f"y is a matrix that holds {strange!r}; with several labels a row it has a column "
                "for each label, 1 where the row has it and 0 where not"
            )
    else:
        with checked_by_scikit_learn():
            labels = column_or_1d(unmerged(y), warn=True)
    _check_length(labels, rows, "y")
    if labels.dtype.kind == "f":
        _check_finite(labels, "y", "label")
    if labels.dtype.kind == "O" and any(_is_absent(label) for label in labels):
        raise DataError("y holds missing labels (None or NaN); drop those rows")
    if labels.dtype.kind in "OU":
        _refuse_broken(labels)
    refuse_mixed_labels(labels)
    refuse_unsaved_labels(labels)
    if labels.dtype.kind in "MmV":
        raise DataError(
            f"y holds {labels.dtype}; labels are text, whole numbers or booleans. Make them text"
        )
    if lowest_label(labels) is not None:
        return labels
    try:
        check_classification_targets(labels)
    except ValueError as problem:
        raise DataError(
            f"{problem} Labels name classes: give text, whole numbers or booleans. To predict "
            "numbers, use pacboost.BoostRegressor."
        ) from problem
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for label in labels})
        raise DataError(
            f"y mixes labels of kinds {', '.join(kinds)}, which cannot be put in order; make them "
            "all text or all numbers"
        ) from problem
    return labels


def read_targets(y: Any, rows: int, name: str = "y") -> NDArray[np.float64]:
    """Check the numbers to predict: one per row, all finite."""
    if y is None:
        raise DataError("this regressor requires y to be passed, but the target y is None")
    refuse_text(y, name)
    refuse_masked(y, name)
    try:
        values = column_or_1d(y, warn=True)
    except ValueError as problem:
        raise DataError(
            f"{problem} {name} has to hold one number a row; fit one regressor for each column"
        ) from problem
    _check_length(values, rows, name)
    if values.dtype.kind == "O" and any(_is_absent(value) for value in values):
        raise DataError(f"{name} holds missing values (None or NaN); drop those rows")
    try:
        if values.dtype.kind not in "biufO" or any(isinstance(value, str) for value in values[:1]):
            raise TypeError(f"{values[0]!r}")
        targets: NDArray[np.float64] = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        raise DataError(
            f"{name} has to hold numbers ({problem}). To predict classes, take BoostClassifier"
        ) from problem
    _check_finite(targets, name, "number")
    worst = float(targets[np.abs(targets).argmax()])
    if worst and not 1 / MAX_TARGET <= abs(worst) <= MAX_TARGET:
        raise DataError(
            f"the largest number in {name} is {worst:g}; it must lie in [{1 / MAX_TARGET:g}, "
            f"{MAX_TARGET:g}], as squares are summed. Rescale them, or predict logarithms"
        )
    return targets


def _check_length(values: NDArray[Any], rows: int, name: str) -> None:
    if len(values) != rows:
        raise DataError(
            f"X has {rows} rows but {name} has {len(values)}; they must have equal length"
        )


def _check_finite(values: NDArray[Any], name: str, needed: str) -> None:
    if not np.isfinite(values).all():
        what = "NaN" if np.isnan(values).any() else "infinity"
        raise DataError(
            f"Input {name} contains {what}. Every row needs a {needed}: drop the others."
        )


def _is_absent(label: Any) -> bool:
    """Check for None, NaN, and pandas' NA, whose comparison has no truth value."""
    try:
        return label is None or bool(label != label)  # noqa: PLR0124
    except (TypeError, ValueError, ArithmeticError):
        return not isinstance(label, np.ndarray)


def _refuse_broken(labels: NDArray[Any]) -> None:
    for row, label in enumerate(labels.ravel().tolist()):
        if isinstance(label, str) and not is_unicode(label):
            raise DataError(
                f"y holds {label!a} in row {row}, which is not valid Unicode and could not be "
                "written to a file; replace it, or drop the row"
            )


def two_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """Return the classes, and +1 for rows of the last one, -1 for the others."""
    classes, codes = np.unique(labels, return_inverse=True)
    if classes.size > 2:
        raise DataError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(labels)}: y holds {classes.size} classes."
        )
    return classes, np.where(codes == classes.size - 1, np.int8(1), np.int8(-1))


def read_weights(weights: Any, rows: int) -> NDArray[np.float64] | None:
    """Check weights: one per row, finite, not negative, not all zero; None if all are equal."""
    if weights is None:
        return None
    refuse_masked(weights, "sample_weight")
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        odd = odd_value(weights, "sample_weight", text=True)
        odd = odd or f"sample_weight is {shown(weights)}"
        raise DataError(f"{odd}; give one number, 0 or more, for every row") from problem
    if values.ndim == 0:
        values = np.full(rows, float(values))
    if values.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar; got shape {values.shape}")
    _check_length(values, rows, "sample_weight")
    if not np.isfinite(values).all():
        raise DataError("sample_weight holds NaN or infinity; weights have to be finite")
    if (values < 0).any():
        worst = int(values.argmin())
        raise DataError(
            f"Negative values in data passed to `sample_weight`: row {worst} has {values[worst]}; "
            "a weight says how much a row counts, and 0 leaves it out"
        )
    if not (values > 0).any():
        raise DataError("sample_weight is zero everywhere; at least one row has to count")
    if (values == values[0]).all():
        return None
    # Only ratios count; the largest becomes 1, and none that was above 0 vanishes.
    scaled: NDArray[np.float64] = values / values.max()
    np.maximum(scaled, np.finfo(np.float64).tiny, out=scaled, where=values > 0)
    return scaled


def weight_of_a_row(weights: NDArray[np.float64]) -> float:
    """Return the weight that corresponds to one row.

    Whole numbers say how many equal rows there are; for other weights, it is the mean.

    >>> weight_of_a_row(np.array([0.0, 1.0, 4.0])), weight_of_a_row(np.array([0.0, 0.5, 1.5]))
    (1.0, 1.0)
    """
    positive = weights[weights > 0]
    return 1.0 if bool((positive == np.rint(positive)).all()) else mean(positive)


def one_class_warning(classes: NDArray[Any], lacks: str = "") -> OneClassWarning:
    """Return a warning that there is one class only."""
    return OneClassWarning(
        f"y holds one class only ({classes.tolist()[0]!r}); the classifier is constant{lacks}"
    )


def warn_of_one_class(classes: NDArray[Any], *, certified: bool = True) -> None:
    """Warn if there is only one class, and if that leaves nothing to certify."""
    if classes.size == 1:
        lacks = "" if certified else " and not certified"
        warn(str(one_class_warning(classes, lacks)), OneClassWarning)
