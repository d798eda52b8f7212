"""The registry of bounds: each is registered in the file that defines it.

A certificate records the name of its bound. The name selects the function that recomputes its
value, the words of its claim, and the maker with which ``verify`` recomputes the whole certificate.
A bound registered in any file of this folder is found; no other file has to name it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ParamSpec

from pacboost import bounds
from pacboost.numerics.checks import plain_numbers

P = ParamSpec("P")


@dataclass(frozen=True)
class Bound:
    """A registered bound: a function of numbers, and the grounds of its certificates."""

    compute: Callable[..., float]
    theorem: str = ""
    reference: str = ""
    sample: str = ""
    """The certifying rows, in words; names in braces stand for inputs."""
    side: str = "upper"
    """Whether it is an "upper" or a "lower" bound."""
    size: str = "n"
    independent_of: str = ""
    assumptions: tuple[str, ...] = ()
    valid_after_looking: bool = False
    of_what: str = "new examples"
    measures: tuple[str, ...] = ()
    """Measures that it bounds, besides those whose files name it."""
    subject: str = "the classifier"
    end: str = ""
    condition: Callable[[Mapping[str, Any], str], str] | None = None
    """A function of the inputs, and of who moves, that states a condition on new examples."""
    held_out: bool = False
    """True if the inputs k and n are mistakes and rows of a hold-out."""
    loose: bool = False
    """True if held-out rows usually give a smaller bound."""
    rounded: bool = False
    """True if the bound is on a rounded vote instead of the vote of the rounds."""
    again: Callable[..., Any] | None = None
    """A function that recomputes a certificate from the stored one and the ledger."""
    of: tuple[str, ...] = ("model",)
    """The subjects of such certificates: "model", "forest" or "measure"."""


BOUNDS: dict[str, Bound] = {}


@dataclass(frozen=True)
class Ends:
    """The names of the bounds for two ends of a number; None where there is no theorem."""

    lower: str | None
    upper: str | None

    @classmethod
    def of(cls, lower: Callable[..., float] | None, upper: Callable[..., float] | None) -> Ends:
        """Return the ends by two registered functions."""
        return cls(*(None if end is None else name_of(end) for end in (lower, upper)))

    def __getitem__(self, side: str) -> str:
        name = {"lower": self.lower, "upper": self.upper}[side]
        if name is None:
            raise LookupError(f"no bound has the {side} end")
        return name


def name_of(function: Callable[..., float]) -> str:
    """Return the name of a registered function."""
    # identity, not the function's own name: names of bounds stand in certificates, and functions
    # may be renamed
    return next(name for name, registered in BOUNDS.items() if registered.compute is function)


def bound(name: str, **grounds: Any) -> Callable[[Callable[P, float]], Callable[P, float]]:
    """Register a function as the bound of this name; arguments become Python numbers."""

    def register(function: Callable[P, float]) -> Callable[P, float]:
        converted = plain_numbers(function)
        BOUNDS[name] = Bound(converted, **grounds)
        return converted

    return register


def bound_of(name: str) -> Bound | None:
    """Return the bound of this name; None if there is none."""
    if name and name not in BOUNDS:
        all_bounds()
    return BOUNDS.get(name)


def all_bounds() -> Mapping[str, Bound]:
    """Return the bounds of all files."""
    for module in iter_modules(bounds.__path__):
        import_module(f"{bounds.__name__}.{module.name}")
    return BOUNDS
