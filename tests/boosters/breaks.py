"""A run that is broken off and taken up again ends as one that was not."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from pacboost.boosters.booster import Booster
from pacboost.learners.learner import Learner
from pacboost.samples.sample import Sample
from pacboost.training.run.loop import Run
from pacboost.training.run.resume import resume


def same_after_a_break(
    sample: Sample, learner: Learner, booster: Booster[Any], rounds: int, after: int
) -> Run:
    """Hold a resumed run against an uninterrupted one, bit for bit; give the latter."""
    whole = Run(sample, learner, booster, seed=5)
    list(islice(whole, rounds))
    first = Run(sample, learner, booster, seed=5)
    list(islice(first, after))
    ledger, vote = first.ledger(), booster.parted(first.vote())
    if booster.revises or not ledger.cells:
        assert [entry.vote for entry in ledger.rounds] == vote.votes.tolist()
    second = Run(sample, learner, booster, seed=5)
    resume(second, vote.hypotheses, vote.votes.tolist(), ledger)
    assert second.stopped == first.stopped
    list(islice(second, rounds - after))
    assert second.ledger().core() == whole.ledger().core()
    assert (second.margins == whole.margins).all()
    mine, theirs = (booster.request(run.state).weights for run in (second, whole))
    assert (mine == theirs).all()
    scores = second.vote().scores(sample.table)
    assert np.array_equal(scores, whole.vote().scores(sample.table))
    return whole
