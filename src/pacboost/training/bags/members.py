"""Members of a bagged vote: how one is made from its bag, and its answers.

A black box is fitted to the rows of the bag. A learner of pacboost that reads codes works on all
rows, coded once, with the counts of the bag as weights. That is much faster, but all bags share
their bins (see bags.py). If a bag has some of the features only, the learner gets its rows and
makes new bins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.learners.growing import TreeSearch
from pacboost.learners.learner import Learner, Search
from pacboost.learners.sklearn import fit_bag
from pacboost.learners.stump import StumpSearch
from pacboost.learners.tree import Tree
from pacboost.numerics.same_bits import total
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Request, Sample, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.training.bags.bags import Bag

Answers = NDArray[Any]
"""Class numbers, or predictions of a regression."""
PULL_SCALE = 2**24
"""Targets of regression trees are rounded to 24 bits of their range before they are added up."""


class BagMember(ABC):
    """A rule or estimator that was learned from one bag."""

    inner: Any
    """The rule or fitted estimator."""
    features: NDArray[np.intp] | None
    """The features that it uses; None for all."""

    @abstractmethod
    def answers(self, sample: Sample) -> Answers:
        """Return the class number of every row, or its prediction in regression."""

    def _with_features(self, sample: Sample) -> Sample:
        if self.features is None:
            return sample
        return unlabelled(ArrayTable(sample.rows[:, self.features]))


@dataclass(frozen=True, eq=False)
class BoxMember(BagMember):
    """A fitted scikit-learn estimator; ``names`` are the classes of its bag, if not all."""

    inner: Any
    features: NDArray[np.intp] | None
    names: NDArray[np.int64] | None = None

    def answers(self, sample: Sample) -> Answers:
        numbers: Answers = np.asarray(self.inner.predict(self._with_features(sample).rows))
        return numbers if self.names is None else self.names[numbers]


@dataclass(frozen=True, eq=False)
class ConstantMember(BagMember):
    """The only class of a bag, which most black boxes refuse to fit."""

    inner: int | float
    features: NDArray[np.intp] | None = None

    def answers(self, sample: Sample) -> Answers:
        return np.full(sample.n_rows, self.inner)


@dataclass(frozen=True, eq=False)
class RuleMember(BagMember):
    """A rule of pacboost; ``classes`` is 0 in regression."""

    inner: Hypothesis
    classes: int
    features: NDArray[np.intp] | None = None

    def answers(self, sample: Sample) -> Answers:
        values = self.inner.values
        if self.classes == 0:
            of_cells: Answers = values[:, 0]
        elif values.shape[1] == 1:
            of_cells = np.minimum(values[:, 0] > 0, self.classes - 1).astype(np.int64)
        else:
            of_cells = values.argmax(axis=1)
        return of_cells[self.inner.cells(self._with_features(sample))]


class Maker(ABC):
    """Makes members from bags of one sample; ``targets`` are class numbers, or numbers."""

    alone = False
    """Whether it uses all threads for one member, so that only one is made at a time."""

    def __init__(self, sample: Sample, targets: NDArray[Any], classes: int) -> None:
        self.sample, self.targets, self.classes = sample, targets, classes

    @abstractmethod
    def make(self, bag: Bag) -> BagMember:
        """Make the member of a bag."""

    def out_of_bag(self, member: BagMember, rows: NDArray[np.intp]) -> Answers:
        return member.answers(unlabelled(ArrayTable(self.sample.rows[rows])))

    def packed(self, member: BagMember) -> Any:
        """Return the part of a member that a worker of a cluster sends to the client."""
        return member

    def unpacked(self, packed: Any) -> BagMember:
        """Return the member from the part that a worker sent."""
        member: BagMember = packed
        return member


class BoxMaker(Maker):
    """Fits scikit-learn estimators."""

    def __init__(self, estimator: Any, sample: Sample, targets: NDArray[Any], classes: int) -> None:
        super().__init__(sample, targets, classes)
        self._estimator = estimator
        _ = sample.rows  # computed once, before several threads need them

    def make(self, bag: Bag) -> BagMember:
        """Fit a clone to the rows of the bag.

        If a bag lacks classes, its classes are renumbered: gaps in the numbers would reveal the
        classes of rows outside the bag.
        """
        rows, targets = _taken(self.sample.rows, bag), self.targets[bag.inside]
        names: NDArray[np.int64] | None = None
        if self.classes:
            classes, codes = np.unique(targets, return_inverse=True)
            if classes.size == 1:
                return ConstantMember(int(classes[0]))
            if classes.size < self.classes:
                names, targets = classes, codes
        model = fit_bag(self._estimator, rows, targets, bag.counts[bag.inside], bag.seed)
        return BoxMember(model, bag.features, names)


class RowsMaker(Maker):
    """Gives a learner of pacboost the rows of the bag and no others."""

    def __init__(
        self, learner: Learner, max_bins: int, sample: Sample, targets: NDArray[Any], classes: int
    ) -> None:
        super().__init__(sample, targets, classes)
        self._learner, self._max_bins = learner, max_bins
        _ = sample.rows

    def make(self, bag: Bag) -> BagMember:
        inside, all_rows = bag.inside, self.sample
        table = ArrayTable(_taken(all_rows.rows, bag))
        counts = bag.counts[inside]
        bins = (
            fit_bins(table, self._max_bins, counts.astype(float)) if self._learner.codes else None
        )
        labels = None if all_rows.labels is None else all_rows.labels[inside]
        sample = Sample(table, all_rows.signs[inside], bins=bins, labels=labels)
        search = self._learner.on(sample)
        rule = _find(search, counts, self.targets[inside], self.classes, bag.seed)
        return RuleMember(rule, self.classes, bag.features)


class CodesMaker(Maker):
    """Lets a learner of pacboost work on all rows; those outside the bag have no weight."""

    alone = True

    def __init__(
        self, learner: Learner, sample: Sample, targets: NDArray[Any], classes: int
    ) -> None:
        super().__init__(sample, targets, classes)
        self._learner, self._of_thread = learner, local()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a worker, whose threads make their own searches."""
        return {name: value for name, value in vars(self).items() if name != "_of_thread"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _of_thread=local())

    def make(self, bag: Bag) -> BagMember:
        if not hasattr(self._of_thread, "search"):  # threads cannot share its work arrays
            self._of_thread.search = self._learner.on(self.sample)
        rule = _find(self._of_thread.search, bag.counts, self.targets, self.classes, bag.seed)
        return RuleMember(rule, self.classes)

    def out_of_bag(self, member: BagMember, rows: NDArray[np.intp]) -> Answers:
        return member.answers(self.sample)[rows]


