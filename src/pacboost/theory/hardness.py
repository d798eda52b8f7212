"""What your features cannot explain: a hard core of the rows, or the vote that shows there is none.

A measure gives every row a number M(i) from 0 to 1; its density is their mean. Either some measure
of density ε leaves every rule an edge below γ, or some vote of rules is wrong on less than a share
ε of the rows (Impagliazzo 1995; docs/proofs/hard_core.md). It is the game of
theory/games.py
with weights of at most 1/(ε·rows).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import PacboostError, ParameterError
from pacboost.hypotheses.vote import Vote
from pacboost.learners.choose import as_learner
from pacboost.numerics.checks import positive_whole, probability
from pacboost.numerics.exact import wrong_margins
from pacboost.numerics.percent import percent_above
from pacboost.questions.mistakes import whole_sample
from pacboost.sources.explained_errors import explains_input
from pacboost.theory.games import CappedGame, above, at_least, at_most, below

Doubles = NDArray[np.float64]
TOLERANCE = 1e-6
MOST_DENSITY = 0.999


@dataclass(frozen=True, eq=False)
class HardCore:
    """A hard measure, or a vote; exactly one of ``measure`` and ``vote`` is there."""

    edge: float
    """The edge γ that was asked for."""
    density: float
    """The density ε that was asked for."""
    measure: Doubles | None
    """M(i) of every row, of mean ``density`` or more; under it every rule has an edge below γ."""
    vote: Vote | None
    """A vote whose mean margin on any measure of this density is ``lower`` or more."""
    lower: float
    upper: float
    """Ends of the largest edge that some rule has under every measure of this density."""
    error: float
    """The share of rows that the vote gets wrong, ties included; 1 if there is none."""
    certified: bool
    """Whether no rule of the class has the edge; else none that the learner found."""

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows of the hard core, those of the largest measure first."""
        if self.measure is None:
            return np.empty(0, dtype=np.intp)
        order = np.argsort(-self.measure, kind="stable")
        return order[self.measure[order] > 0]

    @property
    def sentence(self) -> str:
        """What was found."""
        if self.measure is not None:
            whose = "no rule" if self.certified else "no rule that the learner found"
            mean = at_least(float(self.measure.mean()))
            return (
                f"There is a hard core: a measure of density {mean} over "
                f"{self.rows.size} rows on which {whose} has an edge above {at_most(self.upper)}."
            )
        return (
            f"There is no hard core of density {self.density:g}: on every such measure some rule "
            f"has an edge of {at_least(self.lower)} or more, and their vote is wrong on "
            f"{percent_above(self.error, 2)} of the rows."
        )

    def __str__(self) -> str:
        return self.sentence


@explains_input
def hard_core(
    learner: Any,
    X: Any,
    y: Any,
    edge: float,
    density: float,
    *,
    max_rounds: int = 500,
    seed: int = 0,
) -> HardCore:
    """Find a measure of this density on which no rule has the edge, or the vote that excludes it.

    >>> import numpy as np
    >>> X = np.arange(40.0)[:, None]
    >>> y = np.where(np.arange(40) < 20, 0, 1)
    >>> y[30:] = np.arange(10) % 2                   # the last ten labels alternate
    >>> found = hard_core("stump", X, y, edge=0.2, density=0.2)
    >>> found.measure is not None, found.rows.min() >= 28
    (True, np.True_)
    >>> hard_core("stump", X, y, edge=0.2, density=0.5).error < 0.5
    True
    """
    probability("edge", edge)
    if probability("density", density) > MOST_DENSITY:
        raise ParameterError(f"density is {density}; it may be up to {MOST_DENSITY}")
    weak = as_learner(learner, "learner")
    sample = whole_sample(weak, X, y)
    if density < 1 / sample.n_rows:
        raise ParameterError(
            f"density is {density}, less than one of {sample.n_rows} rows; give "
            f"1/{sample.n_rows} or more"
        )
    match = CappedGame(sample, weak, density, seed)
    for _ in match.rounds(positive_whole("max_rounds", max_rounds)):
        if above(match.upper) < edge or match.lower >= edge:
            break
    ends = below(match.lower), above(match.upper)
    if ends[1] < edge:
        measure = match.weights / int(match.weights.max())
        return HardCore(edge, density, measure, None, *ends, 1.0, match.exact)
    used = np.flatnonzero(match.votes)
    margins = match.votes[used] @ np.array([match.agree[q] for q in used], dtype=np.int64)
    vote = Vote([match.rules[q] for q in used], match.votes[used] / match.votes.sum())
    wrong = float(wrong_margins(margins).mean())
    found = HardCore(edge, density, None, vote, *ends, wrong, match.exact)
    if 0 < match.lower >= edge - TOLERANCE and found.error < density:
        return found
    raise PacboostError(
        f"undecided after {len(match.rules)} rules: the largest edge lies between "
        f"{at_least(found.lower)} and {at_most(found.upper)}; raise max_rounds, or ask for "
        "another edge"
    )
