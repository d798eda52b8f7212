"""Check the numbers that users pass, and convert them to Python's own types.

NumPy's integers have a fixed size and wrap around when a product is too large, and its small floats
round to few digits; both can make a bound smaller than it is. Every public function that computes a
bound therefore converts its numbers first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

from pacboost.errors import ParameterError, invalid

P = ParamSpec("P")
R = TypeVar("R")


def meant(name: object, allowed: Iterable[str]) -> str:
    """Return a suggestion in brackets: the allowed name that is closest, or an empty string.

    >>> meant("recal", ["recall", "auc"]), meant("Auc", ["auc"]), meant(5, ["auc"])
    (" (did you mean 'recall'?)", " (did you mean 'auc'?)", '')
    """
    by_letters = {other.lower(): other for other in allowed}
    close = get_close_matches(str(name).lower(), by_letters, n=1)
    return f" (did you mean {by_letters[close[0]]!r}?)" if close else ""


def probability(name: str, value: object) -> float:
    """Check a number strictly between 0 and 1.

    >>> probability("recall", 95)
    Traceback (most recent call last):
    pacboost.errors.ParameterError: recall is 95; it must lie strictly between 0 and 1 (did you \
mean 0.95?)

    ``delta`` is the probability of failure, so 95 means a confidence of 95 %.

    >>> probability("delta", 95)
    Traceback (most recent call last):
    pacboost.errors.ParameterError: delta is 95; it must lie strictly between 0 and 1. 95 % \
confidence is delta=0.05
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        hint = ""
        if not isinstance(value, bool) and isinstance(value, Real) and 1 < float(value) < 100:
            share = float(value) / 100
            is_confidence = name.endswith("delta") and share > 0.5
            hint = f" (did you mean {share:.6g}?)"
            if is_confidence:
                hint = f". {float(value):g} % confidence is {name}={1 - share:.6g}"
        raise invalid(name, value, f"must lie strictly between 0 and 1{hint}")
    return float(value)


def share(name: str, value: float) -> float:
    """Check a number from 0 to 1, both allowed.

    >>> share("gibbs", 1)
    1.0
    """
    if not 0 <= value <= 1:
        raise ParameterError(f"{name} is {value!r}; a share lies between 0 and 1", parameter=name)
    return float(value)


def whole(name: str, value: object, minimum: int = 0) -> int:
    """Check a whole number of any integer type, and return it as an int, which cannot overflow.

    A float is refused even if it is whole: from 2^53 on not every whole number is a float.

    >>> whole("rows", 12)
    12
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        hint, is_whole = "", isinstance(value, Integral)
        if isinstance(value, Real) and not is_whole and float(value).is_integer():
            hint = f"; for an exact float write int({value!r})"
        raise invalid(name, value, f"must be a whole number, {minimum} or more{hint}")
    return int(value)


def positive_whole(name: str, value: object) -> int:
    """Check a whole number, 1 or more."""
    return whole(name, value, 1)


def integer(name: str, value: object) -> int:
    """Check a whole number of any sign."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise invalid(name, value, "must be a whole number")
    return int(value)


def real_number(name: str, value: object) -> Any:
    """Check a number of any kind."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise invalid(name, value, "must be a number")
    return value


def check_limit(name: str, value: object) -> None:
    """Check a limit that is fixed beforehand: a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ParameterError(
            f"{name} is {value!r}; it must be a finite number above 0, fixed before the rows are "
            "looked at",
            parameter=name,
        )


def counts(k: object, n: object) -> tuple[int, int]:
    """Check k mistakes among n rows."""
    rows = positive_whole("n", n)
    if isinstance(k, bool) or not isinstance(k, Integral) or not 0 <= int(k) <= rows:
        raise ParameterError(f"k is {k!r}; mistakes among {n} rows are a whole number, 0 to {n}")
    return int(k), rows


def plain(value: Any) -> Any:
    """Turn an integer of any type into an int, another real number into a float, arrays into lists.

    Scalars of NumPy become Python's. Everything else, truth values included, is returned unchanged.

    >>> import numpy as np
    >>> plain(np.int8(100)), plain(np.bool_(True)), plain(np.array([1, 2])), plain("text")
    (100, True, [1, 2], 'text')
    """
    if hasattr(value, "tolist") and not isinstance(value, type):
        value = value.tolist()
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def plain_numbers(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function: convert its arguments, and refuse numbers that overflow.

    >>> import numpy as np
    >>> square = plain_numbers(lambda number: number * number)
    >>> square(np.int8(100))
    10000
    """

    @wraps(function)
    def converted(*args: P.args, **kwargs: P.kwargs) -> R:
        positional = [plain(value) for value in args]
        named = {name: plain(value) for name, value in kwargs.items()}
        try:
            return function(*positional, **named)
        except OverflowError as problem:
            raise ParameterError(
                f"a number given to {function.__name__} is too large or too small to compute "
                f"with ({problem}); use counts below 1e150, and probabilities above 1e-150"
            ) from problem

    return converted
