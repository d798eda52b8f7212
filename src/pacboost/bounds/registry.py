"""The bounds by which certificates are made: each is registered in the file that has it.

A certificate records the name of its bound. By that name its number is computed again, its words
are chosen, and ``verify`` makes the whole certificate again. A bound that is registered in a file
of this folder is found by all of them; no other file has to know it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ParamSpec

from pacboost import bounds
from pacboost.numerics.checks import plain_numbers

if TYPE_CHECKING:
    from pacboost.bounds.certificate import Certificate
    from pacboost.ledgers.ledger import Ledger

P = ParamSpec("P")
Maker = Callable[["Certificate", "Ledger"], "Certificate"]


@dataclass(frozen=True)
class Bound:
    """A function of plain numbers, and what is to be known of certificates that are made by it."""

    compute: Callable[..., float]
    theorem: str = ""
    reference: str = ""
    sample: str = ""
    """Which rows certify; names in braces stand for inputs."""
    size: str = "n"
    """The input that counts these rows."""
    independent_of: str = ""
    assumptions: tuple[str, ...] = ()
    valid_after_looking: bool = False
    of_what: str = "new examples"
    subject: str = "the classifier"
    """Who is wrong on so many examples."""
    end: str = ""
    """What a claim about new examples ends with."""
    condition: Callable[[Mapping[str, Any]], str] | None = None
    """What else a claim requires of new examples, in words made from the inputs."""
    held_out: bool = False
    """Whether its counts k and n are mistakes on rows held out."""
    loose: bool = False
    """Whether rows held out usually give a smaller number."""
    rounded: bool = False
    """Whether it speaks of a vote that is not that of the rounds, but made of it."""
    again: Maker | None = None
    """What makes a certificate again from the one in a file and from the ledger."""
    of: tuple[str, ...] = ("model",)
    """What such certificates are for: "model", "forest" or "measure"."""


BOUNDS: dict[str, Bound] = {}


def bound(name: str, **known: Any) -> Callable[[Callable[P, float]], Callable[P, float]]:
    """Register a function as the bound of this name; its numbers become Python's own."""

    def register(function: Callable[P, float]) -> Callable[P, float]:
        converted = plain_numbers(function)
        BOUNDS[name] = Bound(converted, **known)
        return converted

    return register


def bound_of(name: str) -> Bound | None:
    """Return the bound of this name, from whichever file; None if there is none.

    >>> bound_of("occam.occam_bound").subject, bound_of("guess")
    ('the quantised vote', None)
    """
    if name and name not in BOUNDS:
        _load()
    return BOUNDS.get(name)


def makers(*kinds: str) -> Mapping[str, Maker]:
    """Return what makes certificates for models, forests or measures again, by their bounds."""
    _load()
    return {
        name: known.again
        for name, known in BOUNDS.items()
        if known.again is not None and set(kinds) & set(known.of)
    }


def _load() -> None:
    for module in iter_modules(bounds.__path__):
        import_module(f"{bounds.__name__}.{module.name}")
