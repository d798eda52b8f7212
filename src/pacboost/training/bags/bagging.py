"""A run of bagging: members are made in order, and evaluated on the rows outside their bags.

Members do not depend on one another, so several are made at once. The evaluation and the end of the
run depend on their order alone, so the vote is the same for any number of threads, and a run that
is continued later equals one long run.
"""

from __future__ import annotations

import operator
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.runtime.threads import using
from pacboost.parallel.cluster import Cluster, in_batches, send
from pacboost.parallel.cores import in_order
from pacboost.training.bags.bags import Averages, Bag, Bags, OutOfBagVotes, Settling
from pacboost.training.bags.forest import GpuTreeMaker
from pacboost.training.bags.members import Answers, BagMember, Maker
from pacboost.training.run.stop_reason import Stop, StopReason

Outside = OutOfBagVotes | Averages
"""The sums of the answers for rows outside the bags: votes, or averages."""


@dataclass(frozen=True)
class Made:
    """The argument of callbacks, which are called after every member."""

    members: int
    """The number of members so far."""
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
        """Ask a member about the rows outside its bag."""
        rows = bag.outside if self.asks else np.empty(0, np.intp)
        if not rows.size:  # most black boxes refuse an empty table
            return member, rows, np.empty(0, dtype=np.int64)
        return member, rows, self.maker.out_of_bag(member, rows)


@dataclass(frozen=True, eq=False)
class MemberElsewhere:
    """The same on a worker of a cluster: on one thread, and without data that the client has."""

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
