"""Checks of parameters: each raises an error that says what came and what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_random_state

from pacboost.errors import ParameterError, invalid
from pacboost.estimators.parameters.table import checked
from pacboost.numerics.checks import integer, plain, positive_whole, real_number
from pacboost.numerics.interactive import person_waits_here
from pacboost.sources.odd_cells import shown


@contextmanager
def checked_parameters(estimator: BaseEstimator) -> Iterator[None]:
    """Check parameters, and replace them by Python's own numbers while an estimator is fitted.

    Afterwards they are as before, because scikit-learn requires that.
    """
    before: dict[str, Any] = estimator.get_params(deep=False)
    plain = {name: _plain_parameter(name, value) for name, value in before.items()}
    estimator.__dict__ |= checked(type(estimator), plain)
    try:
        yield
    finally:
        estimator.__dict__ |= before


def _plain_parameter(name: str, value: object) -> Any:
    value, most = _plain_parts(value), 2**31 - 1 if name == "n_estimators" else 2**63 - 1
    if isinstance(value, int) and abs(value) > most:
        raise ParameterError(
            f"{name} is {shown(value)}; the largest number allowed is {most:,}", parameter=name
        )
    return value


def _plain_parts(value: Any) -> Any:
    value = plain(value)
    if type(value) in (list, tuple):
        return type(value)(map(_plain_parts, value))
    if type(value) is dict:
        return {plain(key): _plain_parts(part) for key, part in value.items()}
    record = getattr(type(value), "__dataclass_params__", None)
    if record is not None and record.frozen:  # a booster, a learner
        parts = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changes = {name: plain(part) for name, part in parts.items() if plain(part) is not part}
        return replace(value, **changes) if changes else value
    return value


def share_or_count(
    name: str, value: object, whole: int, rounded: Callable[[float], int], others: str = ""
) -> int:
    """Return a count: a share of ``whole``, rounded but at least 1, or a whole number itself.

    ``others`` names further values, for the error message.

    >>> share_or_count("max_samples", 0.5, 7, round), share_or_count("max_samples", 3, 7, round)
    (4, 3)
    """
    if not isinstance(value, bool) and isinstance(value, Integral):
        return positive_whole(name, value)
    share = float(real_number(name, value))
    if not 0 < share <= 1:
        last = (
            f", a whole number from 1 on, {others}" if others else ", or a whole number from 1 on"
        )
        raise ParameterError(
            f"{name} is {share}; it must be a share in (0, 1]{last}", parameter=name
        )
    return max(1, rounded(share * whole))


PATIENCE = 3.0
"""With verbose="auto", progress is shown after so many seconds."""


def progress_after(verbose: object) -> float | None:
    """Return the seconds after which ``verbose`` shows progress; None if it does not.

    True or a number above 0 shows it at once; False, 0 and below never; "auto" after some seconds,
    if a person waits for this process at a terminal or in a notebook.

    >>> progress_after(True), progress_after(0), progress_after(-1)
    (0.0, None, None)
    """
    if isinstance(verbose, str) and verbose == "auto":
        return PATIENCE if person_waits_here() else None
    if isinstance(verbose, bool | np.bool_):
        return 0.0 if verbose else None
    if isinstance(verbose, str):
        raise invalid("verbose", verbose, "may be True, False, a number or 'auto'")
    return 0.0 if integer("verbose", verbose) > 0 else None


def random_numbers(random_state: object) -> np.random.RandomState:
    """Read ``random_state``."""
    try:
        numbers: np.random.RandomState = check_random_state(random_state)
        return numbers
    except (TypeError, ValueError):
        raise invalid(
            "random_state",
            random_state,
            "may be a whole number from 0 to 4,294,967,295, a numpy.random.RandomState or None",
        ) from None


def draw_seed(random_state: object) -> int:
    """Draw a seed from ``random_state``."""
    return int(random_numbers(random_state).randint(2**31))


def check_estimator(estimator: BaseEstimator) -> None:
    """Raise unless this is an estimator like those of scikit-learn, or None."""
    if isinstance(estimator, type) or not (estimator is None or hasattr(estimator, "get_params")):
        raise invalid(
            "estimator",
            estimator,
            "may be an estimator of scikit-learn's kind (an object, not a class), or None",
        )


def callables(name: str, value: object) -> list[Callable[..., Any]]:
    """Check a sequence of functions, or None."""
    if value is None:
        return []
    parts: list[Any] = list(value) if isinstance(value, Iterable) else [None]
    if not all(callable(part) for part in parts):
        raise ParameterError(f"{name} is {value!r}; it must be a list of functions", parameter=name)
    return parts
