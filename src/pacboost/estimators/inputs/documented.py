"""Docstrings that are complete in every class, though a shared parameter is described once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)
SECTION = "Parameters\n----------\n"
ENTRY = re.compile(r"^(\w+) : .*(?:\n    .*)*", re.MULTILINE)


def documented_like(*others: type) -> Callable[[Kind], Kind]:
    """Make a class take the description of parameters that it does not describe from others.

    The first of them that describes a parameter counts; its default is replaced by that of the
    class. Parameters come in the order of the signature.

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
        for other in others:
            known = entries(_section(other)) | known
        found = [
            _with_default(known[name], parameter.default) if name in known else ""
            for name, parameter in inspect.signature(kind).parameters.items()
        ]
        parts = [head.rstrip("\n"), SECTION + "\n".join(filter(None, found)), after.rstrip("\n")]
        kind.__doc__ = "\n\n".join(filter(None, parts))
        return kind

    return decorate


def entries(section: str) -> dict[str, str]:
    """Give the description of every parameter that is described by itself."""
    return {match[1]: match[0] for match in ENTRY.finditer(section)}


def _section(kind: type) -> str:
    return inspect.cleandoc(kind.__doc__ or "").partition(SECTION)[2].partition("\n\n")[0]


def _with_default(entry: str, default: Any) -> str:
    head, line, body = entry.partition("\n")
    said = repr(default).replace("'", '"')
    return re.sub(r"default=.*$", lambda _: f"default={said}", head) + line + body
