"""Custom objectives: functions that return the gradient and the curvature of a loss.

The function is called as ``f(y, score)``, with one number for each row in both, and returns two
arrays of that shape: the first and the second derivative of the loss of each row in its score. Rows
are weighted afterwards, unless the function takes a third argument: ``f(y, score, weight)`` returns
both times the weight. In regression, ``y`` are the targets and scores are predictions. For two
classes, ``y`` is 0 or 1 and a score is the logarithm of the odds of class 1, so that its
probability is 1/(1 + exp(-score)).

The loss itself is unknown. For two classes that does not matter: the mean of log₂(1 + exp(-2yF)) is
at least the training error for any scores, and is measured as for LogitBoost. In regression the
mean squared error is recorded instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pacboost.boosters.booster import Floats, check_not_negative, check_rate, check_shrinkage
from pacboost.boosters.loss import Loss, Weights
from pacboost.boosters.newton import Newton, NewtonState
from pacboost.boosters.residual import unit_of
from pacboost.errors import ParameterError, errors_of_function
from pacboost.kernels.native import native
from pacboost.numerics.same_bits import total
from pacboost.samples.sample import Signs, Sums

Objective = Callable[..., Any]
MAX_LOG_ODDS_STEP = 8.0
"""Maximum step of a cell of two classes, in logarithms of odds, before shrinkage."""
MAX_STEPS = 60
"""Maximum number of steps, shortened ones included, to find the first constant."""


@dataclass(frozen=True)
class CustomObjective(Newton):
    """A booster of two classes by the gradient and curvature of any loss."""

    name: ClassVar[str] = "custom_objective"
    potential: ClassVar[str] = "logistic"
    multiclass: ClassVar[str] = "two"
    per_score: ClassVar[float] = 0.5
    """F(x) in units of the score that the function receives."""

    function: Objective
    learning_rate: float = 1.0
    l2: float = 0.0
    prior: bool = True

    def __post_init__(self) -> None:
        check_rate("learning_rate", self.learning_rate)
        check_not_negative("l2", self.l2)

    def for_classes(self, count: int) -> CustomObjective:
        """Raise ParameterError for more than two classes, which would need one score for each."""
        if count > 2:
            raise ParameterError(
                "Only binary classification is supported. The type of the target is multiclass: y "
                f"holds {count} classes, but booster is a function of one score. Use "
                "booster='logit', or one classifier for each class "
                "(sklearn.multiclass.OneVsRestClassifier)"
            )
        return self

    def labels(self, signs: Signs, targets: Floats | None) -> Floats:
        self.for_classes(signs.shape[1])
        return (signs[:, 0] > 0).astype(np.float64)

    def weight_of_a_row(self, state: NewtonState) -> float:
        """Return the largest weight of a row, the unit of l2 as in LogitBoost."""
        return float(state.base.max())

    def steps(self, means: Floats) -> Floats:
        return self.per_score * np.clip(means, -MAX_LOG_ODDS_STEP, MAX_LOG_ODDS_STEP)

    def slopes(self, state: NewtonState) -> tuple[Floats, Floats]:
        return self._slopes(state, state.scores / self.per_score)

    def _slopes(self, state: NewtonState, scores: Floats) -> tuple[Floats, Floats]:
        labels = state.targets.view()
        labels.flags.writeable = False
        if not takes_weights(self.function):
            gradients, curvatures = self._ask(labels, scores)
            return -gradients, curvatures
        # a copy: the function of a user may write into what it gets
        weights = np.array(np.broadcast_to(state.user_base, labels.shape))
        gradients, curvatures = self._ask(labels, scores, weights)
        # a function of weights returns weighted slopes, and rows are weighted again below
        return -gradients / state.user_base, curvatures / state.user_base

    def _ask(self, labels: Floats, *others: Floats) -> tuple[Floats, Floats]:
        with errors_of_function("objective"):
            answer = self.function(labels, *others)
        return checked(answer, labels.size)

    def constant(self, state: NewtonState, sums: Sums) -> Floats:
        def at(score: float) -> tuple[float, float]:
            pulls, curvatures = self._slopes(state, np.full(state.targets.shape, score))
            return total(state.base * pulls), total(state.base * curvatures)

        score = 0.0
        pull, curvature = at(score)
        step = pull / curvature if curvature > 0 else 0.0
        for _ in range(MAX_STEPS):
            if abs(step) * self.per_score < state.unit:
                break
            tried = at(score + step)
            # a loss need not be convex: shorten the step until the slope falls; NaN
            # shortens it, too
            if not abs(tried[0]) < abs(pull):
                step /= 2
                continue
            score, (pull, curvature) = score + step, tried
            step = pull / curvature if curvature > 0 else 0.0
        return np.full((1, 1), self.per_score * score)


@dataclass(frozen=True)
class CustomLoss(CustomObjective, Loss[NewtonState]):
    """A booster of regression by the gradient and curvature of any loss."""

    name: ClassVar[str] = "custom_loss"
    potential: ClassVar[str] = "custom_loss"
    kernel: ClassVar[int | None] = native.SQUARE  # its own values are unknown, squares are recorded
    per_score: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shrinkage("learning_rate", self.learning_rate)

    def labels(self, signs: Signs, targets: Floats | None) -> Floats:
        return Newton.labels(self, signs, targets)

    def unit_for(self, targets: Floats) -> float:
        return unit_of(targets)

    def weight_of_a_row(self, state: NewtonState) -> float:
        return Newton.weight_of_a_row(self, state)

    def steps(self, means: Floats) -> Floats:
        return means

    def value(self, targets: Floats, scores: Floats, weights: Weights = None) -> float:
        """Raise ParameterError: the loss is known by its slopes only."""
        raise ParameterError(
            "loss is a function that returns slopes, but validation rows need a loss; set "
            "eval_metric to a name such as 'absolute_error' or to a function of (targets, "
            "predictions), or fit without validation rows (early_stopping=False)",
            parameter="loss",
        )


def takes_weights(function: Objective) -> bool:
    """Check whether a function takes weights: a third argument without a default.

    >>> takes_weights(lambda y, score: None), takes_weights(lambda y, score, weight: None)
    (False, True)
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    asked = [p for p in parameters if p.kind in places and p.default is inspect.Parameter.empty]
    return len(asked) > 2


