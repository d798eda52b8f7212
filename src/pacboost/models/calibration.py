"""Turn scores into probabilities with held-out rows.

A booster's score ranks rows well, but the share of the second class among rows of a score has to be
learned from rows outside the training set. Rising curves map a score to a probability: a sigmoid of
two parameters ("sigmoid"), or steps ("isotonic"), so two rows keep their order or tie.
"temperature" has a single slope for all classes instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

from pacboost.errors import DataError, invalid
from pacboost.kernels.same_bits import sigmoid, softmax
from pacboost.numerics.checks import positive_whole
from pacboost.numerics.same_bits import log_of, row_totals, softplus, solved, total

MAX_NEWTON_STEPS = 100
"""Newton's method takes about ten; each step is halved until the loss falls."""
PRECISION = 1e-12

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Pooled:
    """Rows with one entry for each distinct score, ascending."""

    scores: Doubles
    weights: Doubles
    positive: Doubles
    """The part of the weight that lies on rows of the class."""


def pool(scores: Doubles, positive: NDArray[np.bool_], weights: Doubles) -> Pooled:
    """Sum weights over equal scores; rows are sorted first, so that their order has no effect."""
    order = np.lexsort((weights, positive, scores))
    scores, weights = scores[order] + 0.0, weights[order]  # + 0.0 makes -0.0 a plain 0
    starts = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
    return Pooled(
        scores[starts],
        np.add.reduceat(weights, starts),
        np.add.reduceat(np.where(positive[order], weights, 0.0), starts),
    )


@dataclass(frozen=True)
class Sigmoid:
    """The curve 1 / (1 + exp(-(slope·score + offset))), with a slope of 0 or more."""

    slope: float
    offset: float

    def __post_init__(self) -> None:
        if not (np.isfinite([self.slope, self.offset]).all() and self.slope >= 0):
            raise ValueError(
                f"slope is {self.slope} and offset {self.offset}; both must be finite, and the "
                "slope at least 0"
            )

    def at(self, scores: Doubles) -> Doubles:
        """Return the height of the curve at each score."""
        with np.errstate(over="ignore"):  # an infinite exponent has a probability, 0 or 1
            return np.asarray(sigmoid(self.slope * scores + self.offset))

    @classmethod
    def fit(cls, rows: Pooled) -> Sigmoid:
        """Fit by Platt's method (Probabilistic outputs for support vector machines, 1999).

        Slope and offset minimise the cross-entropy, with targets (n₁ + 1)/(n₁ + 2) for n₁ rows of
        the class and 1/(n₀ + 2) for n₀ others instead of 1 and 0. If a falling curve would be best,
        the best curve that does not fall is level.
        """
        ones, zeros = rows.positive, rows.weights - rows.positive
        high, low = (total(ones) + 1) / (total(ones) + 2), 1 / (total(zeros) + 2)
        targets = ones * high + zeros * low
        low, high = rows.scores[0], rows.scores[-1]
        centre, half = low / 2 + high / 2, high / 2 - low / 2
        mean = total(targets) / total(rows.weights)
        level = log_of(mean / (1 - mean))
        if half < 1e-300:  # one score only, as far as doubles can tell
            return cls(0.0, level)
        u = (rows.scores - centre) / half  # in [-1, 1]
        if total((rows.weights * mean - targets) * u) >= 0:  # the derivative at slope 0
            return cls(0.0, level)
        slope, offset = _newton(u, rows.weights, targets, level)
        return cls(float(max(slope, 0.0) / half), float(offset - slope * (centre / half)))


@dataclass(frozen=True)
class Isotonic:
    """A piecewise linear curve through rising knots, constant outside."""

    knots: tuple[float, ...]
    heights: tuple[float, ...]

    def __post_init__(self) -> None:
        rising = (np.diff(self.knots) > 0).all() and (np.diff(self.heights) >= 0).all()
        inside = all(0 <= height <= 1 for height in self.heights)
        if not (self.knots and len(self.knots) == len(self.heights) and rising and inside):
            raise ValueError("knots and heights of a curve must rise, and be equal in number")

    def at(self, scores: Doubles) -> Doubles:
        """Return the height of the curve at each score."""
        knots, heights = np.array(self.knots), np.array(self.heights)
        slopes = np.append(np.diff(heights) / np.diff(knots), 0.0)
        x = np.clip(scores, knots[0], knots[-1])
        k = np.searchsorted(knots, x, side="right") - 1
        return np.asarray(np.clip(slopes[k] * (x - knots[k]) + heights[k], 0.0, 1.0))

    @classmethod
    def fit(cls, rows: Pooled) -> Isotonic:
        """Fit rising heights by least squares (Zadrozny and Elkan, 2002)."""
        fitted = isotonic_regression(rows.positive / rows.weights, weights=rows.weights)
        heights = np.clip(fitted.x, 0.0, 1.0)
        level = np.concatenate([[False], np.diff(heights) == 0, [False]])
        ends = ~(level[:-1] & level[1:])  # knots inside a level stretch are redundant
        return cls(tuple(rows.scores[ends].tolist()), tuple(heights[ends].tolist()))


