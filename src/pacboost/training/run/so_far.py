"""A boosting run as it stands, and the record of its next round."""

from __future__ import annotations

from typing import Any

from pacboost.boosters.booster import Booster
from pacboost.hypotheses.hypothesis import Names
from pacboost.learners.learner import Learner
from pacboost.ledgers.ledger import Round
from pacboost.samples.sample import Sample
from pacboost.training.run.early_stopping import EarlyStopping
from pacboost.training.run.rounds import FinishedRound, MeasuredRule, Rounds, Step


class RunSoFar:
    """What all rounds share, whether they are done one by one or many at once."""

    sample: Sample
    learner: Learner
    booster: Booster[Any]
    watch: EarlyStopping | None
    rounds: Rounds[MeasuredRule]
    names: Names
    state: Any
    """The state of the booster."""
    done: list[FinishedRound]

    def entry_of(
        self, number: int, rule: MeasuredRule, step: Step, training_error: float, seconds: float
    ) -> Round:
        """Return the record of a round."""
        return Round(
            number=number,
            error=rule.measured.error,
            edge=rule.measured.edge,
            vote=step.largest,
            normaliser=step.normaliser,
            training_error=training_error,
            effective_size=rule.effective_size,
            weight=rule.measured.total,
            memory=self.booster.memory(step.state),
            rule=rule.hypothesis.words(self.names),
            seconds=seconds,
        )
