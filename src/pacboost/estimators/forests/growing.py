"""How forests are grown, and what the parts of forests of classes and of numbers share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds.held_out import HeldOut
from pacboost.errors import DataError, ParameterError, invalid
from pacboost.estimators.bagging.answers import Classes, Counted, Outside, decided
from pacboost.estimators.bagging.fitting import MAX_BINS_OF_TREES, MemberKind, rows_to_count
from pacboost.estimators.bagging.outside import OutOfBagAnswers
from pacboost.estimators.fitted.predicting import answered
from pacboost.estimators.inputs.parameters import share_or_count
from pacboost.fit.division import Apart, Division
from pacboost.fit.examples import read_examples
from pacboost.fit.rows import LabelledRows
from pacboost.hypotheses.forest import Forest, ForestTree
from pacboost.hypotheses.vote_digest import vote_digest
from pacboost.models.model import Model, classes_of_sets, without_rounds
from pacboost.models.schema import Schema
from pacboost.numerics.checks import integer, positive_whole, real_number
from pacboost.numerics.exact import wrong_answers
from pacboost.numerics.same_bits import product
from pacboost.samples.same_example import Examples
from pacboost.samples.sample import Sample, signs_of
from pacboost.sources.rows import Rows
from pacboost.training.bags.bagging import Bagging, tree_maker
from pacboost.training.bags.bags import Averages, Bags
from pacboost.training.bags.forest import (
    NO_LIMIT,
    ForestBags,
    TreeLimits,
    TreeMaker,
    TreeMember,
    content_order,
    copies_of,
    whole_weights,
)
from pacboost.training.bags.members import Maker

if TYPE_CHECKING:
    pass

MAX_CLASSES = 2**16


def features_per_split(value: object, columns: int) -> int:
    """Read how many features are drawn at a split."""
    if value is None:
        return columns
    if isinstance(value, str):
        if value not in ("sqrt", "log2"):
            raise invalid("max_features", value, "may be 'sqrt', 'log2', a share, a number or None")
        # rounded down, as scikit-learn does
        root = math.sqrt(columns) if value == "sqrt" else math.log2(columns)
        return max(1, int(root))
    words = "'sqrt', 'log2' or None"
    return min(columns, share_or_count("max_features", value, columns, int, words))


class ForestTrees(MemberKind):
    """Trees grown on bags of rows, which a fit turns into a forest."""

    word = "tree"

    def set_up(
        self, rows: LabelledRows, targets: NDArray[Any], classes: int, seed: int
    ) -> tuple[TreeMaker, Bags, Counted]:
        """Bin the rows, and draw bags of them."""
        asked = self.estimator
        size = integer("max_bins", asked.max_bins)
        if not 2 <= size <= MAX_BINS_OF_TREES:
            raise ParameterError(
                f"max_bins is {size}; it may be 2 to {MAX_BINS_OF_TREES}", parameter="max_bins"
            )
        bins, counted = self.binned(rows.table, seed, size, rows.weights)
        sample = Sample(rows.table, rows.signs, bins=bins, labels=rows.labels)
        bags = self._drawn(sample, targets, rows.weights, seed)
        # in bags weights say how often a row is drawn; without bags trees learn from them
        if rows.weights is not None and not asked.bootstrap:
            sample = replace(sample, base=rows.weights)
        maker = tree_maker(asked.device, asked.n_estimators, sample, classes, bags.drawn)(
            sample, targets, classes, self._limits(rows),
            # averages of leaves are another classifier than the plurality that the theorem is about
            drawn=bags.drawn, hard=self.answers.certifies_outside,
        )  # fmt: skip
        return maker, bags, counted

    def so_far(self, maker: Maker) -> list[TreeMember]:
        """Return the trees of the last fit."""
        assert isinstance(maker, TreeMaker)
        return [maker.member(tree) for tree in self.estimator.model_.vote.trees()]

    def keep(self, run: Bagging, rows: LabelledRows) -> None:
        """Turn the trees into a forest."""
        estimator, maker, table = self.estimator, run.maker, rows.table
        assert isinstance(maker, TreeMaker)
        bins = maker.sample.bins
        assert bins is not None
        forest = Forest(
            bins, maker.classes, np.zeros(table.n_columns), (), maker.middle, maker.scale,
            hard=self.answers.certifies_outside,
        )  # fmt: skip
        if estimator.warm_start and hasattr(estimator, "model_"):
            forest = estimator.model_.vote
        # in reverse: trees are popped from the end, so that none is in memory twice
        trees = run.members[: len(forest) - 1 if len(forest) else None : -1]
        run.members, classes = [], getattr(estimator, "classes_", np.empty(0))
        sets = getattr(estimator, "_sets", None)
        if sets is not None:
            classes = classes_of_sets(sets)
        estimator.model_ = Model(
            ledger=without_rounds(estimator._kind), classes=classes, schema=estimator._schema,
            vote=forest.grown(_taken(trees)), bins=bins,
            labels=0 if sets is None else sets.shape[1],
        )  # fmt: skip

    def _drawn(
        self, sample: Sample, targets: NDArray[Any], weights: NDArray[np.float64] | None, seed: int
    ) -> Bags:
        """Return the bags; a row of weight w is drawn like w copies of it."""
        asked = self.estimator
        share: Any = 1.0 if asked.max_samples is None else asked.max_samples
        assert sample.codes is not None
        # bags are draws of places in this order, so that the order in which rows came changes
        # nothing and a weight of 2 is two rows (docs/decisions/0009)
        order = content_order(sample.codes.astype(np.uint8, copy=False), targets)
        copies, rows = None, sample.n_rows
        if weights is not None and asked.bootstrap:
            copies = whole_weights(weights)
            rows = copies_of(copies)
        drawn = share_or_count("max_samples", share, rows, math.ceil)
        if drawn > rows:
            raise ParameterError(
                f"max_samples is {drawn}, but there are {rows} rows; give fewer, or None for all",
                parameter="max_samples",
            )
        return ForestBags(
            order, sample.table.n_columns, seed, drawn,
            replacement=bool(asked.bootstrap), weights=copies,
        )  # fmt: skip

    def _limits(self, rows: LabelledRows) -> TreeLimits:
        asked, n_rows, columns = self.estimator, rows.n_rows, rows.table.n_columns
        deepest = asked.max_depth
        lightest = float(real_number("min_weight_fraction_leaf", asked.min_weight_fraction_leaf))
        if not 0 <= lightest <= 0.5:
            raise ParameterError(
                f"min_weight_fraction_leaf is {lightest}; it must lie in [0, 0.5]",
                parameter="min_weight_fraction_leaf",
            )
        return TreeLimits(
            features_per_split(asked.max_features, columns),
            share_or_count("min_samples_leaf", asked.min_samples_leaf, n_rows, math.ceil),
            max(2, share_or_count("min_samples_split", asked.min_samples_split, n_rows, math.ceil)),
            NO_LIMIT if deepest is None else positive_whole("max_depth", deepest),
            lightest,
            asked._kind == "extra_trees",
        )


class ForestClasses(Classes):
    """Trees vote for classes or, if rows have several labels, for sets of labels."""

    def read(self, division: Division, sample_weight: object, seed: int) -> LabelledRows:
        """Read the rows; if rows outside the bags certify, the others define the levels."""
        estimator, options = self.estimator, self.estimator._column_options()
        if self.certifies_outside:
            # levels of all rows would have seen those that certify; the same rows give the bins
            others = np.flatnonzero(~rows_to_count(Rows.of(division.X).count, seed))
            estimator._schema, _ = Schema.learn(Rows.of(division.X).alone(others), options)
            table = estimator._schema.read(division.X)
        else:
            estimator._schema, table = Schema.learn(division.X, options)
        rows, estimator.classes_ = read_examples(
            table, division.y, sample_weight, estimator.class_weight
        )
        estimator._sets = None
        if rows.labels is None and rows.signs.shape[1] > 1:
            sets, numbers = np.unique(rows.signs > 0, axis=0, return_inverse=True)
            estimator._sets = sets.astype(np.int64)
            signs, codes = signs_of(numbers.ravel(), len(sets))
            rows = replace(rows, signs=signs, labels=codes)
        if len(self.choices) > MAX_CLASSES:
            raise DataError(
                f"y holds {len(self.choices)} classes; a forest takes up to {MAX_CLASSES}. Use "
                "the regressor to predict numbers"
            )
        self.refuse_weights(rows)
        return rows

    @property
    def choices(self) -> NDArray[Any]:
        """The classes, or sets of labels, that trees vote for."""
        sets = self.estimator._sets
        return self.estimator.classes_ if sets is None else sets  # type: ignore[no-any-return]

    def votes(self, X: object) -> NDArray[Any]:
        """Return the shares of the votes."""
        return answered(self.estimator, X, lambda _, shares: shares)

    def targets(self, rows: LabelledRows) -> tuple[NDArray[Any], int]:
        """Return the number of each row's class or set of labels."""
        targets, classes = super().targets(rows)
        # kernels count the shares of two classes at least
        return targets, max(2, classes)

    def ask_outside(
        self, targets: NDArray[Any], classes: int, bags: Bags, counted: Counted
    ) -> Outside:
        """Average the shares of leaves, unless out-of-bag votes certify."""
        if not self.certifies_outside:
            return Averages(targets, classes)
        return super().ask_outside(targets, classes, bags, counted)

    def summarised(self, outside: Outside) -> OutOfBagAnswers:
        """Return the shares of classes, or of labels if rows have several."""
        answers, sets = super().summarised(outside), self.estimator._sets
        if sets is None:
            return answers
        return replace(answers, predictions=product(answers.predictions, sets))

    def certify(self, apart: Apart | None, examples: Examples | None) -> None:
        """Certify the forest, and count what it predicts for held-out rows."""
        estimator = self.estimator
        if apart is not None:
            shares, model = self.votes(apart.X), estimator.model_
            answers = decided(shares, self.choices)
            wrong = None if apart.y.ndim == 2 else wrong_answers(answers, apart.y, shares)
            chances = model.probabilities(shares)
            counted = HeldOut.of(apart.y, answers, estimator.classes_, chances, wrong)
            estimator.model_ = replace(model, held_out=counted)
        super().certify(apart, examples)
        if estimator._certificate is not None:
            certificate = estimator._certificate.of(vote_digest(estimator.model_.vote))
            estimator.model_ = replace(estimator.model_, certificate=certificate)


def _taken(members: list[Any]) -> Iterator[ForestTree]:
    """Pop trees from a list one by one, so that no tree is in memory twice."""
    while members:
        yield members.pop().inner
