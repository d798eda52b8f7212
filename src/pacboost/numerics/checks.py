"""Checks of the numbers that go into a bound: what came, what is allowed."""

from __future__ import annotations

from numbers import Integral, Real

from pacboost.errors import ParameterError


def probability(name: str, value: object) -> float:
    """Check a number strictly between 0 and 1.

    >>> probability("delta", 0.05)
    0.05
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ParameterError(f"{name} is {value!r}; it must lie strictly between 0 and 1")
    return float(value)


def whole(name: str, value: object, least: int = 0) -> int:
    """Check a whole number of any integer type, and give it as an int, which cannot overflow.

    A float is refused even where it is whole: from 2^53 on not every whole number is a float.

    >>> whole("rows", 12)
    12
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        hint = ""
        if (
            isinstance(value, Real)
            and not isinstance(value, Integral)
            and float(value).is_integer()
        ):
            hint = f"; a float was given, so write int({value!r}) if it is exact"
        raise ParameterError(
            f"{name} is {value!r}; it must be a whole number, {least} or more{hint}"
        )
    return int(value)


def positive_whole(name: str, value: object) -> int:
    """Check a whole number, 1 or more."""
    return whole(name, value, 1)


def counts(k: object, n: object) -> tuple[int, int]:
    """Check k mistakes among n rows."""
    rows = positive_whole("n", n)
    if isinstance(k, bool) or not isinstance(k, Integral) or not 0 <= int(k) <= rows:
        raise ParameterError(f"k is {k!r}; mistakes among {n} rows are a whole number, 0 to {n}")
    return int(k), rows
