"""The base of forests of classifiers and regressors: parameters, and how trees are grown."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.errors import DataError, ParameterError
from pacboost.estimators.bagging.base import (
    MAX_BINS_OF_TREES,
    Bagged,
    Callback,
    Counted,
    Weights,
)
from pacboost.estimators.fitted import explaining
from pacboost.estimators.fitted.vote import FittedBase
from pacboost.estimators.inputs.estimator import fits_rows, takes_rows
from pacboost.estimators.inputs.parameters import share_or_count
from pacboost.fit.rows import LabelledRows
from pacboost.hypotheses.forest import Forest, ForestTree
from pacboost.hypotheses.partial_dependence import forest_partial_dependence
from pacboost.hypotheses.shapes import Shapes
from pacboost.kernels.runtime.threads import using
from pacboost.models.explain.importances import Importances
from pacboost.models.model import Model, without_rounds
from pacboost.numerics.checks import integer, positive_whole, real_number
from pacboost.samples.sample import Sample
from pacboost.training.bags.bagging import Bagging, tree_maker
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
from pacboost.training.metrics import Metric

MAX_COPIES_PER_ROW = 64
"""Bags are as large as the sum of weights, up to this many times the number of rows."""


def features_per_split(value: object, columns: int) -> int:
    """Read how many features are drawn at a split."""
    if value is None:
        return columns
    if isinstance(value, str):
        if value not in ("sqrt", "log2"):
            raise ParameterError(
                f"max_features is {value!r}; it may be 'sqrt', 'log2', a share, a number or None",
                parameter="max_features",
            )
        root = math.sqrt(columns) if value == "sqrt" else math.log2(columns)
        return max(1, int(root))
    words = "'sqrt', 'log2' or None"
    return min(columns, share_or_count("max_features", value, columns, int, words))


@dataclass(eq=False, repr=False)
class ForestBase(Bagged, FittedBase):
    """How forests are grown; classifiers and regressors define what trees predict."""

    n_estimators: int = 400
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
    _member = "tree"

    @fits_rows
    def fit(
        self, X: object, y: object, sample_weight: Weights = None, *, copies: str = "draws"
    ) -> Self:
        """Grow the trees; a row of weight w counts as w copies of it would.

        ``copies`` says what equal rows are if rows certify, as in ``BoostClassifier.fit``. Ctrl-C
        keeps the trees grown so far, and is raised again. Any other failure leaves the estimator
        unchanged.
        """
        return self._fit(X, y, sample_weight, copies)

    def _set_up(
        self, examples: LabelledRows, targets: NDArray[Any], classes: int, seed: int
    ) -> tuple[TreeMaker, Bags, Counted]:
        size = integer("max_bins", self.max_bins)
        if not 2 <= size <= MAX_BINS_OF_TREES:
            raise ParameterError(
                f"max_bins is {size}; it may be 2 to {MAX_BINS_OF_TREES}", parameter="max_bins"
            )
        bins, counted = self._binned(examples.table, seed, size, examples.weights)
        sample = Sample(examples.table, examples.signs, bins=bins, labels=examples.labels)
        bags = self._drawn(sample, targets, examples.weights, seed)
        if examples.weights is not None and not self.bootstrap:
            sample = replace(sample, base=examples.weights)
        maker = tree_maker(self.device, self.n_estimators, sample, classes, bags.drawn)(
            sample, targets, classes, self._limits(examples),
            drawn=bags.drawn, hard=self._certifies_outside,
        )  # fmt: skip
        return maker, bags, counted

    def _members_so_far(self, maker: Maker) -> list[TreeMember]:
        assert isinstance(maker, TreeMaker)
        return [maker.member(tree) for tree in self.model_.vote.trees()]

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
            forest = self.model_.vote
        trees = run.members[: len(forest) - 1 if len(forest) else None : -1]
        run.members, classes = [], getattr(self, "classes_", np.empty(0))
        if self._sets is not None:
            classes = np.array(["".join(map(str, labels)) for labels in self._sets.tolist()])
        self.model_ = Model(
            ledger=without_rounds(self._kind), classes=classes, schema=self._schema,
            vote=forest.grown(_taken(trees)), bins=bins,
            labels=0 if self._sets is None else self._sets.shape[1],
        )  # fmt: skip

    def _drawn(
        self, sample: Sample, targets: NDArray[Any], weights: NDArray[np.float64] | None, seed: int
    ) -> Bags:
        """Return the bags; a row of weight w is drawn as often as w copies of it."""
        share: Any = 1.0 if self.max_samples is None else self.max_samples
        assert sample.codes is not None
        order = content_order(sample.codes.astype(np.uint8, copy=False), targets)
        copies, rows = None, sample.n_rows
        if weights is not None and self.bootstrap:
            copies = whole_weights(weights)
            rows = int(copies.sum()) if copies.sum() <= MAX_COPIES_PER_ROW * rows else rows
        drawn = share_or_count("max_samples", share, rows, math.ceil)
        if drawn > rows:
            raise ParameterError(
                f"max_samples is {drawn}, but there are {rows} rows; give fewer, or None for all",
                parameter="max_samples",
            )
        return ForestBags(
            order, sample.table.n_columns, seed, drawn,
            replacement=bool(self.bootstrap), weights=copies,
        )  # fmt: skip

    def _limits(self, examples: LabelledRows) -> TreeLimits:
        rows, columns = examples.n_rows, examples.table.n_columns
        deepest = self.max_depth
        lightest = float(real_number("min_weight_fraction_leaf", self.min_weight_fraction_leaf))
        if not 0 <= lightest <= 0.5:
            raise ParameterError(
                f"min_weight_fraction_leaf is {lightest}; it must lie in [0, 0.5]",
                parameter="min_weight_fraction_leaf",
            )
        return TreeLimits(
            features_per_split(self.max_features, columns),
            share_or_count("min_samples_leaf", self.min_samples_leaf, rows, math.ceil),
            max(2, share_or_count("min_samples_split", self.min_samples_split, rows, math.ceil)),
            NO_LIMIT if deepest is None else positive_whole("max_depth", deepest),
            lightest,
            self._kind == "extra_trees",
        )

    @takes_rows
    def permutation_importances(
        self,
        X: object,
        y: object,
        repeats: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> Importances:
        """Measure by how much the forest gets worse when a column is shuffled."""
        return explaining.shuffled(self, *self._labelled(X, y), repeats, random_state)

    @takes_rows
    def partial_dependence(
        self,
        features: str | int | Sequence[str | int] | None = None,
        *,
        top: int = 12,
        X: object = None,
    ) -> Shapes:
        """Return how the mean prediction changes with each feature, as step functions.

        One feature at a time is set to a value in all rows: up to 60 rows of ``X``, or, without it,
        rows with features drawn independently and evenly over their bins. Curves are deviations
        from the mean prediction (the share of the second class of two, of each class of several),
        which is the ``intercept``. ``features`` names or numbers columns; without it, the ``top``
        most important ones are taken.
        """
        check_is_fitted(self)
        table, model = None if X is None else self._open(X), self.model_
        if model.labels:
            raise DataError(
                "partial_dependence is for one label a row, and this forest gives several; fit "
                "one forest for each label"
            )
        numbers = explaining.numbers_of(features, model, top)
        with using(self.n_jobs):
            return forest_partial_dependence(model.vote, model.say(), numbers, table)

    @abstractmethod
    def _labelled(self, X: object, y: object) -> tuple[Sample, Metric]:
        """Return rows with labels or targets, and the metric for predictions."""


def _taken(members: list[Any]) -> Iterator[ForestTree]:
    """Take trees from the end of a list, so that no tree is in memory twice."""
    while members:
        yield members.pop().inner