def _newton(u: Doubles, mass: Doubles, targets: Doubles, level: float) -> tuple[float, float]:
    """Minimise Σ mass · ln(1 + exp z) - targets · z, where z = slope·u + offset.

    ``targets`` lies strictly between 0 and ``mass``, so the loss is convex and has a minimum.
    """

    def loss(slope: float, offset: float) -> float:
        z = slope * u + offset
        return total(mass * softplus(z) - targets * z)

    slope, offset, now = 0.0, level, loss(0.0, level)
    enough = PRECISION * total(mass)
    for _ in range(MAX_NEWTON_STEPS):
        p = sigmoid(slope * u + offset)
        pull, bend = mass * p - targets, mass * p * (1 - p)
        gradient = np.array([total(pull * u), total(pull)])
        if np.abs(gradient).max() <= enough:
            break
        mixed = total(bend * u)
        hessian = np.array([[total(bend * u * u), mixed], [mixed, total(bend)]])
        step = solved(hessian + enough * np.eye(2), gradient[:, None])[:, 0]
        size = 1.0
        while size > PRECISION:
            after = loss(slope - size * step[0], offset - size * step[1])
            if after <= now - 1e-4 * size * total(gradient * step):
                break
            size /= 2
        else:  # the loss is as low as doubles can tell
            break
        slope, offset, now = slope - size * step[0], offset - size * step[1], after
    return slope, offset


def fit_slope(scores: Doubles, classes: NDArray[np.int64], weights: Doubles) -> float:
    """Find the slope that minimises the cross-entropy of softmax(slope·F), F (rows, classes).

    All classes share one slope, learned from all rows, so rows keep their order of classes (Guo,
    Pleiss, Sun and Weinberger 2017, "temperature").

    One pseudo-row is added, an average of all rows, whose label is each class with equal
    probability; so the slope is finite even if every row is right. If it is below the default slope
    of boosters, the pseudo-row has the label probabilities of the default slope instead: rows that
    are all right are no evidence against the scores.
    """
    default_slope = 2.0 if scores.shape[1] == 2 else 1.0
    slope = _slope(scores, classes, weights, np.full(scores.shape, 1 / scores.shape[1]))
    if slope >= default_slope:
        return slope
    return min(default_slope, _slope(scores, classes, weights, softmax(default_slope * scores)))


def _slope(
    scores: Doubles, classes: NDArray[np.int64], weights: Doubles, believed: Doubles
) -> float:
    """Find the slope if the pseudo-row has labels with the probabilities ``believed``."""
    rows = np.arange(classes.size)
    unknown = weights / math.fsum(weights)
    targets = weights * scores[rows, classes] + unknown * row_totals(believed * scores)
    mass, slope = weights + unknown, 0.0
    for _ in range(MAX_NEWTON_STEPS):
        chances = softmax(slope * scores)
        mean = row_totals(chances * scores)
        spread = row_totals(chances * np.square(scores - mean[:, None]))
        fall, bend = math.fsum(targets - mass * mean), math.fsum(mass * spread)
        step = fall / bend if bend > 0 else 0.0
        step = min(max(step, -slope / 2), 2 * slope + 1 / (1 + float(np.abs(scores).max())))
        slope += step
        if abs(step) <= PRECISION * slope:
            break
    return slope


METHODS: dict[str, type[Sigmoid] | type[Isotonic]] = {"sigmoid": Sigmoid, "isotonic": Isotonic}
TEMPERATURE = "temperature"
NAMES = (*METHODS, TEMPERATURE)

MIN_ROWS = 10
"""With fewer held-out rows a curve would reflect chance more than the scores."""

ROWS_FOR_ISOTONIC = 1_000
"""With fewer rows estimators use "sigmoid": on eight data sets the log loss of "isotonic" was 1.5
times as large with 700 rows, and 2.3 times with 200, since its steps reach 0 and 1 by chance."""


