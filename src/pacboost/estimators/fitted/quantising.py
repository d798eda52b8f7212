"""Quantised votes: ``certify="train"`` rounds votes of stumps to few bits and pays for those."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pacboost.bounds import occam
from pacboost.bounds.certificate import Certificate
from pacboost.errors import NotCertified
from pacboost.estimators.fitted.mistakes import wrong_rows
from pacboost.estimators.inputs.division import counted
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.hypotheses.stump import StumpRule
from pacboost.hypotheses.vote import Vote
from pacboost.samples.equal_rows import Examples


@dataclass(frozen=True)
class QuantisedVote:
    """A quantised vote that may be deployed: its bound, and an estimate of its error."""

    bits: int
    scale: float
    rules: int
    mistakes: int
    bound: float
    estimate: float
    """The error on the rows that defined the bins, whose labels were not used: an estimate."""


class QuantisedVotes:
    """All quantisations of a trained vote that were tried, each with its bound."""

    def __init__(
        self,
        vote: Vote,
        trained: LabelledRows,
        apart: LabelledRows,
        base_rules: int,
        delta: float,
        examples: Examples | None = None,
    ) -> None:
        self._rules, self._merged = merged(vote)
        if not self._rules:
            raise NotCertified("the vote is empty: there is nothing to certify")
        self._rows = trained.n_rows
        self._base_rules = base_rules
        self._delta = delta
        self._examples = examples
        pairs = occam.search(
            self._merged,
            lambda whole: wrong_rows(self.vote(whole), trained),
            self._rows,
            base_rules,
            delta,
        )
        self.choices = [
            QuantisedVote(*pair, wrong_rows(self._of(pair.bits, pair.scale), apart) / apart.n_rows)
            for pair in pairs
        ]

    def deploy(self, number: int) -> tuple[Vote, Certificate]:
        """Return a vote and its certificate."""
        choice = self.choices[number]
        certificate = occam.certificate(
            choice.mistakes, self._rows, self._base_rules, choice.rules, choice.bits, self._delta
        )
        return self._of(choice.bits, choice.scale), counted(certificate, self._examples)

    def vote(self, whole: NDArray[np.int64]) -> Vote:
        """Return the vote with these whole-number weights, without the rules that got none."""
        used = np.flatnonzero(whole)
        rules = [self._rules[k] if whole[k] > 0 else self._rules[k].negated() for k in used]
        return Vote(rules, np.abs(whole[used]).astype(np.float64))

    def _of(self, bits: int, scale: float) -> Vote:
        return self.vote(occam.quantise(self._merged, bits, scale))


def merged(vote: Vote) -> tuple[list[StumpRule], NDArray[np.float64]]:
    """Add up the votes of equal rules; a rule and its opposite are one, with opposite votes."""
    sums: dict[StumpRule, float] = {}
    for rule, weight in zip(vote.hypotheses, vote.votes, strict=True):
        if not isinstance(rule, StumpRule):
            raise NotCertified("certify='train' counts stumps; this vote holds other rules")
        unsigned, sign = (rule, 1.0) if rule.above > 0 else (rule.negated(), -1.0)
        if unsigned.is_constant:  # the same rule whichever feature it was found on
            unsigned = StumpRule.constant(-1)
        sums[unsigned] = sums.get(unsigned, 0.0) + sign * float(weight)
    kept = {rule: weight for rule, weight in sums.items() if weight != 0}
    return list(kept), np.array(list(kept.values()))
