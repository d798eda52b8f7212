"""A run of bagging: members are made in order, and evaluated on the rows outside their bags.

Members do not depend on one another, so several are made at once. The evaluation and the end of the
run depend on their order alone, so the vote is the same for any number of threads, and a run that
is continued later equals one long run.
"""

from __future__ import annotations

import operator
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.forest import ForestTree
from pacboost.kernels.cuda.forest import MAX_EXACT_WEIGHT, ForestOnGpu, SmallBag
from pacboost.kernels.device import use_gpu
from pacboost.kernels.threads import using
from pacboost.parallel.cluster import Cluster, in_batches, send
from pacboost.parallel.cores import in_order
from pacboost.samples.sample import Sample
from pacboost.training.bags.bags import Averages, Bag, Bags, OutOfBagVotes, Settling
from pacboost.training.bags.forest import TreeMaker, TreeMember, whole_weights
from pacboost.training.bags.members import Answers, BagMember, Maker
from pacboost.training.run.stop_reason import Stop, StopReason

MIN_TREES_FOR_GPU = 300
"""A GPU takes as long for hundreds of trees as for one, so the cores of a CPU grow fewer trees
faster, except trees of two classes that try few features (docs/gpu.md)."""


def too_heavy(sample: Sample, classes: int, drawn: int) -> bool:
    """Check whether squares of sums over a bag of many classes may be too large for exact floats.

    >>> from pacboost.sources.arrays import ArrayTable
    >>> rows = Sample(ArrayTable(np.zeros((2, 1))), np.ones((2, 1), np.int8), np.array([1.0, 3.0]))
    >>> too_heavy(rows, 2, 2), too_heavy(rows, 3, 2), too_heavy(rows, 3, 2**27)
    (False, False, False)
    """
    if classes <= 2:
        return False
    heaviest = drawn if sample.base.size == 1 else int(whole_weights(sample.base).sum())
    return heaviest > MAX_EXACT_WEIGHT


