"""Continue an earlier run: recover the state after its rounds, and check that it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pacboost.boosters.booster import RevisingBooster
from pacboost.boosters.bounded_weights import FilteringBooster
from pacboost.errors import ParameterError
from pacboost.hypotheses.hypothesis import Hypothesis
from pacboost.hypotheses.tree import TreeRule
from pacboost.ledgers.ledger import Ledger, Round
from pacboost.samples.sample import Sample
from pacboost.training.run.loop import Run
from pacboost.training.run.margins import Floats


def resume(
    run: Run, hypotheses: Sequence[Hypothesis], votes: Sequence[float], ledger: Ledger
) -> None:
    """Continue after the rounds of an earlier run on the same sample, by the same methods."""
    entries, booster, learner = ledger.rounds, run.booster.name, run.learner.name
    if not entries:
        return
    if (booster, learner) != (ledger.booster, ledger.learner):
        raise ParameterError(
            f"the earlier rounds are of {ledger.booster} with {ledger.learner}, these would be "
            f"of {booster} with {learner}; one record cannot hold both. Start afresh with "
            "warm_start=False"
        )
    _follow(run, hypotheses, votes, entries)
    _refuse_other_rows(run, ledger)
    run.plain_votes = run.plain_votes and ledger.plain_votes
    run.replay(hypotheses, votes, entries)
    run.stopped = run.rounds.finished(entries[-1]) or run.booster.stop(run.state) or ""


def keep_first_rounds(run: Run, earlier: Run, number: int) -> None:
    """Continue after the first rounds of a run on some of these rows, in the same bins.

    For regression, whose rounds bound nothing: the record of these rounds stays that of the rows
    they were trained on. Values are whole multiples of a unit; if the rows that are new change it,
    no round is kept.
    """
    units = {each.booster.unit(each.state) for each in (run, earlier)}
    done, bins = earlier.done[:number], run.sample.bins
    if len(units) > 1 or not done:
        return
    assert bins is not None
    rules = [
        replace(rule, bins=bins) if isinstance(rule, TreeRule) else rule
        for rule in (finished.hypothesis for finished in done)
    ]
    entries = [replace(finished.entry, validation=None) for finished in done]
    votes = [1.0] * len(done)
    _follow(run, rules, votes, entries)
    run.rounds.potential.resume(entries, run.state, run.rounds.first_weights)
    run.replay(rules, votes, entries)


def continue_on_other_rows(
    run: Run, margins: Floats, votes: Sequence[float], path: Floats | None = None
) -> None:
    """Continue from a vote that was trained on other rows, given the margins of these."""
    run.rounds.continue_on_other_rows()
    if not isinstance(run.booster, FilteringBooster):
        raise ParameterError(
            f"{run.booster.name} cannot continue on other rows: its weights do not follow from the "
            "margins; take a booster that can filter, such as logit"
        )
    if len(votes):
        run.state = run.booster.continue_on_other_rows(run.state, margins, votes, path)


def _follow(
    run: Run, hypotheses: Sequence[Hypothesis], votes: Sequence[float], entries: Sequence[Round]
) -> None:
    """Turn a fresh state into the one that the earlier rounds led to, and let the scores follow."""
    booster, sample, scores = run.booster, run.sample, run.rounds.scores
    margins, memories = scores.recomputed(hypotheses, votes), [entry.memory for entry in entries]
    if isinstance(booster, FilteringBooster) and booster.by_path:
        path = followed(booster, sample, hypotheses, memories, cells=run.cells)
        run.state = booster.continue_on_other_rows(run.state, margins, votes, path)
        return
    if isinstance(booster, RevisingBooster):
        for rule, memory in zip(hypotheses, memories, strict=True):
            agree = np.sign(rule.values).astype(np.int8)[rule.cells(sample)] * sample.signs
            run.state = booster.recall(run.state, agree, memory)
    run.state = booster.resume(run.state, margins, votes, memories[-1])
    scores.look(booster, run.state, None)


def followed(
    booster: FilteringBooster[Any],
    sample: Sample,
    rules: Sequence[Hypothesis],
    memories: Sequence[Sequence[float]],
    *,
    cells: bool,
) -> Floats:
    """Follow the path of every row once more; ``cells``: the values of rules include the vote."""
    path = booster.start(sample.signs.shape)
    for rule, memory in zip(rules, memories, strict=True):
        answers = rule.values[rule.cells(sample)]
        agree = answers * sample.signs / (booster.rate if cells else 1.0)
        path = booster.follow(path, agree, memory)
    return path


def _refuse_other_rows(run: Run, ledger: Ledger) -> None:
    """Raise unless the mean potential = ∏ Z_t on these rows, up to the rounding of weights.

    The bound rests on this equation alone, so it decides whether the old rounds still count. Votes
    may be so large that rounding would excuse anything. So the number of rows and the training
    error, which is exact, have to be the recorded ones too.
    """
    rounds, sample, entries = run.rounds, run.sample, ledger.rounds
    agrees = rounds.potential.resume(entries, run.state, rounds.first_weights)
    same_error = sample.targets is not None or (
        rounds.training_error(run.state) == entries[-1].training_error
    )
    if not (agrees and same_error and ledger.rows == sample.n_rows):
        raise ParameterError(
            "the earlier rounds were not trained on these rows, labels and weights, so their "
            "record does not hold here. Go on with the same data (and an integer random_state "
            "if rows are held back), or start afresh with warm_start=False"
        )
