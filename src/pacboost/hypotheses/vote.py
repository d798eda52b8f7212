"""The final vote: a weighted sum of rules.

A vote of stumps is a sum of step functions, one per feature: after adding up, a row costs one look-
up per feature for any number of rounds. Trees are walked on codes, and lists of words have an
inverted index. All scores equal the sum over rounds bit for bit (numerics/exact.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import FeaturePart, Hypothesis, bins_of
from pacboost.hypotheses.scored_trees import ScoredTrees
from pacboost.hypotheses.tree import TreeRule
from pacboost.hypotheses.word_list import WordIndex, WordList
from pacboost.kernels.bins import PackedSteps, pack_steps
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_rows
from pacboost.samples.bins import upper_cuts
from pacboost.samples.sample import unlabelled
from pacboost.sources.table import Table

Scores = NDArray[np.float64]
Kind = TypeVar("Kind", bound=Hypothesis)


@dataclass(frozen=True, eq=False)
class Vote:
    """F(x) = Σ votes[t] · hypotheses[t](x): one number for two classes, else one for each class.

    The sign is the answer for two classes, else the class with the largest score; ties have none.
    """

    tag: ClassVar[str] = "vote"
    FIELDS: ClassVar[tuple[str, ...]] = ("hypotheses", "votes", "outputs")

    hypotheses: Sequence[Hypothesis]
    votes: NDArray[np.float64]
    outputs: int = 1

    def __len__(self) -> int:
        return len(self.hypotheses)

    def gains(self, columns: int) -> NDArray[np.float64]:
        """Return the sum of votes of rules on each feature; for trees, the sum of gains."""
        gains = np.zeros(columns)
        for hypothesis, vote in zip(self.hypotheses, self.votes, strict=True):
            gains += hypothesis.importances(abs(float(vote)), columns)
        return gains

    def scores(self, table: Table) -> Scores:
        """Return F for every row: (rows,) for one output, else (rows, outputs)."""
        scores = np.zeros((table.n_rows, self.outputs))
        # only the columns that rules ask for are read, block by block: a table may be on disk
        for first, values in table.blocks_of(self.steps):
            self._add_steps(first, values, scores[:, 0])
        self._add_trees(table, scores)
        if self.index is not None:
            from pacboost.sources.sparse import words_of

            scores += self.index.scores(words_of(table))
        if self.others:
            sample = unlabelled(table)
            for hypothesis, vote in self.others:
                scores += vote * hypothesis.said(sample)
        return self._shaped(scores)

    def scores_like(self, table: Table, array: NDArray[Any]) -> Any:
        scores = np.zeros((table.n_rows, self.outputs), like=array)
        # only trees have a kernel on GPUs
        rest = self.steps or self.index is not None or self.others
        if self.trees and not rest and self._scored_trees.add_on_gpu(scores, table):
            return self._shaped(scores)
        return np.asarray(self.scores(table), like=array)

    def staged(self, table: Table) -> Iterator[Scores]:
        """Yield F after each round; the same array is updated for the next round."""
        scores = np.zeros((table.n_rows, self.outputs))
        sample = unlabelled(table, bins_of(self.hypotheses))
        for hypothesis, vote in zip(self.hypotheses, self.votes, strict=True):
            # one array for all rounds: with many classes a thousand copies would not fit
            scores += vote * hypothesis.said(sample)
            yield self._shaped(scores)

    def cells(self, table: Table) -> NDArray[np.int32]:
        """Return the cell (of a tree, the leaf) of every row in every rule, (rows, rules)."""
        sample = unlabelled(table, bins_of(self.hypotheses))
        cells = np.zeros((table.n_rows, len(self.hypotheses)), dtype=np.int32)
        for number, hypothesis in enumerate(self.hypotheses):
            cells[:, number] = hypothesis.cells(sample)
        return cells

    def _shaped(self, scores: Scores) -> Scores:
        return scores[:, 0] if self.outputs == 1 else scores

    @cached_property
    def _sorted(self) -> tuple[dict[int, list[FeaturePart]], list[tuple[Hypothesis, float]]]:
        """The rules that are step functions of a feature, by their feature, and all others."""
        parts: dict[int, list[FeaturePart]] = {}
        others: list[tuple[Hypothesis, float]] = []
        for rule, vote in zip(self.hypotheses, self.votes, strict=True):
            part = rule.step(float(vote))
            if part is None:
                others.append((rule, float(vote)))
            else:  # a constant may be added to any feature
                parts.setdefault(part.feature or 0, []).append(part)
        return parts, others

    def _of_kind(self, kind: type[Kind]) -> list[tuple[Kind, float]]:
        return [(rule, vote) for rule, vote in self._sorted[1] if isinstance(rule, kind)]

    @cached_property
    def others(self) -> list[tuple[Hypothesis, float]]:
        """The rules that are asked one by one: neither steps nor trees nor lists of words."""
        kinds = (TreeRule, WordList)
        return [(rule, vote) for rule, vote in self._sorted[1] if not isinstance(rule, kinds)]

    @cached_property
    def steps(self) -> dict[int, FeaturePart]:
        parts = self._sorted[0]
        return {feature: FeaturePart.sum(parts[feature]) for feature in sorted(parts)}

    @cached_property
    def trees(self) -> list[tuple[TreeRule, float]]:
        return self._of_kind(TreeRule)

    @cached_property
    def _scored_trees(self) -> ScoredTrees:
        return ScoredTrees([tree for tree, _ in self.trees], [vote for _, vote in self.trees])

    def _add_trees(self, table: Table, scores: Scores) -> None:
        if not self.trees:
            return
        trees, bins = self._scored_trees, self.trees[0][0].bins
        if trees.add_on_gpu(scores, table):
            return
        if table.entries is None:
            # codes take one byte a cell in place of eight, and trees compare whole numbers
            trees.add_to(scores, bins.encode(table, trees.asked))
            return
        from pacboost.samples.sparse_codes import SparseCodes

        for first, codes in SparseCodes.from_entries(table.entries, bins, trees.asked).blocks():
            trees.add_to(scores[first : first + codes.shape[1]], codes)

    @cached_property
    def index(self) -> WordIndex | None:
        lists = self._of_kind(WordList)
        # a text costs as many steps as it has words, for any number of rules
        return WordIndex.of(*map(list, zip(*lists, strict=True))) if lists else None

    @cached_property
    def _packed_steps(self) -> PackedSteps:
        parts = self.steps.values()
        cuts = [upper_cuts(part.thresholds) for part in parts]
        return pack_steps(self.steps, cuts, [(part.steps, part.missing) for part in parts])

    def _add_steps(self, first: int, values: NDArray[np.floating], scores: Scores) -> None:
        features, cuts, offsets, steps, missing = self._packed_steps
        # a block has some of the columns, and the features are sorted
        a, b = features.searchsorted([first, first + values.shape[1]]).tolist()
        columns, offsets, missing = features[a:b] - first, offsets[a : b + 1], missing[a:b]

        def task(start: int, stop: int) -> None:
            part, scores_of_part = values[start:stop], scores[start:stop]
            native.score_steps(part, columns, cuts, offsets, steps, missing, scores_of_part)

        each_rows(task, scores.size)
