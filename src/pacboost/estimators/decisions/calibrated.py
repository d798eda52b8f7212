"""Methods of estimators that keep sets and intervals: certify_sets, predict_set, and for numbers.

What was calibrated belongs to the parts of the fit that make predictions, and is compared with them
by identity: after another fit it is no longer there.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.coverage import IntervalRule, LabelScore, SetRule
from pacboost.errors import InputWarning, NotCertified
from pacboost.estimators.decisions.intervals import interval_rule, predicted_interval
from pacboost.estimators.decisions.sets import predicted_set, set_rule
from pacboost.questions.wrappers import snapshot


def certify_sets(
    self: Any,
    X: Any,
    y: Any,
    *,
    coverage: float = 0.9,
    method: str = "lac",
    by_class: bool = False,
    by: Any = None,
    delta: float = 0.05,
    models: int = 1,
    groups: Any = None,
    copies: str = "auto",
    penalty: float = 0.05,
    free_labels: int = 2,
) -> Any:
    """Calibrate prediction sets by fresh rows, keep them for ``predict_set``, and certify them.

    Parameters are those of ``pacboost.sets``. Gives the certificate, or with ``by_class`` or
    ``by`` a family of them. ``save`` writes the sets with the model.
    """
    found = set_rule(
        self, X, y, coverage=coverage, score=LabelScore(method, penalty, free_labels),
        by_class=by_class, by=by, delta=delta, models=models, groups=groups, copies=copies,
    )  # fmt: skip
    _keep(self, "_set_rule", found)
    return found.certificate


def kept_sets(self: Any) -> SetRule:
    """How sets are made, and what is certified of them; there after ``certify_sets``."""
    found: SetRule = _kept(self, "_set_rule", "sets")[0]
    return found


def predict_set(self: Any, X: Any, by: Any = None) -> NDArray[np.bool_]:
    """Return for every row and class, in the order of ``classes_``, whether the set holds it.

    ``certify_sets`` has to come first. No set is empty: the most probable class is in it. ``by``
    holds the group of every row, where groups have cutoffs of their own.
    """
    return predicted_set(self, kept_sets(self), X, by)


def certify_intervals(
    self: Any,
    X: Any,
    y: Any,
    *,
    coverage: float = 0.9,
    method: str | None = None,
    scale: Any = None,
    floor: float = 1e-9,
    delta: float = 0.05,
    models: int = 1,
    groups: Any = None,
    copies: str = "auto",
) -> Any:
    """Calibrate intervals by fresh rows, keep them for ``predict_interval``, and certify them.

    Parameters are those of ``pacboost.intervals``. Gives the certificate. ``save`` writes the
    intervals with the model, unless another model scales them.
    """
    found = interval_rule(
        self, X, y, coverage=coverage, method=method, scale=scale, floor=floor, delta=delta,
        models=models, groups=groups, copies=copies,
    )  # fmt: skip
    _keep(self, "_interval_rule", found, snapshot(scale))
    return found.certificate


def kept_intervals(self: Any) -> IntervalRule:
    """How wide intervals are, and what is certified; there after ``certify_intervals``."""
    found: IntervalRule = _kept(self, "_interval_rule", "intervals")[0]
    return found


def predict_interval(self: Any, X: Any) -> NDArray[np.float64]:
    """Return the two ends of the interval of every row; ``certify_intervals`` has to come first.

    The intervals of new examples hold their numbers as often as the certificate says.
    """
    rule, scale = _kept(self, "_interval_rule", "intervals")
    return predicted_interval(self, rule, scale, X)


def covering_model(estimator: Any) -> Any:
    """Return the model of an estimator, with the sets or intervals that are kept for it."""
    model = estimator.model_
    for name in ("_set_rule", "_interval_rule"):
        try:
            found = _kept(estimator, name, "sets")
        except NotCertified:
            continue
        if found[1:] not in ((), (None,)):
            warnings.warn(
                "the intervals are not in the file: another model scales them, which is not "
                "saved with this one. Pickle both to keep them",
                InputWarning,
                stacklevel=3,
            )
            continue
        return replace(model, coverage=found[0])
    return model


def keep_coverage(estimator: Any, rule: SetRule | IntervalRule | None) -> None:
    """Keep what a file says of sets or intervals."""
    if isinstance(rule, SetRule):
        _keep(estimator, "_set_rule", rule)
    elif rule is not None:
        _keep(estimator, "_interval_rule", rule, None)


def _predicting_parts(estimator: Any) -> tuple[Any, ...]:
    """Return the objects that make the predictions."""
    if "_members" in estimator.__dict__:  # of a bag
        return tuple(estimator._members)
    model = estimator.model_
    return (model.forest,) if hasattr(model, "forest") else (model.vote, model.calibration)


def _keep(estimator: Any, name: str, *found: Any) -> None:
    estimator.__dict__[name] = (_predicting_parts(estimator), found)


def _kept(estimator: Any, name: str, what: str) -> Any:
    parts, found = estimator.__dict__.get(name, ((), ()))
    now = _predicting_parts(estimator) if found else ()
    same = len(parts) == len(now) and all(a is b for a, b in zip(parts, now, strict=True))
    if not found or not same:
        raise NotCertified(
            f"{what} are there after certify_{what}(X, y, coverage=…), with rows that had no part "
            "in the fit; every fit needs its own"
        )
    return found