def for_bags(learner: Learner) -> Learner:
    """Return the learner with its default for bagging: trees split by Gini, not by error."""
    if isinstance(learner, Tree) and learner.criterion is None:
        return replace(learner, criterion="gini")
    return learner


def _taken(rows: NDArray[Any], bag: Bag) -> NDArray[Any]:
    taken = rows[bag.inside]
    return taken if bag.features is None else taken[:, bag.features]


def _find(
    search: Search, counts: NDArray[np.int64], targets: NDArray[Any], classes: int, seed: int
) -> Hypothesis:
    """Ask a learner for a rule.

    Trees are asked for cells, because ``partition`` accepts the rows to use: otherwise rows without
    weight would count towards the minimum number of rows of a leaf.
    """
    sample = search.sample
    if isinstance(search, StumpSearch) and (sample.signs.shape[1] > 1 or not classes):
        search = search.twigs
    if isinstance(search, TreeSearch):
        if classes:
            return search.classifier(counts, "gini", seed, np.flatnonzero(counts))
        return _regression_tree(search, counts, targets, seed)
    if not classes:
        raise ParameterError(
            f"{type(search).__name__} finds classes; to predict numbers take 'tree', 'stump' or a "
            "scikit-learn regressor",
            parameter="learner",
        )
    answers = sample.signs[:, 0] if sample.labels is None else sample.labels
    return search.find(counts, answers, seed)


def _regression_tree(
    search: Search, counts: NDArray[np.int64], targets: NDArray[np.float64], seed: int
) -> Hypothesis:
    """Split where means of the targets differ most; a leaf predicts the mean of its rows."""
    inside = np.flatnonzero(counts)
    in_bag = counts[inside]
    rows = int(in_bag.sum())
    mean = total(in_bag * targets[inside]) / rows
    centred = targets[inside] - mean
    span = float(np.abs(centred).max()) or 1.0
    pulls = np.zeros_like(counts)
    pulls[inside] = in_bag * np.rint(centred * (PULL_SCALE / span)).astype(np.int64)
    pull = max(1, int(np.abs(pulls).sum()))
    request = Request(counts[:, None], pulls[:, None], rows, pull)
    rule, cells = search.partition(request, seed, inside)
    leaves, leaf = len(rule.values), cells[inside]
    weight = np.bincount(leaf, in_bag, leaves).astype(np.float64)
    sums = np.bincount(leaf, in_bag * centred, leaves)
    means = mean + np.divide(sums, weight, out=np.zeros(leaves), where=weight > 0)
    return rule.valued(means[:, None], weight)
