"""Conditions on single words besides presence: how often, where, and how they begin.

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
    """Yield the conditions on how often words occur.

    >>> list(repeated("to be or not to be to".split(), (2, 3)))
    ['to ×2', 'to ×3', 'be ×2']
    """
    for word, count in Counter(tokens).items() if times else ():
        for threshold in times:
            if count < threshold:
                break
            yield f"{word}{TIMES}{threshold}"


def placed(tokens: list[str], beginning: tuple[int, ...]) -> Iterator[str]:
    """Yield the conditions on words near the beginning of a text."""
    for size in beginning:
        mark = f"{PLACE}{size}"
        for word in tokens[:size]:
            yield word + mark


@lru_cache(maxsize=100_000)
def prefixes_of(token: str, sizes: tuple[int, int]) -> tuple[str, ...]:
    """Return the proper prefixes of a word, with lengths from ``sizes[0]`` to ``sizes[1]``."""
    return tuple(token[:size] + PREFIX for size in range(sizes[0], min(sizes[1] + 1, len(token))))


def sentence(entry: str, subject: str = "it") -> str:
    """Return what an entry of a vocabulary asks of a text, as a sentence about a subject.

    >>> sentence("profit ×3"), sentence("how @1", "the body")
    ("it contains 'profit' at least 3 times", "the body begins with 'how'")
    """
    return f"{subject} {condition_words(entry)}"


def condition_words(entry: str) -> str:
    """Return what an entry of a vocabulary asks of a text.

    >>> condition_words("profit ×3"), condition_words("profit @10")
    ("contains 'profit' at least 3 times", "contains 'profit' within its first 10 words")
    >>> condition_words("how @1"), condition_words("profi*"), condition_words("my card")
    ("begins with 'how'", "contains a word that begins with 'profi'", "contains 'my card'")
    """
    marked = MARKED.fullmatch(entry)
    if marked is None:
        return f"contains {entry!r}"
    word, mark, number = marked.groups()
    if mark is None:
        return f"contains a word that begins with {word!r}"
    if mark == TIMES.strip():
        return f"contains {word!r} at least {number} times"
    if number == "1":
        return f"begins with {word!r}"
    return f"contains {word!r} within its first {number} words"
