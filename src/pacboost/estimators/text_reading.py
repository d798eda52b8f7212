"""Reading texts at the door: which words they contain, learned from rows that may be looked at."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import ParameterError
from pacboost.estimators import prepare
from pacboost.estimators.boosting import Boosting
from pacboost.estimators.running import Work
from pacboost.samples.sketch import Overlap, Sketch
from pacboost.sources.arrays import ArrayTable
from pacboost.sources.text import TextFeatures, read_texts
from pacboost.sources.words import WordTable


class TextReading(Boosting):
    """A boosting classifier whose rows are texts."""

    ngrams: tuple[int, int] | None
    skips: int
    characters: tuple[int, int] | None
    min_count: int
    max_features: int
    lowercase: bool

    @property
    def features_(self) -> TextFeatures:
        """The options and the vocabulary by which texts are read."""
        text = self._fitted("features_").text
        assert text is not None  # every fit leaves it
        return text

    def overlap(self, X: Any) -> Overlap | None:
        """Compare texts with those the fit has looked at; None if the memory of them is gone."""
        check_is_fitted(self)
        prints = _fingerprints(read_texts(X))
        found = [sketch.overlap(prints) for sketch in getattr(self, "_sketches", ())]
        return max(found, key=lambda overlap: overlap.suspicious, default=None)

    def _prepare(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any) -> Work:
        self._texts = read_texts(X)
        X_val = None if X_val is None else read_texts(X_val)
        unread = WordTable(np.zeros(len(self._texts) + 1, dtype=np.int64), np.empty(0, np.int32), 1)
        work = super()._prepare(unread, y, sample_weight, X_val, y_val)
        seen = [self._texts] if X_val is None else [self._texts, X_val]
        self._sketches = tuple(Sketch.of(_fingerprints(texts)) for texts in seen)
        del self._texts
        return work

    def _remember(self, *tables: Any) -> None:
        """Texts are remembered as they came, by ``_prepare``."""

    def _set_apart(
        self, examples: prepare.Examples, seed: int
    ) -> tuple[prepare.Examples, prepare.Examples | None]:
        """Set rows apart, then read the others: no word of theirs may come from rows held out."""
        examples, apart = super()._set_apart(examples, seed)
        features, table = self._options().learn(self._texts_of(examples))
        if self.warm_start and hasattr(self, "model_") and self.model_.text != features:
            raise ParameterError(
                "warm_start goes on with the same texts, but their words or the options by which "
                "they are read have changed; set warm_start=False to start afresh"
            )
        self._reading, self.n_features_in_ = features, table.n_columns
        if apart is not None:
            apart = replace(apart, table=features.transform(self._texts_of(apart)))
        return replace(examples, table=table), apart

    def _texts_of(self, examples: prepare.Examples) -> list[str]:
        numbers = examples.numbers
        return self._texts if numbers is None else [self._texts[i] for i in numbers]

    def _options(self) -> TextFeatures:
        return TextFeatures(
            self.ngrams,
            self.skips,
            self.characters,
            self.min_count,
            self.max_features,
            self.lowercase,
        )

    def _read_validation(self, X: Any, y: Any) -> prepare.Examples:
        return super()._read_validation(self._reading.transform(X), y)

    def _keep(self, work: Work) -> None:
        super()._keep(work)
        self.model_ = replace(self.model_, names=self._reading.vocabulary, text=self._reading)

    def _open(self, X: Any) -> WordTable:
        check_is_fitted(self)
        return self.features_.transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = tags.input_tags.sparse = tags.input_tags.allow_nan = False
        return tags


def _fingerprints(texts: list[str]) -> ArrayTable:
    """Give three numbers of 24 bits for every text, the same for the same text."""
    digests = b"".join(
        hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=12).digest()
        for text in texts
    )
    words = np.frombuffer(digests, dtype="<u4").reshape(-1, 3)
    return ArrayTable((words >> 8).astype(np.float64))
