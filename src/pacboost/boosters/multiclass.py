"""How a booster treats more than two classes: what everything else asks of its ``multiclass``.

Ledgers and parameters hold the name. The proofs are in docs/proofs/training.md.
"""

from __future__ import annotations

from typing import NamedTuple


class Multiclass(NamedTuple):
    """A way to boost more than two classes."""

    name: str
    names_class: bool = False
    """A rule names one class: it is right or wrong on a row, and votes for no other class."""
    several_labels: bool = False
    """Every pair of row and label is a problem of two classes, so a row may have several labels."""
    guesses: bool = False
    """A rule has to be better than a guess among K classes only; no theorem bounds the error."""
    shares: bool = False
    """Scores give the share of every class, by softmax."""
    whose_error: str = ""
    """Whose errors the theorem on pairs bounds, where they are more than those of its potential."""


METHODS = {
    method.name: method
    for method in (
        Multiclass("pairs", several_labels=True, whose_error="the class"),
        Multiclass("mh", several_labels=True, whose_error="the class that is named"),
        Multiclass("m1", names_class=True),
        Multiclass("samme", names_class=True, guesses=True),
        Multiclass("softmax", shares=True),
        Multiclass("two"),
    )
}
OF_ADABOOST = ("mh", "m1", "samme")


def method_of(name: str) -> Multiclass:
    """Return the method of this name; for two classes, which need none, it has no name.

    >>> method_of("samme").guesses, method_of("").names_class
    (True, False)
    """
    # a booster of a user may have a method of its own, about which nothing is known
    return METHODS.get(name, Multiclass(name))
