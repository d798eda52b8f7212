"""Parameters of boosters and learners, reached through the estimator that holds them.

Boosters and learners are frozen records, so a changed parameter means a new one. A name with
changed parameters stays a name: what is not changed is chosen when the estimator sees the data.
``booster__learning_rate`` works in a grid search either way.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from sklearn.base import BaseEstimator

from pacboost.boosters.choose import as_booster
from pacboost.errors import ParameterError
from pacboost.estimators.inputs.aliases import guess
from pacboost.learners.choose import as_learner


@dataclass(frozen=True)
class Named:
    """A booster or learner by name, with the parameters that are set."""

    name: str
    changes: tuple[tuple[str, Any], ...] = ()


def named(choice: Any) -> tuple[Any, dict[str, Any]]:
    """Return a name (or an object), and the parameters that were set together with it."""
    if isinstance(choice, Named):
        return choice.name, dict(choice.changes)
    return choice, {}


def nested(estimator: BaseEstimator) -> dict[str, Any]:
    """Return the parameters of an estimator's booster and learner, if they are objects."""
    found: dict[str, Any] = {}
    for name in estimator._nested:
        inner = getattr(estimator, name)
        if isinstance(inner, Named):
            found |= {f"{name}__{field}": value for field, value in inner.changes}
        elif is_dataclass(inner) and not isinstance(inner, type | BaseEstimator):
            found |= {f"{name}__{f.name}": getattr(inner, f.name) for f in fields(inner)}
    return found


def set_nested(estimator: BaseEstimator, params: dict[str, Any]) -> None:
    """Set parameters of an estimator's booster and learner."""
    inner: dict[str, dict[str, Any]] = {}
    for key, value in params.items():
        name, _, rest = key.partition("__")
        inner.setdefault(name, {})[rest] = value
    for name, changes in inner.items():
        setattr(estimator, name, _changed(name, getattr(estimator, name), changes))


def _changed(name: str, holder: Any, changes: dict[str, Any]) -> Any:
    if isinstance(holder, BaseEstimator):
        return holder.set_params(**changes)
    choice, earlier = named(holder)
    record = as_booster(choice) if name == "booster" else as_learner(choice, "learner")
    changed = with_fields(record, {**earlier, **changes}, name)
    # what is not changed is still chosen when the data are seen
    if isinstance(choice, str):
        return Named(choice, tuple({**earlier, **changes}.items()))
    return changed


def with_fields(record: Any, changes: dict[str, Any], name: str) -> Any:
    """Return a copy of the record with some fields changed; raise if one is unknown."""
    known = [f.name for f in fields(record)]
    for field in changes:
        if field not in known:
            raise ParameterError(
                f"{type(record).__name__} has no parameter {field!r}, so {name} cannot take it; "
                f"it has {', '.join(known) if known else 'none'}{guess(field, known)}",
                parameter=name,
            )
    return replace(record, **changes)
