"""Lists of words, each the best of some candidates drawn at random.

A greedy search would choose the best word again and again, and never one that is correlated with
it. Random candidates divide the votes among correlated words, as a ridge penalty does.

Each round chooses one of several ways to draw them. Either all words are equally likely; or the
probability of a word is proportional to the square root of the number of rows that hold it, and the
list goes from rare words to common ones. With two classes, one round in five draws by the square
root without that order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, Hypothesis
from pacboost.hypotheses.word_list import WordList, no_cells
from pacboost.kernels.native import native
from pacboost.kernels.team import team_for, together
from pacboost.kernels.words import WordRows
from pacboost.learners.learner import Learner, Rows, Search, Weights
from pacboost.learners.tree_parameters import CRITERIA
from pacboost.samples.sample import Request, Sample
from pacboost.sources.sparse import words_of

MAX_WORDS = 65_535


@dataclass(frozen=True)
class Words(Learner):
    """A list of at most ``length`` words; each is the best of ``candidates`` drawn at random.

    ``candidates=None`` tries all words. With ``abstain``, a list is silent on rows that hold none
    of its words. ``Words(1, None)`` finds the rules of BoosTexter (Schapire and Singer 2000).
    """

    name: ClassVar[str] = "words"
    plural: ClassVar[str] = "word lists"

    length: int = 100
    candidates: int | None = 20
    abstain: bool = True

    sparse = True

    def __post_init__(self) -> None:
        if not 1 <= self.length <= MAX_WORDS:
            raise ParameterError(f"length is {self.length}; it may be 1 to {MAX_WORDS:,}")
        if self.candidates is not None and self.candidates < 1:
            raise ParameterError(f"candidates is {self.candidates}; it must be 1 or more, or None")

    @property
    def deterministic(self) -> bool:
        return self.candidates is None

    def finds_rules(self, sample: Sample) -> bool:
        return False

    def on(self, sample: Sample) -> WordSearch:
        return WordSearch(self, sample)


class WordSearch(Search):
    """The search for lists on one sample."""

    def __init__(self, learner: Words, sample: Sample) -> None:
        self.sample = sample
        self._learner = learner
        self._starts, self._rows = words_of(sample.table).by_word
        self._work = self._rows.size // max(1, self._starts.size - 1) * sample.signs.shape[1]

    def find(self, weights: Weights, answers: NDArray[Any], seed: int) -> Hypothesis:
        """Raise: a list gives a number to every class, and names none."""
        raise ParameterError(
            "lists of words give every class a number, so no rule names one class; boost them with "
            "booster='logit', or with 'adaboost' and multiclass='mh'"
        )

    def constant(self) -> WordList:
        return WordList.constant(self.sample.signs.shape[1])

    def partition(self, request: Request, seed: int, chosen: Rows | None) -> tuple[WordList, Cells]:
        learner, n_words = self._learner, self._starts.size - 1
        taken = np.zeros(self.sample.n_rows, dtype=np.uint8)
        if chosen is not None:
            taken[:] = 1
            taken[chosen] = 0
        cells = no_cells(self.sample.n_rows, learner.length)
        asked = np.empty(learner.length, dtype=np.int32)
        progress = np.array([0, taken.size - int(taken.sum())])  # words, and rows not taken
        word_rows = WordRows(
            self._starts, self._rows, taken, request.weights, request.pulls, request.signed,
            self._rest(request, taken), CRITERIA[request.criterion], float(request.penalty),
        )  # fmt: skip

        def append_best(drawn: NDArray[np.int64]) -> None:
            words = drawn.shape[1]
            team = min(team_for(words * self._work), words)
            together(
                native.extend, drawn, word_rows, np.empty(words), asked, cells, progress,
                at_most=team,
            )  # fmt: skip

        size = learner.length if n_words else 0
        if learner.candidates is not None:
            append_best(self._drawn(np.random.default_rng(seed), (size, learner.candidates)))
        for _ in range(size if learner.candidates is None else 0):
            words, gains = np.arange(n_words), np.empty(n_words)
            team = team_for(n_words * self._work)
            together(native.gains_of_all, words, word_rows, gains, at_most=team)
            append_best(np.array([[int(gains.argmax())]]))
        count = int(progress[0])
        cells = np.minimum(cells, cells.dtype.type(count))
        values = np.zeros((count + 1, request.weights.shape[1]))
        return WordList(asked[:count].copy(), values, learner.abstain), cells

    def _drawn(self, generator: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.int64]:
        """Draw candidates in one of the ways that the module docstring describes."""
        words, outputs = self._starts.size - 1, self.sample.signs.shape[1]
        case = int(generator.integers(5 if outputs == 1 else 4))
        if case < 2 or not self._rows.size:
            return generator.integers(max(1, words), size=shape)
        places = generator.random(shape) * self._shares[-1]
        drawn: NDArray[np.int64] = np.searchsorted(self._shares, places, side="right")
        drawn = drawn.clip(max=words - 1).ravel()
        if case < 4:
            counts = self._starts[drawn + 1] - self._starts[drawn]
            drawn = drawn[np.argsort(counts, kind="stable")]
        return drawn.reshape(shape)

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """The cumulative square roots of the number of rows that hold each word."""
        return np.cumsum(np.sqrt(np.diff(self._starts)))

    def _rest(self, request: Request, taken: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Sum the pulls and weights of the rows not taken; empty if the list abstains on them."""
        if self._learner.abstain:
            return np.zeros((2, 0), dtype=np.int64)
        rows = np.flatnonzero(taken == 0)
        weights, pulls = request.weights[rows], request.pulls[rows]
        signed_pulls = weights * pulls if request.signed else pulls
        return np.stack([signed_pulls.sum(axis=0, dtype=np.int64), weights.sum(axis=0)])
