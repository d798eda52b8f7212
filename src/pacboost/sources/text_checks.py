"""What may be given as texts and as options of reading them, and what is said of anything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from pacboost.errors import DataError, ParameterError

LONGEST = 100
MOST_CUTS = 10


def read_texts(texts: Any, where: str = "") -> list[str]:
    """Check that there are texts, and that each is one; ``where`` goes before the row's number."""
    table = hasattr(texts, "columns") or getattr(texts, "ndim", 1) != 1
    if table or isinstance(texts, str | bytes | Mapping) or not isinstance(texts, Iterable):
        raise DataError(
            f"a list of texts is needed, and {type(texts).__name__} came; of a table give the "
            "column that holds the texts or name it in text_columns, and give [text] for a single "
            "text"
        )
    rows = list(texts)
    if not rows:
        raise DataError("there are no texts (0 samples); at least one is needed")
    for number, text in enumerate(rows):
        if not isinstance(text, str):
            raise DataError(
                f"{where}row {number} holds {text!r:.60} ({type(text).__name__}), which is no "
                "text; give strings, and '' where there is nothing to read"
            )
    return rows


def span_of(name: str, given: Any) -> tuple[int, int] | None:
    """Check a pair of the least and the most; None stands for none."""
    if given is None:
        return None
    ends = tuple(given) if isinstance(given, tuple | list) else ()
    whole = len(ends) == 2 and all(type(end) is int for end in ends)
    if not whole or not 1 <= ends[0] <= ends[1] <= LONGEST:
        raise ParameterError(
            f"{name} is {given!r}; it may be a pair such as (1, 2), the least and the most, at "
            f"most {LONGEST}, or None"
        )
    return ends


def cuts_of(name: str, given: Any, least: int, most: int) -> tuple[int, ...]:
    """Check numbers that go up; None stands for none."""
    cuts = () if given is None else given
    whole = isinstance(cuts, tuple | list) and all(type(cut) is int for cut in cuts)
    ordered = whole and all(one < other for one, other in pairwise(cuts))
    if ordered and len(cuts) <= MOST_CUTS and all(least <= cut <= most for cut in cuts):
        return tuple(cuts)
    raise ParameterError(
        f"{name} is {given!r}; it may be up to {MOST_CUTS} whole numbers from {least} to {most:,}, "
        "the least first, or None"
    )


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Check a whole number."""
    if type(value) is not int or value < least or (most is not None and value > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise ParameterError(f"{name} is {value!r}; it must be a whole number, {allowed}")
