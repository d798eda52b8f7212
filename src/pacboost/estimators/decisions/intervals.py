"""intervals: prediction intervals that hold the true number with certified coverage."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from pacboost.bounds.certificate import Certificate
from pacboost.bounds.coverage import IntervalRule
from pacboost.errors import DataError, FileError, NotCertified, invalid
from pacboost.estimators.decisions.decided import Decided, kept_rule, with_rule
from pacboost.estimators.decisions.interval_methods import METHODS, Predictor, method_for
from pacboost.numerics.checks import probability
from pacboost.numerics.same_bits import mean
from pacboost.questions.calibration_rows import CalibrationRows
from pacboost.questions.inner_models import snapshot
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.optional import collected

Doubles = NDArray[np.float64]


@explains_input
def intervals(
    model: Predictor,
    X: object = None,
    y: object = None,
    *,
    coverage: float = 0.9,
    method: str | None = None,
    scale: BaseEstimator | None = None,
    floor: float = 1e-9,
    delta: float = 0.05,
    models: int = 1,
    groups: ArrayLike | None = None,
    copies: str = "draws",
    new_rows: object = None,
) -> PredictionIntervals:
    """Calibrate prediction intervals of a fitted regressor: they hold the number, with confidence.

    Except with probability ``delta`` over the calibration rows, at least ``coverage`` of new
    examples get an interval that holds their number. Conformal prediction mostly makes a weaker
    promise: coverage on average over calibration rows and new examples, which about half of all
    calibration samples miss.

    Parameters
    ----------
    model : any fitted regressor, or a pair of them
        A pair predicts a low and a high quantile, such as two ``BoostRegressor("quantile")``.
    X, y : rows and numbers that had no part in fitting or choosing the models
        Without them: the intervals that came with a model file.
    coverage : float, default=0.9
        The share of new examples whose interval has to hold their number.
    method : "residual", "scaled", "quantiles" or None, default=None
        "residual": the prediction, and the same width for all. "scaled": widths are multiples of
        ``scale``. "quantiles": both quantiles of a pair, moved by the same number. None:
        "quantiles" for a pair, "scaled" if ``scale`` is given, else "residual". Choose it before
        the rows are looked at, or give each of several tries its share of delta.
    scale : fitted regressor, default=None
        For "scaled": a model of how large errors are, fitted on other rows than these. None: the
        standard deviation of what the members of a forest or bag predict.
    floor : float, default=1e-9
        For "scaled": the least scale, in units of y; to be fixed before the rows are looked at.
    delta : float, default=0.05
        The probability with which the promise may fail.
    models : int, default=1
        How many models are tried on these rows and may be kept; they share delta.
    groups : array of group labels, default=None
        Give it when rows of one group depend on each other. One row is then drawn from every group,
        and the claim is about the examples of a new group. Rows that depend on each other in the
        order of time are not covered by any theorem here.
    copies : "draws" or "distinct", default="draws"
        What equal rows are, as in ``certify``.
    new_rows : table of rows, default=None
        Rows of a world that has moved, without labels: the promise is then about the examples that
        learned weights describe, as in ``certify``.

    Examples
    --------
    >>> from pacboost import BoostRegressor
    >>> generator = np.random.default_rng(0)
    >>> X = generator.random((600, 1))
    >>> y = X[:, 0] + generator.normal(size=600) / 10
    >>> model = BoostRegressor(n_estimators=20).fit(X[:300], y[:300])
    >>> found = intervals(model, X[300:], y[300:], coverage=0.9)
    >>> round(found.certificate_.value, 3)
    0.901
    >>> bool(found.predict_interval(X[:1]).shape == (1, 2))
    True
    """
    if X is None:
        return PredictionIntervals(model, kept_rule(model, IntervalRule, "intervals"))
    probability("coverage", coverage)
    probability("delta", delta)
    way = method_for(model, method, scale)
    if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 < floor < math.inf:
        raise invalid("floor", floor, "is a finite number above 0")
    # none of the models that make an interval may have seen these rows (docs/proofs/sets.md)
    predictors = [*(model if way.needs_pair else [model]), *([] if scale is None else [scale])]
    targets = _targets(predictors, y)
    predicted = way.forecast(model, X, scale, floor)
    if predicted.low.size != targets.size:
        raise DataError(f"there are {predicted.low.size} rows and {targets.size} numbers in y")
    rows = CalibrationRows.of(predictors, X, targets, groups, copies, models, new_rows)
    scores = predicted.score(targets)[rows.kept]
    cutoff, certificate = rows.cutoff("interval_coverage", scores, coverage, delta, method=way.name)
    width = mean(np.diff(predicted.interval(cutoff), axis=1))
    rule = IntervalRule(way.name, coverage, cutoff, float(floor), certificate, width)
    return PredictionIntervals(model, rule, scale)


class PredictionIntervals(Decided):
    """A fitted regressor with prediction intervals; ``pacboost.intervals`` makes it.

    Attributes
    ----------
    estimator_ : the regressor, or the pair of them
    scale_ : the model of how large errors are, or None
    certificate_ : Certificate
    cutoff_ : how far intervals reach beyond the prediction, in units of the scale if there is one
    mean_width_ : how wide the intervals of the calibration rows are on average: an estimate
    sentence_ : the certificate in words
    """

    def __init__(
        self, estimator: Predictor, rule: IntervalRule, scale: BaseEstimator | None = None
    ) -> None:
        # a file holds one model, and its rule beside it
        is_alone = scale is None and not isinstance(estimator, list | tuple)
        model = with_rule(estimator, rule) if is_alone else snapshot(estimator)
        super().__init__(model, rule.certificate)
        self.rule, self.scale_ = rule, snapshot(scale)
        self.cutoff_, self.mean_width_ = rule.cutoff, rule.mean_width

    def predict_interval(self, X: object) -> Doubles:
        """Return the two ends of the interval of every row: (rows, 2)."""
        rule = self.rule
        method = METHODS[rule.method]
        predicted = method.forecast(self.estimator_, collected(X), self.scale_, rule.floor)
        return predicted.interval(rule.cutoff)

    def predict(self, X: object) -> Doubles:
        """Return the prediction of the regressor; of two quantiles, their middle."""
        low, high = METHODS[self.rule.method].ends(self.estimator_, collected(X))
        return (low + high) / 2

    def save(self, path: str | Path, *, remember_rows: bool = True) -> None:
        """Write model and intervals to a file, for ``pacboost.intervals(pacboost.load(path))``."""
        if self.scale_ is not None:
            raise FileError(
                f"{path}: is not written, because another model scales the intervals, and a file "
                "holds one model. Pickle both, if those who load them trust you"
            )
        super().save(path, remember_rows=remember_rows)

    certificate_: Certificate
    _words = "prediction intervals"

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return [("width", f"{self.mean_width_:.6g} on average (an estimate)")]


def _targets(models: list[BaseEstimator], y: object) -> Doubles:
    for model in models:
        if hasattr(model, "classes_"):
            raise NotCertified(
                f"{type(model).__name__} predicts classes, and intervals are for numbers; use "
                "pacboost.sets for classes"
            )
    try:
        targets = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "y does not hold numbers; intervals are for models that predict numbers"
        ) from None
    if targets.ndim != 1 or targets.size == 0 or not np.isfinite(targets).all():
        raise DataError(
            f"y has shape {targets.shape}, or holds missing or infinite numbers; one finite number "
            "a row is needed, and at least one"
        )
    return targets