@dataclass(frozen=True)
class Calibration:
    """Curves from scores to probabilities: one for two classes, otherwise one for each class.

    >>> doubled = Calibration("sigmoid", (Sigmoid(slope=2.0, offset=0.0),))
    >>> doubled.probabilities([0.0, 1.0]).round(3).tolist()
    [[0.5, 0.5], [0.119, 0.881]]
    """

    method: str
    curves: tuple[Sigmoid | Isotonic, ...]
    slope: float | None = None
    """The slope of "temperature", which has no curves: probabilities are softmax(slope·F)."""

    def probabilities(self, scores: ArrayLike) -> Doubles:
        """Return probabilities (rows, classes) of scores (rows,) or (rows, classes).

        With one curve for each class, every row's heights are divided by their sum; where all of
        them are 0, the classes get equal shares.
        """
        values = _finite("scores", scores)
        if self.slope is not None:
            return np.asarray(softmax(self.slope * _matrix(values)))
        count = len(self.curves)
        if values.ndim == 0 or values.shape[1:] != (() if count == 1 else (count,)):
            shape = "(rows,)" if count == 1 else f"(rows, {count})"
            raise DataError(f"scores have shape {values.shape}; this calibration takes {shape}")
        if count == 1:
            second = self.curves[0].at(values)
            return np.stack([1 - second, second], axis=1)
        heights = np.stack([c.at(values[:, k]) for k, c in enumerate(self.curves)], axis=1)
        sums = row_totals(heights)[:, None]
        return np.where(sums > 0, heights / np.where(sums > 0, sums, 1.0), 1.0 / count)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain objects that JSON knows."""
        if self.slope is not None:
            return {"method": self.method, "slope": self.slope}
        return {"method": self.method, "curves": [dict(vars(curve)) for curve in self.curves]}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Calibration:
        """Read the result of ``to_dict``."""
        try:
            if content["method"] == TEMPERATURE:
                slope = float(content["slope"])
                if not 0 <= slope < np.inf:
                    raise ValueError(f"its slope is {slope}")
                return cls(TEMPERATURE, (), slope)
            kind: Any = METHODS[content["method"]]
            one = kind is Sigmoid
            curves = tuple(
                kind(**{k: float(v) if one else tuple(map(float, v)) for k, v in curve.items()})
                for curve in content["curves"]
            )
            if not curves:
                raise ValueError("it has no curves")
        except (KeyError, TypeError, ValueError) as problem:
            raise DataError(f"this is not a calibration: {problem!r}") from problem
        return cls(content["method"], curves)


def fit(
    method: str, scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None
) -> Calibration:
    """Learn the curves from held-out rows: ``sigmoid`` for few rows, ``isotonic`` for thousands.

    With many classes, and few rows of each, ``temperature`` does best.

    Scores are (rows,) with labels 0 and 1, or (rows, classes) with labels 0 to classes - 1; then
    every class gets a curve from its score, for that class against all others. Weights count
    relative to one another; a row of weight 0 is ignored. The order of rows does not matter.

    >>> scores, labels = np.arange(12) - 5.5, np.array([0] * 5 + [1, 0] + [1] * 5)
    >>> fit("sigmoid", scores, labels).probabilities([0.0, 4.0])[:, 1].round(3).tolist()
    [0.5, 0.875]
    >>> fit("isotonic", scores, labels).probabilities([0.0, 4.0])[:, 1].round(3).tolist()
    [0.5, 1.0]
    """
    if method not in NAMES:
        raise invalid("method", method, f"may be {' or '.join(NAMES)}")
    values, classes, mass = _held_out(scores, labels, weights)
    if method == TEMPERATURE:
        return Calibration(method, (), fit_slope(_matrix(values), classes, mass))
    count = 2 if values.ndim == 1 else values.shape[1]
    present = np.unique(classes)
    absent = np.setdiff1d(np.arange(count), present)
    if absent.size:
        raise DataError(
            f"the held-out rows are of {present.size} of {count} classes, none of class "
            f"{absent[0]}; a curve needs rows of every class: hold out more rows, class by class, "
            "or take 'temperature'"
        )
    of_class = {1: values} if values.ndim == 1 else dict(enumerate(values.T))
    pooled = [pool(class_scores, classes == k, mass) for k, class_scores in of_class.items()]
    return Calibration(method, tuple(map(METHODS[method].fit, pooled)))


def calibration_error(
    probabilities: ArrayLike, labels: ArrayLike, bins: int = 15, weights: ArrayLike | None = None
) -> float:
    """Return the expected calibration error of the top class.

    A row's confidence is its largest probability, and it is right if that class (the first such)
    is its label. Rows are sorted by confidence and cut into ``bins`` parts of equal weight, where
    rows of equal confidence stay together (they go where the middle of their weight lies). The
    error is the weighted mean, over parts, of |share of rows that are right - mean confidence|.
    It is not 0 even for true probabilities: chance adds up to about 0.4·√(bins / rows).

    Probabilities are (rows, classes), or (rows,) for the second of two classes.
    """
    shares = _finite("probabilities", probabilities)
    shares = np.stack([1 - shares, shares], axis=1) if shares.ndim == 1 else shares
    if shares.ndim != 2 or shares.shape[1] < 2 or shares.shape[0] == 0:
        raise DataError(
            f"probabilities have shape {np.shape(probabilities)}; they must be (rows, classes), or "
            "(rows,) for the second of two classes, with at least one row"
        )
    parts = positive_whole("bins", bins)
    right = shares.argmax(axis=1) == _labels(labels, *shares.shape)
    mass = _weights(weights, shares.shape[0])
    counted = mass > 0
    rows = pool(shares.max(axis=1)[counted], right[counted], mass[counted])
    ends = np.cumsum(rows.weights)
    middles = (ends - rows.weights / 2) / ends[-1]
    part = np.minimum((middles * parts).astype(np.int64), parts - 1)
    gaps = np.bincount(part, rows.positive - rows.weights * rows.scores)
    return total(np.abs(gaps)) / float(ends[-1])


def _held_out(
    scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None
) -> tuple[Doubles, NDArray[np.int64], Doubles]:
    """Check the rows, drop those of weight 0, and scale weights to a mean of 1."""
    values = _finite("scores", scores)
    if values.ndim not in {1, 2} or (values.ndim == 2 and values.shape[1] < 2):
        raise DataError(
            f"scores have shape {values.shape}; they must be (rows,) for two classes or "
            "(rows, classes) for more"
        )
    count = 2 if values.ndim == 1 else values.shape[1]
    classes = _labels(labels, values.shape[0], count)
    mass = _weights(weights, values.shape[0])
    counted = mass > 0
    values, classes, mass = values[counted], classes[counted], mass[counted]
    if classes.size < MIN_ROWS:
        raise DataError(
            f"there are {classes.size} held-out rows to calibrate with, and at least {MIN_ROWS} "
            "are needed: hold out more rows, or do not calibrate"
        )
    return values, classes, mass * (mass.size / total(np.sort(mass)))


def _matrix(values: Doubles) -> Doubles:
    """Return scores as (rows, classes); two classes have a single score, for the second."""
    return np.stack([np.zeros_like(values), values], axis=1) if values.ndim == 1 else values


def _finite(name: str, array: ArrayLike) -> Doubles:
    values = np.asarray(array, dtype=np.float64)
    if not np.isfinite(values).all():
        raise DataError(f"{name} hold NaN or infinity; they must be finite numbers")
    return values


def _labels(labels: ArrayLike, rows: int, count: int) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.shape != (rows,):
        raise DataError(f"labels have shape {array.shape}; there must be one for each of {rows}")
    strange = array[~np.isin(array, np.arange(count))]
    if strange.size:
        raise DataError(f"a label is {strange[0]!r}; they must be whole numbers, 0 to {count - 1}")
    return array.astype(np.int64)


def _weights(weights: ArrayLike | None, rows: int) -> Doubles:
    if weights is None:
        return np.ones(rows)
    mass = _finite("weights", weights)
    if mass.shape != (rows,):
        raise DataError(f"weights have shape {mass.shape}; there must be one for each of {rows}")
    if (mass < 0).any() or not mass.any():
        raise DataError("weights must not be negative, and not all of them 0")
    return mass


def crossed_error(
    method: str, scores: Doubles, labels: NDArray[np.int64], weights: Doubles | None = None
) -> float | None:
    """Return the calibration error if each half of the rows is calibrated by the other.

    Every other row of each class goes to the first half. None if a half is too small to fit on.
    """
    order = np.argsort(labels, kind="stable")
    first = np.zeros(labels.size, dtype=np.bool_)
    first[order[::2]] = True
    parts = []
    for half in (first, ~first):
        half_weights = None if weights is None else weights[~half]
        try:
            fitted = fit(method, scores[~half], labels[~half], half_weights)
        except DataError:
            return None
        parts.append((fitted.probabilities(scores[half]), labels[half], np.flatnonzero(half)))
    probabilities, held_out_labels, halves = map(np.concatenate, zip(*parts, strict=True))
    half_weights = None if weights is None else weights[halves]
    return calibration_error(probabilities, held_out_labels, weights=half_weights)
