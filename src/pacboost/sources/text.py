"""Words of texts: the words, n-grams and pieces of words that each text contains.

The options and the vocabulary are one object that is saved in the model, so prediction reads a text
exactly as training did. Besides presence there are conditions on how often single words occur,
where, and how they begin; each is an entry of the vocabulary with a mark that no word contains:

    profit ×3      'profit' occurs at least 3 times
    profit @10     'profit' occurs within the first 10 words
    profi*         a word begins with 'profi'
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise, product, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError, ParameterError, PrunedWarning, warn
from pacboost.sources.columns import check_whole, cuts_of, read_texts, span_of
from pacboost.sources.sparse import WordTable, renumbered

Reader = Callable[[str], Iterator[str]]
"""Function that yields the words of a text."""


def numbered(
    rows: list[str], reader: Reader, number: Callable[[Iterator[str]], Collection[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the start index of each text, and the numbers of the words of all texts."""
    words, starts = array("i"), array("q", [0])
    for text in rows:
        words.extend(number(reader(text)))
        starts.append(len(words))
    return np.frombuffer(starts, dtype=np.int64), np.array(words, dtype=np.int32)


def find_words(
    rows: list[str], reader: Reader, min_count: int, max_words: int
) -> tuple[tuple[str, ...], WordTable]:
    """Return the sorted words of at least ``min_count`` texts, and the table of the texts."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new word gets the next number
    starts, numbers_held = numbered(
        rows, reader, lambda words: set(map(numbers.__getitem__, words))
    )
    numbers.default_factory = None  # or the dictionary would hold itself, and outlive its use
    counts = np.bincount(numbers_held, minlength=len(numbers))
    chosen = sorted(_frequent_words(list(numbers), counts, min_count, max_words))
    places = np.full(len(numbers), -1, dtype=np.int32)
    places[[numbers[word] for word in chosen]] = np.arange(len(chosen), dtype=np.int32)
    return tuple(chosen), renumbered(starts, numbers_held, places, tuple(chosen))


def _frequent_words(
    words: list[str], counts: NDArray[np.int64], min_count: int, max_words: int
) -> list[str]:
    """Return the words of at least ``min_count`` texts; warn if some are dropped."""
    enough = np.flatnonzero(counts >= min_count)
    dropped = enough.size - max_words
    if dropped <= 0:
        return [words[number] for number in enough]
    last = int(np.partition(counts[enough], dropped - 1)[dropped - 1])
    frequent = [words[number] for number in np.flatnonzero(counts > last)]
    tied = sorted(words[number] for number in np.flatnonzero(counts == last))
    warn(
        f"the texts hold {enough.size:,} distinct words and n-grams; the {max_words:,} most "
        f"frequent are kept, and {dropped:,} that occur in at most {last} texts are dropped. Set "
        "min_count or max_features to choose yourself",
        PrunedWarning,
    )
    return frequent + tied[: max_words - len(frequent)]


WORD = re.compile(r"\w+")
MAX_FEATURES = 500_000
MAX_SKIPS = 4
MAX_RUN_KINDS = 10_000
"""Patterns of words and gaps in an n-gram; every text is searched for all of them."""
GAP = " … "
SPANS = ("ngrams", "characters", "prefixes")
MIN_CUTS = {"times": 2, "beginning": 1}
MAX_CUT = 1_000
"""Smallest and largest numbers in ``times`` and ``beginning``."""


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


@dataclass(frozen=True)
class TextFeatures:
    """Options for finding the words of texts, and the vocabulary.

    ``ngrams`` is the shortest and longest length of n-grams of words; with ``skips``, up to that
    many words may be skipped between two of them, as in BoosTexter's sparse n-grams.
    ``characters`` is the shortest and longest length of pieces of words, with a blank for the
    border. Words of fewer than ``min_count`` texts are dropped, and then the rarest words beyond
    ``max_features``.

    If ``ngrams`` includes single words, these can have further conditions: that they occur at
    least a number of ``times``, that they occur within the first words (``beginning``), and that
    they start with some letters (``prefixes``, a range of lengths).

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
    max_features: int = MAX_FEATURES
    lowercase: bool = True
    vocabulary: tuple[str, ...] = ()
    times: tuple[int, ...] = ()
    beginning: tuple[int, ...] = ()
    prefixes: tuple[int, int] | None = None

    @classmethod
    def checked(cls, **options: Any) -> TextFeatures:
        """Return features for options as users give them: lists are tuples, no cuts are None."""
        for name in options.keys() & set(SPANS):
            options[name] = span_of(name, options[name])
        for name in options.keys() & MIN_CUTS.keys():
            options[name] = cuts_of(name, options[name], MIN_CUTS[name], MAX_CUT)
        return cls(**options)

    def __post_init__(self) -> None:
        if self.ngrams is None and self.characters is None:
            raise ParameterError(
                "ngrams and characters are both None; give at least one of them", parameter="ngrams"
            )
        check_whole("skips", self.skips, 0, MAX_SKIPS)
        runs = sum((self.skips + 1) ** (size - 1) for size in range(*_ends(self.ngrams)))
        if runs > MAX_RUN_KINDS:
            raise ParameterError(
                f"ngrams is {self.ngrams} and skips {self.skips}: that gives more than "
                f"{MAX_RUN_KINDS:,} patterns of words and gaps. Choose shorter n-grams, or fewer "
                "skips",
                parameter="ngrams",
            )
        check_whole("min_count", self.min_count, 1)
        check_whole("max_features", self.max_features, 1)
        if not isinstance(self.lowercase, bool):
            raise ParameterError(
                f"lowercase is {self.lowercase!r}; it may be True or False", parameter="lowercase"
            )

    def tokens(self, text: str) -> list[str]:
        return WORD.findall(text.lower() if self.lowercase else text)

    def words(self, text: str) -> Iterator[str]:
        tokens = self.tokens(text)
        for joined, places in self._runs:
            yield from map(joined, zip(*[tokens[place:] for place in places], strict=False))
        if self.characters is not None:
            yield from chain.from_iterable(_pieces(token, self.characters) for token in tokens)
        if self.ngrams is not None and self.ngrams[0] == 1:
            yield from repeated(tokens, self.times)
            yield from placed(tokens, self.beginning)
            if self.prefixes is not None:
                sizes = self.prefixes
                yield from chain.from_iterable(map(prefixes_of, tokens, repeat(sizes)))

    def learn(self, texts: object) -> tuple[TextFeatures, WordTable]:
        """Learn the vocabulary; return the options with it, and the table of the texts."""
        rows = read_texts(texts)
        words, table = find_words(rows, self.words, self.min_count, self.max_features)
        prefixes_of.cache_clear()  # it has an entry for every word of the texts
        if not words:
            raise DataError(
                f"no word occurs in {self.min_count} or more of the {len(rows)} texts, so "
                "there is nothing to learn from; pass texts with words, or lower min_count"
            )
        return replace(self, vocabulary=words), table

    def transform(self, texts: object) -> WordTable:
        """Return the table of the vocabulary words that each text contains."""
        numbers = self._numbers
        starts, words_of_rows = numbered(
            read_texts(texts),
            self.words,
            lambda words: sorted([numbers[word] for word in set(words) if word in numbers]),
        )
        return WordTable(starts, words_of_rows, len(self.vocabulary), self.vocabulary)

    def say(self, number: int) -> str:
        """Return the sentence that a text contains a word of the vocabulary."""
        return sentence(self.vocabulary[number])

    def read(self, texts: object) -> list[str]:
        return read_texts(texts)

    def lines(self, texts: Any) -> list[str]:
        return list(texts)

    def parameters(self) -> dict[str, Any]:
        options = {part.name: getattr(self, part.name) for part in fields(self)}
        del options["vocabulary"]
        return options

    @cached_property
    def _runs(self) -> list[tuple[Callable[[tuple[str, ...]], str], tuple[int, ...]]]:
        """For every pattern of an n-gram: how its words are joined, and their offsets."""
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
        """Return the options as values for JSON; the vocabulary is saved separately."""
        return self.parameters()

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], vocabulary: tuple[str, ...]) -> TextFeatures:
        if not all(one < other for one, other in pairwise(vocabulary)):
            raise ValueError("the words of the vocabulary are not in order, or not distinct")
        return cls.checked(**content, vocabulary=vocabulary)


@lru_cache(maxsize=100_000)
def _pieces(token: str, sizes: tuple[int, int]) -> tuple[str, ...]:
    """Return the pieces of a word; cached, because most words occur in many texts."""
    padded = f" {token} "
    return tuple(
        f"‹{padded[place : place + size]}›"
        for size in range(*_ends(sizes))
        for place in range(len(padded) - size + 1)
    )


def _ends(span: tuple[int, int] | None) -> tuple[int, int]:
    return (0, 0) if span is None else (span[0], span[1] + 1)
