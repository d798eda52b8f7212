"""Complete docstrings in every class, though a shared parameter is described once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

from pacboost.estimators.parameters.table import meant

Kind = TypeVar("Kind", bound=type)
SECTION = "Parameters\n----------\n"
ENTRY = re.compile(r"^(\w+) : .*(?:\n    .*)*", re.MULTILINE)


def documented_like(*others: type) -> Callable[[Kind], Kind]:
    """Decorate a class: copy descriptions of parameters that it lacks from other classes.

    The first of them that describes a parameter counts, then its declaration; its default is
    replaced by that of the class. Parameters come in the order of the signature.

    >>> class One:
    ...     '''Do it.
    ...
    ...     Parameters
    ...     ----------
    ...     seed : int, default=3
    ...         What is drawn follows from it.
    ...     '''
    >>> @documented_like(One)
    ... class Other:
    ...     '''Do it otherwise.'''
    ...
    ...     def __init__(self, seed=4):
    ...         self.seed = seed
    >>> print(Other.__doc__)
    Do it otherwise.
    <BLANKLINE>
    Parameters
    ----------
    seed : int, default=4
        What is drawn follows from it.
    """

    def decorate(kind: Kind) -> Kind:
        if kind.__doc__ is None:  # Python runs without docstrings
            return kind
        head, _, rest = inspect.cleandoc(kind.__doc__).partition(SECTION)
        own, _, after = rest.partition("\n\n")
        known = entries(own)
        for section in map(_section, others):
            known = entries(section) | known
        found = [
            _with_default(known.get(name) or _entry(kind, name), parameter.default)
            for name, parameter in inspect.signature(kind).parameters.items()
        ]
        parts = [head.rstrip("\n"), SECTION + "\n".join(filter(None, found)), after.rstrip("\n")]
        kind.__doc__ = "\n\n".join(filter(None, parts))
        return kind

    return decorate


Method = TypeVar("Method", bound=Callable[..., Any])


def described_by(other: Callable[..., Any]) -> Callable[[Method], Method]:
    """Decorate a method: copy the docstring of another one with the same parameters."""

    def decorate(method: Method) -> Method:
        method.__doc__ = other.__doc__
        return method

    return decorate


documented = documented_like()
"""Describe the parameters of a class that it does not describe itself, as others of that name."""


def entries(section: str) -> dict[str, str]:
    """Return the description of every parameter that has its own entry."""
    return {match[1]: match[0] for match in ENTRY.finditer(section)}


def _entry(kind: type, name: str) -> str:
    param = meant(kind, name)
    return "" if param is None else param.entry


def _section(kind: type) -> str:
    return inspect.cleandoc(kind.__doc__ or "").partition(SECTION)[2].partition("\n\n")[0]


def _with_default(entry: str, default: object) -> str:
    head, line, body = entry.partition("\n")
    said = repr(default).replace("'", '"')
    return re.sub(r"default=.*$", lambda _: f"default={said}", head) + line + body
