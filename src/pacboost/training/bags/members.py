"""Members of a bagged vote: how one is made from its bag, and what it answers.

A black box is handed the rows of the bag. A learner of ours that reads codes works on all rows,
coded once, with the counts of the bag as weights: rows outside weigh nothing. That is much faster,
but the bins are then one for all bags (see bags.py for what this asks of the rows
that are counted). With some of the features only, it is handed rows and makes bins of its own.
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
from pacboost.numerics.same_bits import total as sum_of
from pacboost.samples.bins import fit_bins
from pacboost.samples.sample import Request, Sample, unlabelled
from pacboost.sources.arrays import ArrayTable
from pacboost.training.bags.bags import Bag

Answers = NDArray[Any]
"""Numbers of classes, or the numbers that regression is about."""
PULL_SCALE = 2**24
"""Targets in regression trees are rounded to 24 bits of their range before they are summed."""


class BagMember(ABC):
    """A rule or estimator that was learned from one bag."""

    inner: Any
    """The rule or fitted estimator itself."""
    features: NDArray[np.intp] | None
    """The features that it uses; None for all."""

    @abstractmethod
    def answers(self, sample: Sample) -> Answers:
        """Name a class for every row by its number, or give a number in regression."""

    def _seen(self, sample: Sample) -> Sample:
        if self.features is None:
            return sample
        return unlabelled(ArrayTable(sample.rows[:, self.features]))


@dataclass(frozen=True, eq=False)
class BoxMember(BagMember):
    """A fitted scikit-learn estimator; ``names`` are the classes in its bag, if some are not."""

    inner: Any
    features: NDArray[np.intp] | None
    names: NDArray[np.int64] | None = None

    def answers(self, sample: Sample) -> Answers:
        given: Answers = np.asarray(self.inner.predict(self._seen(sample).rows))
        return given if self.names is None else self.names[given]


@dataclass(frozen=True, eq=False)
class ConstantMember(BagMember):
    """The one class, or number, that the bag holds; few black boxes can fit that."""

    inner: int | float
    features: NDArray[np.intp] | None = None

    def answers(self, sample: Sample) -> Answers:
        return np.full(sample.n_rows, self.inner)


@dataclass(frozen=True, eq=False)
class RuleMember(BagMember):
    """A rule of ours; ``classes`` is 0 in regression, where it says numbers."""

    inner: Hypothesis
    classes: int
    features: NDArray[np.intp] | None = None

    def answers(self, sample: Sample) -> Answers:
        values = self.inner.values
        if self.classes == 0:
            said: Answers = values[:, 0]
        elif values.shape[1] == 1:
            said = np.minimum(values[:, 0] > 0, self.classes - 1).astype(np.int64)
        else:
            said = values.argmax(axis=1)
        return said[self.inner.cells(self._seen(sample))]


class Maker(ABC):
    """A way to make members of the rows of one sample; ``targets`` are what they shall answer."""

    alone = False
    """Whether it uses all threads for one member, so that several at once are of no use."""

    def __init__(self, sample: Sample, targets: NDArray[Any], classes: int) -> None:
        self.sample, self.targets, self.classes = sample, targets, classes

    @abstractmethod
    def make(self, bag: Bag) -> BagMember:
        """Make the member of a bag."""

    def out_of_bag(self, member: BagMember, rows: NDArray[np.intp]) -> Answers:
        """Return the answers of a member for rows outside its bag."""
        return member.answers(unlabelled(ArrayTable(self.sample.rows[rows])))

    def packed(self, member: BagMember) -> Any:
        """Return what is sent of a member that was made on another machine."""
        return member

    def unpacked(self, packed: Any) -> BagMember:
        """Return the member that ``packed`` was called with there."""
        member: BagMember = packed
        return member


class BoxMaker(Maker):
    """Fits scikit-learn estimators."""

    def __init__(self, estimator: Any, sample: Sample, targets: NDArray[Any], classes: int) -> None:
        super().__init__(sample, targets, classes)
        self._estimator = estimator
        _ = sample.rows  # read before several threads ask for them

    def make(self, bag: Bag) -> BagMember:
        """Fit a clone to the rows of the bag.

        Where a bag lacks classes, those it has are numbered anew: a number with gaps would tell
        which classes the rows outside the bag have.
        """
        rows, targets = _taken(self.sample.rows, bag), self.targets[bag.inside]
        names: NDArray[np.int64] | None = None
        if self.classes:
            own, codes = np.unique(targets, return_inverse=True)
            if own.size == 1:
                return ConstantMember(int(own[0]))
            names, targets = (own, codes) if own.size < self.classes else (None, targets)
        model = fit_bag(self._estimator, rows, targets, bag.counts[bag.inside], bag.seed)
        return BoxMember(model, bag.features, names)


class RowsMaker(Maker):
    """Hands a learner of ours the rows of the bag and no others."""

    def __init__(
        self, learner: Learner, max_bins: int, sample: Sample, targets: NDArray[Any], classes: int
    ) -> None:
        super().__init__(sample, targets, classes)
        self._learner, self._max_bins = learner, max_bins
        _ = sample.rows

    def make(self, bag: Bag) -> BagMember:
        inside, whole = bag.inside, self.sample
        table = ArrayTable(_taken(whole.rows, bag))
        counts = bag.counts[inside]
        bins = (
            fit_bins(table, self._max_bins, counts.astype(float)) if self._learner.codes else None
        )
        labels = None if whole.labels is None else whole.labels[inside]
        sample = Sample(table, whole.signs[inside], bins=bins, labels=labels)
        rule = _found(
            self._learner.on(sample), counts, self.targets[inside], self.classes, bag.seed
        )
        return RuleMember(rule, self.classes, bag.features)


class CodesMaker(Maker):
    """Lets a learner of ours work on all rows, those outside the bag without weight."""

    alone = True

    def __init__(
        self, learner: Learner, sample: Sample, targets: NDArray[Any], classes: int
    ) -> None:
        super().__init__(sample, targets, classes)
        self._learner, self._of_thread = learner, local()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a worker needs; what belongs to a thread is made there."""
        return {name: own for name, own in vars(self).items() if name != "_of_thread"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _of_thread=local())

    def make(self, bag: Bag) -> BagMember:
        own = self._of_thread
        if not hasattr(own, "search"):  # it holds arrays to work in, which threads cannot share
            own.search = self._learner.on(self.sample)
        rule = _found(own.search, bag.counts, self.targets, self.classes, bag.seed)
        return RuleMember(rule, self.classes)

    def out_of_bag(self, member: BagMember, rows: NDArray[np.intp]) -> Answers:
        return member.answers(self.sample)[rows]


