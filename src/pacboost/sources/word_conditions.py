"""Conditions on single words beyond whether they occur: where, and how they begin.

Each condition is an entry of the vocabulary with a mark that no word contains:

    profit @10     'profit' occurs within the first 10 words
    profi*         a word begins with 'profi'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

PLACE, PREFIX = " @", "*"
MARKED = re.compile(r"(\w+)(?: @(\d+)|\*)")


def placed(tokens: list[str], beginning: tuple[int, ...]) -> Iterator[str]:
    """Return the conditions on words near the beginning.

    >>> list(placed("how many cards".split(), (1, 2)))
    ['how @1', 'how @2', 'many @2']
    """
    for most in beginning:
        mark = f"{PLACE}{most}"
        for word in tokens[:most]:
            yield word + mark


@lru_cache(maxsize=100_000)
def prefixes_of(token: str, sizes: tuple[int, int]) -> tuple[str, ...]:
    """Return the beginnings of a word that are shorter than it.

    >>> prefixes_of("cards", (3, 6))
    ('car*', 'card*')
    """
    return tuple(token[:size] + PREFIX for size in range(sizes[0], min(sizes[1] + 1, len(token))))


def said(entry: str, subject: str = "it") -> str:
    """Return what an entry of a vocabulary asks of a text.

    >>> said("profit @10"), said("how @1", "the body")
    ("it contains 'profit' within its first 10 words", "the body begins with 'how'")
    >>> said("profi*"), said("my card")
    ("it contains a word that begins with 'profi'", "it contains 'my card'")
    """
    marked = MARKED.fullmatch(entry)
    if marked is None:
        return f"{subject} contains {entry!r}"
    word, number = marked.groups()
    if number is None:
        return f"{subject} contains a word that begins with {word!r}"
    if number == "1":
        return f"{subject} begins with {word!r}"
    return f"{subject} contains {word!r} within its first {number} words"
