"""Conditions on single words beyond whether they occur: how often, where, and how they begin.

Each condition is an entry of the vocabulary with a mark that no word contains:

    profit ×3      'profit' occurs at least 3 times
    profit @10     'profit' occurs within the first 10 words
    profi*         a word begins with 'profi'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

TIMES, PLACE, PREFIX = " ×", " @", "*"
MARKED = re.compile(r"(\w+)(?: ([×@])(\d+)|\*)")


def repeated(tokens: list[str], times: tuple[int, ...]) -> Iterator[str]:
    """Return the conditions on how often words occur.

    >>> list(repeated("to be or not to be to".split(), (2, 3)))
    ['to ×2', 'to ×3', 'be ×2']
    """
    for word, count in Counter(tokens).items() if times else ():
        for least in times:
            if count < least:
                break
            yield f"{word}{TIMES}{least}"


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

    >>> said("profit ×3"), said("profit @10")
    ("it contains 'profit' at least 3 times", "it contains 'profit' within its first 10 words")
    >>> said("how @1", "the body"), said("profi*"), said("my card")
    ("the body begins with 'how'", "it contains a word that begins with 'profi'", \
"it contains 'my card'")
    """
    marked = MARKED.fullmatch(entry)
    if marked is None:
        return f"{subject} contains {entry!r}"
    word, mark, number = marked.groups()
    if mark is None:
        return f"{subject} contains a word that begins with {word!r}"
    if mark == TIMES.strip():
        return f"{subject} contains {word!r} at least {number} times"
    if number == "1":
        return f"{subject} begins with {word!r}"
    return f"{subject} contains {word!r} within its first {number} words"