def checked(returned: object, rows: int) -> tuple[Floats, Floats]:
    """Return gradient and curvature as arrays; raise ParameterError for anything else."""
    if not (isinstance(returned, tuple | list) and len(returned) == 2):
        shape = getattr(returned, "shape", None)
        kind = type(returned).__name__ if shape is None else f"one array of shape {shape}"
        kind = f"{len(returned)} values" if isinstance(returned, tuple | list) else kind
        raise ParameterError(
            f"the objective returned {kind}; it must return two arrays, the gradient "
            "and the curvature of every row: return gradient, curvature"
        )
    gradient, curvature = (
        _numbers(name, values, rows)
        for name, values in zip(("gradient", "curvature"), returned, strict=True)
    )
    if (curvature < 0).any():
        row = int(curvature.argmin())
        raise ParameterError(
            f"the objective returned the curvature {curvature[row]:g} for row {row}; it must be 0 "
            "or more. If a loss is not convex, return a positive bound instead, such as 1"
        )
    return gradient, curvature


def _numbers(name: str, values: ArrayLike, rows: int) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ParameterError(
            f"the {name} that the objective returned does not hold numbers: {problem}"
        ) from problem
    if numbers.shape != (rows,):
        raise ParameterError(
            f"the objective returned a {name} of shape {numbers.shape}; it must hold one number "
            f"for each row: shape ({rows},)"
        )
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ParameterError(
            f"the objective returned the {name} {numbers[row]} for row {row}; it must be finite. "
            "Keep exponentials and divisions in the function within the range of numbers"
        )
    return numbers
