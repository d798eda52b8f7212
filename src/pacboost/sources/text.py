"""From texts to words: which words, runs of words and pieces of words each text contains.

The options and the vocabulary are one object that goes into the model, so prediction reads a text
exactly as training did.
"""

from __future__ import annotations

import re
import warnings
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise, product, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError, PrunedWarning
from pacboost.sources import word_conditions as conditions
from pacboost.sources.columns import check_whole, cuts_of, read_texts, span_of
from pacboost.sources.sparse import WordTable, renumbered

# The vocabulary of texts: which words are found in them, and which of these are kept.

Reader = Callable[[str], Iterator[str]]
"""What finds the words of a text."""


def numbered(
    rows: list[str], read: Reader, number: Callable[[Iterator[str]], Collection[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Number the words of every text, one text after the other, and say where each starts."""
    held, starts = array("i"), array("q", [0])
    for text in rows:
        held.extend(number(read(text)))
        starts.append(len(held))
    return np.frombuffer(starts, dtype=np.int64), np.array(held, dtype=np.int32)


def find_words(
    rows: list[str], read: Reader, min_count: int, most: int
) -> tuple[tuple[str, ...], WordTable]:
    """Return the words that enough texts contain, in order, and the texts as a table of them.

    >>> words, table = find_words(["a b", "b b"], lambda text: iter(text.split()), 1, 9)
    >>> words, table.rows().tolist()
    (('a', 'b'), [[1.0, 1.0], [0.0, 1.0]])
    """
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new word gets the next number
    starts, held = numbered(rows, read, lambda words: set(map(numbers.__getitem__, words)))
    numbers.default_factory = None  # or the dictionary would hold itself, and outlive its use
    counts = np.bincount(held, minlength=len(numbers))
    kept = sorted(_kept(list(numbers), counts, min_count, most))
    places = np.full(len(numbers), -1, dtype=np.int32)
    places[[numbers[word] for word in kept]] = np.arange(len(kept), dtype=np.int32)
    return tuple(kept), renumbered(starts, held, places, tuple(kept))


def _kept(words: list[str], counts: NDArray[np.int64], min_count: int, most: int) -> list[str]:
    """Choose the words that enough texts contain, and warn if there are too many of them."""
    enough = np.flatnonzero(counts >= min_count)
    dropped = enough.size - most
    if dropped <= 0:
        return [words[number] for number in enough]
    last = int(np.partition(counts[enough], dropped - 1)[dropped - 1])
    more = [words[number] for number in np.flatnonzero(counts > last)]
    tied = sorted(words[number] for number in np.flatnonzero(counts == last))
    warnings.warn(
        f"the texts hold {enough.size:,} distinct words and n-grams; the {most:,} that most texts "
        f"contain are kept, and {dropped:,} that at most {last} contain are dropped. Set min_count "
        "or max_features to choose yourself",
        PrunedWarning,
        stacklevel=4,
    )
    return more + tied[: most - len(more)]


WORD = re.compile(r"\w+")
MOST_FEATURES = 500_000
MOST_SKIPS = 4
MOST_RUNS = 10_000
"""So many ways there may be to leave words out of a run; all of them are looked for."""
GAP = " … "
LEAST_CUTS = {"times": 2, "beginning": 1}
LARGEST_CUT = 1_000
"""The numbers that ``times`` and ``beginning`` may hold."""


@dataclass(frozen=True)
class TextFeatures:
    """What is read as a word.

    ``ngrams`` gives the shortest and the longest n-grams of words; with ``skips``, up to this many
    words may be left out between two of them, as in BoosTexter's sparse n-grams; ``characters``
    gives the shortest and the longest pieces of words, with a blank for the border. What fewer than
    ``min_count`` texts contain is dropped; and the rarest, if more than ``max_features`` are left.

    Where ``ngrams`` begin with single words, more conditions on these can be asked for (see
    sources/word_conditions.py): that they occur so many ``times``, that they occur in a
    ``beginning`` of so many words, and that they begin with certain letters, ``prefixes`` of such
    lengths.

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
    times: tuple[int, ...] = ()
    beginning: tuple[int, ...] = ()
    prefixes: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name in ("ngrams", "characters", "prefixes"):
            object.__setattr__(self, name, span_of(name, getattr(self, name)))
        for name, least in LEAST_CUTS.items():
            object.__setattr__(self, name, cuts_of(name, getattr(self, name), least, LARGEST_CUT))
        if self.ngrams is None and self.characters is None:
            raise ParameterError("ngrams and characters are both None; give at least one of them")
        check_whole("skips", self.skips, 0, MOST_SKIPS)
        runs = sum((self.skips + 1) ** (size - 1) for size in range(*_ends(self.ngrams)))
        if runs > MOST_RUNS:
            raise ParameterError(
                f"ngrams is {self.ngrams} and skips {self.skips}: that makes more than "
                f"{MOST_RUNS:,} kinds of runs. Choose shorter ones, or fewer skips"
            )
        check_whole("min_count", self.min_count, 1)
        check_whole("max_features", self.max_features, 1)
        if not isinstance(self.lowercase, bool):
            raise ParameterError(f"lowercase is {self.lowercase!r}; it may be True or False")

    def tokens(self, text: str) -> list[str]:
        """Return the single words of a text, in order."""
        return WORD.findall(text.lower() if self.lowercase else text)

    def words(self, text: str) -> Iterator[str]:
        """Return all that counts as a word in a text, in order, as often as it is there."""
        tokens = self.tokens(text)
        for joined, places in self._runs:
            yield from map(joined, zip(*[tokens[place:] for place in places], strict=False))
        if self.characters is not None:
            yield from chain.from_iterable(_pieces(token, self.characters) for token in tokens)
        if self.ngrams is not None and self.ngrams[0] == 1:
            yield from conditions.repeated(tokens, self.times)
            yield from conditions.placed(tokens, self.beginning)
            if self.prefixes is not None:
                sizes = self.prefixes
                yield from chain.from_iterable(map(conditions.prefixes_of, tokens, repeat(sizes)))

    def learn(self, texts: Any) -> tuple[TextFeatures, WordTable]:
        """Find the vocabulary of texts; give it with the options, and the texts as a table."""
        rows = read_texts(texts)
        words, table = find_words(rows, self.words, self.min_count, self.max_features)
        conditions.prefixes_of.cache_clear()  # it holds a line for every word of the texts
        if not words:
            raise DataError(
                f"no word occurs in {self.min_count} or more of the {len(rows)} texts, so "
                "there is nothing to learn from; give texts with words, or a smaller min_count"
            )
        return replace(self, vocabulary=words), table

    def transform(self, texts: Any) -> WordTable:
        """Return which words of the vocabulary each text contains."""
        numbers = self._numbers
        starts, held = numbered(
            read_texts(texts),
            self.words,
            lambda words: sorted([numbers[word] for word in set(words) if word in numbers]),
        )
        return WordTable(starts, held, len(self.vocabulary), self.vocabulary)

    def say(self, number: int) -> str:
        """Explain that a text contains a word.

        >>> TextFeatures(vocabulary=("card",)).say(0)
        "it contains 'card'"
        """
        return conditions.said(self.vocabulary[number])

    def read(self, texts: Any) -> list[str]:
        return read_texts(texts)

    def lines(self, texts: Any) -> list[str]:
        return list(texts)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of an estimator that reads texts in this way."""
        options = {part.name: getattr(self, part.name) for part in fields(self)}
        del options["vocabulary"]
        return options

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
        """Return the options as plain values that JSON can hold; the vocabulary is kept elsewhere.

        >>> TextFeatures.from_dict(TextFeatures((1, 3)).to_dict(), ()) == TextFeatures((1, 3))
        True
        """
        return self.parameters()

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], vocabulary: tuple[str, ...]) -> TextFeatures:
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


def _ends(span: tuple[int, int] | None) -> tuple[int, int]:
    return (0, 0) if span is None else (span[0], span[1] + 1)
