"""A decision tree on codes, with a value for every leaf."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import DataError
from pacboost.hypotheses import hypothesis
from pacboost.hypotheses.fields import OUTPUTS, Column, Field, FieldLines, RuleRun, SharedBins
from pacboost.hypotheses.hypothesis import Cells, CellValues, FeaturePart, Names, value_words
from pacboost.kernels import layout
from pacboost.kernels.native import native
from pacboost.kernels.threads import each_rows
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.samples.bins import Bins, Codes
from pacboost.samples.sample import Sample
from pacboost.samples.sparse_codes import SparseCodes
from pacboost.sources.values import Values

MAX_COLUMNS_NAMED = 4
MAX_LEAVES = 2**16
SPLITS = FieldLines("splits")
Box = dict[int, NDArray[np.bool_]]
"""For some features, a mask of the codes inside the box, (256,) each."""


@dataclass(frozen=True, eq=False)
class TreeRule(hypothesis.Hypothesis):
    """A tree with splits as arrays; the cells are the leaves.

    A child is the number of a split, or ``~leaf`` (-1 for leaf 0, -2 for leaf 1, …). Split 0 is the
    root, and children have larger numbers than their parents.
    """

    tag: ClassVar[str] = "tree"
    FIELDS: ClassVar[Mapping[str, Field]] = {
        "bins": SharedBins(),
        "feature": Column(np.int32, SPLITS, of_features=True),
        "cut": Column(np.int32, SPLITS, within=(-1, 2**31 - 1)),
        "missing_left": Column(np.bool_, SPLITS),
        "left": Column(np.int32, SPLITS, within=(-(2**31), 2**31 - 1)),
        "right": Column(np.int32, SPLITS, within=(-(2**31), 2**31 - 1)),
        "member": Column(np.int32, SPLITS, within=(-1, 2**31 - 1)),
        "members": Column(np.uint8, FieldLines("subsets"), 256, bits=(0, 1)),
        "gain": Column(np.float64, SPLITS),
        "cover": Column(np.float64, FieldLines("splits", 2, 1), within=(0, 1e150)),
        "values": Column(np.float64, FieldLines("splits", more=1), OUTPUTS),
    }
    BYTES: ClassVar[int] = 2_000
    BYTES_TO_CHECK: ClassVar[int] = 150

    bins: Bins
    """The thresholds of the codes, one object for all trees of a vote."""
    feature: NDArray[np.int32]
    cut: NDArray[np.int32]
    """A code above it goes right."""
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    member: NDArray[np.int32]
    """-1 for a cut; for a subset of categories, the line of ``members`` that holds it."""
    members: NDArray[np.uint8]
    """(subsets, 256): 1 where a code goes left."""
    gain: NDArray[np.float64]
    """The gain of each split, in the same unit for all trees of a vote."""
    cover: NDArray[np.float64]
    """The weight of training rows in every node: splits first, then leaves."""
    values: CellValues
    slope: NDArray[np.int8] | None = None
    """+1 (-1) if values may not fall (rise) to the right of a split, else 0; None if all are 0."""

    def __repr__(self) -> str:
        """Return the size only, since the bins of all features are the same for every tree."""
        return f"TreeRule(splits={self.feature.size}, leaves={len(self.values)})"

    @classmethod
    def constant(cls, bins: Bins, values: NDArray[np.float64], weight: float = 1.0) -> TreeRule:
        none, empty = np.empty(0, np.int32), np.empty((0, 256), np.uint8)
        flags, gains = np.empty(0, np.bool_), np.empty(0)
        cover = np.array([weight])
        return cls(
            bins, none, none, flags, none, none, none, empty, gains, cover, values.reshape(1, -1)
        )

    @property
    def shared_bins(self) -> Bins:
        return self.bins

    @classmethod
    def problem(cls, run: RuleRun) -> tuple[str, str] | None:
        """Check that every row reaches a leaf: children follow their parent, and have only one."""
        arrays, splits, subsets = run.arrays, run.counts["splits"], run.counts["subsets"]
        if splits.max(initial=0) >= MAX_LEAVES:
            return "splits", f"are as many as no tree has; it may have up to {MAX_LEAVES - 1:,}"
        tree = np.repeat(np.arange(splits.size), splits)
        n_splits, first = splits[tree], (np.cumsum(splits, dtype=np.int64) - splits)[tree]
        if (arrays["member"] >= subsets[tree]).any():
            return "member", "asks for a set of levels that does not exist"
        place = np.arange(tree.size) - first
        hung: list[NDArray[np.int64]] = []
        for name in ("left", "right"):
            child = arrays[name].astype(np.int64)
            inner = child >= 0
            fits = np.where(inner, (child > place) & (child < n_splits), ~child <= n_splits)
            if not fits.all():
                return name, "names a child that is not further on in its tree"
            hung.append(np.where(inner, first + child, tree.size + first + tree + ~child))
        if np.bincount(np.concatenate(hung)).max(initial=0) > 1:
            return "right", "names a child that already has a parent"
        return None

    def cells(self, sample: Sample) -> Cells:
        out = self._no_cells(sample.n_rows)
        if self.feature.size == 0:
            return out
        same_bins = sample.bins is self.bins
        entries = sample.table.entries
        if entries is None or (same_bins and sample.sparse is None):
            codes = sample.codes if same_bins else None
            self._walk(self.bins.encode(sample.table) if codes is None else codes, self.nodes, out)
            return out
        asked, numbers = np.unique(self.feature.astype(np.int64), return_inverse=True)
        nodes = self.nodes.copy()
        nodes[:, layout.FEATURE] = numbers
        encoded = sample.sparse if same_bins else None
        if encoded is None:
            listed = SparseCodes.from_entries(entries, self.bins, asked)
        else:
            listed = encoded.pick(asked)
        for first, block in listed.blocks():
            self._walk(block, nodes, out[first : first + block.shape[1]])
        return out

    def _no_cells(self, rows: int) -> Cells:
        return np.zeros(rows, dtype=np.uint8 if len(self.values) <= 256 else np.uint16)

    def sides(self) -> NDArray[np.uint8]:
        """Return 1 for every split and code that goes left, else 0, (splits, 256)."""
        goes_left = (np.arange(256) <= self.cut[:, None]).astype(np.uint8)
        goes_left[:, self.bins.missing] = self.missing_left
        subsets = self.member >= 0
        # the line of a subset has a place for the missing code, too
        goes_left[subsets] = self.members[self.member[subsets]]
        return goes_left

    def leaves_of_codes(self) -> Cells:
        """Return the leaf of every code, in a tree of one feature."""
        codes: Codes = np.arange(self.bins.missing + 1).astype(self.bins.dtype)[None]
        nodes, leaves = self.nodes.copy(), self._no_cells(codes.size)
        nodes[:, layout.FEATURE] = 0
        self._walk(codes, nodes, leaves)
        return leaves

    def _walk(self, codes: Codes, nodes: NDArray[np.int32], out: Cells) -> None:
        one_tree = np.array([[0, len(nodes), 0]])
        numbers, leaves = np.arange(len(self.values), dtype=np.float64), np.zeros((out.size, 1))

        def task(start: int, stop: int) -> None:
            native.score_trees(
                codes, nodes, self.members, self.bins.missing, one_tree, numbers[:, None], start,
                leaves[start:stop],
            )  # fmt: skip

        each_rows(task, out.size)
        out[:] = leaves[:, 0]

    def valued(self, values: CellValues, weights: NDArray[np.float64]) -> TreeRule:
        splits = self.feature.size
        cover = [0.0] * splits + weights.tolist()
        lefts, rights = self.left.tolist(), self.right.tolist()
        # children have larger numbers, so they are summed before their parents
        for t in range(splits - 1, -1, -1):
            for child in (lefts[t], rights[t]):
                cover[t] += cover[child if child >= 0 else splits + ~child]
        return replace(self, values=values, cover=np.array(cover, dtype=np.float64))

    def allowed(self, values: CellValues, unit: float = VOTE_UNIT) -> CellValues:
        """Clip values that violate a monotone constraint of a split.

        All leaves on one side of such a split are clipped at the middle between the sides from
        above, and all on the other side from below. Lower splits only move values within the range
        of their leaves, so the constraints above them stay satisfied.
        """
        if self.slope is None:
            return values
        values = values.copy()
        for t in np.flatnonzero(self.slope):
            low, high = self._leaves(int(self.left[t])), self._leaves(int(self.right[t]))
            if self.slope[t] < 0:
                low, high = high, low
            top, bottom = values[low].max(), values[high].min()
            if top > bottom:
                # a multiple of the unit, or scores would not add up exactly
                middle = round((top + bottom) / (2 * unit)) * unit
                values[low] = np.minimum(values[low], middle)
                values[high] = np.maximum(values[high], middle)
        return values

    def _leaves(self, child: int) -> list[int]:
        leaves, open_ = [], [child]
        while open_:
            at = open_.pop()
            if at < 0:
                leaves.append(~at)
            else:
                open_ += [int(self.left[at]), int(self.right[at])]
        return leaves

    @cached_property
    def nodes(self) -> NDArray[np.int32]:
        columns = self.feature, self.cut, self.missing_left, self.left, self.right, self.member
        nodes = np.empty((self.feature.size, len(columns)), dtype=np.int32)
        for k, column in enumerate(columns):
            nodes[:, k] = column
        return nodes

    def words(self, names: Names) -> str:
        if self.feature.size == 0:
            return f"always {value_words(self.values[0], names)}"
        if self.feature.size == 1:
            yes, no = self.values[~self.left[0]], self.values[~self.right[0]]
            condition = self.condition(0, names, left=True)
            return f"{condition} → {value_words(yes, names)}, else {value_words(no, names)}"
        asked = dict.fromkeys(map(names.column, dict.fromkeys(self.feature.tolist())))
        dots = ", …" if len(asked) > MAX_COLUMNS_NAMED else ""
        columns = ", ".join([*asked][:MAX_COLUMNS_NAMED])
        return f"tree of {len(self.values)} leaves on {columns}{dots}"

    def condition(self, split: int, names: Names, *, left: bool, or_missing: bool = True) -> str:
        """Return the condition that sends a row left (or right) at a split, as text."""
        feature = int(self.feature[split])
        column = names.column(feature)
        if self.member[split] >= 0:
            inside = self.members[self.member[split], : self.bins.levels[feature]] != 0
            levels = np.flatnonzero(inside == left).tolist()
            text = f"{column} in {{{names.some_levels(feature, levels)}}}"
        else:
            cut, thresholds = int(self.cut[split]), self.bins.thresholds[feature]
            # a cut above all thresholds divides known from missing values
            if cut >= thresholds.size:
                return f"{column} is {'known' if left else 'missing'}"
            text = names.side(feature, float(thresholds[cut]), above=not left)
        return f"{text} or missing" if or_missing and self.missing_left[split] == left else text

    def features(self) -> set[int]:
        return set(self.feature.tolist())

    def importances(self, vote: float, n_features: int) -> NDArray[np.float64]:
        """Add up the gains of the splits on each feature, which include the vote."""
        return np.bincount(self.feature, self.gain, n_features).astype(np.float64)

    def split_counts(self, n_features: int, *, cover: bool) -> NDArray[np.float64]:
        weights = self.cover[: self.feature.size] / self.cover[0] if cover else None
        return np.bincount(self.feature, weights, n_features).astype(np.float64)

    def applied(self, cell: int, row: Values, names: Names) -> str:
        """Return the conditions on the path of a row: of several cuts on one side, the tightest."""
        conditions: dict[Hashable, str] = {}
        tightest: dict[Hashable, int] = {}
        for split, goes_left in self.path(cell):
            feature, cut = int(self.feature[split]), int(self.cut[split])
            # a hole says the same at every split of the feature
            if np.isnan(row[feature]):
                conditions[feature] = names.missing(feature)
                continue
            side = (feature, goes_left, -1 if self.member[split] < 0 else split)
            if side not in tightest or (cut < tightest[side]) == goes_left:
                tightest[side] = cut
                conditions[side] = self.condition(split, names, left=goes_left, or_missing=False)
        return " and ".join(conditions.values()) or "always"

    def path(self, leaf: int) -> list[tuple[int, bool]]:
        """Return the path to a leaf: the splits from the root, each with True for left."""
        above = {int(c): (t, True) for t, c in enumerate(self.left)}
        above |= {int(c): (t, False) for t, c in enumerate(self.right)}
        way: list[tuple[int, bool]] = []
        at = ~leaf
        while at in above:
            way.append(above[at])
            at = above[at][0]
        return way[::-1]

    def boxes(self) -> list[Box]:
        """Return for each leaf the codes that reach it, for the features on its path."""
        sides, splits = self.sides() != 0, self.feature.size
        boxes: list[Box] = [{} for _ in range(splits + len(self.values))]
        for split, feature in enumerate(self.feature.tolist()):
            for child, inside in ((self.left, sides[split]), (self.right, ~sides[split])):
                node = child[split] if child[split] >= 0 else splits + ~child[split]
                box = boxes[split]
                boxes[node] = box | {feature: box[feature] & inside if feature in box else inside}
        return boxes[splits:]

    def feature_part(self, values: CellValues) -> FeaturePart:
        """Return a tree on at most one feature as a step function; raise DataError for others."""
        if self.feature.size == 0:
            return FeaturePart.constant(values[0])
        if np.unique(self.feature).size > 1:
            raise DataError(
                f"the vote contains trees (one has {len(self.values)} leaves) in which three or "
                "more features interact, so features have no shapes. Use shap_values(X), or fit "
                "stumps, max_leaves=2, interactions=0 or a number of pairs"
            )
        feature, bins = int(self.feature[0]), self.bins
        thresholds, levels = bins.thresholds[feature], int(bins.levels[feature])
        if self.feature.size == 1 and not levels:
            cut, low, high = int(self.cut[0]), values[~self.left[0]], values[~self.right[0]]
            missing = low if self.missing_left[0] else high
            return FeaturePart.cut(feature, thresholds[cut : cut + 1], low, high, missing)
        codes = np.append(np.arange(thresholds.size + 1), bins.missing).astype(bins.dtype)
        leaves: Cells = self._no_cells(codes.size)
        table = np.zeros((feature + 1, codes.size), dtype=bins.dtype)
        table[feature] = codes
        self._walk(table, self.nodes, leaves)
        steps = values[leaves]
        return FeaturePart(feature, thresholds, steps[:-1], steps[-1], levels)
