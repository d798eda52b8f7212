"""The kinds of values that parameters may have.

``cli/options.py`` makes options from these kinds, and scikit-learn's constraints follow from them,
so nothing here loads NumPy: the help of the command line is shown at once.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from pacboost.errors import ParameterError, invalid
from pacboost.numerics import checks

SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
SIZES |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
TIMES = {"": 1.0, "S": 1.0, "M": 60.0, "MIN": 60.0, "H": 3600.0}


@dataclass(frozen=True)
class ParamCheck(ABC):
    """What values a parameter may have."""

    _: KW_ONLY
    optional: bool = False
    """Whether None is allowed, too: an automatic value, or no limit."""
    types: ClassVar[tuple[Any, ...]] = ()
    """The types of allowed values, as scikit-learn's constraints name them."""

    def checked(self, name: str, value: object) -> Any:
        """Return a value that is allowed, or raise an error that says what is."""
        return None if value is None and self.optional else self.read(name, value)

    @abstractmethod
    def read(self, name: str, value: object) -> Any:
        """Return a value other than None; a value that was read before is returned as it is."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The allowed values, as docstrings name them."""

    @property
    def constraint(self) -> list[Any]:
        """The constraint of scikit-learn; an empty one allows all values."""
        return [*self.types, *([None] if self.optional and self.types else [])]


@dataclass(frozen=True)
class Whole(ParamCheck):
    """A whole number from ``least`` on; of any sign, if that is None."""

    least: int | None = None
    types = (Integral,)
    words = "int"

    def read(self, name: str, value: object) -> int:
        """Return the number."""
        if self.least is None:
            return checks.integer(name, value)
        return checks.whole(name, value, self.least)


@dataclass(frozen=True)
class Number(ParamCheck):
    """A number of any kind; what range it may have is checked where it is used."""

    types = (Real,)
    words = "float"

    def read(self, name: str, value: object) -> Any:
        """Return the number."""
        return checks.real_number(name, value)


@dataclass(frozen=True)
class Share(ParamCheck):
    """A number above 0 and at most 1."""

    because: str = ""
    """Why no other number will do."""
    types = (Real,)
    words = "float"

    def read(self, name: str, value: object) -> float:
        """Return the share."""
        share = float(checks.real_number(name, value))
        if not 0 < share <= 1:
            why = f": {self.because}" if self.because else ""
            raise invalid(name, share, f"must lie in (0, 1]{why}")
        return share


@dataclass(frozen=True)
class Probability(ParamCheck):
    """A number strictly between 0 and 1."""

    types = (Real,)
    words = "float"

    def read(self, name: str, value: object) -> float:
        """Return the probability."""
        return checks.probability(name, value)


@dataclass(frozen=True)
class RowsOrShare(ParamCheck):
    """A number of rows, or as a float below 1 a share of them."""

    types = (Real,)
    words = "int or float"

    def read(self, name: str, value: object) -> Any:
        """Return the number of rows or the share.

        >>> RowsOrShare().read("min_leaf_rows", 20), RowsOrShare().read("min_leaf_rows", 0.1)
        (20, 0.1)
        """
        number = checks.real_number(name, value)
        if number > 1 and not float(number).is_integer():
            raise ParameterError(
                f"{name} is {value}; it may be a whole number of rows, or a share of them as a "
                "float below 1",
                parameter=name,
            )
        return value


@dataclass(frozen=True)
class Choice(ParamCheck):
    """One of some names."""

    names: tuple[str, ...]
    types = (str,)

    @property
    def words(self) -> str:
        """The names, the last one after "or"."""
        *first, last = [f'"{name}"' for name in self.names] + ["None"] * self.optional
        return f"{', '.join(first)} or {last}"

    def read(self, name: str, value: object) -> str:
        """Return the name."""
        if not isinstance(value, str) or value not in self.names:
            allowed = ", ".join(map(repr, self.names))
            raise invalid(name, value, f"may be {allowed}{' or None' if self.optional else ''}")
        return value


@dataclass(frozen=True)
class Truth(ParamCheck):
    """True or False."""

    types = ("boolean",)
    words = "bool"

    def read(self, name: str, value: object) -> bool:
        """Return the truth value."""
        if not isinstance(value, bool):
            raise invalid(name, value, "must be True or False")
        return value


@dataclass(frozen=True)
class Patience(ParamCheck):
    """True, False, a number of rounds without progress, "refit" or "auto"."""

    types = ("boolean", Integral, str)
    words = 'bool, int, "refit" or "auto"'

    def read(self, name: str, value: object) -> bool | int | str:
        """Return what ``early_stopping`` says."""
        # True is a whole number to Python, and would end a run after one round without progress
        if isinstance(value, bool):
            return value
        if not isinstance(value, str):
            return checks.positive_whole(name, value)
        if value not in ("auto", "refit"):
            allowed = "True, False, a number of rounds without progress, 'refit' or 'auto'"
            raise invalid(name, value, f"may be {allowed}")
        return value


@dataclass(frozen=True)
class Seconds(ParamCheck):
    """A span of time, as text or in seconds."""

    types = (Real, str)
    words = "str or float"

    def read(self, name: str, value: object) -> float:
        """Return the seconds.

        >>> Seconds().read("time_limit", "2m"), Seconds().read("time_limit", 1.5)
        (120.0, 1.5)
        """
        return _with_unit(name, value, TIMES, "'60s', '2m' or seconds")


@dataclass(frozen=True)
class Bytes(ParamCheck):
    """An amount of memory, as text or in bytes."""

    types = (Integral, str)
    words = "str or int"

    def read(self, name: str, value: object) -> int:
        """Return the number of bytes.

        >>> Bytes().read("memory", "1.5 GB"), Bytes().read("memory", 2_000_000)
        (1500000000, 2000000)
        """
        return int(_with_unit(name, value, SIZES, "'2GB', '500MB' or a number of bytes"))


@dataclass(frozen=True)
class Described(ParamCheck):
    """Values that only the code that uses them can check, in words: columns, functions, weights."""

    said: str

    @property
    def words(self) -> str:
        """The words."""
        return self.said

    def checked(self, name: str, value: object) -> Any:
        """Return the value."""
        return value

    read = checked


def _with_unit(name: str, value: object, units: Mapping[str, float], examples: str) -> float:
    text = str(value).strip()
    match = re.fullmatch(r"([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([a-z]*)", text, re.IGNORECASE)
    number = float(match[1]) if match else 0.0
    if match is None or match[2].upper() not in units or not 0 < number < math.inf:
        raise ParameterError(
            f"{name} is {value!r}; it may be {examples}, above 0, or None", parameter=name
        )
    return number * float(units[match[2].upper()])
