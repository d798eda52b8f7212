"""Graph-separation boosting (Alon, Gonen, Hazan and Moran 2021): rounds by 1/edge, not 1/edge².

The pattern of a row is what all rules so far answer on it. Join every two rows that have the same
pattern and opposite signs; a row weighs as many as it is joined to, and nothing once its pattern
tells its sign. A rule of edge r is right on 1 + r of the two ends of such a pair on average, and so
tells at least a share r of all pairs apart:

    pairs left after T rounds ≤ (n²/4)·∏(1 - r_t),       none if Σ r_t > ln(n²/4).

The answer is no vote: it is a table from patterns to signs (hypotheses/pattern.py). That is what it
takes to do with so few rounds: a plain vote cannot. With weights W₊ and W₋ of the signs in its
pattern a row has the margin y·(W₊ - W₋)/(W₊ + W₋), and training error ≤ mean of (1 - margin).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pacboost.boosters.base.booster import Agreement, Measured, Moved
from pacboost.boosters.base.capabilities import FinalTable, RevisingBooster
from pacboost.boosters.base.separating import Floats, PairState, divided
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Cells, CellValues
from pacboost.hypotheses.pattern import Pattern, said
from pacboost.hypotheses.vote import Vote
from pacboost.samples.request import Request, Sums
from pacboost.samples.sample import Sample, Signs


@dataclass(frozen=True)
class GraphSeparation(RevisingBooster[PairState], FinalTable[PairState]):
    """The rules of graph separation, for two classes.

    >>> rules = GraphSeparation()
    >>> state = rules.init(np.array([[1], [1], [-1], [-1]], dtype=np.int8), np.ones(1))
    >>> state.pairs
    4.0
    >>> agree = np.array([[1], [1], [1], [-1]], dtype=np.int8)     # it says + + - +: edge 1/2
    >>> state = rules.step(state, agree, Measured(total=4, wrong=1))
    >>> state.pairs, state.margins[:, 0].round(4).tolist()         # half of the pairs are left
    (2.0, [0.3333, 0.3333, 1.0, -0.3333])
    """

    name: ClassVar[str] = "graph_separation"
    potential: ClassVar[str] = "hinge"
    multiclass: ClassVar[str] = "two"

    @property
    def plain(self) -> bool:
        """A rule gets one vote."""
        return True

    def init(self, signs: Signs, base: Floats, targets: Floats | None = None) -> PairState:
        """Start with all rows of opposite signs joined."""
        if signs.shape[1] > 1:
            raise ParameterError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"graph_separation is for two classes, and there are {signs.shape[1]}; use another "
                "booster, or scikit-learn's OneVsRestClassifier around this one"
            )
        return PairState.of(signs, base)

    def request(self, state: PairState) -> Request:
        """Ask for a rule that separates joined rows."""
        return Request(state.weights, state.signs, state.total, state.total, "error")

    def values(self, state: PairState, sums: Sums, cells: Cells) -> CellValues:
        """Give each cell the sign of the weighted majority of its rows."""
        return said(sums.pulls).astype(np.float64)

    def step(self, state: PairState, agree: Agreement, found: Measured) -> PairState:
        """Split all patterns by the answers of the rule."""
        return divided(state, agree * state.signs)

    def move(self, state: PairState, moved: Moved) -> PairState:
        """Split all patterns by the signs of the cells."""
        return divided(state, said(moved.values)[moved.cells])

    def recall(self, state: PairState, agree: Agreement, memory: list[float]) -> PairState:
        """Split all patterns by the answers of the rule, as in the earlier run."""
        return divided(state, agree * state.signs)

    def resume(
        self, state: PairState, margins: Floats, votes: Sequence[float], memory: list[float]
    ) -> PairState:
        """Keep the state that ``recall`` has built."""
        return state

    def costs(self, margins: Floats, rounds: int) -> Floats:
        """Give 1 - margin."""
        return 1 - margins

    def joined(self, state: PairState, vote: Vote, sample: Sample) -> Vote:
        """Give the vote that consists of the table."""
        if not vote.hypotheses:
            return vote
        seen = np.stack(state.seen[: len(vote.hypotheses)])
        table = Pattern.of(vote.hypotheses, seen, state.signs[:, 0], state.base)
        return Vote([table], np.ones(1))

    def parted(self, vote: Vote) -> Vote:
        """Give the rules of the table."""
        rules = [rule for h in vote.hypotheses if isinstance(h, Pattern) for rule in h.rules]
        return Vote(rules, np.ones(len(rules)))

    def stop(self, state: PairState) -> str | None:
        """Stop when no pair is left."""
        return None if state.pairs > 0 else "no pattern holds rows of both classes any more"
