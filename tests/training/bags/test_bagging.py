"""The run that bags: in order, watched or not, stopped by chance of none."""

import numpy as np
import pytest
from numpy.typing import NDArray

from pacboost.samples.sample import Sample, signs_of
from pacboost.sources.arrays import ArrayTable
from pacboost.training.bags.bagging import Bagging
from pacboost.training.bags.bags import Bag, Bags, OutOfBagVotes, Rows, Settling
from pacboost.training.bags.members import Answers, BagMember, ConstantMember, Maker

ROWS = 60


class Coins(Maker):
    """Members that name one class for all rows, by the seed of their bag."""

    def make(self, bag: Bag) -> BagMember:
        return ConstantMember(bag.seed % 2)


class Right(Coins):
    """Members that know all labels."""

    def out_of_bag(self, member: BagMember, rows: NDArray[np.intp]) -> Answers:
        return np.asarray(self.targets[rows])


def run_of(kind: type[Maker], settle: int | None = None, *, drawn: int = ROWS) -> Bagging:
    labels = np.arange(ROWS) % 2
    sample = Sample(ArrayTable(np.zeros((ROWS, 1))), signs_of(labels, 2)[0])
    bags = Bags(ROWS, drawn, 1, 1, seed=1, replacement=drawn == ROWS)
    tally = OutOfBagVotes(labels, 50, 2, outside=bags.chance_outside, pairs=True)
    settling = None if settle is None else Settling(settle)
    return Bagging(kind(sample, labels, 2), bags, tally, settling)


@pytest.mark.parametrize("threads", [1, 3])
def test_members_are_numbered_by_their_bags(threads: int) -> None:
    run = run_of(Coins)
    made = list(run.run(20, threads, watched=True))
    assert [step.members for step in made] == list(range(1, 21))
    assert [m.inner for m in run.members] == [run.bags.bag(b).seed % 2 for b in range(20)]
    assert str(run.stopped) == "all 20 members are made"
    assert isinstance(run.outside, OutOfBagVotes)
    assert made[-1].error == run.outside.vote_error
    sizes = [run.bags.bag(b).outside.size for b in range(20)]
    assert run.outside.result().sizes.tolist() == sizes


class Torn(OutOfBagVotes):
    """A tally that is interrupted at its third member."""

    def add(self, member: int, out_rows: Rows, named: NDArray[np.integer]) -> None:
        super().add(member, out_rows, named)
        if member == 2:
            raise KeyboardInterrupt


def test_a_member_that_was_counted_but_not_kept_is_told() -> None:
    run = run_of(Coins)
    assert isinstance(run.outside, OutOfBagVotes)
    run.outside.__class__ = Torn
    with pytest.raises(KeyboardInterrupt):
        list(run.run(5, 1))
    assert run.torn
    assert len(run.members) == 2
    whole = run_of(Coins)
    list(whole.run(5, 1))
    assert not whole.torn


def test_stops_when_settled() -> None:
    run = run_of(Right, settle=6)
    made = list(run.run(50, 2))
    assert len(made) == len(run.members) == 7
    assert "over the last 6 members" in str(run.stopped)
    assert isinstance(run.outside, OutOfBagVotes)
    assert run.outside.result().members == 7  # members begun ahead were dropped
