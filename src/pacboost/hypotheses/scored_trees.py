"""Trees in a layout for scoring many rows on their codes.

Trees of up to 32 leaves become masks (kernels/predict.py), which are several times faster than
walking down the trees; larger trees, and trees for few rows, are walked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import layout, predict
from pacboost.kernels.cuda.predict import MAX_SPLITS_PER_TREE, GpuScores, TreesOnGpu, max_stride
from pacboost.kernels.device import gpu_in_use
from pacboost.kernels.runtime.threads import each_rows
from pacboost.samples.bins import Codes
from pacboost.samples.blocks import places_of
from pacboost.samples.gpu_codes import gpu_codes, layout_of
from pacboost.samples.sample import Sample
from pacboost.sources.table import Table

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import Array

Masks = NDArray[np.uint32]
Scores = NDArray[np.float64]

MIN_ROWS_FOR_MASKS = 512
"""Minimum number of rows for masks: building them takes as long as walking this many rows."""
LEAF_BITS = np.uint64(1) << np.arange(predict.LEAVES_PER_MASK, dtype=np.uint64)
PLACES = (LEAF_BITS * np.uint64(predict.SPREAD) >> np.uint64(27)).astype(np.int64) & 31
"""Position of the value of each leaf for the kernel ``by_masks``."""


@dataclass(frozen=True, eq=False)
class PackedTrees:
    """Trees in joined arrays, with values multiplied by their votes."""

    nodes: NDArray[np.int32]
    members: NDArray[np.uint8]
    trees: NDArray[np.int64]
    values: Scores

    @classmethod
    def of(cls, trees: Sequence[TreeRule], votes: Sequence[float]) -> PackedTrees:
        outputs = trees[0].values.shape[1] if trees else 1
        nodes = [np.empty((0, 6), dtype=np.int32)]
        members = [np.empty((0, 256), dtype=np.uint8)]
        values = [np.empty((0, outputs))]
        places = np.zeros((len(trees), 3), dtype=np.int64)
        split = member = leaf = 0
        for t, (tree, vote) in enumerate(zip(trees, votes, strict=True)):
            nodes_of_tree = tree.nodes.copy()
            nodes_of_tree[nodes_of_tree[:, layout.MEMBER] >= 0, layout.MEMBER] += member
            places[t] = split, tree.feature.size, leaf
            nodes.append(nodes_of_tree)
            members.append(tree.members)
            values.append(vote * tree.values)
            split, member = split + tree.feature.size, member + len(tree.members)
            leaf += len(tree.values)
        return cls(np.concatenate(nodes), np.concatenate(members), places, np.concatenate(values))


def can_be_masked(tree: TreeRule) -> bool:
    """Check whether a tree has splits, and few enough leaves and codes for masks."""
    return 0 < tree.feature.size < predict.LEAVES_PER_MASK and tree.bins.missing <= 255


class MaskedTrees:
    """Masks of many trees, in arrays that grow by doubling."""

    def __init__(self, outputs: int) -> None:
        self.count = 0
        self._features = np.zeros(256, dtype=np.int64)
        self._masks = np.zeros((256, 256), dtype=np.uint32)
        self._trees = np.zeros(17, dtype=np.int64)
        self._values = np.zeros((16, predict.LEAVES_PER_MASK, outputs))

    def add(self, features: NDArray[np.int64], masks: Masks, values: NDArray[np.float64]) -> None:
        """Add a tree: the result of ``leaf_masks``, and the values of its leaves times its vote."""
        first = int(self._trees[self.count])
        last = first + features.size
        while last > self._features.size:
            self._features, self._masks = _doubled(self._features), _doubled(self._masks)
        if self.count == len(self._values):
            self._trees, self._values = _doubled(self._trees), _doubled(self._values)
        self._features[first:last], self._masks[first:last] = features, masks
        self._values[self.count, PLACES[: len(values)]] = values
        self.count += 1
        self._trees[self.count] = last

    def arrays(self) -> tuple[NDArray[Any], ...]:
        lines = int(self._trees[self.count])
        trees, values = self._trees[: self.count + 1], self._values[: self.count]
        return self._features[:lines], self._masks[:lines], trees, values


def leaf_masks(tree: TreeRule) -> tuple[NDArray[np.int64], Masks]:
    """Return the features of a tree, and the leaves that each of their codes can reach."""
    asked = tree.feature.tolist()
    line_of = {feature: line for line, feature in enumerate(sorted(set(asked)))}
    lines = np.array([line_of[feature] for feature in asked], dtype=np.int64)
    masks = np.empty((len(line_of), 256), dtype=np.uint32)
    predict.leaf_masks(tree.nodes, lines, tree.members, tree.bins.missing, masks)
    return np.array(list(line_of), dtype=np.int64), masks


def add_rules(jobs: list[Any], codes: Codes, scores: Scores, rules: int) -> None:
    """Add the contributions of rules to scores; ``jobs`` are kernels with their arrays."""

    def task(start: int, stop: int) -> None:
        for kernel, arrays in jobs:
            kernel(codes, *arrays, start, scores[start:stop])

    each_rows(task, len(scores), width=rules)


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([array, np.zeros_like(array)])


class ScoredTrees:
    """The trees of a vote, which score codes of the features in ``asked``, in this order."""

    def __init__(self, trees: Sequence[TreeRule], votes: Sequence[float]) -> None:
        self._pairs = list(zip(trees, votes, strict=True))
        self._missing = trees[0].bins.missing
        self.asked = np.unique(np.concatenate([tree.feature for tree in trees])).astype(np.int64)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without arrays on a GPU, which another machine may not have."""
        return {name: value for name, value in self.__dict__.items() if name != "_on_gpu"}

    def add_to(self, scores: Scores, codes: Codes) -> None:
        jobs: list[Any] = []
        walked = self._all
        if len(scores) >= MIN_ROWS_FOR_MASKS:
            masked, walked = self._masked
            if masked.count:
                jobs.append((predict.by_masks, masked.arrays()))
        if len(walked.trees):
            arrays = (walked.nodes, walked.members, self._missing, walked.trees, walked.values)
            jobs.append((predict.score, arrays))
        add_rules(jobs, codes, scores, len(self._pairs))

    def add_on_gpu(self, scores: Array, table: Table) -> bool:
        """Add the scores on the GPU in use, if possible; return whether it was."""
        rows = table.in_place() if gpu_in_use() else None
        if rows is None or self._on_gpu is None:
            return False
        self._on_gpu.add_to(scores, *rows)
        return True

    @cached_property
    def _on_gpu(self) -> TreesOnGpu | None:
        """The trees in GPU memory, or None if they are too large."""
        trees, votes = zip(*self._pairs, strict=True)
        bins = trees[0].bins
        if bins.missing > 255 or max(tree.feature.size for tree in trees) > MAX_SPLITS_PER_TREE:
            return None
        layout = layout_of(bins, *places_of(bins, []))
        if layout.stride > max_stride():
            return None
        packed = PackedTrees.of(trees, votes)
        return TreesOnGpu(packed.nodes, packed.members, packed.trees, packed.values, layout)

    @cached_property
    def _all(self) -> PackedTrees:
        return self._packed(self._pairs)

    @cached_property
    def _masked(self) -> tuple[MaskedTrees, PackedTrees]:
        """The masks of small trees, and the larger trees."""
        masked = MaskedTrees(self._pairs[0][0].values.shape[1])
        others = []
        for tree, vote in self._pairs:
            if can_be_masked(tree):
                features, masks = leaf_masks(tree)
                masked.add(np.searchsorted(self.asked, features), masks, vote * tree.values)
            else:
                others.append((tree, vote))
        return masked, self._packed(others)

    def _packed(self, pairs: Sequence[tuple[TreeRule, float]]) -> PackedTrees:
        packed = PackedTrees.of([tree for tree, _ in pairs], [vote for _, vote in pairs])
        features = packed.nodes[:, layout.FEATURE]
        features[:] = np.searchsorted(self.asked, features)
        return packed


def scores_on_gpu(sample: Sample, rule: Hypothesis) -> GpuScores | None:
    """Return the scores of a sample on the GPU in use for trees such as this, or None."""
    if not (isinstance(rule, TreeRule) and sample.bins is rule.bins and gpu_in_use()):
        return None
    codes = gpu_codes(sample.table, rule.bins, share=False).codes
    return GpuScores(codes, rule.values.shape[1])
