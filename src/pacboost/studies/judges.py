"""Votes of whole numbers for judges, by AdaBoost with one step.

A vote of 1 doubles the odds of what a judge says: with F_c the votes for class c, each row weighs
Σ_{c≠y} 2^(-(F_y - F_c)/2), and every round adds or takes away the vote that brings the sum of all
weights, the potential, down most. AdaBoost's vote ½ ln((1 + r)/(1 - r)) for an edge r is rounded to
multiples of ½ ln 2 by this; a judge needs a weighted edge above (√2 - 1)/(√2 + 1) = .17 for a vote
at all. Whoever repeats what others say has no edge left under these weights, and gets none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOTHING = -1
"""The answer of a judge that says nothing about a row."""
MAX_VOTE = 8
"""An error of 1 in 250 is worth it; surer judges cannot be told apart by some hundred rows."""
CUTS = 15
"""Number of cuts that are tried in a column of numbers, at its quantiles."""
ROOT = 0.5**0.5
MIN_FALL = 0.6
"""What a vote has to be worth, in rows of weight 1, for each unit of ln(2 judges). Of .3, .6, 1,
1.5 and 2.5 in five worlds of 150 rows, .3 was best with good judges and .6 among coins."""
UNIT = 2**20
MAX_LEAD = 60
"""The weights of larger leads do not change any more; sums of weights stay below 2^63."""
WEIGHTS = np.rint(UNIT * ROOT ** np.arange(-MAX_LEAD, MAX_LEAD + 1)).astype(np.int64)
"""By lead, in units of 2^-20: sums of whole numbers do not depend on their order."""
Classes = NDArray[np.int64]
Columns = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Opinion:
    """A judge that names classes; what is no class says nothing."""

    judge: str

    def classes(self, columns: Columns, labels: Sequence[str]) -> Classes:
        """Return the class that the judge names for each row, or ``NOTHING``."""
        places = {label: place for place, label in enumerate(labels)}
        said = [places.get(text, NOTHING) for text in columns[self.judge]]
        return np.array(said, dtype=np.int64)

    def __str__(self) -> str:
        return self.judge


@dataclass(frozen=True)
class ScoreCut:
    """A judge that gives a number: one class above a cut, another up to it."""

    judge: str
    cut: float
    above: str
    below: str

    def classes(self, columns: Columns, labels: Sequence[str]) -> Classes:
        """Return the class that the judge names for each row, or ``NOTHING``."""
        above, below = labels.index(self.above), labels.index(self.below)
        numbers = _numbers(columns[self.judge])
        return np.where(
            np.isnan(numbers), NOTHING, np.where(numbers > self.cut, above, below)
        ).astype(np.int64)

    def __str__(self) -> str:
        return f"{self.judge} above {self.cut:g} says {self.above!r}, else {self.below!r}"


Judge = Opinion | ScoreCut


@dataclass(frozen=True)
class Votes:
    """Judges with whole-number votes."""

    judges: tuple[Judge, ...]
    votes: tuple[int, ...]
    labels: tuple[str, ...]
    commonest: str
    """What is said where nobody says anything."""

    def sums(self, columns: Columns) -> Classes:
        """Return the votes for every class, of each row."""
        answers = (judge.classes(columns, self.labels) for judge in self.judges)
        count = len(next(iter(columns.values())))
        sums = np.zeros((count, len(self.labels)), dtype=np.int64)
        for said, votes in zip(answers, self.votes, strict=True):
            rows = np.flatnonzero(said >= 0)
            sums[rows, said[rows]] += votes
        return sums

    def decided(self, columns: Columns) -> tuple[Classes, Classes]:
        """Return the class of each row, and by how many votes it is ahead of the next one.

        A tie goes to the commonest of its classes in the rows that taught, which come first.
        """
        sums = self.sums(columns)
        order = np.array([self.labels.index(self.commonest), *self._others()])
        best = order[np.argmax(sums[:, order], axis=1)]
        two = np.sort(sums, axis=1)[:, -2:]
        return best, two[:, -1] - two[:, 0]

    def _others(self) -> list[int]:
        return [place for place, label in enumerate(self.labels) if label != self.commonest]

    @property
    def size(self) -> int:
        """The largest lead that a class can have."""
        return sum(map(abs, self.votes))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        judges = [
            {**asdict(judge), "votes": votes}
            for judge, votes in zip(self.judges, self.votes, strict=True)
        ]
        return {"classes": list(self.labels), "commonest": self.commonest, "judges": judges}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Votes:
        """Read the result of ``to_dict``."""
        given = [dict(judge) for judge in content["judges"]]
        votes = tuple(int(judge.pop("votes")) for judge in given)
        judges = tuple(ScoreCut(**judge) if "cut" in judge else Opinion(**judge) for judge in given)
        return cls(judges, votes, tuple(content["classes"]), content["commonest"])


def candidates(columns: Columns, names: Sequence[str], labels: Sequence[str]) -> list[Judge]:
    """Return a rule for each column of verdicts, and cuts for each column of numbers."""
    judges: list[Judge] = []
    for name in names:
        numbers = _numbers(columns[name])
        known = set(labels) & set(columns[name])
        if known or np.isnan(numbers).all():
            judges.append(Opinion(name))
            continue
        values = np.unique(numbers[~np.isnan(numbers)])
        places = np.unique(np.linspace(0, values.size - 1, CUTS + 2).astype(np.intp))[:-1]
        judges += [
            ScoreCut(name, float((values[j] + values[j + 1]) / 2), above, below)
            for j in places.tolist()
            if j + 1 < values.size
            for above, below in permutations(labels, 2)
        ]
    return judges


def learn(
    judges: Sequence[Judge], columns: Columns, truth: Classes, labels: Sequence[str]
) -> Votes:
    """Give judges whole-number votes by the rows of the columns, whose classes are known."""
    answers = np.stack([judge.classes(columns, labels) for judge in judges])
    right, rows = answers == truth, np.arange(truth.size)
    wrong, named = (answers >= 0) & ~right, np.maximum(answers, 0)
    leads = np.zeros((truth.size, len(labels)), dtype=np.int64)  # F_y - F_c
    price = MIN_FALL * math.log(2 * len(judges)) * UNIT
    votes = np.zeros(len(judges), dtype=np.int64)
    while True:
        weights = WEIGHTS[np.clip(leads, -MAX_LEAD, MAX_LEAD) + MAX_LEAD]
        weights[rows, truth] = 0
        of_right, of_wrong = right @ weights.sum(axis=1), (wrong * weights[rows, named]).sum(axis=1)
        # how much a vote more, and one less, brings the potential down
        falls = np.stack([
            np.where(abs(votes + step) > MAX_VOTE, -np.inf,
                     of_right * (1 - ROOT**step) - of_wrong * (ROOT**-step - 1))
            for step in (1, -1)
        ])  # fmt: skip
        if falls.max() <= price:
            break
        turn, place = divmod(int(np.argmax(falls)), len(judges))
        step = (1, -1)[turn]
        votes[place] += step
        leads[right[place]] += step
        fallen = np.flatnonzero(wrong[place])
        leads[fallen, named[place, fallen]] -= step
    counts = np.bincount(truth, minlength=len(labels))
    kept = [
        place for place, vote in enumerate(votes) if vote != 0 or isinstance(judges[place], Opinion)
    ]
    return Votes(
        tuple(judges[place] for place in kept), tuple(int(votes[place]) for place in kept),
        tuple(labels), labels[int(np.argmax(counts))],
    )  # fmt: skip


def majority(judges: Sequence[Judge], labels: Sequence[str], commonest: str) -> Votes:
    """Return one vote for each judge that names classes."""
    voters = tuple(judge for judge in judges if isinstance(judge, Opinion))
    return Votes(voters, (1,) * len(voters), tuple(labels), commonest)


def _numbers(texts: Sequence[str]) -> NDArray[np.float64]:
    numbers = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        with suppress(ValueError):
            numbers[row] = float(text)
    return numbers
