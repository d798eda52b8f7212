"""Names that are spelt almost like another one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """Give the most similar of the known names, if one is similar; small or capital letters agree.

    >>> close_names("Income", ["age", "income"]), close_names("Y", ["x", "y"])
    (['income'], ['y'])
    """
    by_letters = {other.lower(): other for other in known}
    return [by_letters[found] for found in get_close_matches(name.lower(), by_letters, n=1)]
