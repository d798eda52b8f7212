"""A run of bagging: members are made in order, and evaluated on the rows outside their bags.

Members do not depend on one another, so several are made at once. The evaluation and the end of the
run depend on their order alone, so the vote is the same for any number of threads, and a run that
is continued later ends as one long run would have.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.kernels.threads import using
from pacboost.parallel.batches import in_batches
from pacboost.parallel.cluster import Cluster
from pacboost.parallel.sending import send
from pacboost.training.bags.bags import Bag, Bags, in_order
from pacboost.training.bags.gpu_forest import GpuTreeMaker
from pacboost.training.bags.members import Answers, Maker, Member
from pacboost.training.bags.out_of_bag import Averages, OutOfBagVotes, Settling

Outside = OutOfBagVotes | Averages
"""The answers for the rows outside, summed up: votes, or average numbers."""


@dataclass(frozen=True)
class Made:
    """The argument of callbacks, which are called after every member."""

    members: int
    """The number of members so far."""
    error: float | None
    """The out-of-bag error of the vote, or mean squared error; None if nothing is known."""


TORN = (
    "the run was interrupted while a member was being counted, so the counts out of bag are not "
    "those of the vote; fit again"
)


Evaluated = tuple[Member, NDArray[np.intp], Answers]
"""A member, the rows outside its bag, and its answers for them, if they are wanted."""


@dataclass(frozen=True, eq=False)
class MemberTask:
    """Makes the member of a bag: a pure function of the number of the bag."""

    maker: Maker
    bags: Bags
    asks: bool
    """Whether the member answers for the rows outside its bag."""

    def __call__(self, number: int) -> Evaluated:
        """Make the member of this number."""
        bag = self.bags.bag(number)
        return self.evaluated(self.maker.make(bag), bag)

    def evaluated(self, member: Member, bag: Bag) -> Evaluated:
        """Ask a member about the rows outside its bag."""
        rows = bag.outside
        if not self.asks or not rows.size:  # black boxes do not answer about nothing
            return member, rows, np.empty(0, dtype=np.int64)
        return member, rows, self.maker.out_of_bag(member, rows)


@dataclass(frozen=True, eq=False)
class MemberElsewhere:
    """The same on a worker of a cluster: one thread, and only what is new of a member is sent."""

    task: MemberTask

    def __call__(self, number: int) -> tuple[Any, NDArray[np.intp], Answers]:
        """Make the member of this number, and pack it."""
        with using(1):
            member, rows, answers = self.task(number)
        return self.task.maker.packed(member), rows, answers


@dataclass(eq=False)
class Bagging:
    """A run: iterate to make members; ``stopped`` says why it ended, ``outside`` what was found."""

    maker: Maker
    bags: Bags
    outside: Outside | None = None
    settling: Settling | None = None
    members: list[Member] = field(default_factory=list)
    stopped: str = ""
    torn: bool = False
    """Whether an interrupt came while a member was counted, so that the counts are not usable."""

    def run(
        self, most: int, threads: int, *, watched: bool = False, cluster: Cluster | None = None
    ) -> Generator[Made]:
        """Make members until there are ``most``, or the error out of bag has settled.

        The error costs a pass over all rows, so it is computed only if the run is ``watched``.
        """
        task = MemberTask(self.maker, self.bags, self.outside is not None)
        numbers = range(len(self.members), most)
        if isinstance(self.maker, GpuTreeMaker):
            made = self._made_on_gpu(self.maker, task, numbers, threads)
        elif cluster is None:
            made = in_order(task, numbers, 1 if self.maker.alone else threads)
        else:
            made = self._made_on(cluster, task, numbers)
        with closing(made) as results:
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
                    self.stopped = (
                        f"the error out of bag moved by less than its noise, {noise:.3g}, over the "
                        f"last {self.settling.patience} members"
                    )
                yield state
                if self.stopped:
                    return
        self.stopped = f"all {most} members are made"

    def _made_on_gpu(
        self, maker: GpuTreeMaker, task: MemberTask, numbers: range, threads: int
    ) -> Generator[Evaluated]:
        """Have members made by a GPU, and ask them on the CPU."""
        with closing(maker.make_all(self.bags, numbers, threads)) as grown:
            yield from in_order(lambda pair: task.evaluated(*pair), grown, threads)

    def _made_on(self, cluster: Cluster, task: MemberTask, numbers: range) -> Generator[Evaluated]:
        """Have members made by the workers of a cluster."""
        work = send(cluster, MemberElsewhere(task), "the rows and the learner")
        made = in_batches(cluster, _call, work, ((k,) for k in numbers))
        with closing(made) as results:
            for packed, rows, answers in results:
                yield self.maker.unpacked(packed), rows, answers


def _call(task: MemberElsewhere, number: int) -> tuple[Any, NDArray[np.intp], Answers]:
    return task(number)
