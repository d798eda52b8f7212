"""How texts are read: by a vocabulary that is learned from the training rows alone.

Rows of a mixed table are read in the same way; their numbers and categories become words too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import NotCertified, ParameterError
from pacboost.estimators.boosting.base import COUNTED, Boosting
from pacboost.estimators.boosting.fit import PreparedFit
from pacboost.estimators.inputs.division import Division
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.models.model import Model
from pacboost.samples.hidden_copies import words_of
from pacboost.samples.row_hashes import mixed
from pacboost.samples.sketch import Sketch
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.mixed import MixedFeatures
from pacboost.sources.table import Table
from pacboost.sources.text import MOST_FEATURES, TextFeatures
from pacboost.sources.words import WordTable

Features = TextFeatures | MixedFeatures
MOST_WORDS = 32
"""Pairs of so many words, with which a text begins, tell whether texts are similar."""


@dataclass(eq=False, repr=False)
class TextReading(Boosting):
    """A boosting classifier whose rows are texts, or rows of a table with texts in it."""

    ngrams: tuple[int, int] | None = (1, 2)
    skips: int = 0
    characters: tuple[int, int] | None = None
    min_count: int = 1
    _: KW_ONLY
    max_features: int = MOST_FEATURES
    lowercase: bool = True
    text_columns: Sequence[str] | None = None
    times: Sequence[int] | None = (2, 3, 5, 8)
    beginning: Sequence[int] | None = (1, 3, 10)
    shares: Sequence[int] | None = (5, 10, 20, 35)
    prefixes: tuple[int, int] | None = (3, 6)

    @property
    def features_(self) -> Features:
        """The options and the vocabulary by which texts are read."""
        text = self._fitted("features_").text
        assert text is not None  # every fit leaves it
        return text

    def _rows_to_compare(self, X: Any) -> ArrayTable:
        """Give fingerprints of the texts, as they came."""
        return fingerprints(self.features_.lines(self.features_.read(X)))

    def _prepare(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any) -> PreparedFit:
        options = self._options()
        rows = options.read(X)
        X_val = None if X_val is None else options.read(X_val)
        work = super()._prepare(rows, y, sample_weight, X_val, y_val)
        seen = [rows] if X_val is None else [rows, X_val]
        self._sketches = tuple(Sketch.of(self._comparable(rows)) for rows in seen)
        return work

    def _as_validation(self, X: Any) -> Any:
        return self._options().read(X)

    def _remember_also(self, X: Any, table: Table) -> None:
        self._sketches = (*self._sketches, Sketch.of(self._comparable(X)))

    def _remember_all(self, *given: Any) -> None:
        """Do nothing: ``_prepare`` remembers texts, as they were given."""

    def _divide(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Division:
        if self.certify == "train":
            raise NotCertified(COUNTED)
        return super()._divide(X, y, sample_weight, seed)

    def _learned(self, X: Any) -> Any:
        """Learn the vocabulary from the training rows, and give these as a table."""
        features, table = self._options().learn(X)
        if self.warm_start and hasattr(self, "model_") and self.model_.text != features:
            raise ParameterError(
                "warm_start goes on with the same texts, but their words or the options by which "
                "they are read have changed; set warm_start=False to start afresh"
            )
        self._reading, self.n_features_in_ = features, table.n_columns
        return table

    def _comparable(self, X: Any, other: Any = None) -> Table:
        """Give fingerprints of texts, in which words that were not learned count, too."""
        return fingerprints(self._reading.lines(X))

    def _options(self) -> Features:
        options = TextFeatures(
            self.ngrams,
            self.skips,
            self.characters,
            self.min_count,
            self.max_features,
            self.lowercase,
            times=self.times,  # type: ignore[arg-type]
            beginning=self.beginning,  # type: ignore[arg-type]
            shares=self.shares,  # type: ignore[arg-type]
            prefixes=self.prefixes,
        )
        if self.text_columns is None:
            return options
        return MixedFeatures(options, self.text_columns)  # type: ignore[arg-type]

    def _read_validation(self, X: Any, y: Any) -> LabelledRows:
        return super()._read_validation(self._reading.transform(X), y)

    def _as_read(self, model: Model) -> Model:
        return replace(model, names=self._reading.vocabulary, text=self._reading)

    def _open(self, X: Any) -> WordTable:
        check_is_fitted(self)
        return self.features_.transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = tags.input_tags.sparse = tags.input_tags.allow_nan = False
        return tags


def fingerprints(texts: list[str]) -> ArrayTable:
    """Give three numbers of 24 bits for every text; case, spaces and marks make no difference.

    Two more are the least hashes of pairs of words, which a text mostly keeps if words are added
    or changed (Broder 1997).

    >>> both = fingerprints(["lost my card in the train", "Lost my card in the train again"]).rows()
    >>> (both[0] == both[1]).tolist()
    [False, False, False, True, True]
    """
    lines = [" ".join(words_of(text)) for text in texts]
    plain = (line.encode(errors="surrogatepass") for line in lines)
    digests = b"".join(hashlib.blake2b(text, digest_size=12).digest() for text in plain)
    whole = np.frombuffer(digests, dtype="<u4").reshape(-1, 3) >> 8
    table = ArrayTable(np.column_stack([whole, *_least_pairs(lines)]).astype(np.float64))
    table.alike = (3, 4)
    return table


def _least_pairs(lines: list[str]) -> list[NDArray[np.uint64]]:
    """Hash the pairs of words with which texts begin in two ways, and give the least of each."""
    first = [
        line.encode(errors="surrogatepass").split(b" ", MOST_WORDS)[:MOST_WORDS] for line in lines
    ]
    sizes = [max(1, len(words) - 1) for words in first]
    pairs = (
        crc32(b" ".join(words[k : k + 2])) for words in first for k in range(max(1, len(words) - 1))
    )
    hashes = np.fromiter(pairs, dtype=np.uint64, count=sum(sizes))
    starts = np.cumsum([0, *sizes[:-1]])
    return [
        np.minimum.reduceat(mixed(hashes + np.uint64(way << 32)), starts) >> np.uint64(40)
        if lines
        else hashes
        for way in (1, 2)
    ]