def for_bags(learner: Learner) -> Learner:
    """Return what a learner named for boosting is in bagging: trees split by Gini, not by error."""
    if isinstance(learner, Tree) and learner.criterion is None:
        return replace(learner, criterion="gini")
    return learner


def _taken(rows: NDArray[Any], bag: Bag) -> NDArray[Any]:
    taken = rows[bag.inside]
    return taken if bag.features is None else taken[:, bag.features]


def _found(
    search: Search, counts: NDArray[np.int64], targets: NDArray[Any], classes: int, seed: int
) -> Hypothesis:
    """Let a learner find its rule.

    Trees are asked for cells, because then the rows to use can be named: a row without weight
    would still count as one of the rows that a leaf must have.
    """
    sample = search.sample
    cuts = isinstance(search, StumpSearch)
    if isinstance(search, TreeSearch) or (cuts and (sample.signs.shape[1] > 1 or not classes)):
        if classes:
            return _naming_tree(search, counts, seed)
        return _regression_tree(search, counts, targets, seed)
    if not classes:
        raise ParameterError(
            f"{type(search).__name__} finds classes; to predict numbers take 'tree', 'stump' or a "
            "scikit-learn regressor",
            parameter="learner",
        )
    answers = sample.signs[:, 0] if sample.labels is None else sample.labels
    return search.find(counts, answers, seed)


def _naming_tree(search: Search, counts: NDArray[np.int64], seed: int) -> Hypothesis:
    """Split by Gini's index; a leaf names the class that is most frequent in it."""
    inside, signs = np.flatnonzero(counts), search.sample.signs
    outputs, total = signs.shape[1], int(counts.sum()) * signs.shape[1]
    weights = np.repeat(counts[:, None], outputs, axis=1)
    rule, cells = search.partition(Request(weights, signs, total, total, "gini"), seed, inside)
    own, leaf, leaves = counts[inside], cells[inside], len(rule.values)
    sums = [np.bincount(leaf, own * signs[inside, k], leaves) for k in range(outputs)]
    said = np.stack(sums, axis=1)
    named = np.sign(said) if outputs == 1 else np.eye(outputs)[said.argmax(axis=1)]
    return rule.valued(named, np.bincount(leaf, own, leaves).astype(np.float64))


def _regression_tree(
    search: Search, counts: NDArray[np.int64], targets: NDArray[np.float64], seed: int
) -> Hypothesis:
    """Split where means of the targets differ most; leaves say the mean of the rows in the bag."""
    inside = np.flatnonzero(counts)
    own, wanted = counts[inside], targets[inside]
    total = int(own.sum())
    mean = sum_of(own * wanted) / total
    wanted = wanted - mean
    span = float(np.abs(wanted).max()) or 1.0
    pulls = np.zeros_like(counts)
    pulls[inside] = own * np.rint(wanted * (PULL_SCALE / span)).astype(np.int64)
    pull = max(1, int(np.abs(pulls).sum()))
    request = Request(counts[:, None], pulls[:, None], total, pull)
    rule, cells = search.partition(request, seed, inside)
    leaves, leaf = len(rule.values), cells[inside]
    weight = np.bincount(leaf, own, leaves).astype(np.float64)
    sums = np.bincount(leaf, own * wanted, leaves)
    means = mean + np.divide(sums, weight, out=np.zeros(leaves), where=weight > 0)
    return rule.valued(means[:, None], weight)
