"""What forests of classifiers and regressors share: their parameters, and how trees are grown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.estimators.bagging.bags import MOST_BINS, digest, rows_to_count
from pacboost.estimators.bagging.base import Callback, Counted
from pacboost.estimators.forests.fitted import FittedForest
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.estimators.inputs.parameters import (
    integer,
    positive_integer,
    real_number,
    share_or_count,
)
from pacboost.hypotheses.forest import Forest, ForestTree
from pacboost.kernels.cuda.device import in_host_memory, use_gpu
from pacboost.models.model import ForestModel
from pacboost.samples.bins import Bins, fit_bins
from pacboost.samples.sample import Sample
from pacboost.sources.levels import NO_LEVELS
from pacboost.sources.table import SomeRows
from pacboost.training.bags.bagging import TREES_WORTH_A_GPU, Bagging, GpuTreeMaker, too_heavy
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.forest import (
    NO_LIMIT,
    ForestBags,
    TreeLimits,
    TreeMaker,
    TreeMember,
    content_order,
    whole_weights,
)
from pacboost.training.bags.members import Maker


def share_of_weight(value: Any) -> float:
    """Read the share of all weight that a leaf has at least."""
    share = float(real_number("min_weight_fraction_leaf", value))
    if not 0 <= share <= 0.5:
        raise ParameterError(f"min_weight_fraction_leaf is {share}; it must lie in [0, 0.5]")
    return share


def tries(value: Any, columns: int) -> int:
    """Read how many features are drawn at a split."""
    if value is None:
        return columns
    if isinstance(value, str):
        if value not in ("sqrt", "log2"):
            raise ParameterError(
                f"max_features is {value!r}; it may be 'sqrt', 'log2', a share, a number or None"
            )
        root = math.sqrt(columns) if value == "sqrt" else math.log2(columns)
        return max(1, int(root))
    words = "'sqrt', 'log2' or None"
    return min(columns, share_or_count("max_features", value, columns, int, words))


MOST_COPIES = 64
"""Bags are as large as the sum of weights, if it is no more than so many times the rows."""


@dataclass(eq=False, repr=False)
class ForestBase(FittedForest):
    """How forests are grown; classifiers and regressors define what trees predict."""

    n_estimators: int = 1000
    _: KW_ONLY
    max_features: Any = "sqrt"
    min_samples_leaf: float = 1
    min_samples_split: float = 2
    min_weight_fraction_leaf: float = 0.0
    max_depth: int | None = None
    bootstrap: bool = True
    max_samples: float | None = None
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    oob_score: bool = False
    settle: int | None = None
    warm_start: bool = False
    callbacks: Sequence[Callback] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    _kind = "random_forest"
    _random_cuts = False
    _member = "tree"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, copies: str = "auto") -> Self:
        """Grow the trees; a row of weight w counts as w copies of it would.

        ``copies``, the word for equal rows where rows certify, is that of BoostClassifier.fit.

        Ctrl-C keeps the trees grown so far, and is raised again. After any other failure the
        estimator is as it was before.
        """
        return self._fit(X, in_host_memory(y), in_host_memory(sample_weight), copies)

    @property
    def _answer_names(self) -> NDArray[Any]:
        """What to call what trees vote for in a file; a regressor's trees give numbers."""
        return np.empty(0)

    def _set_up(
        self, examples: LabelledRows, targets: NDArray[Any], classes: int, seed: int
    ) -> tuple[TreeMaker, Bags, Counted]:
        bins, counted = self._binned(examples, seed)
        sample = Sample(examples.table, examples.signs, bins=bins, labels=examples.labels)
        bags = self._drawn(sample, targets, examples.weights, seed)
        if examples.weights is not None and not self.bootstrap:
            sample = replace(sample, base=examples.weights)
        maker = self._maker(sample, classes, bags.drawn)(
            sample, targets, classes, self._limits(examples),
            drawn=bags.drawn, hard=self._certifies_outside,
        )  # fmt: skip
        return maker, bags, counted

    def _maker(self, sample: Sample, classes: int, drawn: int) -> type[TreeMaker]:
        """Choose where trees are grown."""
        many = self.n_estimators >= TREES_WORTH_A_GPU
        if not use_gpu(self.device, sample.n_rows * sample.table.n_columns if many else 0):
            return TreeMaker
        helps = self.device == "cuda" or not too_heavy(sample, classes, drawn)
        return GpuTreeMaker if helps else TreeMaker

    def _digest(self, sample: Sample) -> str:
        """Hash codes and bins, which are all that trees learn from."""
        assert sample.bins is not None
        assert sample.codes is not None
        return digest(repr(sample.table.levels), sample.codes, *sample.bins.thresholds)

    def _members_so_far(self, maker: Maker) -> list[TreeMember]:
        assert isinstance(maker, TreeMaker)
        return [maker.member(tree) for tree in self.model_.forest.trees()]

    def _keep_members(self, run: Bagging, examples: LabelledRows) -> None:
        """Turn the trees into a forest."""
        maker, table = run.maker, examples.table
        assert isinstance(maker, TreeMaker)
        bins = maker.sample.bins
        assert bins is not None
        forest = Forest(
            bins, maker.classes, np.zeros(table.n_columns), (), maker.middle, maker.scale,
            hard=self._certifies_outside,
        )  # fmt: skip
        if self.warm_start and hasattr(self, "model_"):
            forest = self.model_.forest
        trees = run.members[: len(forest) - 1 if len(forest) else None : -1]
        run.members = []
        self.model_ = ForestModel(
            self._kind, self._answer_names, forest.grown(_taken(trees)), table.names,
            getattr(self, "levels_", NO_LEVELS),
            labels=0 if self._sets is None else self._sets.shape[1],
        )  # fmt: skip

    def _binned(self, examples: LabelledRows, seed: int) -> tuple[Bins, Counted]:
        """Bin the features; also give the rows that may be counted out of bag, if not all.

        Bins made from all rows depend on rows outside the bags. So where those certify, some rows
        define the bins and are not counted: as many as in bagging (bagging/bags.py).
        """
        size = integer("max_bins", self.max_bins)
        if not 2 <= size <= MOST_BINS:
            raise ParameterError(f"max_bins is {size}; it may be 2 to {MOST_BINS}")
        if not self._certifies_outside:
            return fit_bins(examples.table, size, examples.weights), None
        counted = rows_to_count(examples.n_rows, seed)
        return fit_bins(SomeRows(examples.table, np.flatnonzero(~counted)), size), counted

    def _drawn(
        self, sample: Sample, targets: NDArray[Any], weights: NDArray[np.float64] | None, seed: int
    ) -> Bags:
        """Return the bags; a row is drawn as often as if it were repeated by its weight."""
        share: Any = 1.0 if self.max_samples is None else self.max_samples
        assert sample.codes is not None
        order = content_order(sample.codes.astype(np.uint8, copy=False), targets)
        whole, rows = None, sample.n_rows
        if weights is not None and self.bootstrap:
            whole = whole_weights(weights)
            rows = int(whole.sum()) if whole.sum() <= MOST_COPIES * rows else rows
        drawn = share_or_count("max_samples", share, rows, math.ceil)
        if drawn > rows:
            raise ParameterError(
                f"max_samples is {drawn}, but there are {rows} rows; give fewer, or None for all"
            )
        return ForestBags(
            order, sample.table.n_columns, seed, drawn,
            replacement=bool(self.bootstrap), weights=whole,
        )  # fmt: skip

    def _limits(self, examples: LabelledRows) -> TreeLimits:
        rows, columns = examples.n_rows, examples.table.n_columns
        deepest = self.max_depth
        return TreeLimits(
            tries(self.max_features, columns),
            share_or_count("min_samples_leaf", self.min_samples_leaf, rows, math.ceil),
            max(2, share_or_count("min_samples_split", self.min_samples_split, rows, math.ceil)),
            NO_LIMIT if deepest is None else positive_integer("max_depth", deepest),
            share_of_weight(self.min_weight_fraction_leaf),
            self._random_cuts,
        )


def _taken(members: list[Any]) -> Iterator[ForestTree]:
    """Take trees from the end of a list, so that none is held twice while they are put together."""
    while members:
        yield members.pop().inner
