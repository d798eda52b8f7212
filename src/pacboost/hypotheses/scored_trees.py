"""Trees in joined arrays, which the kernel of src/native/tree/predict.h scores on codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.tree import TreeRule
from pacboost.kernels import layout
from pacboost.kernels.cuda.predict import MAX_SPLITS_PER_TREE, GpuScores, TreesOnGpu, max_stride
from pacboost.kernels.device import gpu_in_use
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_rows
from pacboost.samples.bins import Codes
from pacboost.samples.blocks import places_of
from pacboost.samples.gpu_codes import gpu_codes, layout_of
from pacboost.samples.sample import Sample
from pacboost.sources.table import Table

if TYPE_CHECKING:
    from pacboost.kernels.cuda.device import Array

Scores = NDArray[np.float64]
Job = tuple[Callable[..., None], tuple[Any, ...]]
"""A kernel that adds to scores, and its arguments between the codes and the first row."""


class PackedTrees:
    """Trees in joined arrays, with values multiplied by their votes; trees can be added."""

    def __init__(self, outputs: int) -> None:
        self._nodes = [np.empty((0, 6), dtype=np.int32)]
        self._members = [np.empty((0, 256), dtype=np.uint8)]
        self._values = [np.empty((0, outputs))]
        self._trees: list[tuple[int, int, int]] = []
        self._next = np.zeros(3, dtype=np.int64)
        """The number of splits, subsets and leaves so far."""
        self._joined: JoinedTrees | None = None

    def __len__(self) -> int:
        return len(self._trees)

    def add(self, tree: TreeRule, vote: float) -> None:
        split, member, leaf = self._next.tolist()
        # the nodes are cached in the tree, and their subsets get other numbers here
        nodes = tree.nodes.copy()
        nodes[nodes[:, layout.MEMBER] >= 0, layout.MEMBER] += member
        self._nodes.append(nodes)
        self._members.append(tree.members)
        self._values.append(vote * tree.values)
        self._trees.append((split, tree.feature.size, leaf))
        self._next += tree.feature.size, len(tree.members), len(tree.values)
        self._joined = None

    def joined(self) -> JoinedTrees:
        if self._joined is None:
            trees = np.array(self._trees, dtype=np.int64).reshape(-1, 3)
            nodes, members = np.concatenate(self._nodes), np.concatenate(self._members)
            self._joined = JoinedTrees(nodes, members, trees, np.concatenate(self._values))
        return self._joined


class JoinedTrees(NamedTuple):
    """The arrays of trees that the kernel reads."""

    nodes: NDArray[np.int32]
    """A line for each split, with the columns FEATURE to MEMBER of kernels/layout.py."""
    members: NDArray[np.uint8]
    trees: NDArray[np.int64]
    """The first split of each tree, the number of its splits, and its first line of ``values``."""
    values: Scores

    def job(self, missing: int) -> Job:
        """Return the job of adding these trees to scores."""
        return native.score_trees, (self.nodes, self.members, missing, self.trees, self.values)


def join_trees(trees: Sequence[TreeRule], votes: Sequence[float]) -> JoinedTrees:
    """Join the arrays of trees, of at least one."""
    packed = PackedTrees(trees[0].values.shape[1])
    for tree, vote in zip(trees, votes, strict=True):
        packed.add(tree, vote)
    return packed.joined()


def add_rules(jobs: Sequence[Job], codes: Codes, scores: Scores, rules: int) -> None:
    """Add the contributions of rules to scores; ``jobs`` are kernels with their arrays."""

    def task(start: int, stop: int) -> None:
        for kernel, arrays in jobs:
            kernel(codes, *arrays, start, scores[start:stop])

    each_rows(task, len(scores), width=rules)


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
        add_rules([self._joined.job(self._missing)], codes, scores, len(self._pairs))

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
        packed = join_trees(trees, votes)
        return TreesOnGpu(packed.nodes, packed.members, packed.trees, packed.values, layout)

    @cached_property
    def _joined(self) -> JoinedTrees:
        joined = join_trees(*zip(*self._pairs, strict=True))
        features = joined.nodes[:, layout.FEATURE]
        # codes of the other features are never computed
        features[:] = np.searchsorted(self.asked, features)
        return joined


def scores_on_gpu(sample: Sample, rule: Hypothesis) -> GpuScores | None:
    """Return the scores of a sample on the GPU in use for trees such as this, or None."""
    if not (isinstance(rule, TreeRule) and sample.bins is rule.bins and gpu_in_use()):
        return None
    codes = gpu_codes(sample.table, rule.bins, share=False).codes
    return GpuScores(codes, rule.values.shape[1])
