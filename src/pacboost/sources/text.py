"""From texts to words: which words, runs of words and pieces of words each text contains.

The options and the vocabulary are one object that goes into the model, so prediction reads a text
exactly as training did.
"""

from __future__ import annotations

import re
import warnings
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError, PrunedWarning
from pacboost.sources.words import WordTable, renumbered

WORD = re.compile(r"\w+")
MOST_FEATURES = 500_000
MOST_SKIPS = 4
LONGEST = 100
MOST_RUNS = 10_000
"""So many ways there may be to leave words out of a run; all of them are looked for."""
GAP = " … "


@dataclass(frozen=True)
class TextFeatures:
    """What is read as a word.

    ``ngrams`` gives the shortest and the longest n-grams of words; with ``skips``, up to this many
    words may be left out between two of them, as in BoosTexter's sparse n-grams; ``characters``
    gives the shortest and the longest pieces of words, with a blank for the border. What fewer than
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
        runs = sum((self.skips + 1) ** (size - 1) for size in range(*_ends(self.ngrams)))
        if runs > MOST_RUNS:
            raise ParameterError(
                f"ngrams is {self.ngrams} and skips {self.skips}: that makes more than "
                f"{MOST_RUNS:,} kinds of runs. Choose shorter ones, or fewer skips"
            )
        _check("min_count", self.min_count, 1)
        _check("max_features", self.max_features, 1)
        if not isinstance(self.lowercase, bool):
            raise ParameterError(f"lowercase is {self.lowercase!r}; it may be True or False")

    def words(self, text: str) -> Iterator[str]:
        """Give all that counts as a word in a text, in order, as often as it is there."""
        tokens = WORD.findall(text.lower() if self.lowercase else text)
        for joined, places in self._runs:
            yield from map(joined, zip(*[tokens[place:] for place in places], strict=False))
        if self.characters is not None:
            yield from chain.from_iterable(_pieces(token, self.characters) for token in tokens)

    def learn(self, texts: Any) -> tuple[TextFeatures, WordTable]:
        """Find the vocabulary of texts; give it with the options, and the texts as a table."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__  # a new word gets the next number
        starts, held = self._held(texts, lambda words: set(map(numbers.__getitem__, words)))
        counts = np.bincount(held, minlength=len(numbers))
        if counts.max(initial=0) < self.min_count:
            raise DataError(
                f"no word occurs in {self.min_count} or more of the {starts.size - 1} texts, so "
                "there is nothing to learn from; give texts with words, or a smaller min_count"
            )
        kept = self._kept(list(numbers), counts)
        kept.sort()
        places = np.full(len(numbers), -1, dtype=np.int32)
        places[[numbers[word] for word in kept]] = np.arange(len(kept), dtype=np.int32)
        features = replace(self, vocabulary=tuple(kept))
        return features, renumbered(starts, held, places, features.vocabulary)

    def _kept(self, words: list[str], counts: NDArray[np.int64]) -> list[str]:
        """Choose the words that enough texts contain, and warn if there are too many of them."""
        enough = np.flatnonzero(counts >= self.min_count)
        dropped = enough.size - self.max_features
        if dropped <= 0:
            return [words[number] for number in enough]
        last = int(np.partition(counts[enough], dropped - 1)[dropped - 1])
        more = [words[number] for number in np.flatnonzero(counts > last)]
        tied = sorted(words[number] for number in np.flatnonzero(counts == last))
        warnings.warn(
            f"the texts hold {enough.size:,} distinct words and n-grams; the "
            f"{self.max_features:,} that most texts contain are kept, and {dropped:,} that at most "
            f"{last} contain are dropped. Set min_count or max_features to choose yourself",
            PrunedWarning,
            stacklevel=3,
        )
        return more + tied[: self.max_features - len(more)]

    def transform(self, texts: Any) -> WordTable:
        """Tell which words of the vocabulary each text contains."""
        numbers = self._numbers
        starts, held = self._held(
            texts, lambda words: sorted([numbers[word] for word in set(words) if word in numbers])
        )
        return WordTable(starts, held, len(self.vocabulary), self.vocabulary)

    def say(self, number: int) -> str:
        """Say that a text contains a word.

        >>> TextFeatures(vocabulary=("card",)).say(0)
        "it contains 'card'"
        """
        return f"it contains {self.vocabulary[number]!r}"

    def read(self, texts: Any) -> list[str]:
        """Check the input."""
        return read_texts(texts)

    def lines(self, texts: Any) -> list[str]:
        """Give every row as one text."""
        return list(texts)

    def parameters(self) -> dict[str, Any]:
        """Give the parameters of an estimator that reads texts in this way."""
        return self.to_dict()

    def _held(
        self, texts: Any, number: Callable[[Iterator[str]], Collection[int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Number the words of every text, one text after the other, and say where each starts."""
        held, starts = array("i"), array("q", [0])
        for text in read_texts(texts):
            held.extend(number(self.words(text)))
            starts.append(len(held))
        return np.frombuffer(starts, dtype=np.int64), np.array(held, dtype=np.int32)

    @cached_property
    def _runs(self) -> list[tuple[Callable[[tuple[str, ...]], str], tuple[int, ...]]]:
        """For every kind of run: how its words are joined, and their places after the first."""
        kinds = []
        for size in range(*_ends(self.ngrams)):
            for gaps in product(range(self.skips + 1), repeat=size - 1):
                places = tuple(accumulate(gaps, lambda place, gap: place + 1 + gap, initial=0))
                run = "".join("%s" + (GAP if gap else " ") for gap in gaps) + "%s"
                kinds.append((run.__mod__ if any(gaps) else " ".join, places))
        return kinds

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
        if not all(one < other for one, other in pairwise(vocabulary)):
            raise ValueError("the words of the vocabulary are not in order, or not distinct")
        return cls(**content, vocabulary=vocabulary)


@lru_cache(maxsize=100_000)
def _pieces(token: str, sizes: tuple[int, int]) -> tuple[str, ...]:
    """Cut a word into its pieces; most texts are made of words cut before."""
    padded = f" {token} "
    return tuple(
        f"‹{padded[place : place + size]}›"
        for size in range(*_ends(sizes))
        for place in range(len(padded) - size + 1)
    )


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


def _span(name: str, given: Any) -> tuple[int, int] | None:
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


def _ends(span: tuple[int, int] | None) -> tuple[int, int]:
    return (0, 0) if span is None else (span[0], span[1] + 1)


def _check(name: str, value: Any, least: int, most: int | None = None) -> None:
    if type(value) is not int or value < least or (most is not None and value > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise ParameterError(f"{name} is {value!r}; it must be a whole number, {allowed}")
