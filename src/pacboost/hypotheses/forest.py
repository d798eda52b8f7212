"""A forest: many trees in few arrays, with 8 bytes per node (layout: native/forest/node.h)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.native import native
from pacboost.kernels.threads import ROWS_PER_SPAN, each_rows
from pacboost.samples.bins import Bins
from pacboost.sources.table import Table

Sums = NDArray[np.float64]
NODES_PER_BLOCK = 2**20
MIN_ROWS_PER_THREAD = 64
CELLS_PER_TILE = 2**20  # these codes stay in the cache while all trees read them
LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, eq=False)
class ForestTree:
    """One tree of a forest."""

    nodes: NDArray[np.uint64]
    table: NDArray[np.float32]
    """(lines, classes): distributions of mixed leaves, if there are more than two classes."""
    gains: NDArray[np.float64]
    """Total gain of the splits on each feature."""


@dataclass(frozen=True, eq=False)
class Block:
    """Several trees in joined arrays: nodes of tree t begin at firsts[t], its lines at bases[t]."""

    tag: ClassVar[str] = "block"

    nodes: NDArray[np.uint64]
    firsts: NDArray[np.int64]
    table: NDArray[np.float32]
    bases: NDArray[np.int64]

    @classmethod
    def of(cls, trees: Iterable[ForestTree]) -> Block:
        trees = list(trees)
        return cls(
            np.concatenate([tree.nodes for tree in trees]),
            _offsets([tree.nodes.size for tree in trees]),
            np.concatenate([tree.table for tree in trees]),
            _offsets([len(tree.table) for tree in trees]),
        )

    def __len__(self) -> int:
        return self.firsts.size - 1

    def trees(self) -> Iterator[ForestTree]:
        """Yield the trees, without the gains of their splits."""
        for k in range(len(self)):
            nodes = self.nodes[self.firsts[k] : self.firsts[k + 1]]
            yield ForestTree(nodes, self.table[self.bases[k] : self.bases[k + 1]], np.empty(0))


def _offsets(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees whose answers are averaged, or counted as votes if ``hard``.

    ``classes`` is 0 for numbers, else at least 2; two classes have one sum, that of the second.
    """

    tag: ClassVar[str] = "forest"

    bins: Bins
    classes: int
    importances: NDArray[np.float64]
    """Each feature's share of the gain of a tree, summed over trees."""
    blocks: tuple[Block, ...] = ()
    middle: float = 0.0
    scale: float = 1.0
    """A predicted number is middle + scale·(value of the tree), which lies in [-1, 1]."""
    hard: bool = False

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    def gains(self, columns: int) -> NDArray[np.float64]:
        return self.importances

    @property
    def many(self) -> bool:
        """Whether there are more than two classes, so that leaves hold distributions."""
        return self.classes > 2

    @cached_property
    def n_nodes(self) -> int:
        return sum(block.nodes.size for block in self.blocks)

    def trees(self) -> Iterator[ForestTree]:
        for block in self.blocks:
            yield from block.trees()

    def grown(self, trees: Iterable[ForestTree]) -> Forest:
        """Return the forest with more trees; adding them one by one gives the same forest."""
        blocks, gains = list(self.blocks), self.importances.copy()
        waiting: list[ForestTree] = []
        if blocks and blocks[-1].nodes.size < NODES_PER_BLOCK:
            waiting = list(blocks.pop().trees())
        size = sum(tree.nodes.size for tree in waiting)
        for tree in trees:
            total = tree.gains.sum()
            gains += tree.gains / total if total > 0 else 0.0
            waiting.append(tree)
            size += tree.nodes.size
            if size >= NODES_PER_BLOCK:
                blocks.append(Block.of(waiting))
                waiting, size = [], 0
        if waiting:
            blocks.append(Block.of(waiting))
        return replace(self, blocks=tuple(blocks), importances=gains)

    def sums(self, table: Table) -> Sums:
        """Add up the answers of all trees for every row: (rows, classes), or one column."""
        return self.sums_of_codes(self.bins.encode(table))

    def sums_of_codes(self, codes: NDArray[np.unsignedinteger]) -> Sums:
        """Add up the answers of all trees for encoded rows, (features, rows)."""
        features, rows = codes.shape
        sums = np.zeros((rows, self.classes if self.many else 1))
        rows_per_tile = max(1, CELLS_PER_TILE // features)

        def task(start: int, stop: int) -> None:
            for first in range(start, stop, rows_per_tile):
                tile_rows = slice(first, min(stop, first + rows_per_tile))
                self._add(np.ascontiguousarray(codes[:, tile_rows].T), sums[tile_rows])

        each_rows(task, rows, width=ROWS_PER_SPAN // MIN_ROWS_PER_THREAD)
        return sums

    def _add(self, lines: NDArray[np.unsignedinteger], sums: Sums) -> None:
        # numbers are averaged, whatever ``hard`` says
        hard = self.hard and self.classes > 0
        for block in self.blocks:
            native.add_values(
                lines, block.nodes, block.firsts, block.table, block.bases, self.bins.missing,
                hard, sums,
            )  # fmt: skip

    def numbers(self, table: Table) -> NDArray[np.float64]:
        mean = self.sums(table)[:, 0] / max(1, len(self))
        return np.asarray(self.middle + self.scale * mean)

    def scores(self, table: Table) -> Sums:
        """Return the prediction for every row: the share of each class, or a number."""
        return self.shares(table) if self.classes else self.numbers(table)

    def shares(self, table: Table) -> Sums:
        """Average the distributions (or count the votes) of the trees: (rows, classes)."""
        return as_shares(self.sums(table), max(1, len(self)), many=self.many)

    def spread(self, table: Table) -> NDArray[np.float64]:
        """Return the standard deviation of the predictions of the trees, in regression."""
        leaves = self.cells(table)
        sums, squares, number = np.zeros(table.n_rows), np.zeros(table.n_rows), 0
        for block in self.blocks:
            values = (block.nodes & LOW).astype(np.uint32).view(np.float32)
            for first in block.firsts[:-1]:
                answers = values[first + leaves[:, number]].astype(np.float64)
                sums, squares, number = sums + answers, squares + answers**2, number + 1
        mean = sums / max(1, number)
        # E[x²] - E[x]² of equal numbers may round to just below 0
        variance = np.maximum(squares / max(1, number) - mean**2, 0.0)
        return np.asarray(self.scale * np.sqrt(variance))

    def cells(self, table: Table) -> NDArray[np.int64]:
        """Return the leaf of every row in every tree, (rows, trees): the index of its node."""
        leaves = np.empty((table.n_rows, len(self)), np.int64)
        lines: NDArray[np.uint8] = np.ascontiguousarray(self.bins.encode(table).T)
        trees = [(block, first) for block in self.blocks for first in block.firsts[:-1]]

        def task(start: int, stop: int) -> None:
            places = np.empty(stop - start, np.int64)
            for number, (block, first) in enumerate(trees):
                own = lines[start:stop]
                native.find_leaves(own, block.nodes, int(first), self.bins.missing, places)
                leaves[start:stop, number] = places

        each_rows(task, table.n_rows, width=ROWS_PER_SPAN // MIN_ROWS_PER_THREAD)
        return leaves


def as_shares(sums: Sums, trees: int | NDArray[np.int64], *, many: bool) -> Sums:
    """Turn sums over trees into the share of every class."""
    shares = sums / (trees if isinstance(trees, int) else trees[:, None])
    return shares if many else np.column_stack([1 - shares[:, 0], shares[:, 0]])
