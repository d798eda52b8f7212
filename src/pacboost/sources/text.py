"""From texts to words: which words, runs of words and pieces of words each text contains.

The options and the vocabulary are one object that goes into the model, so prediction reads a text
exactly as training did.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate, product
from typing import Any

import numpy as np

from pacboost.errors import DataError, ParameterError, PrunedWarning
from pacboost.sources.words import WordTable

WORD = re.compile(r"\w+")
MOST_FEATURES = 500_000
MOST_SKIPS = 4
GAP = " … "


@dataclass(frozen=True)
class TextFeatures:
    """What counts as a word.

    ``ngrams`` runs of words, from so many to so many in a row; with ``skips``, up to so many words
    may be left out between two of them, as in BoosTexter's sparse n-grams; ``characters`` pieces of
    words, from so many letters to so many, a blank standing for the border. What fewer than
    ``min_count`` texts contain is dropped; and the rarest, if more than ``max_features`` are left.

    >>> features, table = TextFeatures(skips=1).learn(["I lost my card", "My card!"])
    >>> features.vocabulary
    ('card', 'i', 'i lost', 'i … my', 'lost', 'lost my', 'lost … card', 'my', 'my card')
    >>> table.take(np.array([1])).words.tolist()
    [0, 7, 8]
    >>> list(TextFeatures(ngrams=None, characters=(3, 3)).words("my card"))
    ['‹ my›', '‹my ›', '‹ ca›', '‹car›', '‹ard›', '‹rd ›']
    """

    ngrams: tuple[int, int] | None = (1, 2)
    skips: int = 0
    characters: tuple[int, int] | None = None
    min_count: int = 1
    max_features: int = MOST_FEATURES
    lowercase: bool = True
    vocabulary: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("ngrams", "characters"):
            object.__setattr__(self, name, _span(name, getattr(self, name)))
        if self.ngrams is None and self.characters is None:
            raise ParameterError("ngrams and characters are both None; give at least one of them")
        _check("skips", self.skips, 0, MOST_SKIPS)
        _check("min_count", self.min_count, 1)
        _check("max_features", self.max_features, 1)
        if not isinstance(self.lowercase, bool):
            raise ParameterError(f"lowercase is {self.lowercase!r}; it may be True or False")

    def words(self, text: str) -> Iterator[str]:
        """Give all that counts as a word in a text, in order, as often as it is there."""
        tokens = WORD.findall(text.lower() if self.lowercase else text)
        for size in range(*_ends(self.ngrams)):
            for gaps in product(range(self.skips + 1), repeat=size - 1):
                places = accumulate(gaps, lambda place, gap: place + 1 + gap, initial=0)
                runs = zip(*(tokens[place:] for place in places), strict=False)
                if not any(gaps):
                    yield from map(" ".join, runs)
                    continue
                between = [" " if gap == 0 else GAP for gap in gaps]
                for first, *others in runs:
                    yield first + "".join(map("".join, zip(between, others, strict=True)))
        for token in tokens if self.characters else ():
            padded = f" {token} "
            for size in range(*_ends(self.characters)):
                for place in range(len(padded) - size + 1):
                    yield f"‹{padded[place : place + size]}›"

    def learn(self, texts: Iterable[Any]) -> tuple[TextFeatures, WordTable]:
        """Find the vocabulary of texts; give it with the options, and the texts as a table."""
        held = [set(self.words(text)) for text in read_texts(texts)]
        counts = Counter(word for own in held for word in own)
        kept = [word for word, count in counts.items() if count >= self.min_count]
        if not kept:
            raise DataError(
                f"no word occurs in {self.min_count} or more of the {len(held)} texts, so there is "
                "nothing to learn from; give texts with words, or a smaller min_count"
            )
        if len(kept) > self.max_features:
            kept.sort(key=lambda word: (-counts[word], word))
            last = counts[kept[self.max_features]]
            warnings.warn(
                f"the texts hold {len(kept):,} distinct words and n-grams; the "
                f"{self.max_features:,} that most texts contain are kept, and "
                f"{len(kept) - self.max_features:,} that at most {last} contain are dropped. Set "
                "min_count or max_features to choose yourself",
                PrunedWarning,
                stacklevel=2,
            )
            del kept[self.max_features :]
        features = replace(self, vocabulary=tuple(sorted(kept)))
        return features, features._table(held)

    def transform(self, texts: Iterable[Any]) -> WordTable:
        """Tell which words of the vocabulary each text contains."""
        return self._table([set(self.words(text)) for text in read_texts(texts)])

    def _table(self, held: list[set[str]]) -> WordTable:
        numbers = self._numbers
        rows = [sorted(numbers[word] for word in own if word in numbers) for own in held]
        starts = np.fromiter(accumulate(map(len, rows), initial=0), np.int64, len(rows) + 1)
        words = np.fromiter((word for own in rows for word in own), np.int32, int(starts[-1]))
        return WordTable(starts, words, len(self.vocabulary), self.vocabulary)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {word: number for number, word in enumerate(self.vocabulary)}

    def to_dict(self) -> dict[str, Any]:
        """Give the options as plain values that JSON can hold; the vocabulary is kept elsewhere.

        >>> TextFeatures.from_dict(TextFeatures((1, 3)).to_dict(), ()) == TextFeatures((1, 3))
        True
        """
        options = {part.name: getattr(self, part.name) for part in fields(self)}
        del options["vocabulary"]
        return options

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], vocabulary: tuple[str, ...]) -> TextFeatures:
        """Read what ``to_dict`` gave."""
        if list(vocabulary) != sorted(set(vocabulary)):
            raise ValueError("the words of the vocabulary are not in order, or not distinct")
        return cls(**content, vocabulary=vocabulary)


def read_texts(texts: Any) -> list[str]:
    """Check that there are texts, and that each is one."""
    table = hasattr(texts, "columns") or getattr(texts, "ndim", 1) != 1
    if table or isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise DataError(
            f"a list of texts is needed, and {type(texts).__name__} came; of a table give the "
            "column that holds the texts, and [text] for a single text"
        )
    rows = list(texts)
    if not rows:
        raise DataError("there are no texts (0 samples); at least one is needed")
    for number, text in enumerate(rows):
        if not isinstance(text, str):
            raise DataError(
                f"row {number} holds {text!r:.60} ({type(text).__name__}), which is no text; give "
                "strings, and '' where there is nothing to read"
            )
    return rows


def _span(name: str, given: Any) -> tuple[int, int] | None:
    if given is None:
        return None
    ends = tuple(given) if isinstance(given, tuple | list) else ()
    if len(ends) != 2 or not all(type(end) is int for end in ends) or not 1 <= ends[0] <= ends[1]:
        raise ParameterError(
            f"{name} is {given!r}; it may be a pair such as (1, 2), from so many to so many, or "
            "None"
        )
    return ends


def _ends(span: tuple[int, int] | None) -> tuple[int, int]:
    return (0, 0) if span is None else (span[0], span[1] + 1)


def _check(name: str, value: Any, least: int, most: int | None = None) -> None:
    if type(value) is not int or value < least or (most is not None and value > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise ParameterError(f"{name} is {value!r}; it must be a whole number, {allowed}")
