"""Numbers of any type, turned into Python's own before anything is computed from them.

NumPy's integers have a fixed size and wrap around when a product is too large, and its small floats
round to few digits; both can make a bound smaller than it is. Every public function that computes a
bound therefore converts its numbers first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import ParamSpec, TypeVar

from pacboost.errors import ParameterError

P = ParamSpec("P")
R = TypeVar("R")


def plain(value: object) -> object:
    """Turn an integer of any type into an int, and another real number into a float.

    Everything else, truth values included, is returned as it is.

    >>> import numpy as np
    >>> plain(np.int8(100)), type(plain(np.int8(100))), plain("text")
    (100, <class 'int'>, 'text')
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def plain_numbers(function: Callable[P, R]) -> Callable[P, R]:
    """Convert the numbers given to a function, and refuse those too large to compute with.

    >>> import numpy as np
    >>> square = plain_numbers(lambda number: number * number)
    >>> square(np.int8(100))
    10000
    """

    @wraps(function)
    def converted(*args: P.args, **kwargs: P.kwargs) -> R:
        given = [plain(value) for value in args]
        named = {name: plain(value) for name, value in kwargs.items()}
        try:
            return function(*given, **named)  # type: ignore[arg-type]
        except OverflowError as problem:
            raise ParameterError(
                f"a number given to {function.__name__} is too large or too small to compute "
                f"with ({problem}); use counts below 1e150, and probabilities above 1e-150"
            ) from problem

    return converted
