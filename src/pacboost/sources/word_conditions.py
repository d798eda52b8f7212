"""Conditions on single words beyond whether they occur: how often, where, how much of the text.

Each condition is an entry of the vocabulary with a mark that no word contains:

    profit ×3      'profit' occurs at least 3 times
    profit @10     'profit' occurs within the first 10 words
    profit ≥10%    'profit' makes up at least 10 % of the text
    profi*         a word begins with 'profi'

How much of a text a word makes up is its share of the text's TF-IDF length: it counts as often as
it occurs, times a weight that is the larger the fewer training texts contain it, and the length is
the root of the sum of squares of that over all known words. Weights are whole numbers, and shares
are compared by whole numbers alone, so every machine reads a text alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

TIMES, PLACE, SHARE, PREFIX = " ×", " @", " ≥", "*"
MARKED = re.compile(r"(\w+)(?: ([×@≥])(\d+)%?|\*)")
LEAST_WEIGHT = 6
"""The weight of a word that every text contains."""


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


def shares_in(
    tokens: list[str], weights: Mapping[str, int], shares: tuple[int, ...]
) -> Iterator[str]:
    """Return the conditions on how much of a text its words make up; unknown words do not count.

    >>> list(shares_in("a profit and a loss".split(), {"a": 6, "profit": 16}, (30, 60, 80)))
    ['a ≥30%', 'a ≥60%', 'profit ≥30%', 'profit ≥60%', 'profit ≥80%']
    """
    known = [(word, count * weights.get(word, 0)) for word, count in Counter(tokens).items()]
    whole = sum(weight * weight for _, weight in known)
    for word, weight in known:
        for least in shares:
            if not weight or (100 * weight) ** 2 < least**2 * whole:
                break
            yield f"{word}{SHARE}{least}%"


def weight_of(held: int, rows: int) -> int:
    """Return the weight of a word that ``held`` of ``rows`` training texts contain.

    It is 1 + log((1 + rows)/(1 + held)), as in TF-IDF, in steps of log(2)/4, by whole numbers.

    >>> weight_of(100, 100), weight_of(49, 99), weight_of(0, 2**20 - 1)
    (6, 10, 86)
    """
    return LEAST_WEIGHT - 1 + ((rows + 1) ** 4 // (held + 1) ** 4).bit_length()


def single_words(vocabulary: Iterable[str]) -> list[str]:
    """Return the entries that are single words.

    >>> single_words(["card", "card ×2", "card*", "my card"])
    ['card']
    """
    return [entry for entry in vocabulary if entry.replace("_", "a").isalnum()]


def said(entry: str, subject: str = "it") -> str:
    """Return what an entry of a vocabulary asks of a text.

    >>> said("profit ×3"), said("profit @10"), said("how @1")
    ("it contains 'profit' at least 3 times", "it contains 'profit' within its first 10 words", \
"it begins with 'how'")
    >>> said("profit ≥10%", "the body"), said("profi*"), said("my card")
    ("'profit' makes up at least 10 % of the body", "it contains a word that begins with 'profi'", \
"it contains 'my card'")
    """
    found = MARKED.fullmatch(entry)
    if found is None:
        return f"{subject} contains {entry!r}"
    word, mark, number = found.groups()
    if mark is None:
        return f"{subject} contains a word that begins with {word!r}"
    if mark == SHARE[1]:
        return f"{word!r} makes up at least {number} % of {subject}"
    if mark == TIMES[1]:
        return f"{subject} contains {word!r} at least {number} times"
    if number == "1":
        return f"{subject} begins with {word!r}"
    return f"{subject} contains {word!r} within its first {number} words"
