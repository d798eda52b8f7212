"""Methods of intervals: what regressors predict as their ends, before these are calibrated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pacboost.bounds.coverage import Forecast
from pacboost.errors import DataError, ParameterError, invalid
from pacboost.models.answers import asked

Doubles = NDArray[np.float64]
Predictor: TypeAlias = BaseEstimator | Sequence[BaseEstimator]
"""A regressor, or a pair of them."""


class IntervalMethod(ABC):
    """The ends of an interval, and the unit in which the cutoff moves them."""

    name: ClassVar[str]
    needs_pair: ClassVar[bool] = False
    takes_scale: ClassVar[bool] = False

    @abstractmethod
    def ends(self, model: Predictor, X: object) -> tuple[Doubles, Doubles]:
        """Return both ends for every row."""

    def unit(
        self, model: Predictor, X: object, scale: BaseEstimator | None, floor: float
    ) -> Doubles | None:
        """Return the unit for every row; None for that of y."""
        return None

    def forecast(
        self, model: Predictor, X: object, scale: BaseEstimator | None, floor: float
    ) -> Forecast:
        """Predict the ends and the unit."""
        return Forecast.of(*self.ends(model, X), self.unit(model, X, scale, floor))


class ResidualWidth(IntervalMethod):
    """|y - f(x)|."""

    name = "residual"

    def ends(self, model: Predictor, X: object) -> tuple[Doubles, Doubles]:
        """Return the prediction twice."""
        middle = numbers(model, X)
        return middle, middle


class Scaled(ResidualWidth):
    """|y - f(x)| divided by a model of the size of errors."""

    name, takes_scale = "scaled", True

    def unit(
        self, model: Predictor, X: object, scale: BaseEstimator | None, floor: float
    ) -> Doubles:
        """Return the size of errors by ``scale``, or by the spread of the members."""
        asks = (model, X, "spread") if scale is None else (scale, X, "predict")
        # a scale of 0, as where all trees agree, would make the score of a row infinite
        return np.maximum(numbers(*asks, "the scale"), floor)


class Quantiles(IntervalMethod):
    """max(l(x) - y, y - h(x)) for two models of quantiles."""

    name, needs_pair = "quantiles", True

    def ends(self, model: Predictor, X: object) -> tuple[Doubles, Doubles]:
        """Return both quantiles."""
        low, high = (numbers(quantile, X) for quantile in model)
        return low, high


METHODS: dict[str, IntervalMethod] = {
    method.name: method for method in (ResidualWidth(), Scaled(), Quantiles())
}


def method_for(model: Predictor, name: str | None, scale: BaseEstimator | None) -> IntervalMethod:
    """Return the method that was named, or that model and scale need; raise if they do not fit."""
    pair = isinstance(model, list | tuple)
    automatic = Quantiles if pair else ResidualWidth if scale is None else Scaled
    method = METHODS.get(name or automatic.name)
    if method is None:
        raise invalid("method", name, f"may be {', '.join(map(repr, METHODS))}, or None")
    if pair != method.needs_pair or (pair and len(model) != 2):
        raise ParameterError(
            f"method is {method.name!r} and model is {type(model).__name__}; 'quantiles' needs a "
            "pair of regressors, of a low and a high quantile, and others need one regressor",
            parameter="method",
        )
    if scale is not None and not method.takes_scale:
        raise ParameterError(
            f"scale was given, but method is {method.name!r}; scale needs method='scaled'",
            parameter="scale",
        )
    if method.takes_scale and scale is None and not hasattr(model, "spread"):
        raise ParameterError(
            f"method='scaled' needs scale= for {type(model).__name__}: a fitted regressor that "
            "predicts how large errors are. Forests of pacboost need none",
            parameter="method",
        )
    return method


def numbers(
    model: BaseEstimator, X: object, method: str = "predict", name: str = "predict"
) -> Doubles:
    """Return finite numbers, one a row, or raise."""
    predicted = asked(model, X, method).astype(np.float64)
    if predicted.ndim != 1 or not np.isfinite(predicted).all():
        raise DataError(
            f"{name} gave shape {predicted.shape}, or numbers that are missing or not finite; one "
            "finite number a row is needed"
        )
    return predicted
