"""How members of any learner are made, each from a bag of rows and of features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.estimators.bagging.answers import (
    Counted,
)
from pacboost.estimators.bagging.fitting import (
    MAX_BINS_OF_TREES,
    MemberKind,
)
from pacboost.estimators.inputs.parameters import share_or_count
from pacboost.fit.rows import LabelledRows
from pacboost.learners.sklearn import SklearnLearner
from pacboost.numerics.checks import integer
from pacboost.samples.sample import Sample
from pacboost.training.bags.bagging import Bagging
from pacboost.training.bags.bags import Bags
from pacboost.training.bags.forest import (
    TreeLimits,
    TreeMaker,
    copies_of,
    whole_weights,
)
from pacboost.training.bags.members import (
    BoxMaker,
    CodesMaker,
    Maker,
    RowsMaker,
)


class Learners(MemberKind):
    """Members of any learner, each fitted on a bag of rows and of features."""

    def set_up(
        self, rows: LabelledRows, targets: NDArray[Any], classes: int, seed: int
    ) -> tuple[Maker, Bags, Counted]:
        """Draw bags, and choose how members are made."""
        asked, table = self.estimator, rows.table
        repeats = bool(asked.bootstrap_features)
        weights, total = None, table.n_rows
        if rows.weights is not None:
            weights = whole_weights(rows.weights)
            total = copies_of(weights) if asked.bootstrap else total
        n_rows = _part("max_samples", asked.max_samples, total, repeats=asked.bootstrap)
        features = _part("max_features", asked.max_features, table.n_columns, repeats=repeats)
        bags = Bags(
            table.n_rows, n_rows, table.n_columns, features, seed, bool(asked.bootstrap), repeats,
            weights,
        )  # fmt: skip
        if weights is not None and bags.hold_all:
            raise ParameterError(
                "sample_weight says how often rows are drawn, and every bag holds all rows "
                f"(n_samples={bags.rows}); set bootstrap=True or max_samples below 1",
                parameter="sample_weight",
            )
        sample = Sample(table, rows.signs, labels=rows.labels)
        learner = None if asked.estimator is None else asked._learner()
        max_bins = integer("max_bins", asked.max_bins)
        some_features = bags.kept < bags.columns or bags.features_replaced
        # a maker of trees grows them on codes of all columns
        if learner is None and some_features:
            learner = SklearnLearner(asked._default())
        if isinstance(learner, SklearnLearner):
            return BoxMaker(learner.estimator, sample, targets, classes), bags, None
        if learner is not None and (some_features or not learner.codes):
            return RowsMaker(learner, max_bins, sample, targets, classes), bags, None
        if learner is None and max_bins > MAX_BINS_OF_TREES:
            raise ParameterError(
                f"max_bins is {max_bins}; for trees it may be 2 to {MAX_BINS_OF_TREES}",
                parameter="max_bins",
            )
        bins, counted = self.binned(table, seed, max_bins, rows.weights)
        coded = replace(sample, bins=bins)
        if learner is not None:
            return CodesMaker(learner, coded, targets, classes), bags, counted
        # the theorem is about the plurality of members, so each tree has one vote
        # (docs/proofs/out_of_bag.md)
        limits = TreeLimits(bags.columns)
        maker = TreeMaker(coded, targets, classes, limits, hard=True, drawn=bags.drawn)
        return maker, bags, counted

    def so_far(self, maker: Maker) -> list[Any]:
        """Return the members of the last fit."""
        return list(self.estimator._members)

    def keep(self, run: Bagging, rows: LabelledRows) -> None:
        """Keep members, and the bins of their codes."""
        self.estimator._members, self.estimator._bins = run.members, run.maker.sample.bins


def _part(name: str, value: float, total: int, *, repeats: bool) -> int:
    count = share_or_count(name, value, total, round)
    if count > total and not repeats:
        raise ParameterError(
            f"{name} is {count}, but there are {total} to draw from without replacement; give "
            "fewer, or draw with replacement",
            parameter=name,
        )
    return count