class GpuTreeMaker(TreeMaker):
    """Grows the trees of many bags at once on a GPU; they equal those of the CPU."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        if too_heavy(self.sample, self.classes, self._drawn):
            raise ParameterError(
                f"device is 'cuda', but trees of {self.classes} classes whose weights add up to "
                f"more than {MAX_EXACT_WEIGHT:,} in a bag are grown on the CPU only (weights "
                "without a common measure are multiples of 1/65536 of the largest one). Set "
                "device='cpu'",
                parameter="device",
            )
        self._gpu = ForestOnGpu(
            self._columns, self._lines, self._parcels, self._weights, self._medians, self._plan
        )

    def make_all(
        self, bags: Bags, numbers: range, threads: int
    ) -> Generator[tuple[TreeMember, Bag]]:
        """Grow the trees of all bags on the GPU, and draw the next bags meanwhile."""
        growing: list[Bag] = []
        at_once = self._gpu.most_trees(min(self._drawn, bags.rows))
        for first in range(0, len(numbers), at_once):
            batch = numbers[first : first + at_once]
            drawn = list(in_order(lambda number: _narrow(bags.bag(number)), batch, threads))
            done = list(self._ended(growing))
            no_counts = np.empty(0, np.uint8)
            small = [
                SmallBag(no_counts if bags.hold_all else bag.counts, bag.inside.size, bag.seed)
                for bag in drawn
            ]
            self._gpu.begin(small, self._unit, self.limits.lightest)
            growing = drawn
            yield from done
        yield from self._ended(growing)

    def _ended(self, bags: list[Bag]) -> Iterator[tuple[TreeMember, Bag]]:
        """Wait for the trees of the last batch, and return its members."""
        for bag, grown in zip(bags, self._gpu.end() if bags else (), strict=True):
            if grown is None:  # a tree that is too deep for the GPU
                wide = replace(bag, counts=bag.counts.astype(np.int64))
                yield self.make(wide), bag
            else:
                yield self.member(ForestTree(*grown)), bag


def tree_maker(
    device: str, trees: int, sample: Sample, classes: int, drawn: int
) -> type[TreeMaker]:
    """Choose CPU or GPU; device "auto" takes the GPU for many trees of a large table."""
    cells = sample.n_rows * sample.table.n_columns if trees >= MIN_TREES_FOR_GPU else 0
    if not use_gpu(device, cells) or (device == "auto" and too_heavy(sample, classes, drawn)):
        return TreeMaker
    return GpuTreeMaker


def _narrow(bag: Bag) -> Bag:
    """Store the counts of a bag in as few bytes as possible."""
    kind = np.uint8 if bag.counts.max() <= np.iinfo(np.uint8).max else np.uint32
    return replace(bag, counts=bag.counts.astype(kind))


Outside = OutOfBagVotes | Averages
"""The sums of the answers for rows outside the bags: votes, or averages."""


@dataclass(frozen=True)
class Made:
    """The argument of callbacks, which are called after every member."""

    members: int
    error: float | None
    """The out-of-bag error of the vote, or mean squared error; None if it was not computed."""


TORN = (
    "the run was interrupted while a member was being counted, so the counts out of bag are not "
    "those of the vote; fit again"
)


Evaluated = tuple[BagMember, NDArray[np.intp], Answers]
"""A member, the rows outside its bag, and its answers for them; both empty if not asked for."""


@dataclass(frozen=True, eq=False)
class MemberTask:
    """Makes the member of a bag: a pure function of the number of the bag."""

    maker: Maker
    bags: Bags
    asks: bool
    """Whether the member answers for the rows outside its bag."""

    def __call__(self, number: int) -> Evaluated:
        bag = self.bags.bag(number)
        return self.evaluated(self.maker.make(bag), bag)

    def evaluated(self, member: BagMember, bag: Bag) -> Evaluated:
        """Return a member with its answers for the rows outside its bag."""
        rows = bag.outside if self.asks else np.empty(0, np.intp)
        if not rows.size:  # most black boxes refuse an empty table
            return member, rows, np.empty(0, dtype=np.int64)
        return member, rows, self.maker.out_of_bag(member, rows)


@dataclass(frozen=True, eq=False)
class MemberElsewhere:
    """Makes a member on a worker of a cluster, on one thread."""

    task: MemberTask

    def __call__(self, number: int) -> tuple[Any, NDArray[np.intp], Answers]:
        with using(1):
            member, rows, answers = self.task(number)
        return self.task.maker.packed(member), rows, answers


@dataclass(eq=False)
class Bagging:
    """A run of bagging: its members, their out-of-bag answers, and why it stopped."""

    maker: Maker
    bags: Bags
    outside: Outside | None = None
    settling: Settling | None = None
    members: list[BagMember] = field(default_factory=list)
    stopped: StopReason | None = None
    torn: bool = False
    """Whether an interrupt came while a member was counted, so that the counts are invalid."""

    def run(
        self, members: int, threads: int, *, watched: bool = False, cluster: Cluster | None = None
    ) -> Generator[Made]:
        """Make members until there are ``members``, or until the out-of-bag error has settled.

        The error takes a pass over all rows, so it is computed only if the run is ``watched``.
        """
        task = MemberTask(self.maker, self.bags, self.outside is not None)
        numbers = range(len(self.members), members)
        if isinstance(self.maker, GpuTreeMaker):
            evaluated = self._on_gpu(self.maker, task, numbers, threads)
        elif cluster is None:
            evaluated = in_order(task, numbers, 1 if self.maker.alone else threads)
        else:
            evaluated = self._on_cluster(cluster, task, numbers)
        with closing(evaluated) as results:
            for member, rows, answers in results:
                error, noise = None, 0.0
                self.torn = self.outside is not None
                if self.outside is not None:
                    self.outside.add(len(self.members), rows, answers)
                self.members.append(member)
                self.torn = False
                if self.outside is not None and (watched or self.settling is not None):
                    error, noise = self.outside.estimate()
                state = Made(len(self.members), error)
                if self.settling is not None and self.settling.see(state.members, error, noise):
                    values = {"noise": noise, "members": self.settling.patience}
                    self.stopped = StopReason(Stop.SETTLED, values)
                yield state
                if self.stopped:
                    return
        self.stopped = StopReason(Stop.ALL_MEMBERS, {"members": members})

    def _on_gpu(
        self, maker: GpuTreeMaker, task: MemberTask, numbers: range, threads: int
    ) -> Generator[Evaluated]:
        with closing(maker.make_all(self.bags, numbers, threads)) as grown:
            yield from in_order(lambda pair: task.evaluated(*pair), grown, threads)

    def _on_cluster(
        self, cluster: Cluster, task: MemberTask, numbers: range
    ) -> Generator[Evaluated]:
        work = send(cluster, MemberElsewhere(task), "the rows and the learner")
        packed_members = in_batches(cluster, operator.call, work, ((k,) for k in numbers))
        with closing(packed_members) as results:
            for packed, rows, answers in results:
                yield self.maker.unpacked(packed), rows, answers
